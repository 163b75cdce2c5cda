//! Snapshots of boards: their rows and groups, when they are written, and the responses during an outage.

use std::time::Duration;

use test_support::{
    CronCost, Fault, Forwarder, Value, WorkerBuilder, json, shard_among, shards, until,
};

use crate::app::TestApp;
use crate::bodies::{activity, dated, ids, like, undo, with};
use crate::clock::noon;
use crate::events::Event;
use crate::problem::problem;
use crate::token::sign::{SECRET, claims, hs256};

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> (TestApp, Forwarder) {
    TestApp::behind_forwarder(|worker| {
        let worker = worker.archive().json("CRON_BUDGET", json!(1000));
        configure(worker).var("BOARD_MAX_AGE", "0")
    })
}

async fn tick(app: &TestApp) -> CronCost {
    app.worker.metered_tick().await
}

/// Waits until a snapshot stays valid: a hiding invalidates those of the next ten seconds, which each run writes again.
async fn until_valid(app: &TestApp) {
    until("a snapshot that stays valid", async || {
        let is_valid = tick(app).await.kv_writes == 0;
        if !is_valid {
            // A run costs much more than a probe of the store.
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        is_valid.then_some(())
    })
    .await;
}

/// Returns so many users of the first shard. Its groups are compared.
fn users<const N: usize>() -> [String; N] {
    let all = (0..).map(|number| format!("u{number}"));
    let mut first_shard_users = all.filter(|user| shard_among(user, shards()) == 0);
    std::array::from_fn(|_| first_shard_users.next().expect("a user"))
}

/// Returns the body of a response from a copy without the fields that say so.
#[track_caller]
fn copied(mut body: Value) -> Value {
    let fields = body.as_object_mut().expect("an object");
    assert_eq!(fields.remove("stale"), Some(json!(true)));
    assert!(fields.remove("as_of").is_some());
    body
}

/// Reads paths, then again while the store is unavailable: the responses differ in nothing but `stale` and `as_of`.
async fn assert_same_during_outage(app: &TestApp, forwarder: &Forwarder, paths: &[String]) {
    let mut before = Vec::new();
    for path in paths {
        before.push(app.read(path).await);
    }
    forwarder.fail(|_| Some(Fault::CutBefore));
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(copied(app.read(path).await), before, "{path}");
    }
}

/// Boards of members, of groups, of content and of authors, and what concerns one user on all of them.
#[tokio::test]
async fn every_kind_of_board_is_served_during_an_outage() {
    let (app, forwarder) = start(|worker| {
        worker
            .var("CONTENT_PERIODS", "day,all")
            .var("PERIODS", "day,all")
    });
    let [a, b, c] = &users();
    app.set_name(a, "Ada \"\\").await;
    for (target, author) in [("#p", a.as_str()), ("q", b), ("r", "")] {
        let mut body = json!({"id": target, "title": format!("Title {target}")});
        if !author.is_empty() {
            body["author"] = json!(author);
        }
        app.write("/v1/targets", &json!([body])).await;
    }
    for (user, target) in [(a, "q"), (b, "#p"), (c, "#p"), (c, "q"), (c, "r"), (a, "r")] {
        let body = with(like(user, target), json!({"groups": ["eu", "T:x"]}));
        app.counted(body).await;
    }
    app.worker.minute().await;
    tick(&app).await;
    let mut paths = Vec::new();
    for board in [
        "ranking/day",
        "ranking/all",
        "content/day",
        "content/all",
        "authors/day",
        "authors/all",
    ] {
        paths.push(format!("/v1/{board}"));
        paths.push(format!("/v1/{board}?limit=1&offset=1"));
    }
    for board in ["ranking/day", "authors/all"] {
        paths.push(format!("/v1/{board}/users/{a}?around=2"));
        paths.push(format!("/v1/{board}/users/absent"));
    }
    for target in ["%23p", "r", "absent"] {
        paths.push(format!("/v1/content/all/targets/{target}?around=1"));
    }
    for group in ["eu", "T:x"] {
        paths.push(format!("/v1/ranking/all?group={group}"));
        paths.push(format!(
            "/v1/ranking/day/users?ids={c},{a},absent&group={group}"
        ));
    }
    paths.push(format!("/v1/users/{a}/standings?groups=eu,T:x"));
    paths.push("/v1/users/absent/standings?groups=eu".to_owned());
    assert_same_during_outage(&app, &forwarder, &paths).await;
    let response = app.get("/v1/ranking/day?group=absent").await;
    response.assert_status(503);
}

