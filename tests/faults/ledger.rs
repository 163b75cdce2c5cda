//! What is known of each deed, and what waits in the queue.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use test_support::Value;

use crate::load::Deed;

/// What tells a deed from others: target, whether it is an undo, and its date where it has one.
type Name = (String, bool, Option<i64>);

/// The local broker of queues keeps messages in memory, so what waits dies with its workerd.
#[derive(Default)]
pub struct Ledger(Mutex<State>);

#[derive(Default)]
struct State {
    names: HashMap<Name, Arc<Deed>>,
    /// Deeds that the store is known to have counted.
    counted: BTreeSet<usize>,
    /// Deeds that are in the queue and not known to be counted.
    held: BTreeMap<usize, Arc<Deed>>,
    /// Messages in the queue, by the deeds in them: taken less done with.
    waiting: HashMap<Vec<usize>, i64>,
    /// How often workerd has died.
    deaths: u64,
    is_dead: bool,
    /// Isolates that have died.
    gone: BTreeSet<String>,
    seen: BTreeSet<String>,
    figures: Held,
}

/// Figures of the queue.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Messages that callers were told are queued.
    pub taken: u64,
    /// Messages that were counted.
    pub done: u64,
    /// Messages that died with workerd.
    pub lost: u64,
    /// Messages that wait.
    pub waiting: i64,
    /// Deeds sent again because of those, which nobody knew to be counted.
    pub sent_again: u64,
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes deeds known before they are sent; how often workerd has died so far.
    pub fn send(&self, deeds: &[Arc<Deed>]) -> u64 {
        let mut state = self.state();
        for deed in deeds {
            let activity = &deed.activity;
            let name = (activity.target.clone(), activity.undo, activity.at);
            state.names.insert(name, Arc::clone(deed));
        }
        state.deaths
    }

    /// A deed was counted, whoever says so.
    pub fn counted(&self, deed: &Deed) {
        self.state().count(deed.number);
    }

    /// A message with deeds was taken into the queue of a workerd that had seen so many others die.
    /// Those that have to be sent again, because it has died meanwhile.
    pub fn queued(&self, deeds: &[Arc<Deed>], deaths: u64) -> Vec<Arc<Deed>> {
        let mut state = self.state();
        state.figures.taken += 1;
        if deaths != state.deaths {
            state.figures.lost += 1;
            let lost = deeds.iter().filter(|deed| !state.is_counted(deed.number));
            let lost: Vec<_> = lost.cloned().collect();
            state.figures.sent_again += lost.len() as u64;
            return lost;
        }
        for deed in deeds {
            if !state.is_counted(deed.number) {
                state.held.insert(deed.number, Arc::clone(deed));
            }
        }
        state.wait(deeds.iter().map(|deed| deed.number).collect(), 1);
        Vec::new()
    }

    /// An isolate has done with a message.
    pub fn done(&self, isolate: &str, message: &str) {
        let mut state = self.state();
        let read = |item: &Value| {
            let at = item["at"].as_str()?.parse::<jiff::Timestamp>().ok()?;
            let target = item["target"].as_str()?.to_owned();
            let undo = item["undo"] == true;
            let mut name = (target, undo, Some(at.as_millisecond()));
            if !state.names.contains_key(&name) {
                name.2 = None;
            }
            Some(state.names.get(&name)?.number)
        };
        let items: Vec<Value> = serde_json::from_str(message).unwrap_or_default();
        let numbers: Option<Vec<usize>> = items.iter().map(read).collect();
        let numbers = numbers.unwrap_or_else(|| panic!("not a message of ours: {message}"));
        for number in &numbers {
            state.count(*number);
        }
        state.figures.done += 1;
        if state.seen.insert(isolate.to_owned()) && state.is_dead {
            state.gone.insert(isolate.to_owned());
        }
        if !state.gone.contains(isolate) {
            state.wait(numbers, -1);
        }
    }

    /// workerd has died: what it held is to be sent again, unless it is known to be counted.
    pub fn died(&self) -> Vec<Arc<Deed>> {
        let mut state = self.state();
        state.deaths += 1;
        state.is_dead = true;
        let seen = std::mem::take(&mut state.seen);
        state.gone.extend(seen);
        let waiting = std::mem::take(&mut state.waiting);
        let lost = waiting.values().filter(|count| **count > 0).sum::<i64>();
        state.figures.lost += lost.unsigned_abs();
        let held = std::mem::take(&mut state.held);
        state.figures.sent_again += held.len() as u64;
        held.into_values().collect()
    }

    /// Another workerd is there.
    pub fn revived(&self) {
        self.state().is_dead = false;
    }

    /// Whether the store is known to have counted it.
    pub fn is_counted(&self, number: usize) -> bool {
        self.state().is_counted(number)
    }

    /// How many deeds are known to be counted.
    pub fn all_counted(&self) -> usize {
        self.state().counted.len()
    }

    /// Whether nothing waits any more. (Of a message whose caller was not answered nobody knows
    /// that it was taken, only that it is done with.)
    pub fn is_drained(&self) -> bool {
        let state = self.state();
        state.held.is_empty() && state.waiting.values().all(|count| *count < 0)
    }

    pub fn figures(&self) -> Held {
        let state = self.state();
        Held {
            waiting: state.waiting.values().filter(|count| **count > 0).sum(),
            ..state.figures.clone()
        }
    }
}

impl State {
    fn is_counted(&self, number: usize) -> bool {
        self.counted.contains(&number)
    }

    fn count(&mut self, number: usize) {
        self.counted.insert(number);
        self.held.remove(&number);
    }

    /// A message may be done with before its caller has heard that it was taken.
    fn wait(&mut self, message: Vec<usize>, change: i64) {
        let count = self.waiting.get(&message).unwrap_or(&0) + change;
        match count {
            0 => self.waiting.remove(&message),
            _ => self.waiting.insert(message, count),
        };
    }
}
