//! Cron on a deployment with all bindings: it reads what is to be done by a few commands, and does
//! nothing where nothing has changed.

use activity_rank_core::board::snapshot::{State, ValueState};
use redis::Connection;
use test_support::{
    CronCost, Gateway, RedisOptions, RedisServer, Value, WorkerBuilder, json, shards,
};

use crate::app::TestApp;
use crate::bodies::{dated, like, undo, with};
use crate::clock::{day, noon};
use crate::events::Event;
use crate::store::{Store, take_commands};

/// A deployment with a Redis of its own, whose commands a test can count.
struct IdleApp {
    app: TestApp,
    store: Store,
    redis: Connection,
    server: RedisServer,
    _gateway: Gateway,
}

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> IdleApp {
    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let app = TestApp::with(|worker| {
        let worker = worker.archive().journal().store(&gateway.url());
        configure(worker.json("CRON_BUDGET", json!(1000)))
    });
    IdleApp {
        store: Store::of(&server, app.worker.prefix()),
        redis: server.connection(),
        app,
        server,
        _gateway: gateway,
    }
}

impl IdleApp {
    /// Counts a like of `back` days ago.
    async fn count(&self, user: &str, target: &str, back: i64) {
        let body = dated(like(user, target), noon(back));
        self.app.counted(body).await;
    }

    async fn tick(&self) -> CronCost {
        self.app.worker.metered_tick().await
    }

    async fn minute(&self) -> CronCost {
        self.app.worker.metered_minute().await
    }

    /// Runs cron until nothing is left, as if the last change was a minute ago.
    async fn settle(&mut self) {
        self.tick().await;
        self.change_snapshots(|value| value.read += 60_000);
    }

    /// Changes what cron remembers of each value of the snapshots.
    fn change_snapshots(&mut self, change: impl Fn(&mut ValueState)) {
        let key = self.store.key_on(0, "j");
        let text: Option<String> = self.store.run("HGET", &[&key, "snapshots"]);
        let mut state = State::parse(&text.expect("the state"));
        assert!(!state.values.is_empty());
        state.values.iter_mut().for_each(change);
        let text = state.render();
        self.store.run::<i64>("HSET", &[&key, "snapshots", &text]);
    }

    fn progress_keys(&mut self) -> Vec<String> {
        let mut keys = self.store.full_keys();
        keys.retain(|key| key.ends_with("}j"));
        keys
    }

    /// Dates the last pass of the archive back by some hours.
    fn date_back(&mut self, hours: i64) {
        for key in self.progress_keys() {
            let pass: String = self.store.run("HGET", &[&key, "archive"]);
            let numbers: Vec<i64> = pass.split(' ').map(|n| n.parse().expect("it")).collect();
            let began = numbers[1] - hours * 3_600_000;
            let pass = format!("{} {began} 0", numbers[0]);
            self.store.run::<i64>("HSET", &[&key, "archive", &pass]);
        }
    }

    /// Returns the number of users on the archived board of a day; `None` if it has none.
    async fn archived(&self, back: i64) -> Option<u64> {
        let sql = format!(
            "SELECT SUM(total) AS total FROM boards WHERE done = 1 AND name = 'd:{}'",
            day(back)
        );
        let rows = self.app.worker.archive_sql(&sql).await;
        rows[0]["total"].as_u64()
    }

    /// Returns the commands that Redis has run since the last call.
    fn commands(&mut self) -> u64 {
        take_commands(&mut self.redis)
    }
}

/// Twelve runs of every five minutes and sixty of every minute.
#[tokio::test]
async fn idle_hour_costs_at_most_100_commands() {
    let mut idle = start(|worker| worker.json("SHARDS", json!(1)));
    for back in 0..20 {
        idle.count("42", &format!("{back}"), back).await;
        idle.count("43", &format!("{back}"), back).await;
    }
    idle.settle().await;
    idle.commands();
    let mut cost = CronCost::default();
    for minute in 0..60 {
        if minute % 5 == 0 {
            cost.add(idle.tick().await);
        }
        cost.add(idle.minute().await);
    }
    let commands = idle.commands();
    assert!((60..=100).contains(&commands), "{commands}");
    let expected = CronCost {
        subrequests: 72,
        store_requests: 72,
        ..CronCost::default()
    };
    assert_eq!(cost, expected);
}

