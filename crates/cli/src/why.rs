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
    account_of: Option<String>,
    #[serde(default)]
    behind: bool,
    moderation: Option<Moderation>,
    #[serde(default)]
    exclusions: Vec<Exclusion>,
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
    #[serde(default)]
    source_gone: bool,
    reason: Option<String>,
}

/// The moderation of the user, and its reason.
#[derive(Debug, Deserialize)]
struct Moderation {
    hidden: bool,
    frozen: bool,
    reason: String,
}

/// A case by which activity with other members does not count.
#[derive(Debug, Deserialize)]
struct Exclusion {
    reason: String,
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
    let header = header(page);
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
            entry.note(),
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

/// Returns whose points these are, where they come from, and what stops activity of the user.
fn header(page: &Page) -> String {
    let mut lines = vec![format!(
        "{} · from the {}",
        page.user,
        printable(&page.source)
    )];
    if let Some(member) = &page.account_of {
        lines.push(format!(
            "what is sent for {} counts for this member",
            printable(member)
        ));
    }
    if page.behind {
        lines.push("the journal still lacks the newest changes".to_owned());
    }
    if let Some(Moderation {
        hidden,
        frozen,
        reason,
    }) = &page.moderation
    {
        let set = [(hidden, "hidden"), (frozen, "frozen")];
        let set = set.into_iter().filter(|(is_set, _)| **is_set);
        let set: Vec<&str> = set.map(|(_, name)| name).collect();
        lines.push(format!("{}: {}", set.join(" and "), printable(reason)));
    }
    let reasons = page.exclusions.iter().map(|exclusion| &exclusion.reason);
    lines.extend(reasons.map(|reason| {
        format!(
            "activity with some members does not count: {}",
            printable(reason)
        )
    }));
    lines.join("\n")
}

impl Entry {
    /// Returns what became of the points, and why.
    fn note(&self) -> String {
        let undone = self.undone.then(|| "undone".to_owned());
        let gone = self.source_gone.then(|| "source gone".to_owned());
        let reason = self.reason.as_deref().map(printable);
        let notes: Vec<String> = [undone, gone, reason].into_iter().flatten().collect();
        notes.join(", ")
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
    fn reasons_are_shown() -> Result<(), serde_json::Error> {
        let page = serde_json::from_str(
            r#"{"user":{"id":"9"},"account_of":"9","source":"journal","behind":true,
                "moderation":{"hidden":true,"frozen":true,"reason":"Spam"},"exclusions":[{"reason":"A ring"}],
                "entries":[{"at":"2026-11-20T09:00:00Z","type":"adjustment","points":-5,"reason":"Spam","undone":true},
                    {"at":"2026-11-20T08:00:00Z","type":"undo","action":"like","target":{"id":"post-7"},"points":-2,
                    "source_gone":true}],"next":null}"#,
        )?;
        assert_eq!(
            text(&page),
            "9 · from the journal\nwhat is sent for 9 counts for this member\nthe journal still lacks the newest changes\n\
             hidden and frozen: Spam\nactivity with some members does not count: A ring\n\n \
             points  at                    what          target\n \
             \u{20}   -5  2026-11-20T09:00:00Z  adjustment            undone, Spam\n \
             \u{20}   -2  2026-11-20T08:00:00Z  undo of like  post-7  source gone"
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
