//! Random requests with many collisions: few users, few targets, and instants around boundaries.

use crate::comparison::{SLACK, later_rules};
use crate::requests::{act, at, in_groups, like, undo};
use fastrand::Rng;
use jiff::civil::date;
use jiff::{Timestamp, ToSpan};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use test_support::reference::Activity;
use test_support::reference::{Calendar, Event, InstantRange, Model, Version, rfc3339};
use test_support::{Value, json};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;

/// User ids of all forms.
pub const USERS: [&str; 9] = [
    "1", "42", "ada", "Ada", "a:b", "a|b", "u@x.org", "-", "x_.y",
];
/// The id of a reader without an account.
pub const VISITOR: &str = "visitor:AAAAAAAAAAAAAAAAAAAAAA";
pub const GROUPS: [&str; 5] = ["eu", "eu:x", "EU", "1", "a|b"];
const EVENTS: [&str; 4] = ["hackathon", "a:b", "E", "2026"];
const TARGETS: [&str; 6] = ["post-7", "a,b", "~like", "#", "ü ☃", "like:post-7"];
const PATHS: [&str; 14] = [
    "/",
    "/a",
    "/a/",
    "/a?x=1",
    "/a/#b",
    "/ü",
    "/a//",
    "//a",
    "/%61",
    "/a/./b",
    "/a/../a",
    " /a ",
    "/u\u{308}",
    "/%C3%bc",
];

/// One activity, or an invalid item and the slug of its problem.
#[derive(Clone, Debug)]
pub enum Item {
    Activity(Activity),
    Invalid(Value, &'static str),
}

impl Item {
    pub fn json(&self) -> Value {
        match self {
            Self::Activity(activity) => activity.json(),
            Self::Invalid(body, _) => body.clone(),
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub enum Request {
    One(Item),
    Array(Vec<Item>),
    /// As `Array`, sent by the user of all its activities.
    ByMember(String, Vec<Item>),
    /// Erases a user.
    Erase(String),
    /// Sets whether a user is hidden and frozen.
    Moderate(String, bool, bool),
    /// An activity `adjust`, its points in smallest steps, and the event whose board it changes.
    Adjust(Activity, i64, Option<String>),
    /// Changes a target.
    Target(String, TargetChange),
    /// Reads all standings of a user, and the standings of their friends.
    Standings(String),
    /// Defines an event, or deletes it.
    Event(String, Option<Event>),
    /// Counts an event again, perhaps after a preview.
    Recount(String, Event, bool),
    /// Publishes a version of the rules.
    Publish(Version),
    /// Takes a version of the rules back.
    TakeBack(u64),
}

/// A change of a target.
#[derive(Clone, Debug)]
pub enum TargetChange {
    Register {
        author: Option<String>,
        title: Option<String>,
    },
    Delete,
    /// Hides or shows it.
    Moderate(bool),
}

impl Request {
    pub fn items(&self) -> &[Item] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Array(items) | Self::ByMember(_, items) => items,
            Self::Erase(_) | Self::Moderate(..) | Self::Adjust(..) => &[],
            Self::Target(..) | Self::Standings(_) | Self::Event(..) | Self::Recount(..) => &[],
            Self::Publish(_) | Self::TakeBack(_) => &[],
        }
    }

    pub fn json(&self) -> Value {
        match self {
            Self::One(item) => item.json(),
            Self::Array(items) | Self::ByMember(_, items) => items.iter().map(Item::json).collect(),
            Self::Erase(user) => json!({ "DELETE": user }),
            Self::Standings(user) => json!({ "GET": user }),
            Self::Event(id, event) => json!({ "event": id, "definition": format!("{event:?}") }),
            Self::Recount(id, event, preview) => {
                json!({ "recount": id, "definition": format!("{event:?}"), "preview": preview })
            }
            Self::Publish(version) => json!({ "publish": format!("{version:?}") }),
            Self::TakeBack(number) => json!({ "take back": number }),
            Self::Moderate(user, hidden, frozen) => {
                json!({ "moderate": user, "hidden": hidden, "frozen": frozen })
            }
            Self::Adjust(activity, steps, event) => {
                json!({ "adjust": activity.json(), "steps": steps, "event": event })
            }
            Self::Target(target, change) => {
                json!({ "target": target, "change": format!("{change:?}") })
            }
        }
    }
}

/// Returns the HTTP status of a problem.
pub fn status_of(slug: &str) -> u16 {
    match slug {
        "invalid-request" => 400,
        "forbidden" => 403,
        "not-found" => 404,
        "event-conflict" => 409,
        "unknown-action" | "not-undoable" | "score-overflow" => 422,
        other => panic!("unexpected problem {other}"),
    }
}

/// A generator of random requests; the same seed generates the same requests.
pub struct Generator {
    random: Rng,
    boundaries: Vec<i64>,
    actions: Vec<String>,
    sent: Vec<Activity>,
    /// Whether it defines events.
    pub with_events: bool,
    /// Whether it publishes versions of the rules.
    pub with_versions: bool,
}

impl Generator {
    pub fn new(seed: u64, model: &Model, now: i64) -> Self {
        let actions = model.rules.keys().cloned().collect();
        let mut boundaries = boundaries(&model.calendar, now);
        boundaries.extend(later_rules(model));
        Self {
            random: Rng::with_seed(seed),
            boundaries,
            actions,
            sent: Vec::new(),
            with_events: false,
            with_versions: false,
        }
    }

