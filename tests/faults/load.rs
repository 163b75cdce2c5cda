//! What is sent: the same for the same seed, but for the instants.
//!
//! Whatever becomes of a request, each deed must have counted once in the end. Where the order of
//! two deeds matters they are dated, as a trusted service dates them: without a date order of
//! arrival decides, and of a request that was not answered nobody knows when, behind a store that
//! hangs, it arrives. So a like and its undo may overtake one another on any way, and more than
//! once. Only what is liked again waits until the undo is known to have been counted: a like that
//! arrives between like and undo would be a repeat, and the undo would take both back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use test_support::Value;
use test_support::reference::Activity;

const USERS: u32 = 500;
const DAY: i64 = 86_400_000;
/// Shares of all activities, in percent.
const UNDOS: u32 = 10;
const REPEATS: u32 = 30;
/// The share of requests that are arrays, and how long these are: about half of all activities.
const ARRAYS: f64 = 0.15;
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=10;

/// Something that somebody does, once, however often it is sent.
#[derive(Debug)]
pub struct Deed {
    /// From 0, in the order in which they are done.
    pub number: usize,
    /// What is sent.
    pub activity: Activity,
    /// When, in Unix milliseconds, if nothing is late.
    pub now: i64,
    /// The one that must have counted before.
    pub after: Option<usize>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Order {
    /// After the beginning.
    pub due: Duration,
    pub deeds: Vec<Arc<Deed>>,
    pub is_array: bool,
}

impl Order {
    /// One deed alone.
    pub fn of(deed: Arc<Deed>) -> Self {
        Self {
            due: Duration::ZERO,
            deeds: vec![deed],
            is_array: false,
        }
    }

    pub fn body(&self) -> String {
        let mut items = self.deeds.iter().map(|deed| deed.activity.json());
        match self.is_array {
            true => items.collect::<Value>().to_string(),
            false => items.next().unwrap_or_default().to_string(),
        }
    }
}

/// All that is done.
pub struct Load {
    random: Rng,
    start: i64,
    /// Activities a second.
    rate: u64,
    slot: u64,
    pub deeds: Vec<Arc<Deed>>,
    /// Those that can be taken back.
    open: Vec<usize>,
    /// Those that took something back, and may be done again.
    undone: VecDeque<usize>,
    /// How many activities were repeats.
    pub repeats: u64,
    /// How many were undos.
    pub undos: u64,
    /// How many activities there were in all.
    pub activities: u64,
}

impl Load {
    /// That of a seed, beginning at an instant, with so many activities a second.
    pub fn new(seed: u64, start: i64, rate: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            start,
            rate,
            slot: 0,
            deeds: Vec::new(),
            open: Vec::new(),
            undone: VecDeque::new(),
            repeats: 0,
            undos: 0,
            activities: 0,
        }
    }

    /// The next request.
    pub fn next(&mut self) -> Order {
        let due = Duration::from_millis(self.slot * 1000 / self.rate);
        let is_array = self.random.f64() < ARRAYS;
        let length = if is_array {
            self.random.usize(LENGTHS)
        } else {
            1
        };
        let deeds = (0..length).map(|_| self.deed()).collect();
        Order {
            due,
            deeds,
            is_array,
        }
    }

    fn deed(&mut self) -> Arc<Deed> {
        let now = self.start + (self.slot * 1000 / self.rate).cast_signed();
        self.slot += 1;
        self.activities += 1;
        let chance = self.random.u32(..100);
        if chance < UNDOS && !self.open.is_empty() {
            self.undos += 1;
            return self.undo(now);
        }
        if chance < UNDOS + REPEATS && !self.deeds.is_empty() {
            self.repeats += 1;
            // Half of them while the first may still be on its way.
            let known = self.deeds.len();
            let back = if self.random.bool() { 20 } else { 4_000 };
            let number = self.random.usize(known.saturating_sub(back)..known);
            return Arc::clone(&self.deeds[number]);
        }
        match self.random.u32(..100) {
            0..5 if self.undone.len() > 200 => self.again(now),
            0..60 => self.undated(now),
            60..85 => self.dated(now, now),
            _ => {
                let days = self.random.i64(1..=5);
                self.dated(now, now - days * DAY)
            }
        }
    }

