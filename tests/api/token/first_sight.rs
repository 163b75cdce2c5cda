//! The profile that a token makes on first sight of its user.

use test_support::{Forwarder, Gateway, RedisOptions, RedisServer, Value, gateway, json, shards};

use super::sign::{SECRET, claims_with, hs256};
use super::{client_with, like};
use crate::client::Client;
use crate::misconfigured::problem;
use crate::site::Site;

const PICTURE: &str = "https://example.com/ada.png";

fn site() -> Site {
    Site::with(|worker| worker.var("JWT_SECRET", SECRET))
}

/// The user 42 with these claims.
fn member(site: &Site, claims: Value) -> Client {
    client_with(site, &hs256(&claims_with(claims)))
}

fn ada() -> Value {
    json!({"name": "Ada", "picture": PICTURE})
}

async fn profile(site: &Site) -> Option<Value> {
    let answer = site.get("/v1/users/42").await;
    if answer.status == 404 {
        return None;
    }
    answer.assert_status(200);
    Some(answer.body)
}

#[tokio::test]
async fn name_and_picture_make_the_profile_as_far_as_they_are_good() {
    let rows = [
        (ada(), json!({"name": "Ada", "avatar": PICTURE})),
        (
            json!({"name": "a".repeat(81), "picture": PICTURE}),
            json!({"avatar": PICTURE}),
        ),
        (
            json!({"name": "Ada", "picture": "http://example.com/"}),
            json!({"name": "Ada"}),
        ),
        (
            json!({"name": "<b>Ada</b>", "picture": 7}),
            json!({"name": "<b>Ada</b>"}),
        ),
        (
            json!({"name": "a".repeat(81), "picture": "ada.png"}),
            json!(null),
        ),
        (json!({"name": "\u{7}", "picture": "https://"}), json!(null)),
        (
            json!({"nickname": "Ada", "url": PICTURE, "avatar": PICTURE}),
            json!(null),
        ),
    ];
    for (claims, expected) in rows {
        let site = site();
        let user = member(&site, claims.clone());
        let answer = user.post("/v1/activity", &like(json!({}))).await;
        answer.assert_status(200);
        let expected = expected.as_object().map(|parts| {
            let mut profile = json!({"id": "42"});
            profile
                .as_object_mut()
                .expect("fields")
                .extend(parts.clone());
            profile
        });
        assert_eq!(profile(&site).await, expected, "{claims}");
    }
}

#[tokio::test]
async fn boards_show_it_and_a_profile_that_is_there_is_never_changed() {
    let site = site();
    let user = member(&site, ada());
    let sent = json!([like(json!({})), like(json!({"user": "7"}))]);
    user.post("/v1/activity", &sent).await.assert_status(200);
    let board = site.get("/v1/ranking/day").await;
    let shown = json!({"id": "42", "name": "Ada", "avatar": PICTURE});
    assert_eq!(
        board.body["entries"],
        json!([{"rank": 1, "score": 2, "user": shown}])
    );
    let renamed = member(&site, json!({"name": "Eve"}));
    let again = like(json!({"target": "q"}));
    renamed
        .post("/v1/activity", &again)
        .await
        .assert_status(200);
    assert_eq!(profile(&site).await, Some(shown));
    // Nor one that its user emptied.
    user.put("/v1/users/42", &json!({}))
        .await
        .assert_status(200);
    let again = like(json!({"target": "r"}));
    user.post("/v1/activity", &again).await.assert_status(200);
    assert_eq!(profile(&site).await, Some(json!({"id": "42"})));
}

#[tokio::test]
async fn what_is_refused_before_the_store_makes_none() {
    let site = site();
    let user = member(&site, ada());
    let before = site.store().snapshot();
    let rows = [
        (like(json!({"user": "4 2"})), 400),
        (like(json!({"user": "7"})), 403),
        (like(json!({"groups": ["eu"]})), 403),
        (like(json!({"action": "publish"})), 403),
        (like(json!({"action": "dance"})), 422),
        (json!([]), 200),
        (json!([{}, like(json!({"user": "7"}))]), 200),
    ];
    for (sent, status) in rows {
        user.post("/v1/activity", &sent).await.assert_status(status);
    }
    let path = "/v1/users/42/activity";
    user.get(path).await.assert_status(200);
    assert!(site.store().snapshot() == before, "Redis was changed");
}