    pub fn request(&mut self, model: &Model, now: i64) -> Request {
        if model.content.is_some() && self.random.u8(..8) == 0 {
            return self.target_change();
        }
        if self.random.u8(..200) == 0 {
            let user = self.anyone(model);
            // It would be unknown whether the erasure removes what was received then.
            let soon = now..now + 5 * SECOND;
            if !received_at(&user, model).any(|at| soon.contains(&at.first)) {
                return Request::Erase(user);
            }
        }
        if self.with_events && self.random.u8(..80) == 0 {
            return self.event(model, now);
        }
        if self.with_versions && self.random.u8(..40) == 0 {
            return self.version(model, now);
        }
        if self.random.u8(..60) == 0 {
            let (hidden, frozen) = (self.random.bool(), self.random.u8(..4) == 0);
            return Request::Moderate(self.anyone(model), hidden, frozen);
        }
        let others = if self.with_events { 10 } else { 20 };
        if self.random.u8(..others) == 0 {
            return self.adjustment(model, now);
        }
        if self.random.u8(..20) == 0 {
            return Request::Standings(self.anyone(model));
        }
        if self.random.u8(..10) == 0 {
            return self.by_member(model);
        }
        if self.random.u8(..10) < 7 {
            return Request::One(self.item(model, now));
        }
        let length = [0, 1, 2, 3, 5, 8, 20][self.random.usize(..7)];
        let items = (0..length).map(|_| self.item(model, now));
        let items = items.collect();
        Request::Array(match &model.content {
            Some(_) => without_races(items),
            None => items,
        })
    }

    /// Returns a new version of the rules, mostly from an instant that has passed: see [`crate::comparison::LAG`].
    fn version(&mut self, model: &Model, now: i64) -> Request {
        let random = &mut self.random;
        let last = model.versions.keys().last();
        if let Some(last) = last
            && random.u8(..4) == 0
        {
            return Request::TakeBack(random.u64(1..=*last));
        }
        let from = match random.u8(..4) {
            0 => now + random.i64(5 * SECOND..20 * SECOND),
            _ => now - random.i64(2 * SECOND..20 * SECOND),
        };
        let mut changes = Vec::new();
        for action in &self.actions {
            if random.u8(..3) > 0 {
                continue;
            }
            for field in ["points", "daily_cap", "member_cap", "cooldown", "received"] {
                let value = match (field, random.u8(..4)) {
                    (_, 0..2) => continue,
                    ("points", _) => Some(random.u64(1..6)),
                    ("received", _) => Some(random.u64(..4)),
                    (_, 2) => None,
                    ("cooldown", _) => Some(3600),
                    (_, _) => Some(random.u64(4..30)),
                };
                changes.push((action.clone(), field, value));
            }
        }
        if changes.is_empty() {
            changes.push(("like".to_owned(), "points", Some(random.u64(1..6))));
        }
        Request::Publish(Version {
            from,
            takes_back: None,
            changes,
        })
    }

