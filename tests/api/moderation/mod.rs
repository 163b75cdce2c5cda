//! `/v1/users/{user}/moderation`, `/v1/users/{user}/adjustments`, `/v1/moderation`

mod adjusted;
mod audit;
mod erased;
mod foreign;
mod frozen;
mod hidden;

use test_support::{Answer, Value, json};

use crate::clock::{day, noon};
use crate::site::Site;

/// Every board there can be, whole, and where these users stand on each: by the address.
pub async fn boards(site: &Site, users: &[&str]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for kind in ["day", "week", "month", "year", "all"] {
        for back in [0, 12, 3000] {
            for group in ["", "&group=eu"] {
                let question = format!("date={}{group}", day(back));
                let ids = users.join(",");
                let paths = [
                    format!("/v1/ranking/{kind}?{question}&limit=100"),
                    format!("/v1/ranking/{kind}/users?{question}&ids={ids}"),
                ];
                let standings = users
                    .iter()
                    .map(|user| format!("/v1/ranking/{kind}/users/{user}?{question}&around=2"));
                for path in paths.into_iter().chain(standings) {
                    let answer = site.get(&path).await;
                    answer.assert_status(200);
                    found.push((path, answer.body));
                }
            }
        }
    }
    found
}

/// Boards as they are where a user has never been: the others move up.
pub fn without(user: &str, boards: &[(String, Value)]) -> Vec<(String, Value)> {
    boards
        .iter()
        .map(|(path, body)| {
            let entries = body["entries"].as_array().cloned().unwrap_or_default();
            let mut expected = body.clone();
            if path.contains("/users") || entries.is_empty() {
                // Standings follow from the board; the other tests compare those.
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
            expected["total"] = json!(others.len());
            expected["entries"] = json!(others);
            (path.clone(), expected)
        })
        .collect()
}

/// Checks every board against what [`without`] made of it.
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

/// Activity of several users today, days and years ago, in a group and not, with equals.
pub async fn activity(site: &Site, users: &[&str]) {
    for back in [0, 12, 3000] {
        for user in users {
            let of = |target: &str, groups: Value| json!({"user": user, "action": "like", "target": target, "at": noon(back), "groups": groups});
            let target = format!("p{back}");
            site.outcome(of(&target, json!(["eu"])), "counted").await;
        }
    }
    let comment =
        json!({"user": users[0], "action": "comment", "target": "c", "at": noon(0), "groups": []});
    site.outcome(comment, "counted").await;
}

/// Hides and freezes a user, or not.
pub async fn moderate(site: &Site, user: &str, hidden: bool, frozen: bool) -> Answer {
    let verdict = json!({"hidden": hidden, "frozen": frozen, "reason": "A test"});
    site.put(&format!("/v1/users/{user}/moderation"), &verdict)
        .await
}

/// Adjusts a user's points.
pub async fn adjust(site: &Site, user: &str, adjustment: Value) -> Answer {
    let path = format!("/v1/users/{user}/adjustments");
    site.post(&path, &adjustment).await
}
