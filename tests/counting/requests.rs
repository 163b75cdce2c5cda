//! Builders of activities, and readers of outcomes and boards.

use test_support::{Answer, Api, Value, json, until};

pub const ACTIVITY: &str = "/v1/activity";
pub const PERIODS: [&str; 5] = ["day", "week", "month", "year", "all"];

/// Returns an activity without optional fields.
pub fn act(user: &str, action: &str, target: &str) -> Value {
    json!({ "user": user, "action": action, "target": target })
}

pub fn like(user: &str, target: &str) -> Value {
    act(user, "like", target)
}

/// Returns the undo of an activity.
pub fn undo(activity: &Value) -> Value {
    with(activity, "undo", json!(true))
}

/// Returns the activity with the field `at`.
pub fn at(activity: &Value, at: &str) -> Value {
    with(activity, "at", json!(at))
}

/// Returns the activity with groups.
pub fn in_groups(activity: &Value, groups: &[&str]) -> Value {
    with(activity, "groups", json!(groups))
}

fn with(activity: &Value, field: &str, value: Value) -> Value {
    let mut activity = activity.clone();
    activity[field] = value;
    activity
}

/// Returns the outcome of one activity.
#[track_caller]
pub fn outcome(response: &Answer) -> &str {
    response.assert_status(200);
    response.body["outcome"].as_str().unwrap()
}

/// Returns the outcomes of an array; for a rejected item, the slug of its problem.
#[track_caller]
pub fn outcomes(response: &Answer) -> Vec<&str> {
    response.assert_status(200);
    let results = response.body["results"].as_array().unwrap().iter();
    results
        .map(|item| {
            let slug = item["error"]["type"]
                .as_str()
                .map(|slug| &slug["/problems/".len()..]);
            slug.or(item["outcome"].as_str()).unwrap()
        })
        .collect()
}

/// Sends one activity and asserts its outcome.
pub async fn expect(api: &Api, activity: &Value, expected: &str) -> Answer {
    let response = api.post(ACTIVITY, activity).await;
    assert_eq!(
        outcome(&response),
        expected,
        "{activity}\n{}",
        response.text
    );
    response
}

/// Reads users and scores of a complete board, page by page; `query` is like `day?date=2026-11-20`.
pub async fn board(api: &Api, query: &str) -> Vec<(String, f64)> {
    rows(api, &format!("/v1/ranking/{query}")).await
}

/// Reads ids and scores of a complete board of users or of targets, page by page.
pub async fn rows(api: &Api, path: &str) -> Vec<(String, f64)> {
    let mut users = Vec::new();
    loop {
        let separator = if path.contains('?') { '&' } else { '?' };
        let page = format!("{path}{separator}limit=100&offset={}", users.len());
        // After requests without a response, the circuit breaker may be open.
        let response = until("an answer of the store", async || {
            let response = api.get(&page).await;
            (response.status != 503).then_some(response)
        })
        .await;
        response.assert_status(200);
        let entries = response.body["entries"].as_array().unwrap();
        for entry in entries {
            assert_eq!(entry["rank"], users.len() + 1, "{page}: {}", response.text);
            let subject = entry.get("target").unwrap_or(&entry["user"]);
            let user = subject["id"].as_str().unwrap().to_owned();
            users.push((user, entry["score"].as_f64().unwrap()));
        }
        if entries.len() < 100 {
            assert_eq!(response.body["total"], users.len(), "{page}");
            return users;
        }
    }
}

/// Asserts users and scores of a complete board.
pub async fn assert_board(api: &Api, query: &str, expected: &[(&str, f64)]) {
    let found = board(api, query).await;
    let found: Vec<(&str, f64)> = found
        .iter()
        .map(|(user, score)| (&**user, *score))
        .collect();
    assert_eq!(found, expected, "{query}");
}

/// Reads the users of a complete board, best first.
pub async fn ranked(api: &Api, query: &str) -> Vec<String> {
    board(api, query)
        .await
        .into_iter()
        .map(|(user, _)| user)
        .collect()
}