    /// Returns activities of a member, with many new targets so that the caps are reached.
    fn by_member(&mut self, model: &Model) -> Request {
        let user = self.user();
        let length = self.random.usize(..30);
        let action = self.actions[self.random.usize(..self.actions.len())].clone();
        let items = (0..length).map(|_| {
            let activity = Activity {
                user: user.clone(),
                action: action.clone(),
                target: format!("/post-{}", self.random.u8(..100)),
                undo: model.rules[&action].undo && self.random.u8(..8) == 0,
                by_member: true,
                on: model.content.as_ref().and_then(|_| self.on(&action)),
                ..Activity::default()
            };
            match action.as_str() {
                "publish" => Item::Invalid(activity.json(), "forbidden"),
                _ => Item::Activity(activity),
            }
        });
        let items = items.collect();
        Request::ByMember(user, items)
    }

    fn item(&mut self, model: &Model, now: i64) -> Item {
        if self.random.u8(..20) == 0 {
            return self.invalid(now);
        }
        let known = self.sent.len();
        let recent = known.saturating_sub(30)..known;
        let activity = match self.random.u8(..10) {
            // An exact repetition.
            0 if known > 0 => {
                let activity = self.sent[self.random.usize(..known)].clone();
                return Item::Activity(avoid_unknown_order(activity, model, now));
            }
            // A repetition or an undo, at the same or another instant.
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
        let activity = avoid_unknown_order(activity, model, now);
        self.sent.push(activity.clone());
        Item::Activity(activity)
    }

    fn activity(&mut self, model: &Model, now: i64) -> Activity {
        let action = self.actions[self.random.usize(..self.actions.len())].clone();
        let targets = match action.as_str() {
            "visit" => &PATHS[..],
            _ => &TARGETS[..],
        };
        let target = match self.random.bool() {
            true => targets[self.random.usize(..targets.len())].to_owned(),
            // Mostly new targets.
            false => format!("/post-{}", self.random.u8(..60)),
        };
        let user = self.anyone(model);
        let target = match self.random.u8(..15) {
            0 if action != "visit" => user.clone(),
            1..12 if action == "follow" => self.user(),
            _ => target,
        };
        let undo = model.rules[&action].undo && self.random.u8(..4) == 0;
        let (at, groups) = (self.at(model, now), self.groups());
        let has_content = model.content.is_some();
        Activity {
            on: has_content.then(|| self.on(&action)).flatten(),
            author: (has_content && self.random.u8(..8) == 0).then(|| self.anyone(model)),
            user,
            action,
            target,
            undo,
            at,
            groups,
            by_member: false,
        }
    }

    /// Returns one of few targets.
    fn target(&mut self) -> String {
        match self.random.bool() {
            true => TARGETS[self.random.usize(..TARGETS.len())].to_owned(),
            false => format!("/post-{}", self.random.u8(..12)),
        }
    }

    /// Returns another target that receives, for most comments and some other activities.
    fn on(&mut self, action: &str) -> Option<String> {
        let others = if action == "comment" { 2 } else { 10 };
        (self.random.u8(..others) == 0).then(|| self.target())
    }

    fn target_change(&mut self) -> Request {
        let target = self.target();
        let change = match self.random.u8(..10) {
            0 => TargetChange::Delete,
            1..4 => TargetChange::Moderate(self.random.bool()),
            _ => TargetChange::Register {
                author: self.random.bool().then(|| self.user()),
                title: self.random.bool().then(|| "A title".to_owned()),
            },
        };
        Request::Target(target, change)
    }

    /// Returns a member, or a visitor if there are visitors.
    fn anyone(&mut self, model: &Model) -> String {
        let mut content = model.content.iter();
        match content.any(|content| !content.counted.is_empty()) && self.random.u8(..5) == 0 {
            true => VISITOR.to_owned(),
            false => self.user(),
        }
    }

    fn user(&mut self) -> String {
        USERS[self.random.usize(..USERS.len())].to_owned()
    }

    /// Returns an adjustment with one of few ids: small, or larger than any score.
    fn adjustment(&mut self, model: &Model, now: i64) -> Request {
        let undo = self.random.u8(..3) == 0;
        let steps = match self.random.u8(..10) {
            0 => 8_000_000,
            1 => -8_000_000,
            2..6 => self.random.i64(1..10),
            _ => -self.random.i64(1..10),
        };
        let is_event = self.with_events && !undo && self.random.bool();
        let event = is_event.then(|| self.adjusted_event(model, now));
        let is_plain = !undo && event.is_none();
        let at = self.at(model, now).filter(|_| is_plain);
        let groups = if is_plain { self.groups() } else { Vec::new() };
        let (mut user, mut target) = (self.user(), format!("case-{}", self.random.u8(..5)));
        // Half of the undos are of adjustments of events, if there are any, mostly of those that are not final.
        let active = model.active.iter();
        let event_records = active.filter(|(_, record)| record.event.is_some());
        let (open, closed): (Vec<_>, Vec<_>) = event_records.partition(|(_, record)| {
            let event = model.events.get(record.event.as_ref().expect("an event"));
            event.is_some_and(|event| event.from <= record.at.first && now < event.final_at)
        });
        let prefers_open = closed.is_empty() || self.random.u8(..4) > 0;
        let some = if prefers_open && !open.is_empty() {
            open
        } else {
            closed
        };
        if undo && !some.is_empty() && self.random.bool() {
            let ((owner, _, id), _) = some[self.random.usize(..some.len())];
            (user, target) = (owner.clone(), id.clone());
        }
        let activity = Activity {
            user,
            action: "adjust".to_owned(),
            target,
            undo,
            at,
            groups,
            ..Activity::default()
        };
        Request::Adjust(avoid_unknown_order(activity, model, now), steps, event)
    }

    /// Returns any event, mostly one that runs.
    fn adjusted_event(&mut self, model: &Model, now: i64) -> String {
        let events = model.events.iter();
        let runs = |event: &Event| event.from <= now && now < event.final_at;
        let running: Vec<_> = events.filter(|(_, event)| runs(event)).collect();
        match running.is_empty() || self.random.u8(..4) == 0 {
            true => EVENTS[self.random.usize(..EVENTS.len())].to_owned(),
            false => running[self.random.usize(..running.len())].0.clone(),
        }
    }

    /// Returns the recount of an event by another definition.
    pub fn recount(&mut self, model: &Model, now: i64) -> Request {
        let id = EVENTS[self.random.usize(..EVENTS.len())].to_owned();
        let (from, to) = self.past(model, now);
        let (actions, groups) = self.counted();
        let event = Event {
            from,
            to,
            final_at: to,
            actions,
            groups,
        };
        Request::Recount(id, event, self.random.bool())
    }

    /// Returns a new event, a change of one or its deletion.
    fn event(&mut self, model: &Model, now: i64) -> Request {
        let id = EVENTS[self.random.usize(..EVENTS.len())].to_owned();
        let known = model.events.get(&id);
        let is_final = known.is_some_and(|event| event.final_at <= now);
        if is_final || known.is_some() && self.random.u8(..8) == 0 {
            return Request::Event(id, None);
        }
        let random = &mut self.random;
        let from = now + random.i64(4 * SECOND..15 * SECOND);
        let to = from + [1, SECOND, 5 * SECOND, 40 * SECOND, 40 * SECOND][random.usize(..5)];
        let (actions, groups) = self.counted();
        let event = Event {
            from,
            to,
            final_at: to,
            actions,
            groups,
        };
        Request::Event(
            id,
            Some(match known {
                // Another end, and perhaps another rule.
                Some(known) => Event {
                    actions: match self.random.u8(..4) {
                        0 => event.actions,
                        _ => known.actions.clone(),
                    },
                    from: known.from,
                    to: to.max(known.from + 1),
                    final_at: to.max(known.from + 1),
                    groups: known.groups.clone(),
                },
                None => event,
            }),
        )
    }

    /// Returns actions and groups of an event.
    fn counted(&mut self) -> (Option<BTreeMap<String, u64>>, Vec<String>) {
        let random = &mut self.random;
        let actions = (random.u8(..3) == 0).then(|| {
            let mut some = BTreeMap::from([("like".to_owned(), 3)]);
            for action in &self.actions {
                if random.bool() {
                    some.insert(action.clone(), random.u64(1..9));
                }
            }
            some
        });
        let groups = match random.u8(..3) {
            0 => vec!["eu".to_owned(), "EU".to_owned()],
            _ => Vec::new(),
        };
        (actions, groups)
    }

    /// Returns the boundaries of an event that has begun and perhaps ended, none of them at an unknown instant of an
    /// activity.
    fn past(&mut self, model: &Model, now: i64) -> (i64, i64) {
        let random = &mut self.random;
        let mut boundary = |latest: i64| {
            let changes = &model.changes;
            let at = match random.u8(..3) {
                0 if !changes.is_empty() => {
                    changes[random.usize(..changes.len())].at.first + random.i64(-1..2)
                }
                1 => now - random.i64(..100 * HOUR),
                _ => now - random.i64(..20 * SECOND),
            };
            // An event has at most 366 days.
            let at = if at < now - 300 * 24 * HOUR {
                now - HOUR
            } else {
                at
            };
            let is_unknown = |at: i64| {
                let mut ranges = changes.iter().map(|change| change.at);
                ranges.any(|range| range.first < at && at <= range.last)
            };
            let mut earlier = at.min(latest);
            while is_unknown(earlier) {
                earlier -= 1;
            }
            earlier
        };
        let from = boundary(now - 10 * SECOND);
        let to = boundary(now - 5 * SECOND);
        match random.u8(..3) {
            0 if from < to => (from, to),
            0 if to < from => (to, from),
            _ => (from, now + random.i64(4 * SECOND..40 * SECOND)),
        }
    }

    fn groups(&mut self) -> Vec<String> {
        let mut groups = GROUPS.map(str::to_owned);
        self.random.shuffle(&mut groups);
        let count = [0, 0, 0, 1, 1, 2, 4][self.random.usize(..7)];
        groups[..count].to_vec()
    }

    fn at(&mut self, model: &Model, now: i64) -> Option<i64> {
        let random = &mut self.random;
        match random.u8(..10) {
            0..4 => None,
            // Far enough in the past not to meet the clock reading of this request.
            4 => Some(now - random.i64(100..10 * SECOND)),
            5 => Some(now - 3 * HOUR - random.i64(0..3) * HOUR),
            6 => {
                let ahead = now + random.i64(10 * SECOND..50 * SECOND);
                let calendar = &model.calendar;
                (calendar.date(ahead) == calendar.date(now)).then_some(ahead)
            }
            // The beginning of a version of the rules.
            7 if self.with_versions && !model.versions.is_empty() => {
                let version = random.usize(..model.versions.len());
                let version = model.versions.values().nth(version)?;
                let at = version.from + random.i64(-1..2);
                let is_soon = at < now + 50 * SECOND && (at - now).abs() > 5 * SECOND;
                let calendar = &model.calendar;
                (is_soon && calendar.date(at) == calendar.date(now)).then_some(at)
            }
            // A boundary of an event, also ahead.
            7 if !model.events.is_empty() => {
                let event = random.usize(..model.events.len());
                let event = model.events.values().nth(event)?;
                let boundary = if random.bool() { event.from } else { event.to };
                let at = boundary + random.i64(-1..2);
                let is_soon = at < now + 50 * SECOND && (at - now).abs() > 5 * SECOND;
                let calendar = &model.calendar;
                let today = calendar.date(at) == calendar.date(now);
                (is_soon && today).then_some(at)
            }
            _ => {
                let boundary = self.boundaries[random.usize(..self.boundaries.len())];
                let offset = [0, -1, 1, -SECOND, SECOND, -HOUR / 2, HOUR / 2][random.usize(..7)];
                Some(boundary + offset).filter(|at| *at < now - SECOND)
            }
        }
    }

    fn invalid(&mut self, now: i64) -> Item {
        let (user, invalid) = ("ada", "invalid-request");
        let (body, slug) = match self.random.u8(..8) {
            0 => (act(user, "shout", "t"), "unknown-action"),
            1 => (undo(&act(user, "visit", "/")), "not-undoable"),
            2 => (json!({ "user": user, "action": "like" }), invalid),
            3 => (like("a b", "t"), invalid),
            4 => (at(&like(user, "t"), &rfc3339(now + 120 * SECOND)), invalid),
            5 => (in_groups(&like(user, "t"), &["eu", "eu"]), invalid),
            6 => (act(user, "visit", "a"), invalid),
            _ => (json!("like"), invalid),
        };
        Item::Invalid(body, slug)
    }
}

/// Moves `at` before the last change of the record if the test knows that change only as a range
/// around `at`, also one of the same request.
fn avoid_unknown_order(mut activity: Activity, model: &Model, now: i64) -> Activity {
    let soon = now - SECOND..now + 5 * SECOND;
    if activity.at.is_some_and(|at| soon.contains(&at)) {
        activity.at = Some(now - 10 * SECOND);
    }
    let changed = model.last_change(&activity.dedup_key());
    let erased = model.erasures.iter().flatten();
    let mut ranges: Vec<InstantRange> = erased.map(|(_, at)| *at).chain(changed).collect();
    ranges.retain(|range| range.first < range.last);
    ranges.sort_by_key(|range| Reverse(range.first));
    for range in ranges {
        let near = range.first - SLACK..=range.last + SLACK;
        if activity.at.is_some_and(|at| near.contains(&at)) {
            activity.at = Some(range.first - SLACK - 1);
        }
    }
    activity
}

/// Returns when a user received points, by the instants of the activities.
pub fn received_at(user: &str, model: &Model) -> impl Iterator<Item = InstantRange> {
    let records = model.active.values();
    let received = records.filter_map(|record| Some((record.at, record.received.as_ref()?)));
    let own = received.filter(move |(_, received)| received.author.as_deref() == Some(user));
    own.map(|(changed, _)| changed)
}

/// Returns boundaries of days, weeks, months and years, and changes of the UTC offset.
fn boundaries(calendar: &Calendar, now: i64) -> Vec<i64> {
    let today = calendar.date(now);
    let mut days = vec![
        today,
        today.checked_sub(1.day()).unwrap(),
        today.checked_sub(29.days()).unwrap(),
        today.checked_sub(30.days()).unwrap(),
        today.checked_sub(31.days()).unwrap(),
        date(2026, 11, 1),
        date(2026, 1, 1),
        // A Monday of week 1 that is in the previous year.
        date(2024, 12, 30),
        date(2024, 3, 1),
        date(2021, 1, 4),
        date(1970, 1, 1),
        // Before time zones: local mean time, with an offset in seconds.
        date(1850, 1, 1),
    ];
    days.retain(|day| *day <= today);
    let mut boundaries: Vec<i64> = days.into_iter().map(|day| calendar.start(day)).collect();
    let before = Timestamp::from_millisecond(now).unwrap();
    let transitions = calendar.zone.preceding(before).take(3);
    boundaries.extend(transitions.map(|transition| transition.timestamp().as_millisecond()));
    boundaries
}

/// Leaves out follows after other activities of an array, which may change whether the followed user is known: what
/// they receive arrives after the request.
fn without_races(mut items: Vec<Item>) -> Vec<Item> {
    let mut index = 0;
    items.retain(|item| {
        index += 1;
        let follows = |activity: &Activity| activity.action == "follow" && !activity.undo;
        index == 1 || !matches!(item, Item::Activity(activity) if follows(activity))
    });
    items
}
