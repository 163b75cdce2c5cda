//! `?movement=true`: ranks in the period before.

use test_support::{Fault, Forwarder, Value, WorkerBuilder, json, peers, until};

use crate::app::TestApp;
use crate::bodies::{activity, board, dated, entry, ids, like, with};
use crate::clock::{day, noon, period};

/// The days whose boards [`three_users`] fills; the later one has closed too.
const DAYS: [i64; 2] = [9, 8];

fn users() -> [String; 4] {
    peers(["a", "b", "c", "d"])
}

/// Counts a comment or a like of some days ago, also for the group `eu`.
async fn count(app: &TestApp, user: &str, action: &str, back: i64) {
    let target = format!("{back}");
    let fields = json!({"at": noon(back), "groups": ["eu"]});
    let counted = with(activity(user, action, &target), fields);
    app.counted(counted).await;
}

/// Counts a, b and c on the first day, in this order, and c, d and a on the second one.
async fn three_users(app: &TestApp) {
    let [a, b, c, d] = &users();
    for (user, action) in [(a, "comment"), (b, "like"), (c, "like")] {
        count(app, user, action, DAYS[0]).await;
    }
    for (user, action) in [(c, "comment"), (d, "like"), (a, "like")] {
        count(app, user, action, DAYS[1]).await;
    }
}

/// Returns a path of the second day with movement.
fn path(rest: &str) -> String {
    let separator = if rest.contains('?') { '&' } else { '?' };
    format!(
        "/v1/ranking/day{rest}{separator}movement=true&date={}",
        day(DAYS[1])
    )
}

fn moved(rank: u32, previous: impl Into<Value>, score: u32, user: &str) -> Value {
    with(
        entry(rank, score, user),
        json!({"previous_rank": previous.into()}),
    )
}

#[tokio::test]
async fn every_rank_has_that_of_the_period_before() {
    let app = TestApp::start();
    three_users(&app).await;
    let [a, b, c, d] = &users();
    let all = [
        moved(1, 3, 3, c),
        moved(2, Value::Null, 2, d),
        moved(3, 1, 2, a),
    ];
    let period = || period("day", day(DAYS[1]));
    for group in ["", "&group=eu"] {
        for (query, rows) in [
            ("?limit=3", &all[..]),
            ("?offset=2&limit=9", &all[2..]),
            ("?offset=3", &[]),
        ] {
            let path = path(&format!("{query}{group}"));
            app.assert_get(&path, board(period(), 3, rows)).await;
        }
        let standing = json!({"period": period(), "user": {"id": a}, "rank": 3, "previous_rank": 1, "score": 2,
            "total": 3, "percentile": 33.3, "next": {"rank": 2, "score": 2, "points": 1}, "around": all[1..]});
        app.assert_get(&path(&format!("/users/{a}?around=1{group}")), standing)
            .await;
        let unranked = json!({"period": period(), "user": {"id": b}, "rank": null, "previous_rank": 2, "score": 0,
            "total": 3, "percentile": null, "next": null, "around": []});
        app.assert_get(&path(&format!("/users/{b}?around=1{group}")), unranked)
            .await;
        let position =
            |position: Value, entry: &Value| with(entry.clone(), json!({"position": position}));
        let absent = |user: &str, previous: Value| {
            json!({"position": null, "rank": null, "previous_rank": previous,
            "score": 0, "user": {"id": user}})
        };
        let entries = [
            position(json!(1), &all[0]),
            position(json!(2), &all[2]),
            absent("x", Value::Null),
            absent(b, json!(2)),
        ];
        let compared = path(&format!("/users?ids=x,{a},{b},{c}{group}"));
        app.assert_get(&compared, board(period(), 3, entries)).await;
    }
    let other = path("?group=us");
    app.assert_get(&other, board(period(), 0, json!([]))).await;
}

/// All time has no period before.
#[tokio::test]
async fn body_without_movement_is_unchanged() {
    let app = TestApp::start();
    three_users(&app).await;
    let [a, _, c, _] = &users();
    for (period, value) in [("day", "false"), ("all", "true")] {
        for rest in [
            "?".to_owned(),
            format!("/users/{a}?around=1&"),
            format!("/users?ids={a},{c}&"),
        ] {
            let path = format!("/v1/ranking/{period}{rest}date={}", day(DAYS[1]));
            let body = app.read(&path).await;
            assert!(!body.to_string().contains("previous_rank"), "{body}");
            app.assert_get(&format!("{path}&movement={value}"), body)
                .await;
        }
    }
}

