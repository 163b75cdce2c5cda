//! `activity-rank why`: prints what gave a user points, and what took them.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Number;

use crate::args::{ServiceArgs, WhyArgs};
use crate::board::{Target, User, format_table, print_with_key};
use crate::client::client;
use crate::failure::Failure;
use crate::printable::printable;

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Page {
    user: User,
    source: String,
    entries: Vec<Entry>,
    #[serde(default)]
    refused: Vec<Refusal>,
    next: Option<String>,
}

/// A change of points.
#[derive(Debug, Deserialize)]
struct Entry {
    at: String,
    #[serde(rename = "type")]
    cause: String,
    action: Option<String>,
    target: Option<Target>,
    points: Number,
    event: Option<String>,
    #[serde(default)]
    undone: bool,
}

/// Activities of one action and day that did not count.
#[derive(Debug, Deserialize)]
struct Refusal {
    at: String,
    action: String,
    reason: String,
    count: u64,
    targets: Vec<Target>,
}

/// Reads a page of changes and prints it, with the activities that did not count.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &WhyArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let mut url = client.url(&["v1", "users", &args.user, "points"]);
    url.query_pairs_mut().append_pair("refused", "true");
    let limit = args.limit.map(|limit| limit.to_string());
    for (name, value) in [("limit", &limit), ("before", &args.before)] {
        if let Some(value) = value {
            url.query_pairs_mut().append_pair(name, value);
        }
    }
    print_with_key(&client, &url, args.json, text).await
}

fn text(page: &Page) -> String {
    let header = format!("{} · from the {}", page.user, printable(&page.source));
    let refused = refused_text(&page.refused);
    if page.entries.is_empty() {
        return format!("{header}\nnothing changed points{refused}");
    }
    let rows = page.entries.iter().map(|entry| {
        let what = match &entry.action {
            Some(action) if entry.cause == "undo" => format!("undo of {}", printable(action)),
            Some(action) => printable(action),
            None => printable(&entry.cause),
        };
        let what = match &entry.event {
            Some(event) => format!("{what} in event {}", printable(event)),
            None => what,
        };
        let target = entry.target.as_ref();
        [
            entry.points.to_string(),
            printable(&entry.at),
            what,
            target
                .map(|target| printable(&target.id))
                .unwrap_or_default(),
            if entry.undone { "undone" } else { "" }.to_owned(),
        ]
    });
    let table = format_table(["points", "at", "what", "target", ""], rows, 0..1);
    match &page.next {
        Some(next) => format!(
            "{header}\n\n{table}{refused}\n\nmore: --before {}",
            printable(next)
        ),
        None => format!("{header}\n\n{table}{refused}"),
    }
}

/// Returns a table of the activities that did not count; empty if there are none.
fn refused_text(refused: &[Refusal]) -> String {
    if refused.is_empty() {
        return String::new();
    }
    let rows = refused.iter().map(|refusal| {
        let targets = refusal.targets.iter().map(|target| printable(&target.id));
        [
            refusal.count.to_string(),
            printable(&refusal.at),
            printable(&refusal.action),
            printable(&refusal.reason),
            targets.collect::<Vec<_>>().join(" "),
        ]
    });
    let titles = ["times", "last at", "action", "reason", "latest targets"];
    format!("\n\ndid not count:\n\n{}", format_table(titles, rows, 0..1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_activities_have_a_table() -> Result<(), serde_json::Error> {
        let page = serde_json::from_str(
            r#"{"user":{"id":"42"},"source":"journal","entries":[],"next":null,"refused":[
                {"date":"2026-11-20","at":"2026-11-20T09:00:00Z","action":"like","reason":"daily-cap","count":14,
                    "targets":[{"id":"post-9"},{"id":"post-8"}]}]}"#,
        )?;
        assert_eq!(
            text(&page),
            "42 · from the journal\nnothing changed points\n\ndid not count:\n\n \
             times  last at               action  reason     latest targets\n \
             \u{20}  14  2026-11-20T09:00:00Z  like    daily-cap  post-9 post-8"
        );
        Ok(())
    }

    #[test]
    fn changes_are_a_table() -> Result<(), serde_json::Error> {
        let page = serde_json::from_str(
            r#"{"user":{"id":"42","name":"Ada"},"source":"journal","entries":[
                {"at":"2026-11-20T09:00:00Z","type":"adjustment","points":5,"event":"hackathon","undone":false},
                {"at":"2026-11-20T08:00:00Z","type":"undo","action":"like","target":{"id":"post-7"},"points":-2},
                {"at":"2026-11-19T08:00:00Z","type":"adjustment","points":-5.5,"undone":false},
                {"at":"2026-11-18T08:00:00Z","type":"activity","action":"like","target":{"id":"post-7"},
                    "points":2,"undone":true}],"next":"17"}"#,
        )?;
        assert_eq!(
            text(&page),
            "Ada (42) · from the journal\n\n \
             points  at                    what                           target\n \
             \u{20}    5  2026-11-20T09:00:00Z  adjustment in event hackathon\n \
             \u{20}   -2  2026-11-20T08:00:00Z  undo of like                   post-7\n \
             \u{20} -5.5  2026-11-19T08:00:00Z  adjustment\n \
             \u{20}    2  2026-11-18T08:00:00Z  like                           post-7  undone\n\n\
             more: --before 17"
        );
        Ok(())
    }
}
