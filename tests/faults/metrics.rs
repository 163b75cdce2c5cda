//! Metrics of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use test_support::scaled;

use crate::service::{STORE_TIMEOUT, lock};

/// Returns the time limit of a response: the store timeout plus ten times the overhead of the Worker and this machine.
pub fn limit() -> Duration {
    scaled(STORE_TIMEOUT + Duration::from_secs(3))
}

/// The metrics, shared by all tasks.
#[derive(Default)]
pub struct Metrics(Mutex<Counts>);

/// The recorded values.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Durations of requests with a response.
    pub durations: Vec<Duration>,
    /// Durations of late requests during which workerd was down.
    pub late_worker_down: Vec<Duration>,
    /// Requests without a response because workerd was down.
    pub worker_down: u64,
    /// Other requests without a response.
    pub unanswered: u64,
    /// Retried requests.
    pub retries: u64,
    /// Aborted requests with new activities that the store accepted when they were sent again.
    pub aborted: u64,
    /// The number of these requests whose activities had all counted before.
    pub counted_aborted: u64,
    /// Outcomes of activities, by name.
    pub outcomes: BTreeMap<String, u64>,
    /// Reads by resource and result: fresh, stale, unavailable, unanswered, aborted.
    pub reads: BTreeMap<(&'static str, &'static str), u64>,
    /// Users whose boards may be wrong until a rebuild, as the log says: the store has refused a write in the middle of a
    /// script, and to restore the values before.
    pub damaged: BTreeSet<String>,
    /// Responses and log lines that must not occur.
    pub unexpected: Vec<String>,
}

impl Metrics {
    /// Records the end of a request: its duration, whether it has a response, and whether workerd was
    /// down meanwhile.
    pub fn record_request(&self, duration: Duration, has_response: bool, was_down: bool) {
        let mut counts = lock(&self.0);
        match (has_response, was_down) {
            (true, true) if duration > limit() => counts.late_worker_down.push(duration),
            (true, _) => counts.durations.push(duration),
            (false, true) => counts.worker_down += 1,
            (false, false) => counts.unanswered += 1,
        }
    }

    pub fn record_outcome(&self, name: &str) {
        let mut counts = lock(&self.0);
        *counts.outcomes.entry(name.to_owned()).or_default() += 1;
    }

    pub fn record_retry(&self) {
        lock(&self.0).retries += 1;
    }

    /// Records that the store has accepted the activities of an aborted request, sent again, and
    /// whether all of them had counted before.
    pub fn record_aborted(&self, has_counted: bool) {
        let mut counts = lock(&self.0);
        counts.aborted += 1;
        counts.counted_aborted += u64::from(has_counted);
    }

    pub fn record_read(&self, resource: &'static str, result: &'static str) {
        *lock(&self.0).reads.entry((resource, result)).or_default() += 1;
    }

    pub fn record_damaged(&self, user: &str) {
        lock(&self.0).damaged.insert(user.to_owned());
    }

    pub fn record_unexpected(&self, text: String) {
        lock(&self.0).unexpected.push(text);
    }

    pub fn counts(&self) -> Counts {
        lock(&self.0).clone()
    }
}

impl Counts {
    /// Returns the share of aborted requests whose activities counted without their client. A request
    /// that is aborted before the Worker has its body does not count.
    pub fn share_of_aborted_counted(&self) -> f64 {
        self.counted_aborted as f64 / self.aborted.max(1) as f64
    }

    /// Returns the share of responses in time, without requests during which workerd was down.
    pub fn share_in_time(&self) -> f64 {
        let (limit, durations) = (limit(), self.durations.iter());
        let within = durations.filter(|duration| **duration <= limit).count();
        let all = self.durations.len() as u64 + self.unanswered;
        within as f64 / all.max(1) as f64
    }
}

/// Returns a quantile in thousandths: 990 is the 99th percentile.
pub fn quantile(all: &[Duration], thousandths: usize) -> Duration {
    let mut all = all.to_vec();
    all.sort_unstable();
    let index = (all.len() * thousandths / 1000).min(all.len().saturating_sub(1));
    all.get(index).copied().unwrap_or_default()
}
