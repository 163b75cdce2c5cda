//! Requests in flight, and the faults that affect them.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::service::lock;

/// All requests in flight, and the effects of all faults.
#[derive(Default)]
pub struct InFlight(Mutex<State>);

#[derive(Default)]
struct State {
    next_request: u64,
    /// The faults injected during each open request.
    open: HashMap<u64, Vec<usize>>,
    faults: Vec<FaultEffect>,
}

/// The effect of one fault.
#[derive(Clone, Debug, Default)]
pub struct FaultEffect {
    /// The number of requests that were aborted, or whose response was late, missing or changed.
    pub affected: u64,
}

impl InFlight {
    /// Registers a request and returns its number.
    pub fn begin(&self) -> u64 {
        let mut state = lock(&self.0);
        state.next_request += 1;
        let request = state.next_request;
        state.open.insert(request, Vec::new());
        request
    }

    /// Removes a request that has ended.
    pub fn end(&self, request: u64, is_affected: bool) {
        let mut state = lock(&self.0);
        let faults = state.open.remove(&request).unwrap_or_default();
        for fault in faults.into_iter().filter(|_| is_affected) {
            state.faults[fault].affected += 1;
        }
    }

    /// Returns the number of requests in flight.
    pub fn count(&self) -> usize {
        lock(&self.0).open.len()
    }

    /// Records a fault that affects all requests in flight now, and returns its number.
    pub fn record_fault(&self) -> usize {
        let mut state = lock(&self.0);
        let fault = state.faults.len();
        for faults in state.open.values_mut() {
            faults.push(fault);
        }
        state.faults.push(FaultEffect::default());
        fault
    }

    /// Records a fault that affects requests one by one, each of them recorded by
    /// [`record_affected`](Self::record_affected), and returns its number.
    pub fn record_selective_fault(&self) -> usize {
        let mut state = lock(&self.0);
        state.faults.push(FaultEffect::default());
        state.faults.len() - 1
    }

    /// Records a request that a fault was injected into, and whether the fault affected it.
    pub fn record_affected(&self, fault: usize, is_affected: bool) {
        let mut state = lock(&self.0);
        state.faults[fault].affected += u64::from(is_affected);
    }

    /// Returns the effect of each fault, by its number.
    pub fn faults(&self) -> Vec<FaultEffect> {
        lock(&self.0).faults.clone()
    }
}
