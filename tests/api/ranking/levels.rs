//! `LEVELS`: names for all-time points.

use test_support::{
    Fault, Gateway, Method, RedisOptions, RedisServer, Value, WorkerBuilder, json, peers, until,
};

use crate::app::TestApp;
use crate::bodies::{activity, board, dated, like, undo, with};
use crate::clock::{day, noon, period, standings};
use crate::store::take_commands;

fn levels(worker: WorkerBuilder) -> WorkerBuilder {
    worker.json("LEVELS", json!({"Regular": 5, "Newcomer": 2, "Pillar": 50}))
}

fn level(number: u32, name: &str) -> Value {
    json!({"number": number, "name": name})
}

/// Returns the entry of a user with a level.
fn entry(rank: u32, score: u32, user: &str, level: &Value) -> Value {
    json!({"rank": rank, "score": score, "user": {"id": user, "level": level}})
}

/// Gives a 7 points, 3 of them today; b 2 points of today; c a point of today; d 3 points of another day.
async fn four_users(app: &TestApp) {
    let [a, b, c, d] = &users();
    app.counted(dated(like(a, "1"), noon(9))).await;
    app.counted(dated(like(a, "2"), noon(9))).await;
    app.counted(dated(activity(d, "comment", "p"), noon(9)))
        .await;
    let grouped = with(activity(a, "comment", "p"), json!({"groups": ["eu"]}));
    app.counted(grouped).await;
    app.count(b, "like", "p").await;
    app.count(c, "visit", "/").await;
}

fn users() -> [String; 4] {
    peers(["a", "b", "c", "d"])
}

#[tokio::test]
async fn users_have_the_level_of_their_all_time_points() {
    for shards in [1, 8] {
        let app = TestApp::with(|worker| levels(worker).json("SHARDS", json!(shards)));
        four_users(&app).await;
        let [a, b, c, d] = &users();
        let (first, second) = (level(1, "Newcomer"), level(2, "Regular"));
        let rows = [
            entry(1, 3, a, &second),
            entry(2, 2, b, &first),
            crate::bodies::entry(3, 1, c),
        ];
        let expected = board(period("day", day(0)), 3, &rows[..]);
        app.assert_get("/v1/ranking/day?limit=9", expected).await;
        let expected = board(period("day", day(0)), 1, &rows[..1]);
        app.assert_get("/v1/ranking/day?group=eu", expected).await;
        let all = [
            entry(1, 7, a, &second),
            entry(2, 3, d, &first),
            entry(3, 2, b, &first),
            crate::bodies::entry(4, 1, c),
        ];
        app.assert_get("/v1/ranking/all", board(period("all", day(0)), 4, all))
            .await;
        let standing = json!({"period": period("day", day(0)), "user": {"id": b, "level": first}, "rank": 2, "score": 2,
            "total": 3, "percentile": 66.7, "next": {"rank": 1, "score": 3, "points": 2},
            "next_level": {"name": "Regular", "points": 3}, "around": rows});
        app.assert_get(&format!("/v1/ranking/day/users/{b}?around=1"), standing)
            .await;
        let unranked = json!({"period": period("day", day(0)), "user": {"id": d, "level": first}, "rank": null, "score": 0,
            "total": 3, "percentile": null, "next": null, "next_level": {"name": "Regular", "points": 2}, "around": []});
        app.assert_get(&format!("/v1/ranking/day/users/{d}"), unranked)
            .await;
        let compared = app
            .read(&format!(
                "/v1/ranking/day/users?ids=x,{d},{a}&movement=true"
            ))
            .await;
        let unranked = |user: Value| json!({"position": null, "rank": null, "previous_rank": null, "score": 0, "user": user});
        let expected = [
            with(
                rows[0].clone(),
                json!({"position": 1, "previous_rank": null}),
            ),
            unranked(json!({"id": "x"})),
            unranked(json!({"id": d, "level": first})),
        ];
        assert_eq!(compared["entries"], json!(expected));
    }
}

/// A hidden user is shown like one without points.
#[tokio::test]
async fn hidden_user_has_the_level_of_no_points() {
    let app = TestApp::with(|worker| worker.json("LEVELS", json!({"Newcomer": 0, "Regular": 5})));
    four_users(&app).await;
    let [a, ..] = &users();
    app.moderate(a, true, false).await;
    for kind in ["day", "all"] {
        let standing = async |user: &str| {
            let standing = app.read(&format!("/v1/ranking/{kind}/users/{user}")).await;
            (
                standing["user"]["level"].clone(),
                standing["next_level"].clone(),
            )
        };
        let none = (
            level(1, "Newcomer"),
            json!({"name": "Regular", "points": 5}),
        );
        assert_eq!(standing(a).await, none);
        assert_eq!(standing("never").await, none);
    }
}