/// The isolate remembers ranks, but no hidden user's.
#[tokio::test]
async fn hidden_and_erased_users_have_no_previous_rank() {
    let app = TestApp::start();
    three_users(&app).await;
    let [a, b, c, d] = &users();
    let reads = async || {
        let page = app.read(&path("")).await;
        let standing = app.read(&path(&format!("/users/{a}?around=2"))).await;
        let compared = app.read(&path(&format!("/users?ids={a}"))).await;
        (
            page["entries"].clone(),
            standing,
            compared["entries"].clone(),
        )
    };
    let before = reads().await;
    app.moderate(a, true, false).await;
    let (page, standing, compared) = reads().await;
    // Ranks that the isolate remembers may be older; a new reader sees the current ones.
    assert_eq!(page[0]["user"]["id"], *c);
    assert_eq!(page[1], moved(2, Value::Null, 2, d));
    assert_eq!(page.as_array().map(Vec::len), Some(2));
    let expected = (&Value::Null, &Value::Null);
    assert_eq!((&standing["rank"], &standing["previous_rank"]), expected);
    assert_eq!(compared[0]["previous_rank"], Value::Null);
    app.moderate(a, false, false).await;
    assert_eq!(reads().await, before);
    app.erase(a).await;
    let (page, standing, compared) = reads().await;
    let expected = json!([moved(1, 2, 3, c), moved(2, Value::Null, 2, d)]);
    assert_eq!(page, expected);
    assert_eq!(standing["previous_rank"], Value::Null);
    assert_eq!(compared[0]["previous_rank"], Value::Null);
    assert_eq!(
        app.read(&path(&format!("/users/{b}"))).await["previous_rank"],
        1
    );
}

/// Random users on eight shards: the ranks equal the board of the day before.
#[tokio::test]
async fn shards_rank_users_of_the_period_before_exactly() {
    let app = TestApp::with(|worker| worker.json("SHARDS", json!(8)));
    let mut activities = Vec::new();
    for user in 0..60u32 {
        for (back, factor, counts) in [(DAYS[0], 7, user % 3 != 0), (DAYS[1], 11, user % 4 != 0)] {
            for target in 0..(user * factor % 5) * u32::from(counts) {
                let like = like(&format!("u{user}"), &format!("{back}-{target}"));
                activities.push(dated(like, noon(back)));
            }
        }
    }
    let response = app.send_activity(json!(activities)).await;
    response.assert_status(200);
    let before = app
        .read(&format!("/v1/ranking/day?limit=100&date={}", day(DAYS[0])))
        .await;
    let rank = |user: &str| {
        let index = ids(&before).iter().position(|id| *id == user);
        index.map_or(Value::Null, |index| json!(index + 1))
    };
    assert!(ids(&before).len() > 20);
    let check = |entries: &Value, path: &str| {
        let entries = entries.as_array().expect("entries");
        for entry in entries {
            let id = entry["user"]["id"].as_str().expect("an id");
            assert_eq!(entry["previous_rank"], rank(id), "{path} {entry}");
        }
        entries.len()
    };
    let page = app.read(&path("?limit=100")).await;
    assert!(check(&page["entries"], "page") > 20);
    check(
        &app.read(&path("?limit=4&offset=9")).await["entries"],
        "second page",
    );
    for user in ["u1", "u2", "u3", "u4", "u5", "u6", "none"] {
        let path = path(&format!("/users/{user}?around=3"));
        let standing = app.read(&path).await;
        assert_eq!(standing["previous_rank"], rank(user), "{path}");
        check(&standing["around"], &path);
    }
    let all: Vec<String> = (0..60).map(|user| format!("u{user}")).collect();
    let compared = app
        .read(&path(&format!("/users?ids={}", all.join(","))))
        .await;
    assert_eq!(check(&compared["entries"], "comparison"), 60);
}

/// Returns the store requests and the commands of a read.
async fn cost(app: &TestApp, forwarder: &Forwarder, path: &str) -> (usize, usize) {
    forwarder.reset();
    app.read(path).await;
    let requests = forwarder.requests();
    (
        requests.len(),
        requests
            .iter()
            .map(|request| request.commands().len())
            .sum(),
    )
}

/// Movement takes no request more with one shard, and one more with several. The isolate remembers the ranks of
/// a page.
#[tokio::test]
async fn movement_takes_one_request_more_on_several_shards() {
    for shards in [1, 8] {
        let (app, forwarder) =
            TestApp::behind_forwarder(|worker| worker.json("SHARDS", json!(shards)));
        three_users(&app).await;
        let [a, _, c, d] = &users();
        let several = usize::from(shards > 1);
        for (rest, plain, more) in [
            (String::new(), 1, several),
            (format!("/users/{a}?around=2"), 1 + several, several),
            (format!("/users?ids={a},{c},{d}"), 1 + several, 0),
        ] {
            let with_movement = path(&rest);
            let without = with_movement.replace("movement=true&", "");
            // The first read loads the scripts.
            app.read(&without).await;
            assert_eq!(cost(&app, &forwarder, &without).await.0, plain, "{rest}");
            assert_eq!(
                cost(&app, &forwarder, &with_movement).await.0,
                plain + more,
                "{rest}"
            );
        }
        // All rows are known.
        assert_eq!(
            cost(&app, &forwarder, &path("?limit=2")).await,
            (1, shards),
            "known"
        );
    }
}