/// As after an import: cron archives the boards of a month, and nothing else is read.
#[tokio::test]
async fn archived_board_takes_at_most_10_commands() {
    let mut idle = start(|worker| worker.json("SHARDS", json!(1)).var("PERIODS", "day"));
    let groups = json!({"groups": ["a", "b", "c", "d"]});
    for back in 1..=30 {
        let body = with(
            dated(like("42", &format!("{back}")), noon(back)),
            groups.clone(),
        );
        idle.app.counted(body).await;
    }
    idle.minute().await;
    idle.commands();
    idle.tick().await;
    let commands = idle.commands();
    let rows = idle
        .app
        .worker
        .archive_sql("SELECT COUNT(*) AS count FROM boards WHERE done = 1");
    assert_eq!(rows.await, json!([{"count": 150}]));
    assert!(commands <= 1500, "{commands} commands for 150 boards");
}

/// Each shard takes as many commands as one, and one that compares its definitions, in the same requests.
#[tokio::test]
async fn idle_run_of_8_shards_sends_one_request() {
    let mut idle = start(|worker| worker.json("SHARDS", json!(8)));
    idle.count("42", "p", 0).await;
    idle.settle().await;
    idle.commands();
    let (minute, tick) = (idle.minute().await, idle.tick().await);
    assert_eq!((minute.subrequests, tick.subrequests), (1, 1));
    assert_eq!(idle.commands(), 16 + 24);
}

#[tokio::test]
async fn activity_of_today_skips_the_archive() {
    let idle = start(|worker| worker);
    idle.count("42", "p", 2).await;
    idle.tick().await;
    assert_eq!(idle.archived(2).await, Some(1));
    idle.count("42", "q", 0).await;
    let cost = idle.tick().await;
    // One statement writes the journal, two sum it up. The boards of today are in the snapshot.
    assert_eq!((cost.queries, cost.kv_writes), (3, 1));
}

/// The run of every minute moves the entries, and that of every five minutes sums them up once.
#[tokio::test]
async fn journal_is_summed_up_after_a_change() {
    let mut idle = start(|worker| worker);
    idle.count("42", "p", 0).await;
    idle.settle().await;
    assert_eq!(idle.tick().await.queries, 0);
    idle.app.put_profile("42", json!({"name": "Ada"})).await;
    assert_eq!(idle.minute().await.queries, 1);
    assert_eq!(idle.tick().await.queries, 2);
    assert_eq!(idle.tick().await.queries, 0);
}

/// The run of every minute moves the entries to the journal before the archive runs.
#[tokio::test]
async fn late_activity_is_archived_after_the_drain() {
    let idle = start(|worker| worker);
    idle.count("42", "p", 3).await;
    idle.tick().await;
    idle.count("43", "p", 3).await;
    idle.minute().await;
    idle.tick().await;
    assert_eq!(idle.archived(3).await, Some(2));
    idle.app.outcome(undo(like("43", "p")), "undone").await;
    idle.tick().await;
    assert_eq!(idle.archived(3).await, Some(1));
    idle.app.moderate("42", true, false).await;
    idle.tick().await;
    assert_eq!(idle.archived(3).await, Some(0));
}

/// Only the boards whose period has ended since are read.
#[tokio::test]
async fn period_end_starts_the_archive() {
    let mut idle = start(|worker| worker.var("PERIODS", "day").json("SHARDS", json!(1)));
    for back in 1..=10 {
        idle.count("42", &format!("{back}"), back).await;
    }
    idle.settle().await;
    let sql = "UPDATE boards SET orders = 0";
    idle.app.worker.archive_sql(sql).await;
    // At noon of the day before: only the board of that day had not settled.
    idle.date_back(24);
    idle.tick().await;
    let sql = "SELECT COUNT(*) AS count FROM boards WHERE orders > 0 AND done = 1";
    let rows = idle.app.worker.archive_sql(sql).await;
    assert_eq!(rows, json!([{"count": 1}]));
    assert_eq!(idle.tick().await.queries, 0);
}

/// Running events and archived events cost a run nothing.
#[tokio::test]
async fn final_event_is_archived_when_it_has_settled() {
    let mut idle = start(|worker| worker);
    let event = Event::new("hackathon");
    event.put(&idle.app).await;
    Event::between("other", 10_000, 60_000).put(&idle.app).await;
    let like = dated(like("42", "p"), event.at(0));
    idle.app.counted(like).await;
    idle.settle().await;
    let sql = "SELECT COUNT(*) AS count FROM boards WHERE kind = 'E' AND done = 1";
    let expected = 3 * u64::from(shards());
    for archived in [0, 1] {
        idle.commands();
        let cost = idle.tick().await;
        assert_eq!((cost.subrequests, idle.commands()), (1, expected));
        let rows = idle.app.worker.archive_sql(sql).await;
        assert_eq!(rows, json!([{ "count": archived }]));
        event.finish(&mut idle.store, 11);
        idle.date_back(1);
        idle.settle().await;
    }
}

