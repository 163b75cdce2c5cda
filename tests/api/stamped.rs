//! Data in Redis that was written with other settings: it is never touched.

use test_support::{Method, json, shard_among};

use crate::client::Client;
use crate::clock::noon_zone;
use crate::misconfigured::{REQUESTS, is_told};
use crate::site::{Site, patient};

/// The requests that ask the store.
fn asking() -> &'static [(Method, &'static str, &'static str)] {
    &REQUESTS[..REQUESTS.len() - 3]
}

#[tokio::test]
async fn another_setting_on_live_data_is_told_and_changes_nothing() {
    let site = Site::start();
    site.count("42", "like", "p").await;
    site.put("/v1/users/42", &json!({"name": "Kim"}))
        .await
        .assert_status(200);
    let before = site.store().snapshot();
    let zone = noon_zone();
    let other_zone = if zone == "UTC" {
        "Asia/Shanghai"
    } else {
        "UTC"
    };
    let cases = [
        ("POINT_DECIMALS", "2", "0"),
        ("POINT_DECIMALS", "1", "0"),
        ("TIMEZONE", other_zone, zone),
    ];
    for (name, ours, held) in cases {
        let prefix = site.prefix();
        let other = Site::with(|worker| worker.var("PREFIX", prefix).var(name, ours));
        let detail = format!(
            "{name}: is {ours}, but the data under PREFIX {prefix} was written with {held}; \
             set {name} back to {held}, or choose another PREFIX to start anew"
        );
        is_told(&other, asking(), &detail).await;
        assert!(
            site.store().snapshot() == before,
            "{name} changed something"
        );
    }
    // Whoever is set up as before goes on.
    site.count("42", "like", "q").await;
}

#[tokio::test]
async fn another_number_of_shards_on_live_data_is_told_and_changes_nothing() {
    for (held, ours) in [(1, 8), (8, 1), (8, 4), (4, 8), (64, 63), (2, 3)] {
        let site = Site::with(|worker| worker.json("SHARDS", json!(held)));
        // Nobody is on the first shard, where there is another.
        let elsewhere = |user: &String| held == 1 || shard_among(user, held) > 0;
        let mut users = (0..).map(|user| user.to_string());
        let user = users.find(elsewhere).expect("a user");
        site.count(&user, "like", "p").await;
        let before = site.store().snapshot();
        let prefix = site.prefix();
        let other = Site::with(|worker| worker.var("PREFIX", prefix).json("SHARDS", json!(ours)));
        let detail = format!(
            "SHARDS: is {ours}, but the data under PREFIX {prefix} was written with {held}; set \
             SHARDS back to {held}, or choose another PREFIX to start anew"
        );
        is_told(&other, asking(), &detail).await;
        let health = other.get("/healthz").await;
        assert_eq!(
            (health.status, &health.body["problem"]["detail"]),
            (503, &json!(detail))
        );
        let unchanged = site.store().snapshot() == before;
        assert!(unchanged, "{ours} for {held} shards changed something");
        site.count(&user, "like", "q").await;
    }
}

#[tokio::test]
async fn the_first_write_of_any_kind_decides() {
    let site = Site::start();
    let prefix = site.prefix();
    let other = Site::with(|worker| worker.var("PREFIX", prefix).var("POINT_DECIMALS", "1"));
    let undo = r#"{"user":"42","action":"like","target":"never","undo":true}"#;
    let writes = [0, 6, 7].map(|number| REQUESTS[number].clone());
    let writes = writes
        .into_iter()
        .chain([(Method::POST, "/v1/activity", undo)]);
    for (method, path, body) in writes {
        other.get("/v1/ranking/day").await.assert_status(200);
        let json = [("content-type", "application/json")];
        site.send(method, path, body, &json)
            .await
            .assert_status(200);
        other.get("/v1/ranking/day").await.assert_status(500);
        site.store().clear();
    }
}

#[tokio::test]
async fn reading_decides_nothing() {
    let site = Site::start();
    for (method, path, body) in asking()
        .iter()
        .filter(|(method, ..)| *method == Method::GET)
    {
        site.send(method.clone(), path, *body, &[]).await;
    }
    site.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(site.store().keys(), [""; 0]);
}

#[tokio::test]
async fn two_sites_in_one_store_know_nothing_of_each_other() {
    let (one, two) = (
        Site::start(),
        Site::with(|worker| worker.var("POINT_DECIMALS", "2")),
    );
    let worker = patient()
        .var("PREFIX", &format!("{}:0", one.prefix()))
        .start();
    let three = Client::new(worker.api());
    one.count("42", "like", "p").await;
    two.count("42", "like", "p").await;
    let like = json!({"user": "42", "action": "like", "target": "p"});
    assert_eq!(
        three.post("/v1/activity", &like).await.body["outcome"],
        "counted"
    );
    one.delete("/v1/users/42").await.assert_status(204);
    assert_eq!(two.get("/v1/ranking/all/users/42").await.body["score"], 2);
    assert_eq!(three.get("/v1/ranking/all/users/42").await.body["score"], 2);
}