#[tokio::test]
async fn who_is_frozen_gets_none() {
    let site = site();
    let verdict = json!({"hidden": false, "frozen": true, "reason": "A test"});
    let path = "/v1/users/42/moderation";
    site.put(path, &verdict).await.assert_status(200);
    let user = member(&site, ada());
    let refused = user.post("/v1/activity", &like(json!({}))).await;
    refused.assert_status(403);
    assert_eq!(profile(&site).await, None);
}

#[tokio::test]
async fn what_counts_nothing_makes_one_too_and_a_service_none() {
    let site = site();
    site.send_activity(like(json!({}))).await.assert_status(200);
    assert_eq!(profile(&site).await, None);
    let user = member(&site, ada());
    let answer = user.post("/v1/activity", &like(json!({}))).await;
    assert_eq!(answer.body["outcome"], "duplicate");
    let shown = json!({"id": "42", "name": "Ada", "avatar": PICTURE});
    assert_eq!(profile(&site).await, Some(shown));
}

#[tokio::test]
async fn data_of_other_settings_gets_none() {
    let site = site();
    site.count("7", "like", "p").await;
    let before = site.store().snapshot();
    let prefix = site.prefix();
    let other = Site::with(|worker| {
        let worker = worker.var("PREFIX", prefix).var("POINT_DECIMALS", "1");
        worker.var("JWT_SECRET", SECRET)
    });
    let user = member(&other, ada());
    let detail = format!(
        "POINT_DECIMALS: is 1, but the data under PREFIX {prefix} was written with 0; set \
         POINT_DECIMALS back to 0, or choose another PREFIX to start anew"
    );
    let answer = user.post("/v1/activity", &like(json!({}))).await;
    answer.assert(500, problem(&detail));
    assert!(site.store().snapshot() == before, "Redis was changed");
}

#[tokio::test]
async fn it_goes_in_the_same_request_and_only_where_the_token_tells_something() {
    let forwarder = Forwarder::to(&gateway().url());
    let site = Site::with(|worker| worker.var("JWT_SECRET", SECRET).store(&forwarder.url()));
    // Loads the scripts.
    let first = member(&site, ada());
    first
        .post("/v1/activity", &like(json!({})))
        .await
        .assert_status(200);
    let (one, several) = (like(json!({})), json!([like(json!({})), like(json!({}))]));
    // The ranks of one are asked for on the other shards too, in a request of their own.
    let others = (shards() > 1).then(|| shards() as usize - 1);
    let rows = [
        (ada(), &one, 2, others),
        (ada(), &several, 2, None),
        (json!({"name": "", "picture": "x"}), &one, 1, others),
        (json!({}), &several, 1, None),
    ];
    for (claims, sent, commands, others) in rows {
        forwarder.reset();
        let user = member(&site, claims.clone());
        user.post("/v1/activity", sent).await.assert_status(200);
        let requests = forwarder.requests();
        let sent: Vec<usize> = requests.iter().map(|sent| sent.commands().len()).collect();
        let expected: Vec<usize> = [commands].into_iter().chain(others).collect();
        assert_eq!(sent, expected, "{claims}");
    }
}

#[tokio::test]
async fn a_second_request_of_an_undo_does_not_send_it_again() {
    let forwarder = Forwarder::to(&gateway().url());
    let site = Site::with(|worker| worker.var("JWT_SECRET", SECRET).store(&forwarder.url()));
    let grouped = like(json!({"groups": ["eu"]}));
    site.outcome(grouped.clone(), "counted").await;
    let user = member(&site, ada());
    user.post("/v1/activity", &like(json!({})))
        .await
        .assert_status(200);
    forwarder.reset();
    let undo = like(json!({"undo": true}));
    let answer = user.post("/v1/activity", &undo).await;
    assert_eq!(answer.body["outcome"], "undone");
    let requests = forwarder.requests();
    let sent: Vec<usize> = requests.iter().map(|sent| sent.commands().len()).collect();
    assert_eq!(sent, [2, 1]);
}

#[tokio::test]
async fn a_store_that_knows_no_script_yet_counts_and_shows_it_all_the_same() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let site = Site::with(|worker| worker.var("JWT_SECRET", SECRET).store(&gateway.url()));
    let user = member(&site, ada());
    let answer = user.post("/v1/activity", &like(json!({}))).await;
    assert_eq!(answer.body["outcome"], "counted");
    let shown = json!({"id": "42", "name": "Ada", "avatar": PICTURE});
    assert_eq!(profile(&site).await, Some(shown));
}
