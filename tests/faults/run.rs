//! What all tasks of a run share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use test_support::{Answer, Method};

use crate::figures::{Figures, LIMIT};
use crate::flights::Flights;
use crate::ledger::Ledger;
use crate::service::{Service, lock};

/// How far apart requests are that are sent again, so that they are no load of their own.
const PACE: Duration = Duration::from_millis(10);

/// So many answers in a row from the store, and it is well.
const WELL: u32 = 5;

pub struct Run {
    pub service: Service,
    pub ledger: Ledger,
    pub flights: Flights,
    pub figures: Figures,
    /// No new load, reads and faults.
    pub is_over: AtomicBool,
    /// Answers in a row that came from the store.
    from_store: AtomicU32,
    next_again: Mutex<Instant>,
}

impl Run {
    pub fn new(service: Service) -> Self {
        Self {
            service,
            ledger: Ledger::default(),
            flights: Flights::default(),
            figures: Figures::default(),
            is_over: AtomicBool::new(false),
            from_store: AtomicU32::new(0),
            next_again: Mutex::new(Instant::now()),
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Sends a request and keeps the time. A fault that strikes meanwhile has hurt it if it is not
    /// answered in time, or the answer shows it.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: String,
        shows_fault: impl Fn(&Answer) -> bool,
    ) -> Option<Answer> {
        let (flight, from) = (self.flights.begin(), Instant::now());
        let answer = self.service.send(method, path, body).await;
        let (to, took) = (Instant::now(), from.elapsed());
        let was_dead = self.service.was_dead(from, to);
        self.figures.ended(took, answer.is_some(), was_dead);
        let is_hurt = took > LIMIT || answer.as_ref().is_none_or(shows_fault);
        self.flights.end(flight, is_hurt);
        answer
    }

    /// The store has answered, or not.
    pub fn heard(&self, from_store: bool) {
        if from_store {
            self.from_store.fetch_add(1, Ordering::Relaxed);
        } else {
            self.from_store.store(0, Ordering::Relaxed);
        }
    }

    pub fn is_well(&self) -> bool {
        self.from_store.load(Ordering::Relaxed) >= WELL
    }

    /// Waits for the turn of a request that is sent again.
    pub async fn turn(&self) {
        let turn = {
            let mut next = lock(&self.next_again);
            *next = (*next).max(Instant::now()) + PACE;
            *next
        };
        tokio::time::sleep_until(turn.into()).await;
    }
}