#[tokio::test]
async fn activity_that_reaches_a_level_says_so() {
    let app = TestApp::with(levels);
    let send = async |body: Value| {
        app.send_activity(body)
            .await
            .assert_status(200)
            .body
            .clone()
    };
    let reached = |number, name| json!({"level_up": level(number, name)});
    let counted = |score: u32| json!({"outcome": "counted", "points": 2, "standings": standings(day(0), score, 1)});
    let expected = with(counted(2), reached(1, "Newcomer"));
    assert_eq!(send(like("42", "1")).await, expected);
    assert_eq!(send(like("42", "2")).await, counted(4));
    let minimal = async |body: Value| {
        let headers = [
            ("content-type", "application/json"),
            ("prefer", "return=minimal"),
        ];
        let response = app
            .send(Method::POST, "/v1/activity", body.to_string(), &headers)
            .await;
        response.assert_status(200).body.clone()
    };
    let short = json!({"outcome": "counted", "points": 2});
    let expected = with(short.clone(), reached(2, "Regular"));
    assert_eq!(minimal(like("42", "3")).await, expected);
    assert_eq!(minimal(like("42", "4")).await, short);
    // An undo reaches nothing, and the same level may be reached again.
    let expected = json!({"outcome": "undone", "points": -2});
    assert_eq!(minimal(undo(like("42", "4"))).await, expected);
    let expected = json!({"outcome": "undone", "points": -2});
    assert_eq!(minimal(undo(like("42", "3"))).await, expected);
    let past = dated(like("42", "5"), noon(400));
    let expected = with(short.clone(), reached(2, "Regular"));
    assert_eq!(minimal(past).await, expected);
    let publish = |target: &str| activity("7", "publish", target);
    let results = send(json!([
        like("7", "1"),
        publish("1"),
        like("7", "1"),
        publish("2")
    ]))
    .await;
    let ten = json!({"outcome": "counted", "points": 10});
    let expected = [
        with(short, reached(1, "Newcomer")),
        with(ten.clone(), reached(2, "Regular")),
        json!({"outcome": "duplicate", "points": 0}),
        ten,
    ];
    assert_eq!(results["results"], json!(expected));
}

/// Archived boards read the levels with the profiles; stale boards have the levels of the snapshot.
#[tokio::test]
async fn archived_and_stale_boards_have_levels() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        levels(worker.archive().cached())
            .json("CRON_BUDGET", json!(1000))
            .var("BOARD_MAX_AGE", "1")
    });
    let [a, b, c, _] = &users();
    app.counted(dated(activity(a, "comment", "p"), noon(2)))
        .await;
    app.counted(dated(activity(b, "visit", "/"), noon(2))).await;
    app.count(a, "like", "p").await;
    app.set_name(a, "Ada").await;
    app.worker.tick().await;
    let closed = format!("/v1/ranking/day?date={}", day(2));
    let before = app.read(&closed).await;
    let expected = json!({"id": a, "name": "Ada", "level": level(2, "Regular")});
    assert_eq!(before["entries"][0]["user"], expected);
    app.store().drop_closed_days();
    assert_eq!(app.read(&format!("{closed}&limit=9")).await, before);
    let path = format!("/v1/ranking/day/users/{c}?date={}", day(2));
    let standing = app.read(&path).await;
    let expected = json!({"name": "Newcomer", "points": 2});
    assert_eq!(standing["next_level"], expected);
    forwarder.fail(|_| Some(Fault::CutBefore));
    let stale = until("a stale board", async || {
        let body = app.read("/v1/ranking/day?limit=7").await;
        (body["stale"] == true).then_some(body)
    });
    let expected = level(2, "Regular");
    assert_eq!(stale.await["entries"][0]["user"]["level"], expected);
    let standing = app.read(&format!("/v1/ranking/day/users/{b}")).await;
    let found = (standing.get("next_level"), standing["user"].get("level"));
    assert_eq!(found, (None, None));
}

/// With one shard: movement costs one command for the board and one for each row that the isolate does not know,
/// levels one on boards of other periods. Counting costs the same.
#[tokio::test]
async fn redis_commands_of_movement_and_levels() {
    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let mut connection = server.connection();
    let start = |configure: fn(WorkerBuilder) -> WorkerBuilder| {
        let worker = |worker: WorkerBuilder| worker.store(&gateway.url()).json("SHARDS", json!(1));
        TestApp::with(|builder| configure(worker(builder)))
    };
    let apps = [start(|worker| worker), start(levels)];
    let mut costs = Vec::new();
    for app in &apps {
        four_users(app).await;
        // Loads the scripts.
        for path in ["day", "day/users/a", "day/users?ids=a,x"] {
            app.read(&format!("/v1/ranking/{path}")).await;
        }
        let mut cost = Vec::new();
        for path in [
            "day",
            "all",
            "day/users/a",
            "day/users?ids=a,x",
            "day/users?ids=a,x&movement=true",
            "day?movement=true",
            "day?movement=true&limit=2",
        ] {
            take_commands(&mut connection);
            app.read(&format!("/v1/ranking/{path}")).await;
            cost.push(take_commands(&mut connection));
        }
        app.count("a", "like", "last").await;
        cost.push(take_commands(&mut connection));
        costs.push(cost);
    }
    let [plain, with_levels] = [&costs[0], &costs[1]];
    let more = with_levels.iter().zip(plain);
    let more: Vec<u64> = more.map(|(more, plain)| more - plain).collect();
    assert_eq!(more, [1, 0, 1, 1, 1, 1, 1, 0], "{costs:?}");
    // Nobody was on the board of yesterday: Redis does not have it.
    let expected = (plain[3] + 1, plain[0] + 1, plain[0] + 1);
    assert_eq!((plain[4], plain[5], plain[6]), expected, "{costs:?}");
    let app = &apps[0];
    let date = format!("date={}", day(9));
    app.counted(dated(like("a", "before"), noon(10))).await;
    let mut cost = async |query: &str| {
        take_commands(&mut connection);
        app.read(&format!("/v1/ranking/day?{date}{query}")).await;
        take_commands(&mut connection)
    };
    let plain = cost("").await;
    assert_eq!(cost("&movement=true&limit=1").await, plain + 2);
    assert_eq!(cost("&movement=true&limit=2").await, plain + 2);
    assert_eq!(cost("&movement=true&limit=3").await, plain + 1);
}
