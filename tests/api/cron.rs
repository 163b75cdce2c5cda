//! The budget of a run of cron: what matters most comes first, and the rest is due next time.
//!
//! The platform refuses the request or query after the last one that a plan allows.

use test_support::{CronCost, Value, WorkerBuilder, depth, json, shard_among};

use crate::app::TestApp;
use crate::bodies::{like, with};
use crate::clock::{day, noon};

/// Starts a Worker that archives day boards only, with the budget of the free plan unless
/// `configure` sets another.
fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    TestApp::with(|worker| configure(worker.archive().var("PERIODS", "day")))
}

/// Returns the number of boards that the archive has, one for each shard of a day.
async fn archived(app: &TestApp) -> u64 {
    let sql = "SELECT COUNT(*) AS count FROM boards WHERE done = 1";
    let rows = app.worker.sql(sql).await;
    rows[0]["count"].as_u64().expect("a number")
}

#[track_caller]
fn assert_within(cost: CronCost, limit: u64) {
    let CronCost {
        subrequests,
        queries,
        ..
    } = cost;
    assert!((1..=limit).contains(&subrequests), "{cost:?}");
    assert!(queries <= limit, "{cost:?}");
}

/// Runs cron until the archive has all boards. Returns the number of boards after each run.
async fn archive_all(app: &TestApp, boards: u64, budget: u64) -> Vec<u64> {
    let mut counts = Vec::new();
    while counts.last() != Some(&boards) {
        assert_within(app.worker.metered_tick().await, budget);
        let count = archived(app).await;
        assert!(counts.last() < Some(&count), "no progress: {counts:?}");
        counts.push(count);
    }
    counts
}

/// Sends likes of one user, one for each of so many past days.
async fn fill_days(app: &TestApp, days: i64) {
    let likes = (1..=days).map(|back| {
        let fields = json!({"at": noon(back)});
        with(like("42", &back.to_string()), fields)
    });
    let likes: Vec<Value> = likes.collect();
    app.send_activity(json!(likes)).await.assert_status(200);
}

/// Sends likes two days ago until each of so many shards has a board.
async fn fill_shards(app: &TestApp, shards: u32) {
    for shard in 0..shards {
        let users = (0..).map(|number| format!("u{number}"));
        let mut users = users.filter(|user| shard_among(user, shards) == shard);
        let user = users.next().expect("a user");
        let body = with(like(&user, "p"), json!({"at": noon(2)}));
        app.counted(body).await;
    }
}

/// Each run continues where the one before ended, at the boards that expire last.
#[tokio::test]
async fn archive_run_keeps_within_free_plan() {
    let app = start(|worker| worker.json("SHARDS", json!(1)));
    // One call creates both boards of a day, so that they expire in the same second.
    let in_group = |back: i64| {
        with(
            like("43", &back.to_string()),
            json!({"at": noon(back), "groups": ["g"]}),
        )
    };
    let likes: Vec<Value> = (1..=30).map(in_group).collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    assert_within(app.worker.metered_tick().await, 50);
    let count = archived(&app).await as usize;
    assert!((15..60).contains(&count), "{count} boards");
    let sql = "SELECT name FROM boards WHERE done = 1 ORDER BY name DESC";
    let names = app.worker.sql(sql).await;
    let last = (1..).flat_map(|back| {
        [":g", ""].map(|group| json!({"name": format!("d:{}{group}", day(back))}))
    });
    assert_eq!(names, Value::Array(last.take(count).collect()));
    archive_all(&app, 60, 50).await;
    // Nothing is left: the lease, the index, the states, the choice of groups, the snapshot and the record of the run.
    // Without a journal nothing shows that no board has changed.
    let idle = app.worker.metered_tick().await;
    assert!(idle.subrequests <= 15 && idle.queries <= 3, "{idle:?}");
}

