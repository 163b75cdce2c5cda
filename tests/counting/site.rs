//! Short words for what tests of counting send and read.

use test_support::{Answer, Api, Value, json};

pub const ACTIVITY: &str = "/v1/activity";
pub const KINDS: [&str; 5] = ["day", "week", "month", "year", "all"];

/// An activity without further fields.
pub fn act(user: &str, action: &str, target: &str) -> Value {
    json!({ "user": user, "action": action, "target": target })
}

pub fn like(user: &str, target: &str) -> Value {
    act(user, "like", target)
}

/// The same taken back.
pub fn undo(activity: &Value) -> Value {
    with(activity, "undo", json!(true))
}

/// The same at an instant.
pub fn at(activity: &Value, at: &str) -> Value {
    with(activity, "at", json!(at))
}

/// The same in groups.
pub fn in_groups(activity: &Value, groups: &[&str]) -> Value {
    with(activity, "groups", json!(groups))
}

fn with(activity: &Value, field: &str, value: Value) -> Value {
    let mut activity = activity.clone();
    activity[field] = value;
    activity
}

/// The outcome of one activity.
#[track_caller]
pub fn outcome(answer: &Answer) -> &str {
    answer.assert_status(200);
    answer.body["outcome"].as_str().unwrap()
}

/// The outcomes of an array, the slug of a problem where there is one.
#[track_caller]
pub fn outcomes(answer: &Answer) -> Vec<&str> {
    answer.assert_status(200);
    let results = answer.body["results"].as_array().unwrap().iter();
    results
        .map(|item| {
            let slug = item["error"]["type"]
                .as_str()
                .map(|slug| &slug["/problems/".len()..]);
            slug.or(item["outcome"].as_str()).unwrap()
        })
        .collect()
}

/// Sends one activity that must come out so.
pub async fn expect(api: &Api, activity: &Value, expected: &str) -> Answer {
    let answer = api.post(ACTIVITY, activity).await;
    assert_eq!(outcome(&answer), expected, "{activity}\n{}", answer.text);
    answer
}

/// Users and scores of a whole board, page by page; `question` such as `day?date=2026-11-20`.
pub async fn board(api: &Api, question: &str) -> Vec<(String, f64)> {
    let mut users = Vec::new();
    loop {
        let more = if question.contains('?') { '&' } else { '?' };
        let page = format!(
            "/v1/ranking/{question}{more}limit=100&offset={}",
            users.len()
        );
        let answer = api.get(&page).await;
        answer.assert_status(200);
        let entries = answer.body["entries"].as_array().unwrap();
        for entry in entries {
            assert_eq!(entry["rank"], users.len() + 1, "{page}: {}", answer.text);
            let user = entry["user"]["id"].as_str().unwrap().to_owned();
            users.push((user, entry["score"].as_f64().unwrap()));
        }
        if entries.len() < 100 {
            assert_eq!(answer.body["total"], users.len(), "{page}");
            return users;
        }
    }
}

/// The users of a whole board, the best first.
pub async fn ranked(api: &Api, question: &str) -> Vec<String> {
    board(api, question)
        .await
        .into_iter()
        .map(|(user, _)| user)
        .collect()
}
