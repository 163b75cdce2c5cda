//! User tokens: which are taken, and what they are good for.

mod issuer;
mod jwks;
mod row;
mod shared;
pub mod sign;

use test_support::{Api, Method, Value, json};

use crate::client::Client;
use crate::site::Site;
use row::{forbidden, unauthenticated};
use sign::{SECRET, claims, hs256};

fn site() -> Site {
    Site::with(|worker| worker.var("JWT_SECRET", SECRET))
}

fn client_of(site: &Site, user: &str) -> Client {
    client_with(site, &hs256(&claims(user)))
}

fn client_with(site: &Site, token: &str) -> Client {
    Client::new(Api::new(site.url()).with_key(token))
}

fn like(others: Value) -> Value {
    let mut like = json!({"user": "42", "action": "like", "target": "p"});
    for (name, value) in others.as_object().expect("fields") {
        like[name] = value.clone();
    }
    like
}

const NOT_YOURS: &str = "This user token is for what is 42's alone.";

#[tokio::test]
async fn a_user_counts_and_takes_back_what_they_did_themselves() {
    let site = site();
    let user = client_of(&site, "42");
    for (undo, outcome) in [(false, "counted"), (false, "duplicate"), (true, "undone")] {
        let answer = user
            .post("/v1/activity", &like(json!({"undo": undo})))
            .await;
        assert_eq!(
            (answer.status, &answer.body["outcome"]),
            (200, &json!(outcome))
        );
    }
    // Without groups is the same as with none.
    let sent = like(json!({"user": 42, "action": "visit", "target": "/", "groups": []}));
    user.post("/v1/activity", &sent).await.assert_status(200);
    let standing = site.get("/v1/ranking/day/users/42").await;
    assert_eq!(standing.body["score"], 1);
}

#[tokio::test]
async fn what_only_services_may_send_is_forbidden_and_changes_nothing() {
    let site = site();
    let user = client_of(&site, "42");
    let before = site.store().snapshot();
    let rows = [
        (like(json!({"user": "7"})), NOT_YOURS),
        (like(json!({"user": "7", "undo": true})), NOT_YOURS),
        (
            like(json!({"user": "7", "at": "2026-01-01T00:00:00Z"})),
            NOT_YOURS,
        ),
        (like(json!({"user": "7", "action": "dance"})), NOT_YOURS),
        (
            like(json!({"at": "2026-01-01T00:00:00Z"})),
            "Only trusted services may send at.",
        ),
        (
            like(json!({"groups": ["eu"]})),
            "Only trusted services may send groups.",
        ),
        (
            like(json!({"action": "publish"})),
            "Only trusted services may send the action publish.",
        ),
        (
            like(json!({"action": "publish", "undo": true})),
            "Only trusted services may send the action publish.",
        ),
    ];
    for (sent, detail) in rows {
        user.post("/v1/activity", &sent)
            .await
            .assert(403, forbidden(detail));
    }
    // Content is told before, rules behind.
    user.post("/v1/activity", &like(json!({"user": "4 2"})))
        .await
        .assert_status(400);
    user.post("/v1/activity", &like(json!({"user": "7", "undo": 1})))
        .await
        .assert_status(400);
    user.post("/v1/activity", &like(json!({"action": "dance"})))
        .await
        .assert_status(422);
    let undo = like(json!({"action": "visit", "target": "/", "undo": true}));
    user.post("/v1/activity", &undo).await.assert_status(422);
    assert!(site.store().snapshot() == before, "Redis was changed");
}

#[tokio::test]
async fn a_rule_says_who_may_send_its_action() {
    let site = Site::with(|worker| {
        let rules = json!({"publish": {"by": "user"}, "like": {"by": "service"}});
        worker.var("JWT_SECRET", SECRET).json("RULES", rules)
    });
    let user = client_of(&site, "42");
    let detail = "Only trusted services may send the action like.";
    user.post("/v1/activity", &like(json!({})))
        .await
        .assert(403, forbidden(detail));
    let publish = like(json!({"action": "publish"}));
    user.post("/v1/activity", &publish).await.assert_status(200);
    site.send_activity(like(json!({}))).await.assert_status(200);
}

