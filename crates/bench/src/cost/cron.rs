//! Measures the cron jobs of a deployment with many closed boards, with and without its bindings.

use super::Meter;
use crate::stack::{Stack, succeeded, worker_builder};
use activity_rank_core::board::snapshot::State;
use serde::Serialize;
use test_support::{Api, CronCost, Value, Worker, json};

const ACTIVITY: &str = "/v1/activity";
const DAY: i64 = 86_400;
/// Days with activity, and users of each.
const DAYS: i64 = 31;
const USERS: usize = 20;
/// Entries of a larger drain.
const ENTRIES: usize = 200;

/// The bindings of a deployment.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bindings {
    /// `JOURNAL`.
    pub journal: bool,
    /// `ARCHIVE` and `SNAPSHOTS`.
    pub archives: bool,
}

impl Bindings {
    /// All combinations, the complete one last.
    pub const ALL: [Self; 4] = [
        Self::new(false, false),
        Self::new(true, false),
        Self::new(false, true),
        Self::new(true, true),
    ];

    const fn new(journal: bool, archives: bool) -> Self {
        Self { journal, archives }
    }

    /// Returns the names of the bindings.
    pub fn title(self) -> &'static str {
        match (self.journal, self.archives) {
            (false, false) => "none",
            (true, false) => "journal",
            (false, true) => "archive, snapshots",
            (true, true) => "all",
        }
    }
}

/// The cost of some runs of cron.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sent {
    /// Commands that Redis executed.
    pub commands: f64,
    /// Requests to the store.
    pub requests: f64,
    /// Statements of D1.
    pub queries: f64,
    /// Rows that D1 read.
    pub rows_read: f64,
    /// Rows that D1 wrote, also in indexes.
    pub rows_written: f64,
    /// Reads of KV.
    pub kv_reads: f64,
    /// Writes of KV.
    pub kv_writes: f64,
}

impl Sent {
    fn new(commands: f64, cost: CronCost) -> Self {
        Self {
            commands,
            requests: cost.store_requests as f64,
            queries: cost.queries as f64,
            rows_read: cost.rows_read as f64,
            rows_written: cost.rows_written as f64,
            kv_reads: cost.kv_reads as f64,
            kv_writes: cost.kv_writes as f64,
        }
    }

    /// Adds another cost, so many times.
    pub fn add(&mut self, other: Self, times: f64) {
        self.commands += other.commands * times;
        self.requests += other.requests * times;
        self.queries += other.queries * times;
        self.rows_read += other.rows_read * times;
        self.rows_written += other.rows_written * times;
        self.kv_reads += other.kv_reads * times;
        self.kv_writes += other.kv_writes * times;
    }
}

/// The costs of each kind of run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CronCosts {
    /// The bindings.
    pub bindings: Bindings,
    /// 12 runs of every five minutes and 60 of every minute, while nothing happens.
    pub idle_hour: Sent,
    /// A run of every minute while nothing happens.
    pub idle_minute: Sent,
    /// A run of every five minutes while nothing happens.
    pub idle_run: Sent,
    /// A run of every minute that drains one entry.
    pub drain: Sent,
    /// Each further entry of it.
    pub entry: Sent,
    /// A run of every five minutes after a change of a current board.
    pub changed_run: Sent,
    /// A run of every five minutes after the end of a day.
    pub ended_run: Sent,
    /// Each board that the first run archived.
    pub archived_board: Sent,
}

/// Measures the runs of a deployment.
pub async fn measure(stack: &Stack, bindings: Bindings) -> Result<CronCosts, String> {
    let prefix = format!("cron-{}{}", bindings.journal, bindings.archives);
    let builder = worker_builder(&prefix).store(&stack.gateway.url());
    // Queues start the probe that counts.
    let mut builder = builder.json("CRON_BUDGET", json!(1000)).queued(1);
    if bindings.journal {
        builder = builder.journal();
    }
    if bindings.archives {
        builder = builder.archive();
    }
    let worker = builder.miniflare().start();
    let mut runs = Runs {
        api: worker.api(),
        meter: Meter::new(stack, worker.api()),
        worker,
        progress: format!("{{{prefix}:0}}j"),
    };
    runs.measure(bindings).await
}

struct Runs {
    worker: Worker,
    api: Api,
    meter: Meter,
    /// The key of what the jobs have completed.
    progress: String,
}

