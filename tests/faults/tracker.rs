//! Tracks which operations have counted, and which messages wait in the queue.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use test_support::Value;

use crate::load::Operation;

/// The identity of an operation: target, whether it is an undo, and `at` if it has one.
type OperationKey = (String, bool, Option<i64>);

/// The tracker. The local queue broker keeps messages in memory, so queued messages die with their
/// workerd and their operations must be sent again.
#[derive(Default)]
pub struct Tracker(Mutex<State>);

#[derive(Default)]
struct State {
    operations: HashMap<OperationKey, Arc<Operation>>,
    /// Operations that are known to have counted.
    counted: BTreeSet<usize>,
    /// Queued operations that are not known to have counted.
    queued: BTreeMap<usize, Arc<Operation>>,
    /// The number of waiting messages by their operations: accepted less acknowledged.
    waiting: HashMap<Vec<usize>, i64>,
    /// The number of deaths of workerd.
    deaths: u64,
    is_dead: bool,
    dead_isolates: BTreeSet<String>,
    live_isolates: BTreeSet<String>,
    figures: QueueFigures,
}

/// Figures of the queue.
#[derive(Clone, Debug, Default)]
pub struct QueueFigures {
    /// Messages that were reported to callers as queued.
    pub accepted: u64,
    /// Messages that were acknowledged.
    pub acknowledged: u64,
    /// Messages that died with workerd.
    pub lost: u64,
    /// Operations of lost messages that were sent again because they were not known to have counted.
    pub sent_again: u64,
}

impl Tracker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers operations before they are sent, and returns the number of deaths of workerd so far.
    pub fn register(&self, operations: &[Arc<Operation>]) -> u64 {
        let mut state = self.state();
        for operation in operations {
            let activity = &operation.activity;
            let key = (activity.target.clone(), activity.undo, activity.at);
            state.operations.insert(key, Arc::clone(operation));
        }
        state.deaths
    }

    /// Records that an operation has counted.
    pub fn counted(&self, operation: &Operation) {
        self.state().count(operation.number);
    }

    /// Records that a message was queued. `deaths` is the number of deaths of workerd when the
    /// message was sent. If workerd has died since, the message is lost, and the operations to send
    /// again are returned.
    pub fn queued(&self, operations: &[Arc<Operation>], deaths: u64) -> Vec<Arc<Operation>> {
        let mut state = self.state();
        state.figures.accepted += 1;
        let uncounted = operations
            .iter()
            .filter(|operation| !state.is_counted(operation.number));
        let uncounted: Vec<_> = uncounted.cloned().collect();
        if deaths != state.deaths {
            state.figures.lost += 1;
            state.figures.sent_again += uncounted.len() as u64;
            return uncounted;
        }
        for operation in uncounted {
            state.queued.insert(operation.number, operation);
        }
        let message = operations.iter().map(|operation| operation.number);
        state.change_waiting(message.collect(), 1);
        Vec::new()
    }

    /// Records that an isolate has acknowledged a message.
    pub fn acknowledged(&self, isolate: &str, message: &str) {
        let mut state = self.state();
        let number = |item: &Value| {
            let at = item["at"].as_str()?.parse::<jiff::Timestamp>().ok()?;
            let target = item["target"].as_str()?.to_owned();
            let undo = item["undo"] == true;
            let mut key = (target, undo, Some(at.as_millisecond()));
            if !state.operations.contains_key(&key) {
                // The Worker added the instant of the request.
                key.2 = None;
            }
            Some(state.operations.get(&key)?.number)
        };
        let items: Vec<Value> = serde_json::from_str(message).unwrap_or_default();
        let numbers: Option<Vec<usize>> = items.iter().map(number).collect();
        let numbers = numbers.unwrap_or_else(|| panic!("unknown message: {message}"));
        for number in &numbers {
            state.count(*number);
        }
        state.figures.acknowledged += 1;
        if state.live_isolates.insert(isolate.to_owned()) && state.is_dead {
            state.dead_isolates.insert(isolate.to_owned());
        }
        if !state.dead_isolates.contains(isolate) {
            state.change_waiting(numbers, -1);
        }
    }

    /// Records the death of workerd with its queue, and returns the operations to send again.
    pub fn workerd_died(&self) -> Vec<Arc<Operation>> {
        let mut state = self.state();
        state.deaths += 1;
        state.is_dead = true;
        let isolates = std::mem::take(&mut state.live_isolates);
        state.dead_isolates.extend(isolates);
        let waiting = std::mem::take(&mut state.waiting);
        let lost = waiting.values().filter(|count| **count > 0).sum::<i64>();
        state.figures.lost += lost.unsigned_abs();
        let queued = std::mem::take(&mut state.queued);
        state.figures.sent_again += queued.len() as u64;
        queued.into_values().collect()
    }

    pub fn workerd_restarted(&self) {
        self.state().is_dead = false;
    }

    pub fn is_counted(&self, number: usize) -> bool {
        self.state().is_counted(number)
    }

    /// Returns the number of operations that are known to have counted.
    pub fn counted_total(&self) -> usize {
        self.state().counted.len()
    }

    /// Returns whether no message waits. The count of a message is negative if its caller got no
    /// response: then only its acknowledgement is known.
    pub fn is_drained(&self) -> bool {
        let state = self.state();
        state.queued.is_empty() && state.waiting.values().all(|count| *count < 0)
    }

    pub fn queue_figures(&self) -> QueueFigures {
        self.state().figures.clone()
    }
}

impl State {
    fn is_counted(&self, number: usize) -> bool {
        self.counted.contains(&number)
    }

    fn count(&mut self, number: usize) {
        self.counted.insert(number);
        self.queued.remove(&number);
    }

    /// Changes the count of a message, which may be acknowledged before its caller has the response.
    fn change_waiting(&mut self, message: Vec<usize>, change: i64) {
        let count = self.waiting.get(&message).unwrap_or(&0) + change;
        match count {
            0 => self.waiting.remove(&message),
            _ => self.waiting.insert(message, count),
        };
    }
}
