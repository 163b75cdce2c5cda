//! The boards of events: pages, standings, comparisons, and the users on them.

use test_support::{json, peers};

use super::{Event, start};
use crate::bodies::{dated, entry, like};
use crate::problem::problem;

#[tokio::test]
async fn board_is_read_like_that_of_a_period() {
    let app = start();
    let event = Event::new("hackathon");
    event.put(&app).await;
    // Of one shard, which orders equal scores by arrival.
    let [a, b, c, d] = &peers(["a", "b", "c", "d"]);
    for (user, count) in [(a, 3), (b, 2), (c, 2), (d, 1)] {
        for target in 0..count {
            app.counted(dated(like(user, &target.to_string()), event.at(0)))
                .await;
        }
    }
    let view = event.view("coming");
    let entries = [
        entry(1, 6, a),
        entry(2, 4, b),
        entry(3, 4, c),
        entry(4, 2, d),
    ];
    let board = json!({"event": view, "total": 4, "entries": entries});
    app.assert_get(&event.ranking(), board).await;
    let page = json!({"event": view, "total": 4, "entries": entries[1..3]});
    app.assert_get(&format!("{}?offset=1&limit=2", event.ranking()), page)
        .await;
    let standing = json!({
        "event": view, "user": {"id": c}, "rank": 3, "score": 4, "total": 4, "percentile": 50.0,
        "next": {"rank": 2, "score": 4, "points": 1}, "around": entries[1..],
    });
    let path = format!("{}/users/{c}?around=1", event.ranking());
    let found = app.read(&path).await;
    assert_eq!(found, standing);
    let comparison = json!({"event": view, "total": 4, "entries": [
        {"position": 1, "rank": 2, "score": 4, "user": {"id": b}},
        {"position": 2, "rank": 4, "score": 2, "user": {"id": d}},
        {"position": null, "rank": null, "score": 0, "user": {"id": "nobody"}},
    ]});
    let path = format!("{}/users?ids={d},nobody,{b}", event.ranking());
    app.assert_get(&path, comparison).await;
}

#[tokio::test]
async fn unknown_event_has_no_board() {
    let app = start();
    for path in ["/ranking", "/ranking/users/a", "/ranking/users?ids=a"] {
        let response = app.get(&format!("/v1/events/unknown{path}")).await;
        response.assert(404, problem("not-found", "There is no event unknown."));
    }
}

#[tokio::test]
async fn standings_contain_open_events() {
    let app = start();
    let mut event = Event::new("hackathon");
    event.begin(&app, &mut app.store()).await;
    let [a, b] = &peers(["a", "b"]);
    app.counted(dated(like(a, "1"), event.at(0))).await;
    app.counted(dated(like(b, "1"), event.at(0))).await;
    let standings = app.read(&format!("/v1/users/{b}/standings")).await;
    let expected = json!({"hackathon": {
        "rank": 2, "score": 2, "total": 2, "percentile": 50.0, "next": {"rank": 1, "score": 2, "points": 1},
    }});
    assert_eq!(standings["events"], expected);
}

#[tokio::test]
async fn hidden_and_erased_users_leave_the_board() {
    let app = start();
    let event = Event::new("hackathon");
    event.put(&app).await;
    let [a, b, c] = &peers(["a", "b", "c"]);
    for user in [a, b, c] {
        app.counted(dated(like(user, "1"), event.at(0))).await;
    }
    app.moderate(a, true, false).await;
    event.assert_rows(&app, &[(b, 2), (c, 2)]).await;
    app.counted(dated(like(a, "2"), event.at(0))).await;
    app.moderate(a, false, false).await;
    app.erase(b).await;
    event.assert_rows(&app, &[(a, 4), (c, 2)]).await;
    app.moderate(c, false, true).await;
    let frozen = app.send_activity(dated(like(c, "3"), event.at(0))).await;
    frozen.assert_status(403);
    event.assert_rows(&app, &[(a, 4), (c, 2)]).await;
}