impl Runs {
    async fn measure(&mut self, bindings: Bindings) -> Result<CronCosts, String> {
        self.fill().await?;
        self.worker.minute().await;
        let before = self.archived(bindings).await;
        let first = self.run(true).await?;
        let boards = self.archived(bindings).await - before;
        // The sums of the journal are behind the first run.
        self.worker.tick().await;
        self.settle()?;
        let (idle_minute, idle_run) = (self.run(false).await?, self.run(true).await?);
        let mut idle_hour = Sent::default();
        for minute in 0..60 {
            if minute % 5 == 0 {
                idle_hour.add(self.run(true).await?, 1.0);
            }
            idle_hour.add(self.run(false).await?, 1.0);
        }
        self.count(1, "a").await?;
        let drain = self.run(false).await?;
        let changed_run = self.run(true).await?;
        self.count(ENTRIES, "b").await?;
        let mut entry = self.run(false).await?;
        entry.add(drain, -1.0);
        let mut each = Sent::default();
        each.add(entry, 1.0 / (ENTRIES - 1) as f64);
        self.worker.tick().await;
        self.settle()?;
        self.date_back()?;
        let ended_run = self.run(true).await?;
        let mut archived_board = Sent::default();
        if boards > 0.0 {
            archived_board.add(first, 1.0 / boards);
        }
        Ok(CronCosts {
            bindings,
            idle_hour,
            idle_minute,
            idle_run,
            drain,
            entry: each,
            changed_run,
            ended_run,
            archived_board,
        })
    }

    /// Runs the jobs of every five minutes, or of every minute.
    async fn run(&mut self, all: bool) -> Result<Sent, String> {
        self.meter.reset()?;
        let cost = match all {
            true => self.worker.metered_tick().await,
            false => self.worker.metered_minute().await,
        };
        let commands: u64 = self.meter.calls()?.0.values().sum();
        Ok(Sent::new(commands as f64, cost))
    }

    /// Counts likes of the last days, in two groups.
    async fn fill(&self) -> Result<(), String> {
        let now = jiff::Timestamp::now().as_second();
        for back in 0..DAYS {
            let at = jiff::Timestamp::from_second(now - back * DAY).map_err(|e| e.to_string())?;
            let like = |user| {
                json!({"user": format!("u{user}"), "action": "like", "target": back.to_string(),
                    "at": at.to_string(), "groups": ["eu", "us"]})
            };
            let likes: Value = (0..USERS).map(like).collect();
            succeeded(&self.api.post(ACTIVITY, &likes).await)?;
        }
        Ok(())
    }

    async fn count(&self, items: usize, target: &str) -> Result<(), String> {
        let like =
            |item| json!({"user": "u0", "action": "like", "target": format!("{target}{item}")});
        let likes: Value = (0..items).map(like).collect();
        succeeded(&self.api.post(ACTIVITY, &likes).await)
    }

    async fn archived(&self, bindings: Bindings) -> f64 {
        if !bindings.archives {
            return 0.0;
        }
        let sql = "SELECT COUNT(*) AS count FROM boards WHERE done = 1";
        let rows = self.worker.archive_sql(sql).await;
        rows[0]["count"].as_f64().unwrap_or(0.0)
    }

    /// Dates the snapshots a minute ahead: one made within a minute after a change is repeated.
    fn settle(&mut self) -> Result<(), String> {
        self.rewrite("snapshots", |text| {
            let mut state = State::parse(text);
            for value in &mut state.values {
                value.read += 60_000;
            }
            state.render()
        })
    }

    /// Dates the last pass of the archive back by a day.
    fn date_back(&mut self) -> Result<(), String> {
        self.rewrite("archive", |text| {
            let mut parts = text.split(' ');
            let late = parts.next().unwrap_or_default();
            let began: i64 = parts
                .next()
                .and_then(|began| began.parse().ok())
                .unwrap_or(0);
            format!("{late} {} 0", began - DAY * 1000)
        })
    }

    /// Rewrites a field, if it exists.
    fn rewrite(&mut self, field: &str, change: impl FnOnce(&str) -> String) -> Result<(), String> {
        let mut get = redis::cmd("HGET");
        let get = get.arg(&self.progress).arg(field);
        let text: Option<String> = get
            .query(&mut self.meter.redis)
            .map_err(|e| e.to_string())?;
        let Some(text) = text else {
            return Ok(());
        };
        let mut set = redis::cmd("HSET");
        let set = set.arg(&self.progress).arg(field).arg(change(&text));
        set.exec(&mut self.meter.redis).map_err(|e| e.to_string())
    }
}
