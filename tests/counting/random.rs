//! Random requests that like to meet: few users, few targets, instants around edges.

use crate::activity::{Activity, Item, Request};
use crate::run::SLACK;
use fastrand::Rng;
use jiff::civil::date;
use jiff::{Timestamp, ToSpan};
use test_support::json;
use test_support::reference::{Calendar, Model, written};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;

/// Ids of all the shapes there are.
pub const USERS: [&str; 9] = [
    "1", "42", "ada", "Ada", "a:b", "a|b", "u@x.org", "-", "x_.y",
];
const GROUPS: [&str; 5] = ["eu", "eu:x", "EU", "1", "a|b"];
const TARGETS: [&str; 6] = ["post-7", "a,b", "~like", "#", "ü ☃", "like:post-7"];
const PATHS: [&str; 7] = ["/", "/a", "/a/", "/a?x=1", "/a/#b", "/ü", "/a//"];

pub struct Random {
    random: Rng,
    edges: Vec<i64>,
    actions: Vec<String>,
    sent: Vec<Activity>,
}

impl Random {
    pub fn new(seed: u64, model: &Model, now: i64) -> Self {
        let actions = model.rules.keys().cloned().collect();
        let edges = edges(&model.calendar, now);
        Self {
            random: Rng::with_seed(seed),
            edges,
            actions,
            sent: Vec::new(),
        }
    }

    pub fn request(&mut self, model: &Model, now: i64) -> Request {
        if self.random.u8(..200) == 0 {
            return Request::Erase(self.user());
        }
        if self.random.u8(..60) == 0 {
            let (hidden, frozen) = (self.random.bool(), self.random.u8(..4) == 0);
            return Request::Moderate(self.user(), hidden, frozen);
        }
        if self.random.u8(..20) == 0 {
            return self.adjustment(model, now);
        }
        if self.random.u8(..10) < 7 {
            return Request::One(self.item(model, now));
        }
        let length = [0, 1, 2, 3, 5, 8, 20][self.random.usize(..7)];
        Request::Array((0..length).map(|_| self.item(model, now)).collect())
    }

    fn item(&mut self, model: &Model, now: i64) -> Item {
        if self.random.u8(..20) == 0 {
            return self.bad(now);
        }
        let known = self.sent.len();
        let recent = known.saturating_sub(30)..known;
        let activity = match self.random.u8(..10) {
            // Sent again, word for word.
            0 if known > 0 => return Item::Activity(self.sent[self.random.usize(..known)].clone()),
            // The same once more, or taken back, at this time or that.
            1..6 if known > 0 => {
                let mut activity = self.sent[self.random.usize(recent)].clone();
                activity.undo = model.rules[&activity.action].undo && self.random.bool();
                activity.at = match (self.random.u8(..6), activity.at) {
                    (0, Some(at)) => Some(at),
                    (1, Some(at)) => Some(at + 1),
                    (2, Some(at)) => Some(at - 1),
                    _ => self.at(model, now),
                };
                if self.random.bool() {
                    activity.groups = self.groups();
                }
                activity
            }
            _ => self.activity(model, now),
        };
        let activity = steer_clear(activity, model);
        self.sent.push(activity.clone());
        Item::Activity(activity)
    }

    fn activity(&mut self, model: &Model, now: i64) -> Activity {
        let action = self.actions[self.random.usize(..self.actions.len())].clone();
        let targets = if action == "visit" {
            &PATHS[..]
        } else {
            &TARGETS[..]
        };
        let target = match self.random.bool() {
            true => targets[self.random.usize(..targets.len())].to_owned(),
            // Mostly new ones.
            false => format!("/post-{}", self.random.u8(..60)),
        };
        let user = self.user();
        let undo = model.rules[&action].undo && self.random.u8(..4) == 0;
        let (at, groups) = (self.at(model, now), self.groups());
        Activity {
            user,
            action,
            target,
            undo,
            at,
            groups,
        }
    }

    fn user(&mut self) -> String {
        USERS[self.random.usize(..USERS.len())].to_owned()
    }

