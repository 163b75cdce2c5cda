//! Bodies of requests, and of the responses that tests expect.

use jiff::civil::Date;
use test_support::{Value, json};

use crate::clock::period;

/// Returns an activity for `POST /v1/activity`.
pub fn activity(user: &str, action: &str, target: &str) -> Value {
    json!({"user": user, "action": action, "target": target})
}

pub fn like(user: &str, target: &str) -> Value {
    activity(user, "like", target)
}

/// Turns an activity into its undo.
pub fn undo(activity: Value) -> Value {
    with(activity, json!({"undo": true}))
}

/// Dates an activity.
pub fn dated(activity: Value, at: impl Into<Value>) -> Value {
    with(activity, json!({"at": at.into()}))
}

/// Adds the fields of an object to a body, replacing fields of the same name.
pub fn with(mut body: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().expect("fields") {
        body[name] = value.clone();
    }
    body
}

/// Returns a moderation state for `PUT /v1/users/{user}/moderation`.
pub fn moderation(hidden: bool, frozen: bool) -> Value {
    json!({"hidden": hidden, "frozen": frozen, "reason": "A test"})
}

/// Returns the response to a single activity or adjustment.
pub fn outcome(name: &str, points: impl Into<Value>, standings: Value) -> Value {
    json!({"outcome": name, "points": points.into(), "standings": standings})
}

/// Returns the response of a board or of a comparison.
pub fn board(period: Value, total: u32, entries: impl Into<Value>) -> Value {
    json!({"period": period, "total": total, "entries": entries.into()})
}

/// Returns the response of a board of a day without users.
pub fn empty_board(kind: &str, day: Date) -> Value {
    board(period(kind, day), 0, json!([]))
}

/// Returns the entry of a user without a profile.
pub fn entry(rank: u32, score: u32, user: &str) -> Value {
    json!({"rank": rank, "score": score, "user": {"id": user}})
}

/// Returns the value at a JSON pointer of each item of an array.
#[track_caller]
pub fn each(items: &Value, pointer: &str) -> Vec<Value> {
    let items = items.as_array().expect("an array").iter();
    let value = |item: &Value| item.pointer(pointer).cloned().unwrap_or_default();
    items.map(value).collect()
}

/// Returns the values at several JSON pointers of each item of an array.
#[track_caller]
pub fn rows<const N: usize>(items: &Value, pointers: [&str; N]) -> Value {
    let items = items.as_array().expect("an array").iter();
    let row = |item: &Value| {
        json!(
            pointers
                .map(|name| item.pointer(name).cloned().unwrap_or_default())
                .to_vec()
        )
    };
    items.map(row).collect()
}

/// Returns the ids of the users on a board, best first.
pub fn ids(board: &Value) -> Vec<&str> {
    let entries = board["entries"].as_array().expect("entries").iter();
    entries
        .map(|entry| entry["user"]["id"].as_str().expect("an id"))
        .collect()
}
