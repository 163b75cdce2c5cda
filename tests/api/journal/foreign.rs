//! A store in which the outbox or the tombstones are something else: nothing is half-done.

use test_support::{Method, json, peer};

use super::{like, start, taken_back};

#[tokio::test]
async fn nothing_is_done_where_the_outbox_is_something_else() {
    let mut site = start(|worker| worker);
    site.send(json!([like("a", "1"), like("b", "1")])).await;
    let profile = json!({"name": "Ada", "hidden": true});
    site.put("a", "", profile).await;
    let given = json!({"id": "1", "points": 1, "reason": "A test"});
    site.adjust("a", &given).await.assert_status(200);
    let dated =
        json!([{"user": peer("a"), "action": "like", "target": "9", "at": crate::clock::noon(1)}]);
    let of = |user: &str, what: &str| format!("/v1/users/{}{what}", peer(user));
    let requests = [
        (Method::POST, "/v1/activity".to_owned(), like("a", "2")),
        (
            Method::POST,
            "/v1/activity".to_owned(),
            taken_back(like("a", "1")),
        ),
        (
            Method::POST,
            "/v1/activity".to_owned(),
            taken_back(like("a", "never")),
        ),
        (Method::PUT, of("a", ""), json!({"name": "Bea"})),
        (Method::PUT, of("a", ""), json!({"hidden": false})),
        (
            Method::PUT,
            of("b", "/moderation"),
            json!({"hidden": true, "frozen": true, "reason": "A test"}),
        ),
        (
            Method::POST,
            of("a", "/adjustments"),
            json!({"id": "2", "points": -1, "reason": "A test"}),
        ),
        (
            Method::POST,
            of("a", "/adjustments"),
            json!({"id": "1", "undo": true, "reason": "A test"}),
        ),
        (Method::DELETE, of("a", ""), json!(null)),
    ];
    let key = site.store.key("o");
    site.store.run::<i64>("DEL", &[&key]);
    site.store.run::<()>("SET", &[&key, "foreign"]);
    let before = site.store.snapshot();
    for (method, path, body) in &requests {
        let json = [("content-type", "application/json")];
        let sent = site
            .client
            .send(method.clone(), path, body.to_string(), &json);
        let answer = sent.await;
        let told = (answer.status, &answer.body["type"]);
        assert_eq!(
            told,
            (500, &json!("/problems/misconfigured")),
            "{}",
            answer.text
        );
        assert!(
            site.store.snapshot() == before,
            "{method} {path} changed Redis"
        );
    }
    site.client.get("/v1/journal").await.assert_status(500);
    let health = site.client.get("/healthz").await;
    assert_eq!(
        (health.status, &health.body["status"]),
        (503, &json!("misconfigured"))
    );

    // With the tombstones so, what is dated is refused, and an erasure.
    let tombstones = site.store.key("e");
    site.store.run::<()>("RENAME", &[&key, &tombstones]);
    let before = site.store.snapshot();
    let answer = site.client.post("/v1/activity", &dated).await;
    let error = &answer.assert_status(200).body["results"][0]["error"];
    assert_eq!(error["type"], "/problems/misconfigured", "{}", answer.text);
    site.client.delete(&of("a", "")).await.assert_status(500);
    assert!(site.store.snapshot() == before);
    assert_eq!(site.send(like("a", "2")).await, ["counted"]);
}
