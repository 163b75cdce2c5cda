//! The profile that the claims `name` and `picture` of a user token create with the first activity.

use test_support::{Forwarder, Gateway, RedisOptions, RedisServer, Value, json, shards};

use super::sign::{SECRET, claims_with, hs256};
use super::{like, start};
use crate::app::TestApp;
use crate::client::Client;
use crate::problem::problem;

const PICTURE: &str = "https://example.com/ada.png";

/// A client of user 42 with these claims.
fn client(app: &TestApp, claims: Value) -> Client {
    app.with_key(&hs256(&claims_with(claims)))
}

/// Valid claims.
fn ada() -> Value {
    json!({"name": "Ada", "picture": PICTURE})
}

/// The profile that [`ada`] creates.
fn ada_profile() -> Value {
    json!({"id": "42", "name": "Ada", "avatar": PICTURE})
}

/// Returns the profile of user 42, or `None` where there is none.
async fn profile(app: &TestApp) -> Option<Value> {
    let response = app.get("/v1/users/42").await;
    if response.status == 404 {
        return None;
    }
    response.assert_status(200);
    Some(response.body)
}

/// Each claim is used if it is valid.
#[tokio::test]
async fn valid_name_and_picture_claims_create_profile() {
    let long = "a".repeat(81);
    let both = |name: &str, picture: &str| json!({"name": name, "picture": picture});

    let named = |name: &str| json!({"id": "42", "name": name});
    let rows = [
        (ada(), ada_profile()),
        (
            both("<b>Ada</b>", "http://example.com/"),
            named("<b>Ada</b>"),
        ),
        (both(&long, PICTURE), json!({"id": "42", "avatar": PICTURE})),
        (both(&long, "ada.png"), Value::Null),
    ];
    for (claims, expected) in rows {
        let app = start();
        let user = client(&app, claims.clone());
        user.counted(like(json!({}))).await;
        let profile = profile(&app).await.unwrap_or_default();
        assert_eq!(profile, expected, "{claims}");
    }
}

#[tokio::test]
async fn token_claims_never_change_existing_profile() {
    let app = start();
    let user = client(&app, ada());
    let activities = json!([like(json!({})), like(json!({"user": "7"}))]);
    let response = user.post("/v1/activity", &activities).await;
    response.assert_status(200);
    let board = app.read("/v1/ranking/day").await;
    let entry = json!({"rank": 1, "score": 2, "user": ada_profile()});
    assert_eq!(board["entries"], json!([entry]));
    let renamed = client(&app, json!({"name": "Eve"}));
    let again = like(json!({"target": "q"}));
    let response = renamed.send_activity(again.clone()).await;
    response.assert_status(200);
    assert_eq!(profile(&app).await, Some(ada_profile()));
    // An empty profile is a profile.
    user.put_profile("42", json!({})).await;
    let again = like(json!({"target": "r"}));
    user.send_activity(again.clone()).await.assert_status(200);
    assert_eq!(profile(&app).await, Some(json!({"id": "42"})));
}

#[tokio::test]
async fn refused_request_creates_no_profile() {
    let app = start();
    let user = client(&app, ada());
    let before = app.store().snapshot();
    let rows = [
        (like(json!({"user": "4 2"})), 400),
        (like(json!({"user": "7"})), 403),
        (like(json!({"groups": ["eu"]})), 403),
        (like(json!({"action": "publish"})), 403),
        (like(json!({"action": "dance"})), 422),
        (json!([]), 200),
        (json!([{}, like(json!({"user": "7"}))]), 200),
    ];
    for (body, status) in rows {
        user.send_activity(body.clone()).await.assert_status(status);
    }
    user.read("/v1/users/42/activity").await;
    assert!(app.store().snapshot() == before, "Redis was changed");
    app.moderate("42", false, true).await;
    user.send_activity(like(json!({}))).await.assert_status(403);
    assert_eq!(profile(&app).await, None);
}

/// The outcome does not matter. An activity of a service creates no profile.
#[tokio::test]
async fn duplicate_activity_with_token_creates_profile() {
    let app = start();
    app.send_activity(like(json!({}))).await.assert_status(200);
    assert_eq!(profile(&app).await, None);
    let user = client(&app, ada());
    user.outcome(like(json!({})), "duplicate").await;
    assert_eq!(profile(&app).await, Some(ada_profile()));
}

/// The data under the prefix was written with another `POINT_DECIMALS`.
#[tokio::test]
async fn schema_mismatch_creates_no_profile() {
    let app = start();
    app.count("7", "like", "p").await;
    let before = app.store().snapshot();
    let prefix = app.prefix();
    let other = TestApp::with(|worker| {
        let worker = worker.var("PREFIX", prefix).var("POINT_DECIMALS", "1");
        worker.var("JWT_SECRET", SECRET)
    });
    let user = client(&other, ada());
    let detail = format!(
        "POINT_DECIMALS: is 1, but the data under PREFIX {prefix} was written with 0; set \
         POINT_DECIMALS back to 0, or choose another PREFIX to start anew"
    );
    let response = user.send_activity(like(json!({}))).await;
    response.assert(500, problem("misconfigured", detail));
    assert!(app.store().snapshot() == before, "Redis was changed");
}

/// Returns the number of commands in each store request.
fn commands_sent(forwarder: &Forwarder) -> Vec<usize> {
    let requests = forwarder.requests();
    let counts = requests.iter().map(|request| request.commands().len());
    counts.collect()
}

/// The profile is one more command of the activity's request. Claims without a valid name or
/// picture add no command.
#[tokio::test]
async fn profile_write_shares_request_with_activity() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.var("JWT_SECRET", SECRET));
    // The first request loads the scripts.
    let first = client(&app, ada());
    first.counted(like(json!({}))).await;
    let (one, array) = (like(json!({})), json!([like(json!({})), like(json!({}))]));
    // For a single activity, a second request reads its ranks on the other shards.
    let other_shards = (shards() > 1).then(|| shards() as usize - 1);
    let rows = [
        (ada(), &one, 2, other_shards),
        (ada(), &array, 2, None),
        (json!({"name": "", "picture": "x"}), &one, 1, other_shards),
        (json!({}), &array, 1, None),
    ];
    for (claims, body, commands, other_shards) in rows {
        forwarder.reset();
        let user = client(&app, claims.clone());
        user.send_activity(body.clone()).await.assert_status(200);
        let expected: Vec<usize> = [commands].into_iter().chain(other_shards).collect();
        assert_eq!(commands_sent(&forwarder), expected, "{claims}");
    }
}

/// An undo in groups needs a second request: the first one returns the groups.
#[tokio::test]
async fn second_undo_request_omits_profile_write() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.var("JWT_SECRET", SECRET));
    let grouped = like(json!({"groups": ["eu"]}));
    app.counted(grouped.clone()).await;
    let user = client(&app, ada());
    user.outcome(like(json!({})), "duplicate").await;
    forwarder.reset();
    let undo = like(json!({"undo": true}));
    user.outcome(undo, "undone").await;
    assert_eq!(commands_sent(&forwarder), [2, 1]);
}

/// A new Redis has no script in its cache.
#[tokio::test]
async fn empty_script_cache_still_creates_profile() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", SECRET).store(&gateway.url()));
    let user = client(&app, ada());
    user.counted(like(json!({}))).await;
    assert_eq!(profile(&app).await, Some(ada_profile()));
}
