//! What is counted while it runs.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use crate::service::{STORE_TIMEOUT, lock};

/// How long an answer may take: the deadline of the store, and what the Worker and this machine add.
pub const LIMIT: Duration = STORE_TIMEOUT.saturating_add(Duration::from_millis(300));

/// All figures.
#[derive(Default)]
pub struct Figures(Mutex<Counts>);

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// How long each request took that the Worker answered.
    pub took: Vec<Duration>,
    /// How long those took that were answered late, because there was no workerd for a while.
    pub waited_for_workerd: Vec<Duration>,
    /// Requests that died with workerd, or found none.
    pub worker_dead: u64,
    /// Requests that were not answered for no such reason.
    pub unanswered: u64,
    /// Requests sent again because they were not answered.
    pub sent_again: u64,
    /// Outcomes of activities, by name.
    pub outcomes: BTreeMap<String, u64>,
    /// How boards and standings were answered: fresh, stale, unavailable, worker dead.
    pub reads: BTreeMap<(&'static str, &'static str), u64>,
    /// How late tasks of this process itself were woken.
    pub lags: Vec<Duration>,
    /// What must not be.
    pub wrong: Vec<String>,
}

impl Figures {
    /// A request has ended after so long: whether it was answered, and whether there was no workerd
    /// meanwhile.
    pub fn ended(&self, took: Duration, is_answered: bool, was_dead: bool) {
        let mut counts = lock(&self.0);
        match (is_answered, was_dead) {
            (true, true) if took > LIMIT => counts.waited_for_workerd.push(took),
            (true, _) => counts.took.push(took),
            (false, true) => counts.worker_dead += 1,
            (false, false) => counts.unanswered += 1,
        }
    }

    pub fn outcome(&self, name: &str) {
        let mut counts = lock(&self.0);
        *counts.outcomes.entry(name.to_owned()).or_default() += 1;
    }

    pub fn sent_again(&self) {
        lock(&self.0).sent_again += 1;
    }

    pub fn read(&self, what: &'static str, how: &'static str) {
        *lock(&self.0).reads.entry((what, how)).or_default() += 1;
    }

    pub fn lag(&self, late: Duration) {
        lock(&self.0).lags.push(late);
    }

    pub fn wrong(&self, what: String) {
        lock(&self.0).wrong.push(what);
    }

    pub fn counts(&self) -> Counts {
        lock(&self.0).clone()
    }
}

impl Counts {
    /// The share of requests that were answered in time, of those that could be.
    pub fn share_in_time(&self) -> f64 {
        let within = self.took.iter().filter(|took| **took <= LIMIT).count();
        let all = self.took.len() as u64 + self.unanswered;
        within as f64 / all.max(1) as f64
    }
}

/// So many of a thousand are not longer than this.
pub fn quantile(all: &[Duration], thousandths: usize) -> Duration {
    let mut all = all.to_vec();
    all.sort_unstable();
    let place = (all.len() * thousandths / 1000).min(all.len().saturating_sub(1));
    all.get(place).copied().unwrap_or_default()
}
