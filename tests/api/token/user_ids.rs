//! `JWT_USER` and `JWT_REQUIRED`, and `GET /v1/token`, which says whom a token identifies.

use ring::hmac::{HMAC_SHA256, Key, sign};
use test_support::{Value, json};

use super::like;
use super::sign::{SECRET, claims_with, hs256};
use crate::app::TestApp;
use crate::client::Client;
use crate::problem::{problem, unauthenticated};

const KEY: &str = "another secret of thirty-two bytes";
const INVALID: &str = "The user id of this user token must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'.";

fn start(user: Value, required: Value) -> TestApp {
    TestApp::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET).var("JWT_USER_KEY", KEY);
        let worker = worker.json("JWT_USER", user).json("JWT_REQUIRED", required);
        worker.var("JWT_GROUPS_CLAIM", "teams")
    })
}

fn client(app: &TestApp, claims: Value) -> Client {
    app.with_key(&hs256(&claims_with(claims)))
}

#[tokio::test]
async fn address_becomes_a_hash_with_a_prefix() {
    let fields = json!({"claim": "email", "lower_case": true, "hash": true, "prefix": "ghost:"});
    let app = start(fields, json!({}));
    let digest = sign(&Key::new(HMAC_SHA256, KEY.as_bytes()), b"ada+x@a.example");
    let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    let hex: String = hex.collect();
    let id = format!("ghost:{}", &hex[..32]);
    for email in ["ada+x@a.example", "Ada+X@A.example"] {
        let user = client(&app, json!({"email": email, "teams": ["eu", "e u"]}));
        let response = user.get("/v1/token").await;
        response.assert(200, json!({"user": id, "groups": ["eu"]}));
        let outcome = if email.starts_with('a') {
            "counted"
        } else {
            "duplicate"
        };
        user.outcome(like(json!({"user": id})), outcome).await;
        let forbidden = user.send_activity(like(json!({"user": "42"}))).await;
        let detail = format!("This user token only grants access to the data of user {id}.");
        forbidden.assert(403, problem("forbidden", &detail));
    }
    assert_eq!(
        app.read(&format!("/v1/ranking/day/users/{id}")).await["score"],
        2
    );
}

#[tokio::test]
async fn replaced_claim_must_be_a_valid_id() {
    let app = start(
        json!({"replace": [["+", "-"], ["@a.example", ""]]}),
        json!({}),
    );
    let user = client(&app, json!({"sub": "Ada+x@a.example"}));
    let response = user.get("/v1/token").await;
    response.assert(200, json!({"user": "Ada-x", "groups": []}));
    for (sub, detail) in [
        (json!("@a.example"), INVALID),
        (json!("a b"), INVALID),
        (
            json!(["42"]),
            "The user token's sub must be a text or an integer.",
        ),
        (json!(null), "The user token has no sub."),
    ] {
        let user = client(&app, json!({"sub": sub}));
        for path in ["/v1/token", "/v1/users/42/activity"] {
            let response = user.get(path).await;
            response.assert(403, problem("forbidden", detail));
        }
    }
}

#[tokio::test]
async fn token_without_a_required_claim_is_refused() {
    let app = start(json!({}), json!({"scope": "board", "email_verified": true}));
    let claims = |scope: &str, verified: Value| json!({"scope": scope, "email_verified": verified});
    let user = client(&app, claims("read board", json!(true)));
    user.counted(like(json!({}))).await;
    let written = client(&app, claims("board", json!("true")));
    written.outcome(like(json!({})), "duplicate").await;
    for (claims, detail) in [
        (
            claims("read", json!(true)),
            "'s scope is 'read', expected 'board'",
        ),
        (
            claims("board", json!("false")),
            "'s email_verified is 'false', expected 'true'",
        ),
        (json!({}), " has no email_verified, expected 'true'"),
    ] {
        let detail = format!("The user token{detail}.");
        let response = client(&app, claims)
            .send_activity(like(json!({"target": "q"})))
            .await;
        response.assert(401, unauthenticated(&detail).body());
    }
}

#[tokio::test]
async fn only_user_tokens_have_a_user() {
    let app = super::start();
    let user = client(&app, json!({}));
    let response = user.get("/v1/token").await;
    response.assert(200, json!({"user": "42", "groups": []}));
    let response = app.get("/v1/token").await;
    response.assert(403, problem("forbidden", "Only user tokens have a user."));
    assert_eq!(app.without_key().get("/v1/token").await.status, 401);
}