    fn done(&mut self, activity: Activity, now: i64, after: Option<usize>) -> Arc<Deed> {
        let number = self.deeds.len();
        let deed = Arc::new(Deed {
            number,
            activity,
            now,
            after,
        });
        self.deeds.push(Arc::clone(&deed));
        deed
    }

    /// Something new; no other has its target.
    fn new_activity(&mut self, action: &str, at: Option<i64>) -> Activity {
        // Some do more than others.
        let user = self.random.u32(..USERS).min(self.random.u32(..USERS));
        let groups = [("eu", 3), ("us", 7)].into_iter();
        let groups = groups.filter(|(_, each)| user.is_multiple_of(*each));
        Activity {
            user: format!("u{user}"),
            action: action.to_owned(),
            target: format!("/{}", self.deeds.len()),
            undo: false,
            at,
            groups: groups.map(|(group, _)| group.to_owned()).collect(),
        }
    }

    fn undated(&mut self, now: i64) -> Arc<Deed> {
        let actions = ["visit", "visit", "like", "comment", "follow", "publish"];
        let action = actions[self.random.usize(..actions.len())];
        let activity = self.new_activity(action, None);
        self.done(activity, now, None)
    }

    fn dated(&mut self, now: i64, at: i64) -> Arc<Deed> {
        let actions = ["visit", "like", "like", "bookmark", "follow", "comment"];
        let action = actions[self.random.usize(..actions.len())];
        let activity = self.new_activity(action, Some(at));
        let deed = self.done(activity, now, None);
        if action != "visit" {
            self.open.push(deed.number);
        }
        deed
    }

    /// Of those of days before some are taken back now, which the service has to look for.
    fn undo(&mut self, now: i64) -> Arc<Deed> {
        let place = self.random.usize(..self.open.len());
        let done = Arc::clone(&self.deeds[self.open.swap_remove(place)]);
        let at = match done.activity.at {
            Some(at) if at < now - DAY / 2 && self.random.bool() => at + 60_000,
            _ => now,
        };
        let groups = if self.random.bool() {
            done.activity.groups.clone()
        } else {
            Vec::new()
        };
        let undo = Activity {
            undo: true,
            at: Some(at),
            groups,
            ..done.activity.clone()
        };
        let deed = self.done(undo, now, None);
        self.undone.push_back(deed.number);
        deed
    }

    fn again(&mut self, now: i64) -> Arc<Deed> {
        let undo = self.undone.pop_front();
        let undo = Arc::clone(&self.deeds[undo.expect("something was taken back")]);
        let activity = Activity {
            undo: false,
            at: Some(now),
            ..undo.activity.clone()
        };
        self.done(activity, now, Some(undo.number))
    }
}

#[test]
fn a_seed_makes_the_same_load_again_in_the_shares_that_are_promised() {
    let orders = |seed| {
        let mut load = Load::new(seed, 1_795_132_800_000, 200);
        let bodies: Vec<String> = (0..10_000).map(|_| load.next().body()).collect();
        (bodies, load)
    };
    let (bodies, load) = orders(7);
    assert_eq!(bodies, orders(7).0);
    assert_ne!(bodies, orders(8).0);
    let share = |of: u64| 100.0 * of as f64 / load.activities as f64;
    assert!((28.0..32.0).contains(&share(load.repeats)));
    assert!((9.0..11.0).contains(&share(load.undos)));
    let again = load.deeds.iter().filter(|deed| deed.after.is_some());
    assert!(again.count() > 100);
    let alone = bodies.iter().filter(|body| body.starts_with('{')).count() as u64;
    assert!((40.0..60.0).contains(&share(alone)));
}
