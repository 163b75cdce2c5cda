//! A running Worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::{Api, SERVICE_KEY};
use crate::cron_cost::CronCost;
use crate::server_process::{ServerProcess, Signal, descendants, send_signal};
use crate::services::Platform;
use crate::slowness::scaled;
use crate::until::until;
use crate::{miniflare, repository, workerd};

/// The built Worker in a workerd of its own; ends on drop.
#[must_use]
pub struct Worker {
    child: ServerProcess,
    url: String,
    prefix: String,
    platform: Platform,
    /// The bundle, the configuration and the persisted state of the local services.
    folder: Arc<TempDir>,
}

impl Worker {
    /// Serves what [`workerd::prepare`] or [`miniflare::prepare`] has written to a folder.
    pub(crate) fn serve(folder: Arc<TempDir>, prefix: String, platform: Platform) -> Self {
        let (child, url) = match platform {
            Platform::Workerd => workerd::serve(folder.path()),
            Platform::Miniflare => miniflare::serve(folder.path(), miniflare::CONFIG),
        };
        Self {
            child,
            url,
            prefix,
            platform,
            folder,
        }
    }

    /// Starts another Worker with the same settings and the same persisted state, as on another machine.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn beside(&self) -> Self {
        Self::serve(Arc::clone(&self.folder), self.prefix.clone(), self.platform)
    }

    /// Restarts it with the persisted state and empty memory, as a new isolate on another machine
    /// would start.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn restart(self) -> Self {
        drop(self.child);
        Self::serve(self.folder, self.prefix, self.platform)
    }

    /// Kills workerd (`kill -9`), whatever it is doing, and restarts.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn crash(mut self) -> Self {
        match self.platform {
            Platform::Workerd => self.kill(),
            Platform::Miniflare => send_signal(Signal::KILL, self.workerd_of_miniflare()),
        }
        self.restart()
    }

    /// Kills it (`kill -9`) and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Kills the workerd of Miniflare (`kill -9`), which loses everything in memory, such as
    /// queued messages, and waits for its end. Miniflare starts another at the same address.
    /// `just_before` runs when the process has been found, immediately before the signal.
    ///
    /// # Panics
    ///
    /// Panics when there is no such process or it does not end.
    pub fn kill_workerd(&self, just_before: impl FnOnce()) {
        let id = self.workerd_of_miniflare();
        just_before();
        send_signal(Signal::KILL, id);
        let deadline = Instant::now() + scaled(Duration::from_secs(30));
        while self.workerds().contains(&id) {
            assert!(Instant::now() < deadline, "workerd did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the id of the workerd that Miniflare runs.
    fn workerd_of_miniflare(&self) -> u32 {
        let id = self.workerds().first().copied();
        id.expect("a workerd that runs the Worker")
    }

    fn workerds(&self) -> Vec<u32> {
        let runs_worker = |command: &str| command.contains("workerd serve");
        let processes = descendants(self.child.pid()).into_iter();
        let workerds = processes.filter(|(_, command)| runs_worker(command));
        workerds.map(|(id, _)| id).collect()
    }

    /// Replaces the Worker in Miniflare by a script that can change the persisted state, until
    /// [`restart`](Self::restart).
    ///
    /// # Panics
    ///
    /// Panics when Miniflare does not start.
    pub fn replace(self, script: &str) -> Self {
        assert_eq!(self.platform, Platform::Miniflare, "what replaces Workers");
        drop(self.child);
        let date = &repository::wrangler_toml()["compatibility_date"];
        let config = json!({"name": "other", "main": "other.js", "compatibility_date": date});
        let write = |name, text: &str| std::fs::write(self.folder.path().join(name), text);
        write("other.js", script).expect("the script");
        write("other.json", &config.to_string()).expect("the configuration");
        let (child, url) = miniflare::serve(self.folder.path(), "other.json");
        Self { child, url, ..self }
    }

    /// Returns `http://127.0.0.1:<port>`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the prefix of its keys in Redis.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns a client with the service key.
    pub fn api(&self) -> Api {
        Api::new(&self.url).with_key(SERVICE_KEY)
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Triggers the cron job that runs every five minutes.
    pub async fn tick(&self) {
        self.cron("*/5 * * * *").await;
    }

    /// Triggers the cron job that runs every minute.
    pub async fn minute(&self) {
        self.cron("* * * * *").await;
    }

    /// Returns the scheduled instant, in milliseconds, which no other run has.
    async fn cron(&self, cron: &str) -> i64 {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let now = jiff::Timestamp::now().as_millisecond();
        let after = |last: i64| now.max(last + 1);
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
            Some(after(last))
        });
        let time = after(last.expect("a change"));
        let cron = cron.replace(' ', "+");
        let path = format!("/cdn-cgi/local/scheduled?cron={cron}&time={time}");
        let response = self.api().get(&path).await;
        assert_eq!((response.status, response.text.as_str()), (200, "ok"));
        time
    }

    /// Triggers the cron job that runs every five minutes, and returns its cost.
    ///
    /// # Panics
    ///
    /// Panics without the archive, the journal or queues.
    pub async fn metered_tick(&self) -> CronCost {
        self.metered("*/5 * * * *").await
    }

    /// Triggers the cron job that runs every minute, and returns its cost, as
    /// [`metered_tick`](Self::metered_tick) does.
    pub async fn metered_minute(&self) -> CronCost {
        self.metered("* * * * *").await
    }

    async fn metered(&self, cron: &str) -> CronCost {
        // The lines of earlier runs may come later.
        let beginning = format!("CRON {} ", self.cron(cron).await);
        until("the cost of cron", async || {
            let log = self.log();
            let cost = log.lines().find_map(|line| line.split_once(&beginning))?.1;
            Some(CronCost::decode(&serde_json::from_str(cost).expect("JSON")))
        })
        .await
    }

    /// Returns everything that the isolate has sent so far.
    ///
    /// # Panics
    ///
    /// As [`metered_tick`](Self::metered_tick).
    pub async fn sent(&self) -> CronCost {
        let response = Api::new(&self.url).get("/sent").await;
        CronCost::decode(&response.assert_status(200).body)
    }

    /// Runs a statement in the journal's database, or the archive's without a journal, bypassing the
    /// Worker, and returns the rows.
    ///
    /// # Panics
    ///
    /// Panics when the statement fails.
    pub async fn sql(&self, statement: &str) -> Value {
        self.run_sql("/sql", statement).await
    }

    /// Runs a statement as [`sql`](Self::sql) does, in the archive's database.
    ///
    /// # Panics
    ///
    /// As [`sql`](Self::sql).
    pub async fn archive_sql(&self, statement: &str) -> Value {
        self.run_sql("/sql/archive", statement).await
    }

    async fn run_sql(&self, path: &str, statement: &str) -> Value {
        let api = Api::new(&self.url);
        let response = api.send(Method::POST, path, statement.to_owned(), &[]);
        response.await.assert_status(200).body.clone()
    }

    /// Enqueues a message; requires a Worker [built](crate::WorkerBuilder::queued) with queues.
    ///
    /// # Panics
    ///
    /// Panics when the queue rejects the message.
    pub async fn enqueue(&self, message: &str) {
        let api = Api::new(&self.url);
        let response = api.send(Method::POST, "/queue", message.to_owned(), &[]);
        response.await.assert_status(204);
    }

    /// Returns the bodies of all messages that have reached the dead-letter queue.
    pub fn dead(&self) -> Vec<String> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| line.split_once("DEAD "));
        lines
            .filter_map(|(_, body)| serde_json::from_str(body).ok())
            .collect()
    }

    /// Returns the data points that the Worker has written so far; requires [`WorkerBuilder::analytics`](crate::WorkerBuilder::analytics).
    ///
    /// # Panics
    ///
    /// Panics when one is not as workerd sends it.
    pub fn points(&self) -> Vec<DataPoint> {
        let log = self.log();
        let points = log.lines().filter_map(|line| line.split_once("POINT "));
        points.map(|(_, point)| DataPoint::parse(point)).collect()
    }

    /// Returns the log so far.
    pub fn log(&self) -> String {
        self.child.log()
    }

    /// Returns the complete lines of the log from a byte offset on.
    pub fn log_from(&self, offset: usize) -> String {
        self.child.log_from(offset)
    }

    /// Waits for a text in the log, because log lines arrive shortly after the event.
    ///
    /// # Panics
    ///
    /// Panics when the text does not appear.
    pub async fn logs(&self, text: &str) {
        until(text, async || self.log().contains(text).then_some(())).await;
    }
}

/// A data point of Workers Analytics Engine.
#[derive(Clone, Debug, PartialEq)]
pub struct DataPoint {
    /// The index.
    pub index: String,
    /// The texts that were written.
    pub blobs: Vec<String>,
    /// All numbers, with zeros after those that were written.
    pub doubles: [f64; 20],
}

impl DataPoint {
    /// Parses the JSON that workerd sends: a text is a list of its bytes.
    fn parse(json: &str) -> Self {
        let json: Value = serde_json::from_str(json).expect("JSON");
        let text = |name: &str| {
            let bytes: Vec<u8> = serde_json::from_value(json.get(name)?.clone()).expect("bytes");
            Some(String::from_utf8(bytes).expect("UTF-8"))
        };
        let blobs = (1..).map_while(|number| text(&format!("blob{number}")));
        let double = |index: usize| json[format!("double{}", index + 1)].as_f64();
        Self {
            index: text("index1").expect("an index"),
            blobs: blobs.collect(),
            doubles: std::array::from_fn(|index| double(index).expect("a number")),
        }
    }
}
