//! `/v1/users/{user}/moderation`, `/v1/users/{user}/adjustments` and `/v1/moderation`.

mod actors;
mod adjustments;
mod audit_log;
mod erasure;
mod frozen;
mod hidden;
mod pending;
mod refused_writes;
mod wrong_type_keys;

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, like, with};
use crate::clock::{day, noon};

/// Response bodies by request path.
type Boards = Vec<(String, Value)>;

/// Reads every board that [`count_activities`] wrote to, and the standings of the users on each.
pub async fn boards(app: &TestApp, users: &[&str]) -> Boards {
    let mut boards = Vec::new();
    for period in ["day", "week", "month", "year", "all"] {
        for days_ago in [0, 12, 3000] {
            for group in ["", "&group=eu"] {
                let query = format!("date={}{group}", day(days_ago));
                let ids = users.join(",");
                let paths = [
                    format!("/v1/ranking/{period}?{query}&limit=100"),
                    format!("/v1/ranking/{period}/users?{query}&ids={ids}"),
                ];
                let standings = users
                    .iter()
                    .map(|user| format!("/v1/ranking/{period}/users/{user}?{query}&around=2"));
                for path in paths.into_iter().chain(standings) {
                    let body = app.read(&path).await;
                    boards.push((path, body));
                }
            }
        }
    }
    boards
}

/// Removes a user from boards: the users below move up one rank.
///
/// Standings become null, which [`assert_boards`] skips: they follow from the board.
pub fn without(user: &str, boards: &[(String, Value)]) -> Boards {
    boards
        .iter()
        .map(|(path, body)| {
            let entries = body["entries"].as_array().cloned().unwrap_or_default();
            if path.contains("/users") || entries.is_empty() {
                return (path.clone(), Value::Null);
            }
            let others = entries.iter().filter(|entry| entry["user"]["id"] != user);
            let others: Vec<Value> = (1..)
                .zip(others)
                .map(|(rank, entry)| {
                    let mut entry = entry.clone();
                    entry["rank"] = json!(rank);
                    entry
                })
                .collect();
            let mut expected = body.clone();
            expected["total"] = json!(others.len());
            expected["entries"] = json!(others);
            (path.clone(), expected)
        })
        .collect()
}

/// Asserts that boards equal the expected ones, except where null is expected.
#[track_caller]
pub fn assert_boards(found: &[(String, Value)], expected: &[(String, Value)]) {
    assert_eq!(found.len(), expected.len());
    for ((path, found), (_, expected)) in found.iter().zip(expected) {
        assert!(
            expected.is_null() || found == expected,
            "{path}\nexpected {expected:#}\nfound    {found:#}"
        );
    }
}

/// Counts a like of each user today, 12 and 3000 days ago, on the global boards and in the group
/// `eu`, and a comment of the first user today.
///
/// The users after the first tie.
pub async fn count_activities(app: &TestApp, users: &[&str]) {
    for days_ago in [0, 12, 3000] {
        for user in users {
            let fields = json!({"at": noon(days_ago), "groups": ["eu"]});
            let like = with(like(user, &format!("p{days_ago}")), fields);
            app.counted(like).await;
        }
    }
    let fields = json!({"at": noon(0), "groups": []});
    let comment = with(activity(users[0], "comment", "c"), fields);
    app.counted(comment).await;
}