/// A pass that fails is not complete.
#[tokio::test]
async fn failed_pass_is_repeated() {
    let idle = start(|worker| worker);
    idle.count("42", "p", 2).await;
    let rename = async |from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        idle.app.worker.archive_sql(&sql).await;
    };
    rename("places", "hidden").await;
    idle.tick().await;
    assert_eq!(idle.archived(2).await, None);
    rename("hidden", "places").await;
    idle.tick().await;
    assert_eq!(idle.archived(2).await, Some(1));
}

/// A new database has no board, whatever Redis says about an earlier one.
#[tokio::test]
async fn new_archive_receives_settled_boards() {
    let mut idle = start(|worker| worker);
    idle.count("42", "p", 5).await;
    idle.settle().await;
    for table in ["places", "boards", "runs"] {
        let sql = format!("DELETE FROM {table}");
        idle.app.worker.archive_sql(&sql).await;
    }
    idle.date_back(24);
    idle.tick().await;
    assert_eq!(idle.archived(5).await, Some(1));
}

#[tokio::test]
async fn lost_store_receives_archived_names() {
    let mut idle = start(|worker| worker);
    idle.count("42", "p", 2).await;
    idle.settle().await;
    idle.store.clear();
    idle.tick().await;
    let names = idle.store.key("a");
    let count: u64 = idle.store.run("SCARD", &[&names]);
    assert!(count >= 1, "{count}");
}

/// Returns the names of the profiles on a board.
fn names(board: &Value) -> Vec<&str> {
    let entries = board["entries"].as_array().expect("entries").iter();
    entries
        .filter_map(|entry| entry["user"]["name"].as_str())
        .collect()
}

#[tokio::test]
async fn snapshot_follows_profile_change() {
    let mut idle = start(|worker| worker.var("BOARD_MAX_AGE", "1"));
    idle.count("42", "p", 0).await;
    idle.settle().await;
    assert_eq!(idle.tick().await.kv_writes, 0);
    idle.app.put_profile("42", json!({"name": "Ada"})).await;
    assert_eq!(idle.tick().await.kv_writes, 1);
    idle.server.kill();
    let board = idle.app.get("/v1/ranking/day?limit=11").await;
    board.assert_status(200);
    assert_eq!(names(&board.body), ["Ada"]);
}

/// A snapshot made within a minute after a change is read once more: the request that hides a user
/// invalidates snapshots after its change.
#[tokio::test]
async fn snapshot_after_recent_change_is_repeated() {
    let mut idle = start(|worker| worker);
    idle.count("42", "p", 0).await;
    assert_eq!(idle.tick().await.kv_writes, 1);
    idle.commands();
    let cost = idle.tick().await;
    // Nothing has changed, and no user was hidden.
    assert_eq!((cost.kv_reads, cost.kv_writes), (1, 0));
    assert!(idle.commands() > 20);
    idle.settle().await;
    let cost = idle.tick().await;
    assert_eq!((cost.store_requests, cost.subrequests), (1, 1));
    // The value expires after a day.
    idle.change_snapshots(|value| value.made -= 12 * 3_600_000 + 60_000);
    assert_eq!(idle.tick().await.kv_writes, 1);
}

/// The drain of every minute takes the entry of the change from the outbox only when the change is
/// complete.
#[tokio::test]
async fn pending_sweep_continues_every_minute() {
    let mut idle = start(|worker| worker.json("CRON_BUDGET", json!(50)));
    idle.count("b", "p", 0).await;
    idle.store.add_boards("b", 150_000);
    idle.app.moderate("b", true, false).await;
    let outbox = idle.store.key_of("b", "o");
    for _ in 0..2 {
        assert_eq!(idle.store.pending_changes("b"), 1);
        idle.minute().await;
    }
    assert_eq!(idle.store.pending_changes("b"), 0);
    assert_eq!(idle.store.run::<u64>("XLEN", &[&outbox]), 1);
    idle.minute().await;
    assert_eq!(idle.store.run::<u64>("XLEN", &[&outbox]), 0);
    let sql = "SELECT COUNT(*) AS count FROM journal";
    let rows = idle.app.worker.sql(sql).await;
    assert_eq!(rows, json!([{"count": 2}]));
}
