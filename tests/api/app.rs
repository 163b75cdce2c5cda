//! A service under test: one Worker in a time zone where it is noon.

use std::ops::Deref;

use test_support::{DataPoint, Forwarder, Value, Worker, WorkerBuilder, gateway};

use crate::client::Client;
use crate::clock::noon_zone;
use crate::store::Store;

/// A running Worker and its client.
pub struct TestApp {
    pub worker: Worker,
    client: Client,
}

impl TestApp {
    /// Starts a Worker with default settings, except for the time zone and the store timeout.
    pub fn start() -> Self {
        Self::with(|worker| worker)
    }

    /// Starts a Worker with the settings that `configure` adds.
    pub fn with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Self {
        Self::of(configure(Worker::builder().var("TIMEZONE", noon_zone())).start())
    }

    pub fn of(worker: Worker) -> Self {
        let client = Client::new(worker.api());
        Self { worker, client }
    }

    /// Starts a Worker whose requests to the store pass a forwarder.
    pub fn behind_forwarder(
        configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder,
    ) -> (Self, Forwarder) {
        let forwarder = Forwarder::to(&gateway().url());
        let app = Self::with(|worker| configure(worker.store(&forwarder.url())));
        (app, forwarder)
    }

    /// Returns the keys of this Worker in the shared Redis.
    pub fn store(&self) -> Store {
        Store::shared(self.worker.prefix())
    }

    pub fn url(&self) -> &str {
        self.worker.url()
    }

    pub fn prefix(&self) -> &str {
        self.worker.prefix()
    }

    /// Returns the process id of the Worker.
    pub fn pid(&self) -> u32 {
        self.worker.pid()
    }

    /// Reads a file of the Worker's process below `/proc`; empty where there is none.
    pub fn process(&self, file: &str) -> String {
        let path = format!("/proc/{}/{file}", self.pid());
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// Returns the resident memory of the Worker in kilobytes.
    pub fn memory(&self) -> u64 {
        let status = self.process("status");
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or_default()
    }

    /// Returns the data points that the Worker has written.
    pub fn points(&self) -> Vec<DataPoint> {
        self.worker.points()
    }

    /// Returns the complete output of the Worker.
    pub fn log(&self) -> String {
        self.worker.log()
    }

    /// Returns the JSON lines that the Worker has logged, except at level `debug`.
    ///
    /// Lines of workerd itself have no level and are left out.
    pub fn log_lines(&self) -> Vec<Value> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| {
            // workerd may put the name of the script in front.
            let json = line.get(line.find('{')?..)?;
            serde_json::from_str::<Value>(json).ok()
        });
        // Plain workerd has no Cache API, and the Worker logs that at `debug` for every board.
        let is_relevant = |line: &Value| line.get("level").is_some_and(|level| level != "debug");
        lines.filter(is_relevant).collect()
    }
}

impl Deref for TestApp {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