/// The outbox is drained first, but not with the share of the archive and the snapshot.
#[tokio::test]
async fn full_outbox_leaves_budget_for_the_archive() {
    let app = start(|worker| worker.journal().json("SHARDS", json!(1)));
    fill_days(&app, 5).await;
    let outbox = app.store().key_on(0, "o");
    let fill = "for i = 1, 20000 do redis.call('XADD', KEYS[1], '*', 'did', 'x') end";
    let length = || app.store().run::<u64>("XLEN", &[&outbox]);
    app.store().run::<()>("EVAL", &[fill, "1", &outbox]);
    let before = length();
    assert_within(app.worker.metered_tick().await, 50);
    let (drained, left) = (before - length(), length());
    assert!(drained >= 5000 && left > 0, "{drained} of {before} drained");
    let path = format!("/v1/ranking/day?date={}&limit=7", day(5));
    let board = app.store().key_on(0, &format!("bd:{}", day(5)));
    assert_eq!(app.store().run::<i64>("DEL", &[&board]), 1);
    assert_eq!(app.read(&path).await["total"], 1);
    assert_within(app.worker.metered_minute().await, 50);
    assert_eq!(length(), 0);
}

/// A run on the free plan archives a few shards, those whose last run is longest ago.
#[tokio::test]
async fn all_64_shards_are_archived_on_the_free_plan() {
    let app = start(|worker| worker.json("SHARDS", json!(64)));
    fill_shards(&app, 64).await;
    let counts = archive_all(&app, 64, 50).await;
    assert!(counts.len() <= 32, "{counts:?}");
    assert_within(app.worker.metered_tick().await, 50);
}

/// `CRON_BUDGET = 1000` is the limit of the paid plan.
#[tokio::test]
async fn one_run_of_64_shards_makes_1000_queries() {
    let app = start(|worker| {
        let worker = worker.json("SHARDS", json!(64));
        worker.json("CRON_BUDGET", json!(1000))
    });
    fill_shards(&app, 64).await;
    let counts = archive_all(&app, 64, 1000).await;
    assert_eq!(counts, [64]);
}

/// Each request hides the user on up to 2,400 boards. The journal comes first, and its share is small.
#[tokio::test]
async fn larger_budget_hides_user_in_fewer_runs() {
    // The next test has runs of 50 too.
    for (budget, runs) in depth(&[(1000, 1)][..], &[(1000, 1), (50, 2)])
        .iter()
        .copied()
    {
        let app = start(|worker| worker.journal().json("CRON_BUDGET", json!(budget)));
        app.count("b", "like", "p").await;
        let mut store = app.store();
        store.add_boards("b", 150_000);
        app.moderate("b", true, false).await;
        for run in 1..=runs {
            assert_eq!(store.pending_changes("b"), 1, "{budget}, before run {run}");
            assert_within(app.worker.metered_minute().await, budget);
        }
        assert_eq!(store.pending_changes("b"), 0, "{budget}");
        let board = store.key_of("b", "ba:all:g150000");
        assert!(store.run::<f64>("ZSCORE", &[&board, "b"]) < 0.0);
    }
}

/// The archive and the journal keep their parts of the run of every five minutes.
#[tokio::test]
async fn pending_change_leaves_budget_for_the_archive() {
    let app = start(|worker| worker.journal().json("SHARDS", json!(1)));
    fill_days(&app, 5).await;
    let mut store = app.store();
    store.add_boards("b", 150_000);
    app.moderate("b", true, false).await;
    assert_within(app.worker.metered_tick().await, 50);
    assert_eq!(store.pending_changes("b"), 1);
    // The entry of the change stays until the change is complete.
    let outbox = store.key_on(0, "o");
    assert_eq!(store.run::<u64>("XLEN", &[&outbox]), 1);
    let board = store.key_on(0, &format!("bd:{}", day(5)));
    assert_eq!(store.run::<i64>("DEL", &[&board]), 1);
    let path = format!("/v1/ranking/day?date={}&limit=7", day(5));
    assert_eq!(app.read(&path).await["total"], 1);
}

/// A shard with one entry takes as many requests as one with a thousand.
#[tokio::test]
async fn drain_of_many_shards_keeps_within_free_plan() {
    let app = start(|worker| worker.journal().json("SHARDS", json!(64)));
    fill_shards(&app, 64).await;
    for _ in 0..8 {
        assert_within(app.worker.metered_minute().await, 50);
    }
    let rows = app.worker.sql("SELECT COUNT(*) AS count FROM journal");
    assert_eq!(rows.await, json!([{"count": 64}]));
}