    /// Small ones, that take all there is, and large ones, on few ids.
    fn adjustment(&mut self, model: &Model, now: i64) -> Request {
        let undo = self.random.u8(..3) == 0;
        let steps = match self.random.u8(..10) {
            0 => 8_000_000,
            1 => -8_000_000,
            2..6 => self.random.i64(1..10),
            _ => -self.random.i64(1..10),
        };
        let at = self.at(model, now).filter(|_| !undo);
        let groups = if undo { Vec::new() } else { self.groups() };
        let activity = Activity {
            user: self.user(),
            action: "adjust".to_owned(),
            target: format!("case-{}", self.random.u8(..5)),
            undo,
            at,
            groups,
        };
        Request::Adjust(steer_clear(activity, model), steps)
    }

    fn groups(&mut self) -> Vec<String> {
        let mut groups = GROUPS.map(str::to_owned);
        self.random.shuffle(&mut groups);
        let some = [0, 0, 0, 1, 1, 2, 4][self.random.usize(..7)];
        groups[..some].to_vec()
    }

    fn at(&mut self, model: &Model, now: i64) -> Option<i64> {
        let random = &mut self.random;
        match random.u8(..10) {
            0..4 => None,
            // Not so near that it could meet the clock reading of this request.
            4 => Some(now - random.i64(100..10 * SECOND)),
            5 => Some(now - 3 * HOUR - random.i64(0..3) * HOUR),
            6 => {
                let ahead = now + random.i64(10 * SECOND..50 * SECOND);
                let calendar = &model.calendar;
                (calendar.date(ahead) == calendar.date(now)).then_some(ahead)
            }
            _ => {
                let edge = self.edges[random.usize(..self.edges.len())];
                let aside = [0, -1, 1, -SECOND, SECOND, -HOUR / 2, HOUR / 2][random.usize(..7)];
                Some(edge + aside).filter(|at| *at < now - SECOND)
            }
        }
    }

    fn bad(&mut self, now: i64) -> Item {
        let (user, like) = ("ada", "like");
        let (body, slug) = match self.random.u8(..8) {
            0 => (
                json!({ "user": user, "action": "shout", "target": "t" }),
                "unknown-action",
            ),
            1 => {
                let body = json!({ "user": user, "action": "visit", "target": "/", "undo": true });
                (body, "not-undoable")
            }
            2 => (json!({ "user": user, "action": like }), "invalid-request"),
            3 => (
                json!({ "user": "a b", "action": like, "target": "t" }),
                "invalid-request",
            ),
            4 => {
                let at = written(now + 120 * SECOND);
                let body = json!({ "user": user, "action": like, "target": "t", "at": at });
                (body, "invalid-request")
            }
            5 => {
                let groups = ["eu", "eu"];
                let body = json!({ "user": user, "action": like, "target": "t", "groups": groups });
                (body, "invalid-request")
            }
            6 => (
                json!({ "user": user, "action": "visit", "target": "a" }),
                "invalid-request",
            ),
            _ => (json!("like"), "invalid-request"),
        };
        Item::Bad(body, slug)
    }
}

/// Moves an instant away from a change of which the test does not know the millisecond.
fn steer_clear(mut activity: Activity, model: &Model) -> Activity {
    let changed = model.last_change(&activity.mark());
    if let (Some(at), Some(changed)) = (activity.at, changed) {
        let near = changed.first - SLACK..=changed.last + SLACK;
        if changed.first < changed.last && near.contains(&at) {
            activity.at = Some(changed.first - SLACK - 1);
        }
    }
    activity
}

/// Where days, weeks, months and years end, and where clocks are set.
fn edges(calendar: &Calendar, now: i64) -> Vec<i64> {
    let today = calendar.date(now);
    let mut days = vec![
        today,
        today.checked_sub(1.day()).unwrap(),
        today.checked_sub(29.days()).unwrap(),
        today.checked_sub(30.days()).unwrap(),
        today.checked_sub(31.days()).unwrap(),
        date(2026, 11, 1),
        date(2026, 1, 1),
        // A Monday of week 1 that lies in the year before.
        date(2024, 12, 30),
        date(2024, 3, 1),
        date(2021, 1, 4),
        date(1970, 1, 1),
        // Before time zones: local mean time, to the second.
        date(1850, 1, 1),
    ];
    days.retain(|day| *day <= today);
    let mut edges: Vec<i64> = days.into_iter().map(|day| calendar.start(day)).collect();
    let before = Timestamp::from_millisecond(now).unwrap();
    let clocks_set = calendar.zone.preceding(before).take(3);
    edges.extend(clocks_set.map(|transition| transition.timestamp().as_millisecond()));
    edges
}