/// A board that Redis has dropped is read from the archive: the one shown, the one before, and both.
#[tokio::test]
async fn archive_has_ranks_of_the_period_before() {
    for shards in [1, 8] {
        let app = TestApp::with(|worker| {
            worker
                .archive()
                .json("CRON_BUDGET", json!(1000))
                .json("SHARDS", json!(shards))
        });
        let [a, b, c, d] = &users();
        for (user, action, back) in [
            (a, "comment", 3),
            (b, "like", 3),
            (c, "like", 3),
            (c, "comment", 2),
            (d, "like", 2),
            (a, "like", 2),
        ] {
            let target = format!("{back}");
            app.counted(dated(activity(user, action, &target), noon(back)))
                .await;
        }
        app.worker.tick().await;
        let mut limit = 10;
        let mut reads = async || {
            limit += 1;
            let date = format!("movement=true&date={}", day(2));
            let mut bodies = Vec::new();
            for rest in [
                format!("?limit={limit}&{date}"),
                format!("/users/{a}?around=2&{date}"),
                format!("/users/{b}?{date}"),
                format!("/users?ids={d},{b},{a}&{date}"),
            ] {
                bodies.push(app.read(&format!("/v1/ranking/day{rest}")).await);
            }
            bodies
        };
        let before = reads().await;
        assert_eq!(before[0]["total"], 3);
        assert!(before[2]["previous_rank"].is_u64());
        for back in [3, 2] {
            let board = format!("bd:{}", day(back));
            app.store().delete(|name| name == board);
            assert_eq!(
                reads().await,
                before,
                "without the board of {back} days ago"
            );
        }
    }
}

/// A stream with movement shares the reads of one without; each has its own form.
#[tokio::test]
async fn live_streams_differ_by_movement() {
    let app = TestApp::with(WorkerBuilder::live);
    let [a, b] = peers(["a", "b"]);
    app.counted(dated(like(&a, "1"), noon(1))).await;
    app.count(&b, "comment", "p").await;
    let open = async |query: &str| {
        let path = format!("/v1/ranking/day/live{query}");
        let api = test_support::Api::new(app.url());
        api.stream(&path, &[]).await
    };
    let mut plain = open("").await;
    let mut moving = open("?movement=true").await;
    let mut short = open("?limit=1&movement=true").await;
    let expected = async |query: &str| app.read(&format!("/v1/ranking/day{query}")).await;
    assert_eq!(plain.event().await.json(), expected("").await);
    let found = moving.event().await.json();
    assert_eq!(found, expected("?movement=true").await);
    let expected = expected("?limit=1&movement=true").await;
    assert_eq!(short.event().await.json(), expected);
    app.count(&a, "like", "p").await;
    let rows = json!([moved(1, Value::Null, 3, &b), moved(2, 1, 2, &a)]);
    assert_eq!(moving.event().await.json()["entries"], rows);
    let expected = json!([entry(1, 3, &b), entry(2, 2, &a)]);
    assert_eq!(plain.event().await.json()["entries"], expected);
}

/// While the store is unavailable, the isolate remembers previous ranks, or leaves them out.
#[tokio::test]
async fn stale_board_leaves_out_unknown_previous_ranks() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.archive().cached().var("BOARD_MAX_AGE", "1"));
    let [a, b] = &peers(["a", "b"]);
    app.counted(dated(like(a, "1"), noon(1))).await;
    app.count(a, "like", "p").await;
    app.count(b, "like", "p").await;
    app.worker.tick().await;
    // The archive has no board of the month before.
    app.read("/v1/ranking/month?movement=true&limit=1").await;
    forwarder.fail(|_| Some(Fault::CutBefore));
    let read = async |path: &str| {
        let path = format!("/v1/ranking/{path}");
        let stale = until("a stale board", async || {
            let body = app.read(&path).await;
            (body["stale"] == true).then_some(body)
        });
        stale.await["entries"].clone()
    };
    let known = read("month?movement=true&limit=1&offset=0").await;
    assert_eq!(known[0]["previous_rank"], Value::Null);
    let unknown = read("month?movement=true&limit=2").await;
    assert_eq!(unknown.as_array().map(Vec::len), Some(2));
    for row in unknown.as_array().expect("entries") {
        assert_eq!(row.get("previous_rank"), None, "{row}");
    }
    let archived = read("day?movement=true&limit=2").await;
    let expected = json!([moved(1, 1, 2, a), moved(2, Value::Null, 2, b)]);
    assert_eq!(archived, expected);
}
