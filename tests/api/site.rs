//! A service of the test's own, where it is noon.

use std::ops::Deref;

use test_support::{Answer, Value, Worker, WorkerBuilder, json};

use crate::client::Client;
use crate::clock::noon_zone;
use crate::store::Store;

/// A Worker to be that waits for its store as long as a busy machine takes.
pub fn patient() -> WorkerBuilder {
    Worker::builder().var("STORE_TIMEOUT_MS", "20000")
}

/// A running Worker with a client of it.
pub struct Site {
    worker: Worker,
    client: Client,
}

impl Site {
    /// One with default settings, but for the time zone and its patience.
    pub fn start() -> Self {
        Self::with(|worker| worker)
    }

    /// One with other settings.
    pub fn with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Self {
        let worker = configure(patient().var("TIMEZONE", noon_zone())).start();
        let client = Client::new(worker.api());
        Self { worker, client }
    }

    /// Its keys in the shared Redis.
    pub fn store(&self) -> Store {
        Store::shared(self.worker.prefix())
    }

    pub fn url(&self) -> &str {
        self.worker.url()
    }

    pub fn prefix(&self) -> &str {
        self.worker.prefix()
    }

    /// The process id of its Worker.
    pub fn pid(&self) -> u32 {
        self.worker.pid()
    }

    /// Everything the Worker has written.
    pub fn log(&self) -> String {
        self.worker.log()
    }

    /// What it has logged, line by line; workerd's own lines have no level.
    pub fn log_lines(&self) -> Vec<Value> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| {
            // workerd may begin a line with the script's name and the like.
            let json = line.get(line.find('{')?..)?;
            serde_json::from_str::<Value>(json).ok()
        });
        // Plain workerd has no cache, which is told at each board and of no interest here.
        let of_interest = |line: &Value| line.get("level").is_some_and(|level| level != "debug");
        lines.filter(of_interest).collect()
    }

    /// Sends one activity, or an array of them.
    pub async fn send_activity(&self, activity: Value) -> Answer {
        self.client.post("/v1/activity", &activity).await
    }

    /// Sends one activity that is to have this outcome.
    #[track_caller]
    pub fn outcome(&self, activity: Value, outcome: &str) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.send_activity(activity.clone()).await;
            assert_eq!(
                answer.body["outcome"], outcome,
                "{caller}: {activity}: {}",
                answer.text
            );
            answer.body
        }
    }

    /// Counts an activity of a user on a target.
    pub async fn count(&self, user: &str, action: &str, target: &str) {
        self.outcome(
            json!({"user": user, "action": action, "target": target}),
            "counted",
        )
        .await;
    }
}

impl Deref for Site {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
