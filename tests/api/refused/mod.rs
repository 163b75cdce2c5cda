//! Refused requests: each case asserts the complete error response, and Redis stays unchanged.
//!
//! Cases are grouped by route. A case is a request and its expected problem.

mod activity;
mod authentication;
mod body_size;
mod case;
mod moderation;
mod precedence;
mod profiles;
mod queries;
mod routes;
mod strict_json;

use std::collections::BTreeSet;

use test_support::json;

use crate::app::TestApp;
use crate::bodies::{activity, with};
use crate::document::document;
use crate::raw::RawResponse;
use case::Case;

fn cases() -> Vec<Case> {
    let groups = [
        routes::cases(),
        authentication::cases(),
        body_size::cases(),
        strict_json::cases(),
        activity::cases(),
        activity::rule_cases(),
        queries::cases(),
        moderation::cases(),
        profiles::cases(),
        precedence::cases(),
    ];
    groups.into_iter().flatten().collect()
}

/// Starts a deployment with points on every board, one score at its maximum and one period
/// switched off.
async fn start() -> TestApp {
    let app = TestApp::with(|worker| {
        let rules = json!({"jackpot": {"points": 8_000_000}, "once": {"points": 1, "undo": false}});
        worker
            .json("RULES", rules)
            .var("PERIODS", "day,week,month,all")
    });
    let activity = |action: &str| with(activity("42", action, "/p"), json!({"groups": ["eu"]}));
    let activities = json!([activity("jackpot"), activity("like"), activity("visit")]);
    app.send_activity(activities).await.assert_status(200);
    app.set_name("42", "Ada").await;
    app
}

#[tokio::test]
async fn bad_requests_return_problems_and_write_nothing() {
    let cases = cases();
    assert!(cases.len() >= 80, "only {} cases", cases.len());
    let app = start().await;
    let before = app.store().snapshot();
    let mut failures = Vec::new();
    for case in &cases {
        let response = case.send(&app).await;
        failures.extend(case.difference(&response));
    }
    let unchanged = app.store().snapshot() == before;
    assert!(
        failures.is_empty(),
        "{} of {} cases:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    assert!(unchanged, "Redis was changed");
}

/// Without `Content-Length`, the Worker stops reading at the size limit.
#[tokio::test]
async fn chunked_body_is_read_up_to_the_size_limit() {
    let app = start().await;
    let before = app.store().snapshot();
    for case in body_size::chunked_cases() {
        let RawResponse { status, head, body } = case.send_chunked(&app);
        assert_eq!(status, case.problem.status(), "{head}");
        assert_eq!(body, case.problem.body(), "{head}");
    }
    assert!(app.store().snapshot() == before, "Redis was changed");
}

/// Every problem type of the OpenAPI document occurs in a case here, or in the tests of targets, events, rules, syncs,
/// tokens, rate limits, configuration or outages.
#[test]
fn documented_problem_types_are_all_tested() {
    let elsewhere = "account-conflict author-conflict event-conflict pause-conflict rules-conflict sync-conflict \
        forbidden rate-limited misconfigured store-unavailable keys-unavailable turnstile-unavailable";
    let cases = cases();
    let tested = cases.iter().map(|case| case.problem.slug());
    let tested: BTreeSet<&str> = tested.chain(elsewhere.split(' ')).collect();
    let types = &document().json["components"]["schemas"]["Problem"]["properties"]["type"]["enum"];
    let types = types.as_array().expect("an enum").iter();
    let types = types.map(|url| url.as_str().expect("text").replace("/problems/", ""));
    let types: Vec<String> = types.collect();
    assert_eq!(tested, types.iter().map(String::as_str).collect());
}

/// Every query and path parameter of the OpenAPI document is refused in at least one case.
#[test]
fn documented_parameters_are_all_tested() {
    let pointers = cases().into_iter().flat_map(|case| case.problem.pointers());
    let pointers: BTreeSet<String> = pointers.collect();
    let parameters = document().parameters();
    assert!(parameters.len() >= 8, "{parameters:?}");
    // These headers accept any value, and an unknown achievement or key is 404. `actions` needs a deployment with visitors,
    // see `visitors.rs`.
    let accepted = [
        "If-None-Match",
        "Last-Event-ID",
        "Prefer",
        "achievement",
        "actions",
        "key",
    ];
    for name in parameters
        .iter()
        .filter(|name| !accepted.contains(&name.as_str()))
    {
        assert!(pointers.contains(&format!("/{name}")), "no case for {name}");
    }
}
