//! `activity-rank friends`: prints a user and the users whom they follow, by rank.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Number;

use crate::args::{FriendsArgs, ServiceArgs};
use crate::board::{BoardPeriod, User, format_table, period_name, print_with_key};
use crate::client::client;
use crate::count::count;
use crate::failure::Failure;
use crate::printable::printable;

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Comparison {
    period: BoardPeriod,
    total: u64,
    entries: Vec<Entry>,
}

/// One user.
#[derive(Debug, Deserialize)]
struct Entry {
    position: Option<u64>,
    rank: Option<u64>,
    score: Number,
    user: User,
}

/// Reads the comparison and prints it.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &FriendsArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let mut url = client.url(&["v1", "ranking", &period_name(args.period), "users"]);
    url.query_pairs_mut().append_pair("followed_by", &args.user);
    args.board.add_to(&mut url);
    print_with_key(&client, &url, args.board.json, |comparison| {
        text(comparison, &args.user)
    })
    .await
}

fn text(comparison: &Comparison, user: &str) -> String {
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let rows = comparison.entries.iter().map(|entry| {
        let arrow = if entry.user.id == user { "> " } else { "" };
        [
            format!("{arrow}{}", number(entry.position)),
            number(entry.rank),
            entry.score.to_string(),
            printable(&entry.user.id),
            entry
                .user
                .name
                .as_deref()
                .map(printable)
                .unwrap_or_default(),
        ]
    });
    let table = format_table(["position", "rank", "score", "user", "name"], rows, 0..2);
    let members = count(comparison.total, "member");
    format!("{} · {members}\n\n{table}", comparison.period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friends_are_listed_by_position() -> Result<(), serde_json::Error> {
        let comparison = serde_json::from_str(
            r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC"},"total":9,"entries":[
                {"position":1,"rank":2,"score":12,"user":{"id":"7","name":"Grace"}},
                {"position":2,"rank":5,"score":3,"user":{"id":"42"}},
                {"position":null,"rank":null,"score":0,"user":{"id":"8"}}]}"#,
        )?;
        assert_eq!(
            text(&comparison, "42"),
            "all (UTC) · 9 members\n\n position  rank  score  user  name\n        \
             1     2  12     7     Grace\n      \
             > 2     5  3      42\n        \
             -     -  0      8"
        );
        Ok(())
    }
}