/// The standing of a member below the rows of the snapshot is not known, and the response says why.
#[tokio::test]
async fn members_below_the_snapshot_are_unknown() {
    let (app, forwarder) = start(|worker| {
        let worker = worker.var("PERIODS", "day,all");
        worker
            .json("SNAPSHOT_MEMBERS", json!(2))
            .json("LEVELS", json!({"New": 0}))
    });
    let [a, b, c, absent] = &users();
    for (user, likes) in [(a, 4), (b, 3), (c, 2)] {
        for target in 0..likes {
            app.count(user, "like", &target.to_string()).await;
        }
    }
    tick(&app).await;
    let day = app.read("/v1/ranking/day").await["period"].clone();
    forwarder.fail(|_| Some(Fault::CutBefore));

    let board = app.read("/v1/ranking/day?limit=2").await;
    let expected = (vec![a.as_str(), b], &json!(3));
    assert_eq!((ids(&board), &board["total"]), expected);
    app.get("/v1/ranking/day?limit=3").await.assert_status(503);
    for user in [c, absent] {
        let path = format!("/v1/ranking/day/users/{user}?around=1");
        let standing = app.read(&path).await;
        let expected = json!({
            "period": day, "user": {"id": user}, "rank": null, "score": null, "total": 3, "percentile": null,
            "next": null, "reason": "not-in-snapshot", "around": [],
        });
        assert_eq!(copied(standing), expected);
        let standings = app.read(&format!("/v1/users/{user}/standings")).await;
        let unknown = |id: &Value| {
            json!({
                "id": id, "rank": null, "score": null, "total": 3, "percentile": null, "next": null,
                "reason": "not-in-snapshot",
            })
        };
        let expected = json!({
            "user": {"id": user},
            "standings": {"day": unknown(&day["id"]), "all": unknown(&json!("all"))},
        });
        assert_eq!(copied(standings), expected);
    }
    let path = format!("/v1/ranking/day/users?ids={c},{b},{absent}");
    let compared = app.read(&path).await;
    let unknown = |user| {
        json!({
            "position": null, "rank": null, "score": null, "user": {"id": user}, "reason": "not-in-snapshot",
        })
    };
    let level = json!({"number": 1, "name": "New"});
    let known = json!({"position": 1, "rank": 2, "score": 6, "user": {"id": b, "level": level}});
    let expected =
        json!({"period": day, "total": 3, "entries": [known, unknown(c), unknown(absent)]});
    assert_eq!(copied(compared), expected);
}

/// Activity that leaves the first rows as they are costs no write, but a hiding does: copies of before are invalid.
#[tokio::test]
async fn snapshots_are_written_when_they_change() {
    let (app, forwarder) = start(|worker| {
        let worker = worker.var("PERIODS", "all");
        worker.json("SNAPSHOT_MEMBERS", json!(1))
    });
    let users = users::<3>();
    for (user, target) in [(0, "p"), (0, "q"), (1, "p")] {
        app.count(&users[user], "like", target).await;
    }
    assert_eq!(tick(&app).await.kv_writes, 1);
    assert_eq!(tick(&app).await.kv_writes, 0);
    app.count(&users[1], "visit", "/").await;
    assert_eq!(tick(&app).await.kv_writes, 0);
    app.count(&users[2], "like", "p").await;
    // The total.
    assert_eq!(tick(&app).await.kv_writes, 1);
    app.count(&users[0], "like", "r").await;
    assert_eq!(tick(&app).await.kv_writes, 1);
    app.moderate(&users[2], true, false).await;
    app.count("other", "like", "p").await;
    assert_eq!(tick(&app).await.kv_writes, 1);
    app.moderate(&users[2], false, false).await;
    app.outcome(undo(like("other", "p")), "undone").await;
    until_valid(&app).await;
    let paths = ["/v1/ranking/all?limit=1".to_owned()];
    assert_same_during_outage(&app, &forwarder, &paths).await;
}

