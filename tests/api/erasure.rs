//! `DELETE /v1/users/{user}`

use test_support::reference::span_of;
use test_support::{Value, json, peers};

use crate::clock::{day, noon, period};
use crate::site::Site;

/// Everything a user can leave behind: today, days ago and years ago, in groups, undone, profiled.
async fn everything(site: &Site, user: &str) {
    let of = |action: &str, target: &str, more: Value| {
        let mut activity = json!({"user": user, "action": action, "target": target});
        activity
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        activity
    };
    let answer = site
        .send_activity(json!([
            of("like", "now", json!({"groups": ["eu", "us"]})),
            of("visit", "/", json!({})),
            of("visit", "/", json!({"at": noon(12), "groups": ["eu"]})),
            of("like", "then", json!({"at": noon(3000), "groups": ["old"]})),
            of("like", "undone", json!({})),
            of("like", "undone", json!({"undo": true})),
            of("follow", "never", json!({"undo": true})),
        ]))
        .await;
    answer.assert_status(200);
    site.put(&format!("/v1/users/{user}"), &json!({"name": user}))
        .await
        .assert_status(200);
}

#[tokio::test]
async fn a_user_is_erased_from_everywhere_and_nobody_else_is() {
    let site = Site::start();
    // The others' ids contain the one that goes.
    let others @ [one, ..] = &peers(["142", "x:42", "42:x"]);
    everything(&site, "42").await;
    for user in others {
        everything(&site, user).await;
    }
    let mut store = site.store();
    assert!(store.traces("42").len() >= 20, "{:?}", store.traces("42"));
    let traces = store.traces(one).len();

    let answer = site.delete("/v1/users/42").await;
    answer.assert_status(204);
    assert_eq!(
        (&*answer.text, answer.header("cache-control")),
        ("", Some("no-store"))
    );
    assert_eq!(store.traces("42"), [""; 0]);
    for user in others {
        assert_eq!(store.traces(user).len(), traces, "{user}");
    }
    for query in ["", "?group=eu", "?group=us"] {
        let board = site.get(&format!("/v1/ranking/day{query}")).await;
        let ids: Vec<&Value> = board.body["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| &entry["user"]["id"])
            .collect();
        assert_eq!(
            ids,
            others.each_ref().map(|user| json!(user)).each_ref(),
            "{query}"
        );
    }
    let old = site
        .get(&format!("/v1/ranking/day?group=old&date={}", day(3000)))
        .await;
    assert_eq!(
        (&old.body["total"], &old.body["entries"][0]["user"]),
        (&json!(3), &json!({"id": one, "name": one}))
    );
}

#[tokio::test]
async fn every_route_has_forgotten_the_user() {
    let site = Site::start();
    everything(&site, "42").await;
    site.delete("/v1/users/42").await.assert_status(204);
    site.get("/v1/users/42").await.assert_status(404);
    let standing = site.get("/v1/ranking/all/users/42").await;
    let nobody = json!({"period": period("all", day(0)), "user": {"id": "42"}, "rank": null,
        "score": 0, "total": 0, "percentile": null, "next": null, "around": []});
    standing.assert(200, nobody);
    let history = site.get("/v1/users/42/activity").await;
    assert!(
        history.body["days"]
            .as_array()
            .unwrap()
            .iter()
            .all(|day| day["points"] == 0 && day["actions"] == json!({}))
    );
    // No mark is left either: it counts anew, a delayed copy of what was undone too.
    site.count("42", "like", "now").await;
    site.count("42", "visit", "/").await;
    let undone = json!({"user": "42", "action": "follow", "target": "never", "at": noon(1)});
    site.outcome(undone, "counted").await;
}

#[tokio::test]
async fn erasing_a_user_who_left_nothing_answers_the_same() {
    let site = Site::start();
    site.delete("/v1/users/nobody").await.assert_status(204);
    assert_eq!(site.store().keys(), [""; 0]);
    everything(&site, "42").await;
    site.delete("/v1/users/42").await.assert_status(204);
    let before = site.store().snapshot();
    site.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(site.store().snapshot(), before);
}

#[tokio::test]
async fn undo_memories_are_erased_for_as_long_as_they_live() {
    let site = Site::start();
    site.outcome(
        json!({"user": "42", "action": "like", "target": "p", "undo": true}),
        "nothing-to-undo",
    )
    .await;
    let mut store = site.store();
    let memory = store
        .keys()
        .into_iter()
        .find(|key| key.starts_with("u:"))
        .expect("an undo memory");
    let span: i64 = memory.split(':').nth(1).unwrap().parse().unwrap();
    // Written on the last day of its 31, a memory of two spans ago is not yet 62 days old.
    let (older, newer) = (store.key(&format!("u:{}:42", span - 2)), store.key(&memory));
    store.run::<i64>("COPY", &[&newer, &older]);
    site.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(store.traces("42"), [""; 0]);
}

#[tokio::test]
async fn visits_are_erased_that_came_long_after_the_first_activity_of_their_span() {
    let site = Site::start();
    site.outcome(
        json!({"user": "42", "action": "like", "target": "p", "at": noon(20)}),
        "counted",
    )
    .await;
    // As if the index had lived on to the day that it forgets this first activity.
    let mut store = site.store();
    let index = store.key("i");
    let span = span_of(day(20)).0.to_string();
    assert_eq!(store.run::<i64>("ZREM", &[&index, &span]), 1);
    site.outcome(
        json!({"user": "42", "action": "visit", "target": "/", "at": noon(20)}),
        "counted",
    )
    .await;
    site.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(store.traces("42"), [""; 0]);
}
