//! Requests under way, and which fault hit which of them.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::service::lock;

/// All that are under way.
#[derive(Default)]
pub struct Flights(Mutex<State>);

#[derive(Default)]
struct State {
    next: u64,
    /// Each with the faults that struck while it was under way.
    open: HashMap<u64, Vec<usize>>,
    strikes: Vec<Hits>,
}

/// What one fault did.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// Requests that were under way when it struck.
    pub in_flight: u64,
    /// Those of them that were not answered as without it.
    pub hurt: u64,
}

impl Flights {
    /// A request is under way.
    pub fn begin(&self) -> u64 {
        let mut state = lock(&self.0);
        state.next += 1;
        let flight = state.next;
        state.open.insert(flight, Vec::new());
        flight
    }

    /// It has ended, in its own way or otherwise.
    pub fn end(&self, flight: u64, is_hurt: bool) {
        let mut state = lock(&self.0);
        let struck = state.open.remove(&flight).unwrap_or_default();
        for strike in struck.into_iter().filter(|_| is_hurt) {
            state.strikes[strike].hurt += 1;
        }
    }

    /// How many are under way.
    pub fn count(&self) -> usize {
        lock(&self.0).open.len()
    }

    /// A fault strikes now; its number.
    pub fn strike(&self) -> usize {
        let mut state = lock(&self.0);
        let strike = state.strikes.len();
        for struck in state.open.values_mut() {
            struck.push(strike);
        }
        let in_flight = state.open.len() as u64;
        state.strikes.push(Hits { in_flight, hurt: 0 });
        strike
    }

    /// A fault to come that strikes requests to the store one by one, see [`Flights::spoil`].
    pub fn begin_strike(&self) -> usize {
        let mut state = lock(&self.0);
        state.strikes.push(Hits::default());
        state.strikes.len() - 1
    }

    /// The answer to a request was spoiled by such a fault.
    pub fn spoil(&self, strike: usize) {
        let hits = &mut lock(&self.0).strikes[strike];
        hits.in_flight += 1;
        hits.hurt += 1;
    }

    /// What each fault did, by its number.
    pub fn strikes(&self) -> Vec<Hits> {
        lock(&self.0).strikes.clone()
    }
}