/// Only a member who becomes hidden invalidates copies: neither an unchanged profile, nor a freeze, nor a repeated hiding.
/// A member can do so five times a day.
#[tokio::test]
async fn unchanged_visibility_keeps_copies() {
    let (app, forwarder) = start(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET).var("PERIODS", "all");
        worker.var("CONTENT_PERIODS", "all")
    });
    let paths = ["/v1/ranking/all".to_owned()];
    let [a, hidden, ..] = &users::<3>();
    app.write("/v1/targets", &json!([{"id": "p"}])).await;
    for user in [a, hidden] {
        app.count(user, "like", "p").await;
    }
    let (member, path) = (
        app.with_key(&hs256(&claims(a.as_str()))),
        format!("/v1/users/{a}"),
    );
    let profile = |hidden: bool| json!({"name": "Ada", "hidden": hidden});
    app.moderate(hidden, true, false).await;
    let hide_target = |hides: bool| {
        let state = json!({"hidden": hides, "reason": "A test"});
        let app = &app;
        async move {
            app.put("/v1/targets/p/moderation", &state)
                .await
                .assert_status(200)
                .clone()
        }
    };
    hide_target(true).await;
    until_valid(&app).await;

    member.write(&path, &profile(false)).await;
    app.moderate(a, false, true).await;
    app.moderate(a, false, false).await;
    app.moderate(hidden, true, true).await;
    app.put_profile(hidden, json!({"hidden": true})).await;
    app.put_profile(hidden, json!({"hidden": false})).await;
    hide_target(true).await;
    hide_target(false).await;
    forwarder.fail(|_| Some(Fault::CutBefore));
    app.get(&paths[0]).await.assert_status(200);
    forwarder.heal();

    until("an answer of the store", async || {
        let response = member.put(&path, &profile(true)).await;
        (response.status == 200).then_some(())
    })
    .await;
    for _ in 1..5 {
        member.write(&path, &profile(false)).await;
        member.write(&path, &profile(true)).await;
    }
    member.write(&path, &profile(true)).await;
    member.write(&path, &profile(false)).await;
    // More entries than a page of the audit log has.
    let members = (0..150).map(|number| json!({"id": format!("m{number}"), "hidden": true}));
    let members: Vec<_> = members.collect();
    app.write("/v1/users", &json!(members)).await;
    let refused = member.put(&path, &profile(true)).await;
    let detail = "A user may hide from boards 5 times a day.";
    refused.assert(429, problem("rate-limited", detail));
    let seconds = refused.header("retry-after").expect("a header");
    let seconds: u32 = seconds.parse().expect("seconds");
    assert!((1..=86_400).contains(&seconds), "{seconds}");
    assert_eq!(app.read(&paths[0]).await["total"], 1);
    // Services are not limited.
    app.put_profile(a, profile(true)).await;
    assert_eq!(app.read(&paths[0]).await["total"], 0);
    forwarder.fail(|_| Some(Fault::CutBefore));
    app.get(&paths[0]).await.assert_status(503);
}

