//! The load: the same operations for the same seed, except for instants.
//!
//! Every operation must count exactly once, however often its request is sent. If the order of two
//! operations matters they carry `at`, as a trusted service would send it: without `at` the order of
//! arrival decides, and the arrival of a request without a response is unknown while the store hangs.
//! So a like and its undo may overtake each other any number of times. Only a second like waits until
//! the undo is known to have counted: arriving between like and undo it would be a duplicate, and the
//! undo would remove both.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use test_support::Value;
use test_support::reference::Activity;

const USERS: u32 = 500;
const DAY: i64 = 86_400_000;
/// Percentages of all activities.
const UNDOS: u32 = 10;
const REPEATS: u32 = 30;
/// The share of requests that are arrays, and their lengths: about half of all activities.
const ARRAYS: f64 = 0.15;
const ARRAY_LENGTHS: std::ops::RangeInclusive<usize> = 2..=10;

/// An activity that must count exactly once, however often it is sent.
#[derive(Debug)]
pub struct Operation {
    /// The index in chronological order, from 0.
    pub number: usize,
    /// The activity to send.
    pub activity: Activity,
    /// The planned instant, in Unix milliseconds.
    pub now: i64,
    /// The operation that must have counted before this one is sent.
    pub after: Option<usize>,
}

/// One scheduled request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The scheduled time since the start.
    pub due: Duration,
    pub operations: Vec<Arc<Operation>>,
    pub is_array: bool,
}

impl Request {
    /// Creates a request with a single operation, due immediately.
    pub fn single(operation: Arc<Operation>) -> Self {
        Self {
            due: Duration::ZERO,
            operations: vec![operation],
            is_array: false,
        }
    }

    pub fn body(&self) -> String {
        let mut items = self
            .operations
            .iter()
            .map(|operation| operation.activity.json());
        match self.is_array {
            true => items.collect::<Value>().to_string(),
            false => items.next().unwrap_or_default().to_string(),
        }
    }
}

/// A generator of requests.
pub struct Load {
    random: Rng,
    start: i64,
    /// Activities per second.
    rate: u64,
    slot: u64,
    pub operations: Vec<Arc<Operation>>,
    /// Operations that can be undone.
    undoable: Vec<usize>,
    /// Undos whose activity may be sent again.
    undone: VecDeque<usize>,
    /// The number of repetitions.
    pub repeats: u64,
    /// The number of undos.
    pub undos: u64,
    /// The number of all activities.
    pub activities: u64,
}

impl Load {
    /// Creates the load of a seed that starts at an instant, with `rate` activities per second.
    pub fn new(seed: u64, start: i64, rate: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            start,
            rate,
            slot: 0,
            operations: Vec::new(),
            undoable: Vec::new(),
            undone: VecDeque::new(),
            repeats: 0,
            undos: 0,
            activities: 0,
        }
    }

    /// Returns the next request.
    pub fn next(&mut self) -> Request {
        let due = Duration::from_millis(self.slot * 1000 / self.rate);
        let is_array = self.random.f64() < ARRAYS;
        let length = if is_array {
            self.random.usize(ARRAY_LENGTHS)
        } else {
            1
        };
        let operations = (0..length).map(|_| self.next_operation()).collect();
        Request {
            due,
            operations,
            is_array,
        }
    }

    fn next_operation(&mut self) -> Arc<Operation> {
        let now = self.start + (self.slot * 1000 / self.rate).cast_signed();
        self.slot += 1;
        self.activities += 1;
        let chance = self.random.u32(..100);
        if chance < UNDOS && !self.undoable.is_empty() {
            self.undos += 1;
            return self.undo(now);
        }
        if chance < UNDOS + REPEATS && !self.operations.is_empty() {
            self.repeats += 1;
            // Half of the repetitions are sent while the first may still be in flight.
            let known = self.operations.len();
            let back = if self.random.bool() { 20 } else { 4_000 };
            let number = self.random.usize(known.saturating_sub(back)..known);
            return Arc::clone(&self.operations[number]);
        }
        match self.random.u32(..100) {
            0..5 if self.undone.len() > 200 => self.redo(now),
            0..60 => self.undated(now),
            60..85 => self.dated(now, now),
            _ => {
                let days = self.random.i64(1..=5);
                self.dated(now, now - days * DAY)
            }
        }
    }

    fn add(&mut self, activity: Activity, now: i64, after: Option<usize>) -> Arc<Operation> {
        let number = self.operations.len();
        let operation = Arc::new(Operation {
            number,
            activity,
            now,
            after,
        });
        self.operations.push(Arc::clone(&operation));
        operation
    }

    /// Returns an activity with a unique target.
    fn new_activity(&mut self, action: &str, at: Option<i64>) -> Activity {
        // A skewed distribution: some users are more active than others.
        let user = self.random.u32(..USERS).min(self.random.u32(..USERS));
        let groups = [("eu", 3), ("us", 7)].into_iter();
        let groups = groups.filter(|(_, each)| user.is_multiple_of(*each));
        Activity {
            user: format!("u{user}"),
            action: action.to_owned(),
            target: format!("/{}", self.operations.len()),
            at,
            groups: groups.map(|(group, _)| group.to_owned()).collect(),
            ..Activity::default()
        }
    }

    fn undated(&mut self, now: i64) -> Arc<Operation> {
        let actions = ["visit", "visit", "like", "comment", "follow", "publish"];
        let action = actions[self.random.usize(..actions.len())];
        let activity = self.new_activity(action, None);
        self.add(activity, now, None)
    }

    fn dated(&mut self, now: i64, at: i64) -> Arc<Operation> {
        let actions = ["visit", "like", "like", "bookmark", "follow", "comment"];
        let action = actions[self.random.usize(..actions.len())];
        let activity = self.new_activity(action, Some(at));
        let operation = self.add(activity, now, None);
        if action != "visit" {
            self.undoable.push(operation.number);
        }
        operation
    }

    /// Undoes an activity. Some activities of previous days are undone with `at` of today, so that the
    /// service must find their day in the record.
    fn undo(&mut self, now: i64) -> Arc<Operation> {
        let index = self.random.usize(..self.undoable.len());
        let done = Arc::clone(&self.operations[self.undoable.swap_remove(index)]);
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
        let operation = self.add(undo, now, None);
        self.undone.push_back(operation.number);
        operation
    }

    fn redo(&mut self, now: i64) -> Arc<Operation> {
        let undo = self.undone.pop_front();
        let undo = Arc::clone(&self.operations[undo.expect("an undone operation")]);
        let activity = Activity {
            undo: false,
            at: Some(now),
            ..undo.activity.clone()
        };
        self.add(activity, now, Some(undo.number))
    }
}

#[test]
fn load_is_reproducible_with_the_planned_shares() {
    let requests = |seed| {
        let mut load = Load::new(seed, 1_795_132_800_000, 200);
        let bodies: Vec<String> = (0..10_000).map(|_| load.next().body()).collect();
        (bodies, load)
    };
    let (bodies, load) = requests(7);
    assert_eq!(bodies, requests(7).0);
    assert_ne!(bodies, requests(8).0);
    let share = |of: u64| 100.0 * of as f64 / load.activities as f64;
    assert!((28.0..32.0).contains(&share(load.repeats)));
    assert!((9.0..11.0).contains(&share(load.undos)));
    let redone = load
        .operations
        .iter()
        .filter(|operation| operation.after.is_some());
    assert!(redone.count() > 100);
    let single = bodies.iter().filter(|body| body.starts_with('{')).count() as u64;
    assert!((40.0..60.0).contains(&share(single)));
}
