//! Board responses: request, types and output shared by the commands that print boards.

use std::fmt;
use std::ops::Range;
use std::process::ExitCode;

use clap::ValueEnum;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Number;
use serde_json::value::RawValue;

use crate::args::{BoardArgs, Period, ServiceArgs};
use crate::client::{Client, client};
use crate::failure::Failure;
use crate::printable::{printable, printable_json};
use crate::request_error::RequestError;
use crate::screen::Screen;

/// Few retries, because these commands are interactive.
pub const RETRIES: usize = 2;

/// One period instance, such as the week 2026-W47.
#[derive(Debug, Deserialize)]
pub struct BoardPeriod {
    /// `day`, `week`, `month`, `year` or `all`.
    pub kind: String,
    /// `2026-11-20`, `2026-W47`, `2026-11`, `2026` or `all`.
    pub id: String,
    /// First instant; `None` for `all`.
    pub start: Option<String>,
    /// First instant after the period; `None` for `all`.
    pub end: Option<String>,
    /// IANA time zone of the calendar.
    pub timezone: String,
}

/// One row of a board: a user, or a target and its author.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// Rank, from 1.
    pub rank: u64,
    /// Points.
    pub score: Number,
    /// The user.
    pub user: Option<User>,
    /// The target.
    pub target: Option<Target>,
    /// The author of the target.
    pub author: Option<User>,
}

/// A target, with a title if it has one.
#[derive(Debug, Deserialize)]
pub struct Target {
    /// Id.
    pub id: String,
    /// Title.
    pub title: Option<String>,
}

/// A user, with a name if the user has a profile.
#[derive(Debug, Deserialize)]
pub struct User {
    /// User id.
    pub id: String,
    /// Name in the profile.
    pub name: Option<String>,
}

/// Writes `day 2026-11-20 · 2026-11-19T16:00:00Z to 2026-11-20T16:00:00Z (Asia/Shanghai)`.
impl fmt::Display for BoardPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == self.id {
            write!(f, "{}", printable(&self.id))?;
        } else {
            write!(f, "{} {}", printable(&self.kind), printable(&self.id))?;
        }
        if let (Some(start), Some(end)) = (&self.start, &self.end) {
            write!(f, " · {} to {}", printable(start), printable(end))?;
        }
        write!(f, " ({})", printable(&self.timezone))
    }
}

/// Writes the name with the id in parentheses, or the id alone.
impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({})", printable(name), printable(&self.id)),
            None => write!(f, "{}", printable(&self.id)),
        }
    }
}

/// Returns the name of a period in paths.
#[must_use]
pub fn period_name(period: Period) -> String {
    let value = period.to_possible_value();
    value
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

/// Reads the route below `/v1` with the segments of `path`, and prints the response as JSON, or as the
/// text that `text` returns.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response after two retries, or stdout fails.
pub async fn print<T: DeserializeOwned>(
    service: &ServiceArgs,
    path: &[&str],
    board: &BoardArgs,
    numbers: &[(&str, Option<u32>)],
    text: impl FnOnce(&T) -> String,
) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let mut url = client.url(&[&["v1"], path].concat());
    for (name, number) in numbers {
        if let Some(number) = number {
            url.query_pairs_mut().append_pair(name, &number.to_string());
        }
    }
    board.add_to(&mut url);
    let body = client
        .with_backoff(RETRIES, |_, _| (), || client.get(&url))
        .await?;
    print_body(&url, &body, board.json, text)
}

/// Reads a route that needs the key, and prints the response as JSON, or as the text that `text` returns.
///
/// # Errors
///
/// As [`print()`].
pub async fn print_with_key<T: DeserializeOwned>(
    client: &Client,
    url: &Url,
    json: bool,
    text: impl FnOnce(&T) -> String,
) -> Result<ExitCode, Failure> {
    let body = client
        .with_backoff(RETRIES, |_, _| (), || client.get_with_key(url))
        .await?;
    print_body(url, &body, json, text)
}