/// 20 boards, of the periods and groups with the most members.
#[tokio::test]
async fn largest_boards_of_groups_are_in_the_snapshots() {
    let (app, forwarder) = start(|worker| worker.var("PERIODS", "day,all"));
    // The groups have 1 to 15 members of all time, and two of them a day board.
    let users = users::<15>();
    for (number, user) in users.iter().enumerate() {
        for groups in (number..15).collect::<Vec<_>>().chunks(4) {
            let names: Vec<String> = groups.iter().map(|group| format!("g{group}")).collect();
            let target = format!("{}", groups[0]);
            let at = noon(2 + i64::try_from(number).expect("a day"));
            let body = with(like(user, &target), json!({"groups": names, "at": at}));
            app.counted(body).await;
        }
    }
    for (group, members) in [
        ("g3", 3),
        ("h0", 2),
        ("h1", 1),
        ("h2", 1),
        ("h3", 1),
        ("h4", 1),
        ("h5", 1),
    ] {
        for user in &users[..members] {
            let body = with(activity(user, "comment", group), json!({"groups": [group]}));
            app.counted(body).await;
        }
    }
    tick(&app).await;
    let of = |period: &str, group: &str| format!("/v1/ranking/{period}?group={group}");
    let kept = (1..15).map(|group| of("all", &format!("g{group}")));
    let mut kept: Vec<String> = kept.collect();
    kept.extend([of("day", "g3"), of("all", "h0"), of("day", "h0")]);
    assert_same_during_outage(&app, &forwarder, &kept).await;
    // There are too many boards with one member.
    let mut others = vec![of("all", "g0")];
    for group in 1..=5 {
        others.extend([
            of("all", &format!("h{group}")),
            of("day", &format!("h{group}")),
        ]);
    }
    let mut found = 0;
    for path in &others {
        found += usize::from(app.get(path).await.status == 200);
    }
    assert_eq!(kept.len() + found, 20);
}

/// Another isolate does not know the definitions either. Events that have not begun have no snapshot.
#[tokio::test]
async fn running_events_are_served_during_an_outage() {
    let (mut app, forwarder) = start(|worker| worker.var("PERIODS", "day,all"));
    let [a, b, c] = &users();
    let prizes = json!({"prizes": [{"ranks": "1", "title": "A book"}]});
    let mut event = Event::new("hackathon").with(prizes);
    let mut other = Event::new("eu");
    let (coming, mut store) = (Event::between("coming", 60_000, 300_000), app.store());
    for event in [&mut event, &mut other] {
        event.begin(&app, &mut store).await;
    }
    coming.put(&app).await;
    for (user, target) in [(a, "p"), (a, "q"), (b, "p"), (c, "p"), (c, "q"), (c, "r")] {
        let like = with(like(user, target), json!({"groups": ["eu"]}));
        app.counted(dated(like, event.at(0))).await;
    }
    app.set_name(a, "Ada").await;
    // The list of groups and events, and a value for the boards of all users, of groups and of events.
    assert_eq!(tick(&app).await.kv_writes, 4);
    assert_eq!(tick(&app).await.kv_writes, 0);
    let mut paths = vec!["/v1/ranking/all?group=eu".to_owned()];
    for event in [&event, &other] {
        let ranking = event.ranking();
        paths.push(format!("{ranking}?limit=2"));
        paths.push(format!("{ranking}?offset=1"));
        paths.push(format!("{ranking}/users/{a}?around=1"));
        paths.push(format!("{ranking}/users/unknown"));
        paths.push(format!("{ranking}/users?ids={a},{c},unknown"));
    }
    app = TestApp::of(app.worker.restart());
    assert_same_during_outage(&app, &forwarder, &paths).await;
    app = TestApp::of(app.worker.restart());
    let board = copied(app.read(&event.ranking()).await);
    assert_eq!(ids(&board), [c, a, b]);
    assert_eq!(board["event"], event.view("running"));
    app.get(&coming.ranking()).await.assert_status(503);
}

