//! `activity-rank me`: prints all current scores and ranks of one user.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Number;

use crate::args::{MeArgs, ServiceArgs};
use crate::board::{User, format_table, print_with_key};
use crate::client::client;
use crate::failure::Failure;
use crate::printable::printable;
use crate::standing::Next;

/// The periods in the order of the table.
const PERIODS: [&str; 5] = ["day", "week", "month", "year", "all"];

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Standings {
    user: User,
    standings: BTreeMap<String, PeriodStandings>,
}

/// The standings on the boards of one period.
#[derive(Debug, Deserialize)]
struct PeriodStandings {
    id: String,
    #[serde(flatten)]
    standing: Option<BoardStanding>,
    #[serde(default)]
    groups: BTreeMap<String, BoardStanding>,
    author: Option<BoardStanding>,
    friends: Option<Friends>,
}

/// The standing on one board.
#[derive(Debug, Deserialize)]
struct BoardStanding {
    rank: Option<u64>,
    /// `None` if the service does not know it at present.
    score: Option<Number>,
    total: u64,
    next: Option<Next>,
}

/// The position among the user and the users whom they follow.
#[derive(Debug, Deserialize)]
struct Friends {
    position: Option<u64>,
    total: u64,
}

/// Reads the standings and prints them.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &MeArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let mut url = client.url(&["v1", "users", &args.user, "standings"]);
    if !args.groups.is_empty() {
        url.query_pairs_mut()
            .append_pair("groups", &args.groups.join(","));
    }
    if args.friends {
        url.query_pairs_mut().append_pair("friends", "true");
    }
    print_with_key(&client, &url, args.json, text).await
}

fn text(standings: &Standings) -> String {
    let mut rows = Vec::new();
    for name in PERIODS {
        let Some(period) = standings.standings.get(name) else {
            continue;
        };
        let board = if name == period.id {
            name.to_owned()
        } else {
            format!("{name} {}", printable(&period.id))
        };
        rows.extend(
            period
                .standing
                .iter()
                .map(|standing| row(standing, board.clone(), period.friends.as_ref())),
        );
        for (group, standing) in &period.groups {
            rows.push(row(
                standing,
                format!("{board}, {}", printable(group)),
                None,
            ));
        }
        let author = period.author.iter();
        rows.extend(author.map(|standing| row(standing, format!("{board}, authors"), None)));
    }
    let header = ["rank", "score", "board", "members", "friends", "next"];
    format!(
        "{}\n\n{}",
        standings.user,
        format_table(header, rows.into_iter(), 0..2)
    )
}

fn row(standing: &BoardStanding, board: String, friends: Option<&Friends>) -> [String; 6] {
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let friends = friends.map(|friends| {
        let position = number(friends.position);
        format!("{position} of {}", friends.total)
    });
    [
        number(standing.rank),
        standing
            .score
            .as_ref()
            .map_or("?".to_owned(), Number::to_string),
        board,
        standing.total.to_string(),
        friends.unwrap_or_default(),
        standing
            .next
            .as_ref()
            .map(Next::to_string)
            .unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standings_are_listed_by_period() -> Result<(), serde_json::Error> {
        let standings = serde_json::from_str(
            r#"{"user":{"id":"42","name":"Ada"},"standings":{
                "all":{"id":"all","author":{"rank":1,"score":2.5,"total":4,"percentile":100,"next":null}},
                "day":{"id":"2026-11-20","rank":3,"score":12,"total":1234,"percentile":99.8,
                    "next":{"rank":2,"score":15,"points":4},"friends":{"position":2,"total":8},
                    "groups":{"eu":{"rank":null,"score":0,"total":0,"percentile":null,"next":null}}},
                "week":{"id":"2026-W47","rank":null,"score":null,"total":9000,"percentile":null,"next":null,
                    "reason":"not-in-snapshot"}}}"#,
        )?;
        assert_eq!(
            text(&standings),
            "Ada (42)\n\n rank  score  board               members  friends  next\n    \
             3     12  day 2026-11-20      1234     2 of 8   4 points to rank 2 (score 15)\n    \
             -      0  day 2026-11-20, eu  0\n    \
             -      ?  week 2026-W47       9000\n    \
             1    2.5  all, authors        4"
        );
        Ok(())
    }
}
