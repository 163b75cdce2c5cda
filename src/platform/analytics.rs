//! Workers Analytics Engine: the dataset `ANALYTICS`.
//!
//! `entry.js` writes the data points of requests, because many of them never enter the wasm. Jobs write
//! theirs here. Nothing is written without the binding.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/analytics.js")]
extern "C" {
    #[wasm_bindgen(js_name = "writeJob")]
    fn write_job(job: &str, trigger: &str, outcome: &str, numbers: &[f64]);
}

/// A run of cron.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled<'a> {
    /// The schedule.
    pub cron: &'a str,
    /// `ok`, `failed` or `misconfigured`.
    pub outcome: &'static str,
    /// How long it took, in milliseconds.
    pub duration: i64,
    /// Its requests to the store, transactions of D1 and operations of KV.
    pub requests: u32,
    /// The entries of all outboxes when it began.
    pub entries: u64,
}

/// A batch of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// How long it took, in milliseconds.
    pub duration: i64,
    /// Its messages.
    pub messages: usize,
    /// Those that are delivered again.
    pub retried: usize,
    /// Those that were sent to the dead-letter queue because they cannot be read.
    pub dead: usize,
    /// Milliseconds since the oldest was queued.
    pub age: i64,
}

impl Scheduled<'_> {
    /// Writes the data point.
    pub fn write(self) {
        let numbers = [
            self.duration as f64,
            f64::from(self.requests),
            self.entries as f64,
        ];
        write_job("scheduled", self.cron, self.outcome, &numbers);
    }
}

impl Batch {
    /// Writes the data point.
    pub fn write(self) {
        let outcome = if self.retried == 0 { "ok" } else { "retried" };
        let counts = [self.messages, self.retried, self.dead].map(|count| count as f64);
        let [messages, retried, dead] = counts;
        let numbers = [
            self.duration as f64,
            0.0,
            messages,
            retried,
            dead,
            self.age as f64,
        ];
        write_job("queue", "", outcome, &numbers);
    }
}