/// A hidden user is in no copy, and a deleted event is left out of the next snapshots.
#[tokio::test]
async fn snapshots_of_events_follow_changes() {
    let (mut app, forwarder) = start(|worker| worker.var("PERIODS", "all"));
    let [a, b] = &users();
    let mut event = Event::new("hackathon");
    let mut deleted = Event::new("deleted");
    for event in [&mut event, &mut deleted] {
        event.begin(&app, &mut app.store()).await;
    }
    for user in [a, b] {
        let like = dated(like(user, "p"), event.at(0));
        app.counted(like).await;
    }
    assert_eq!(tick(&app).await.kv_writes, 3);
    app.moderate(a, true, false).await;
    deleted.put(&app).await;
    app.delete(&deleted.path()).await.assert_status(204);
    let event = event.with(json!({"title": "Another title"}));
    event.put(&app).await;
    assert_eq!(tick(&app).await.kv_writes, 3);
    until_valid(&app).await;
    app = TestApp::of(app.worker.restart());
    forwarder.fail(|_| Some(Fault::CutBefore));
    let board = copied(app.read(&event.ranking()).await);
    assert_eq!(ids(&board), [b]);
    assert_eq!(board["event"]["title"], "Another title");
    app.get(&deleted.ranking()).await.assert_status(503);
}

/// Boards that do not fit into one value are written in turns: three of them in each run.
#[tokio::test]
async fn long_boards_have_values_of_their_own() {
    let (app, forwarder) = start(|worker| worker.json("SNAPSHOT_MEMBERS", json!(100_000)));
    let users = users::<2>();
    for user in &users {
        let body = with(like(user, "p"), json!({"groups": ["eu"]}));
        app.counted(body).await;
    }
    // The list of groups, and 3 of 10 values.
    let writes = [
        tick(&app).await.kv_writes,
        tick(&app).await.kv_writes,
        tick(&app).await.kv_writes,
    ];
    assert_eq!(writes, [4, 3, 3]);
    assert_eq!(tick(&app).await.kv_writes, 1);
    let mut paths = Vec::new();
    for period in ["day", "week", "month", "year", "all"] {
        paths.push(format!("/v1/ranking/{period}"));
        paths.push(format!("/v1/ranking/{period}?group=eu"));
    }
    paths.push(format!("/v1/users/{}/standings?groups=eu", users[1]));
    assert_same_during_outage(&app, &forwarder, &paths).await;
}

/// More rows than one call of the store returns, on every shard.
#[tokio::test]
async fn long_boards_are_read_in_pages() {
    const MEMBERS: usize = 2300;
    let (app, forwarder) = start(|worker| {
        let worker = worker.var("PERIODS", "all");
        worker.json("SNAPSHOT_MEMBERS", json!(MEMBERS - 100))
    });
    let likes = (0..MEMBERS).map(|user| activity(&format!("u{user}"), "like", "p"));
    let likes: Vec<Value> = likes.collect();
    for likes in likes.chunks(100) {
        app.send_activity(json!(likes)).await.assert_status(200);
    }
    tick(&app).await;
    let mut paths = vec!["/v1/ranking/all/users/u0?around=25".to_owned()];
    for offset in (0..MEMBERS - 100).step_by(100) {
        paths.push(format!("/v1/ranking/all?limit=100&offset={offset}"));
    }
    assert_same_during_outage(&app, &forwarder, &paths).await;
    let beyond = format!("/v1/ranking/all?limit=100&offset={}", MEMBERS - 100);
    app.get(&beyond).await.assert_status(503);
}

/// With boards of content and of groups, a run keeps within the free plan.
#[tokio::test]
async fn snapshots_of_all_boards_fit_into_the_free_plan() {
    let (app, forwarder) = start(|worker| {
        worker
            .var("CONTENT_PERIODS", "day,all")
            .journal()
            .json("CRON_BUDGET", json!(50))
    });
    let users = users::<8>();
    for (number, user) in users.iter().enumerate() {
        for target in 0..4 {
            let groups = json!([format!("g{number}"), "eu", format!("t{target}")]);
            let body = with(like(user, &target.to_string()), json!({"groups": groups}));
            app.counted(body).await;
        }
    }
    let cost = tick(&app).await;
    assert!(cost.subrequests <= 50 && cost.queries <= 50, "{cost:?}");
    // The list of groups, the boards of all users, and the boards of groups.
    assert_eq!(cost.kv_writes, 3);
    let paths = ["day", "all"].map(|period| format!("/v1/ranking/{period}?group=eu"));
    assert_same_during_outage(&app, &forwarder, &paths).await;
}