impl BoardArgs {
    /// Adds the board to the query of a URL.
    pub fn add_to(&self, url: &mut Url) {
        for (name, text) in [("date", &self.date), ("group", &self.group)] {
            if let Some(text) = text {
                url.query_pairs_mut().append_pair(name, text);
            }
        }
    }
}

/// Parses the body of a response.
///
/// # Errors
///
/// Returns [`RequestError::UnexpectedResponse`] for a body of another type.
pub fn parse_body<T: DeserializeOwned>(url: &Url, body: &[u8]) -> Result<T, RequestError> {
    serde_json::from_slice(body).map_err(|error| RequestError::UnexpectedResponse {
        url: url.to_string(),
        what: error.to_string(),
    })
}

/// Prints the body of a response as JSON, or as the text that `text` returns.
///
/// # Errors
///
/// Returns [`Failure`] for a body of another type, or if stdout fails.
pub fn print_body<T: DeserializeOwned>(
    url: &Url,
    body: &[u8],
    json: bool,
    text: impl FnOnce(&T) -> String,
) -> Result<ExitCode, Failure> {
    Screen::print(&if json {
        printable_json(parse_body::<Box<RawValue>>(url, body)?.get())
    } else {
        text(&parse_body(url, body)?)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Formats entries of users as aligned columns, with an arrow before the user `marked`.
#[must_use]
pub fn table(entries: &[Entry], marked: Option<&str>) -> String {
    let rows = entries.iter().filter_map(|entry| {
        let user = entry.user.as_ref()?;
        let arrow = if marked == Some(user.id.as_str()) {
            "> "
        } else {
            ""
        };
        let name = user.name.as_deref().map(printable).unwrap_or_default();
        Some([
            format!("{arrow}{}", entry.rank),
            entry.score.to_string(),
            printable(&user.id),
            name,
        ])
    });
    format_table(["rank", "score", "user", "name"], rows, 0..2)
}

/// Formats entries of targets as aligned columns.
#[must_use]
pub fn target_table(entries: &[Entry]) -> String {
    let rows = entries.iter().filter_map(|entry| {
        let target = entry.target.as_ref()?;
        let title = target.title.as_deref().map(printable).unwrap_or_default();
        Some([
            entry.rank.to_string(),
            entry.score.to_string(),
            printable(&target.id),
            title,
            entry
                .author
                .as_ref()
                .map(User::to_string)
                .unwrap_or_default(),
        ])
    });
    format_table(["rank", "score", "target", "title", "author"], rows, 0..2)
}

/// Formats rows as columns; those with the numbers in `right` are aligned to the right.
#[must_use]
pub fn format_table<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    right: Range<usize>,
) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().take(right.end).skip(right.start) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(rank: u64, score: u64, id: &str, name: Option<&str>) -> Entry {
        Entry {
            rank,
            score: score.into(),
            user: Some(User {
                id: id.to_owned(),
                name: name.map(str::to_owned),
            }),
            target: None,
            author: None,
        }
    }

    #[test]
    fn table_aligns_wide_characters() {
        let entries = [
            entry(9, 1200, "艾达|1", Some("艾达·洛夫莱斯")),
            entry(10, 7, "grace", None),
            entry(11, 3, "ada", Some("Ada")),
        ];
        assert_eq!(
            table(&entries, Some("grace")),
            " rank  score  user    name\n\
             \u{20}   9   1200  艾达|1  艾达·洛夫莱斯\n\
             \u{20}> 10      7  grace\n\
             \u{20}  11      3  ada     Ada"
        );
    }

    #[test]
    fn table_replaces_control_characters_in_names() {
        let entries = [entry(1, 2, "7", Some("a\u{1b}[31m\nb"))];
        assert_eq!(
            table(&entries, None),
            " rank  score  user  name\n    1      2  7     a�[31m�b"
        );
    }

    #[test]
    fn table_without_entries_is_its_header() {
        assert_eq!(table(&[], None), " rank  score  user  name");
    }
}