#[tokio::test]
async fn in_an_array_what_is_forbidden_spoils_no_other_item() {
    let site = site();
    let user = client_of(&site, "42");
    let sent = json!([
        like(json!({})),
        like(json!({"user": "7"})),
        like(json!({"target": "q"})),
        like(json!({"target": "q", "groups": ["eu"]})),
    ]);
    let groups = "Only trusted services may send groups.";
    user.post("/v1/activity", &sent).await.assert(
        200,
        json!({"results": [
            {"outcome": "counted", "points": 2},
            {"error": forbidden(NOT_YOURS)},
            {"outcome": "counted", "points": 2},
            {"error": forbidden(groups)},
        ]}),
    );
    let other = site.get("/v1/ranking/day/users/7").await;
    assert_eq!(other.body["score"], 0);
}

#[tokio::test]
async fn profile_and_history_are_their_owners() {
    let site = site();
    let (user, other) = (client_of(&site, "42"), client_of(&site, "7"));
    let ada = json!({"name": "Ada"});
    user.put("/v1/users/42", &ada)
        .await
        .assert(200, json!({"id": "42", "name": "Ada"}));
    user.get("/v1/users/42/activity").await.assert_status(200);
    user.head("/v1/users/42/activity").await.assert_status(200);
    let not_theirs = forbidden("This user token is for what is 7's alone.");
    let eve = json!({"name": "Eve"});
    other
        .put("/v1/users/42", &eve)
        .await
        .assert(403, not_theirs.clone());
    other
        .get("/v1/users/42/activity")
        .await
        .assert(403, not_theirs);
    // Content is told before.
    other
        .put("/v1/users/42", &json!({"name": 1}))
        .await
        .assert_status(400);
    other
        .get("/v1/users/42/activity?days=0")
        .await
        .assert_status(400);
    other
        .get("/v1/users/42")
        .await
        .assert(200, json!({"id": "42", "name": "Ada"}));
}

#[tokio::test]
async fn several_profiles_and_erasure_are_for_services() {
    let site = site();
    let user = client_of(&site, "42");
    user.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let detail = "Only trusted services may do this.";
    let profiles = json!([{"id": "42", "name": "Eve"}]);
    user.put("/v1/users", &profiles)
        .await
        .assert(403, forbidden(detail));
    user.put("/v1/users", &json!({})).await.assert_status(400);
    user.delete("/v1/users/42")
        .await
        .assert(403, forbidden(detail));
    user.delete("/v1/users/4%202").await.assert_status(400);
    let profile = site.get("/v1/users/42").await;
    profile.assert(200, json!({"id": "42", "name": "Ada"}));
}

#[tokio::test]
async fn who_shows_nothing_is_told_what_to_show() {
    let both = site();
    let users = Site::with(|worker| worker.var("JWT_SECRET", SECRET).without("SERVICE_KEYS"));
    for (site, what) in [(&both, "service key or user token"), (&users, "user token")] {
        let answer = site.without_key().get("/v1/users/42/activity").await;
        let how = format!("Send the header Authorization: Bearer <{what}>.");
        answer.assert(401, unauthenticated(&how));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let health = site.get("/healthz").await;
        assert_eq!(health.body["warnings"], json!([]));
        assert!(!health.text.contains(SECRET));
        let user = client_of(site, "42");
        user.get("/v1/users/42/activity").await.assert_status(200);
    }
}

#[tokio::test]
async fn a_token_is_worth_nothing_where_none_are_configured() {
    let site = Site::start();
    let user = client_of(&site, "42");
    let answer = user.post("/v1/activity", &like(json!({}))).await;
    answer.assert(401, unauthenticated("This service key is not known."));
}

#[tokio::test]
async fn size_and_media_type_are_told_before_a_bad_token_and_content_behind() {
    let site = site();
    let bad = [
        ("authorization", "Bearer a.b.c"),
        ("content-type", "text/plain"),
    ];
    let client = site.without_key();
    let large = " ".repeat(256 * 1024 + 1);
    let send = |body: String, headers: Vec<(&'static str, &'static str)>| {
        let client = client.clone();
        async move {
            client
                .send(Method::POST, "/v1/activity?x=1", body, &headers)
                .await
                .status
        }
    };
    assert_eq!(send(large, bad.to_vec()).await, 413);
    assert_eq!(send("{".to_owned(), bad.to_vec()).await, 415);
    let json = vec![bad[0], ("content-type", "application/json")];
    assert_eq!(send("{".to_owned(), json).await, 401);
}
