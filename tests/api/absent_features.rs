//! Routes of features that a deployment does not have: 404 with the variable or the binding that turns them on.

use test_support::{Method, json};

use crate::app::TestApp;
use crate::bodies::{activity, with};
use crate::client::JSON;
use crate::problem::{columns, problem};

/// Method, path and detail.
const ROUTES: &str = "
    GET     /v1/issuer                                      This deployment issues no credentials: BADGE_KEY is not set.
    GET     /v1/issuer/keys                                 This deployment issues no credentials: BADGE_KEY is not set.
    GET     /v1/issuer/keys/1                               This deployment issues no credentials: BADGE_KEY is not set.
    GET     /v1/users/42/achievements/voter/credential      This deployment issues no credentials: BADGE_KEY is not set.
    GET     /v1/webhooks/deliveries                         This deployment has no webhooks: WEBHOOKS is not set.
    POST    /v1/webhooks/deliveries/msg_00000000000000000000000000000000/retry  This deployment has no webhooks: WEBHOOKS is not set.
    GET     /v1/cases                                       This deployment has no cases: FAIR_PLAY is not set.
    POST    /v1/cases/search                                This deployment has no cases: FAIR_PLAY is not set.
    POST    /v1/events/hackathon/recount                    A recount needs the journal: JOURNAL is not bound.
    GET     /v1/rules/preview                               This deployment has no previews of rules: JOURNAL is not bound.
    GET     /v1/syncs                                       This deployment has no results of sync runs: JOURNAL is not bound.
    PUT     /v1/syncs/ghost                                 This deployment has no results of sync runs: JOURNAL is not bound.
    DELETE  /v1/syncs/ghost                                 This deployment has no results of sync runs: JOURNAL is not bound.
    GET     /v1/ranking/day/live                            This deployment has no live boards: LIVE is not bound.
    GET     /try                                            This deployment has no playground; PLAYGROUND turns it on.
    GET     /v1/content/day                                 This deployment has no boards of content: CONTENT_PERIODS is not set.
    GET     /v1/authors/day                                 This deployment has no boards of content: CONTENT_PERIODS is not set.
    GET     /v1/content/day/targets/post-7                  This deployment has no boards of content: CONTENT_PERIODS is not set.
    GET     /v1/authors/all/users/9                         This deployment has no boards of content: CONTENT_PERIODS is not set.
    GET     /v1/targets/post-7                              This deployment has no boards of content: CONTENT_PERIODS is not set.
    PUT     /v1/targets/post-7                              This deployment has no boards of content: CONTENT_PERIODS is not set.
    PUT     /v1/targets                                     This deployment has no boards of content: CONTENT_PERIODS is not set.
";

/// The body of a write. `Client` checks only accepted bodies against the OpenAPI document.
fn body(path: &str) -> &'static str {
    match path {
        "/v1/targets" => "[]",
        "/v1/syncs/ghost" => r#"{"state":"running"}"#,
        "/v1/events/hackathon/recount" | "/v1/targets/post-7" => "{}",
        _ => "",
    }
}

#[tokio::test]
async fn absent_features_return_404() {
    let app = TestApp::start();
    for [method, path, detail] in columns(ROUTES) {
        let method: Method = method.parse().expect("a method");
        let body = match method {
            Method::GET | Method::DELETE => "",
            _ => body(path),
        };
        let response = app.send(method, path, body, JSON).await;
        response.assert(404, problem("not-found", detail));
    }
    let response = app.without_key().put("/v1/targets", &json!([])).await;
    response.assert_status(401);
    // What an activity says about content is ignored.
    let comment = activity("42", "comment", "c-1");
    let body = with(comment, json!({"on": "post-8", "author": "9"}));
    app.counted(body).await;
    assert!(!app.store().keys().iter().any(|key| key == "t"));
}
