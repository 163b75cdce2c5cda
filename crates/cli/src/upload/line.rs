//! One line of the file: its check before sending, and its result.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use activity_rank_core::MAX_BODY_BYTES;
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::error::Error;
use activity_rank_core::json::{self, JsonError};
use jiff::Timestamp;
use serde_json::Value;

use crate::export::activity_of;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::upload::source::{RawLine, Source};
use crate::upload::time_shift::{TimeShift, instant};
use activity_rank_sync::item::{Item, ItemCheck};

/// Bytes of the brackets around a JSON array.
pub const BRACKETS: usize = 2;

/// Turns raw lines into lines to send.
#[derive(Clone, Debug)]
pub struct LineParser {
    /// The check of a line.
    pub check: ItemCheck,
    /// Shift applied to `at`.
    pub time_shift: Option<TimeShift>,
    /// Whether a line was of an activity of before yesterday.
    pub any_past: Arc<AtomicBool>,
}

/// A line to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Line number in the file, from 1.
    pub number: u64,
    /// Position among the lines that are not blank, from 0. Elements of an array may have the same line number.
    pub index: u64,
    /// Length in the file, in bytes.
    pub bytes: u64,
    /// Id as the service reads it: of the user, or of the target in a register. Lines with the same id stay in order.
    pub id: String,
    /// Instant of `at`.
    pub at: Option<Instant>,
    /// Whether it will be `stale`, because it counts once a day and is too old.
    pub is_forgotten: bool,
    /// JSON object exactly as in the file, except for a shifted `at`.
    pub json: String,
}

/// The result of one line: an outcome of the service, or a problem found here or there.
#[derive(Clone, Debug, PartialEq)]
pub struct LineResult {
    /// Line number in the file, from 1.
    pub line: u64,
    /// Position among the lines that are not blank, from 0.
    pub index: u64,
    /// Length in the file, in bytes.
    pub bytes: u64,
    /// Outcome, or the reason why the line was refused.
    pub result: Result<Outcome, Problem>,
}

/// The outcome of an accepted line.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// `counted`, `duplicate`, …
    pub name: String,
    /// Signed change of points.
    pub points: f64,
    /// Why it is `capped`.
    pub reason: Option<String>,
}

impl LineParser {
    /// Parses the line at an index, or returns `None` if it is blank.
    ///
    /// # Errors
    ///
    /// Refuses a line that is not JSON, exceeds the size limit of a request, or is an item that the service would refuse
    /// by its fields and rules.
    pub fn parse(&self, raw: RawLine, index: u64) -> Result<Option<Line>, Box<LineResult>> {
        let (line, bytes) = (raw.number, raw.bytes);
        self.check(raw, index).map_err(|problem| {
            Box::new(LineResult {
                line,
                index,
                bytes,
                result: Err(problem),
            })
        })
    }

    fn check(&self, raw: RawLine, index: u64) -> Result<Option<Line>, Problem> {
        let (number, bytes) = (raw.number, raw.bytes);
        let Some((mut json, mut value)) = read_value(raw)? else {
            return Ok(None);
        };
        if let Some(shift) = self.time_shift {
            shift.apply(&mut json, &mut value);
        }
        if json.len() + BRACKETS > MAX_BODY_BYTES {
            return Err(too_large(bytes));
        }
        let Item {
            id,
            at,
            is_forgotten,
        } = self.check.read(&value)?;
        let recent = Timestamp::now().as_millisecond() - 2 * Date::MILLIS;
        if at.is_some_and(|at| at.0 < recent) {
            self.any_past.store(true, Ordering::Relaxed);
        }
        Ok(Some(Line {
            number,
            index,
            bytes,
            id,
            at,
            is_forgotten,
            json,
        }))
    }
}

/// Returns the JSON of a line as text and parsed by the service's parser, or `None` if the line is blank.
///
/// # Errors
///
/// Refuses a line that is not JSON, or too long.
pub fn read_value(raw: RawLine) -> Result<Option<(String, Value)>, Problem> {
    let text = raw.text.ok_or_else(|| too_large(raw.bytes))?;
    let text = std::str::from_utf8(&text).map_err(|error| not_json(error.to_string()))?;
    let text = text
        .strip_prefix('\u{feff}')
        .filter(|_| raw.number == 1)
        .unwrap_or(text)
        .trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = json::read(text.as_bytes()).map_err(|error| match error {
        JsonError::Syntax(cause) => not_json(without_line(&cause)),
        JsonError::Value(..)
        | JsonError::RepeatedField(_)
        | JsonError::TooDeep(_)
        | JsonError::TooLong => Problem::from(Error::from(error)),
    })?;
    // A line of `export --activity`.
    if let Value::Object(line) = &value
        && ["entry", "journal"]
            .iter()
            .any(|field| line.contains_key(*field))
    {
        let activity = activity_of(line).map(Value::Object);
        return Ok(activity.map(|activity| (activity.to_string(), activity)));
    }
    Ok(Some((text.to_owned(), value)))
}

impl Outcome {
    /// Creates the outcome of a line that was checked and not sent.
    #[must_use]
    pub fn valid() -> Self {
        Self {
            name: "valid".to_owned(),
            points: 0.0,
            reason: None,
        }
    }
}

impl LineResult {
    /// Creates the result of a line that was sent.
    #[must_use]
    pub fn new(line: &Line, result: Result<Outcome, Problem>) -> Self {
        Self {
            line: line.number,
            index: line.index,
            bytes: line.bytes,
            result,
        }
    }
}

/// Writes the line number with the outcome, or with slug, title, detail and pointers of the problem.
impl fmt::Display for LineResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Ok(outcome) => write!(f, "line {}: {}", self.line, outcome.name),
            Err(problem) => write!(f, "line {}: {}: {problem}", self.line, problem.slug()),
        }
    }
}

/// Returns the latest time of the file, or `None` if no line has one. Reads the file once.
///
/// # Errors
///
/// Returns [`Failure::File`] if the file cannot be read.
pub fn latest_time(source: &mut Source) -> Result<Option<Instant>, Failure> {
    let mut latest = None;
    source.read_ahead(|raw| {
        // Bad lines are reported by the second pass.
        if let Ok(Some((_, value))) = read_value(raw) {
            latest = latest.max(instant(&value));
        }
    })?;
    Ok(latest)
}

fn too_large(bytes: u64) -> Problem {
    let detail = format!("{bytes} bytes; a request may have at most {MAX_BODY_BYTES}");
    Problem::local("too-large", "Too large", detail)
}

fn not_json(detail: String) -> Problem {
    Problem::local("not-json", "Not a JSON object", detail)
}

/// Renders the cause of a syntax error with its column only: the parser counts every line as line 1.
fn without_line(cause: &str) -> String {
    let place = cause.rsplit_once(" at line ");
    let column =
        place.and_then(|(message, place)| Some((message, place.split_once(" column ")?.1)));
    match column {
        Some((message, column)) => format!("{message} at column {column}"),
        None => cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> Result<Option<Line>, String> {
        let parser = LineParser {
            check: ItemCheck::activities(None),
            time_shift: None,
            any_past: Arc::default(),
        };
        let raw = RawLine {
            number: 1,
            bytes: text.len() as u64,
            text: Some(text.to_vec()),
        };
        parser.parse(raw, 0).map_err(|refused| refused.to_string())
    }

    fn like(user: &str) -> String {
        format!(r#"{{"user":{user},"action":"like","target":"p"}}"#)
    }

    #[test]
    fn json_is_sent_unchanged() -> Result<(), String> {
        let json =
            r#"{ "user": 42.0, "action":"like", "target":"\u0070", "at": "2026-11-20T08:00:00Z" }"#;
        let line = parse(format!("\u{feff} {json}\r\n").as_bytes())?.ok_or("blank")?;
        assert_eq!((line.id.as_str(), line.json.as_str()), ("42", json));
        assert_eq!(line.at, Instant::parse("2026-11-20T08:00:00Z"));
        Ok(())
    }

    /// The service reads each of these as the same user.
    #[test]
    fn spellings_of_an_id_are_one_user() -> Result<(), String> {
        let id = |user: &str| parse(like(user).as_bytes()).map(|line| line.map(|line| line.id));
        for user in r#"61000 61000.0 6.1e4 61000e0 "61000" "\u00361000""#.split(' ') {
            assert_eq!(id(user)?, Some("61000".to_owned()), "{user}");
        }
        Ok(())
    }

    #[test]
    fn item_that_the_service_refuses_is_refused() {
        let time = r#"{"user":"1","action":"like","target":"p","at":"9999-01-01T00:00:00Z"}"#;
        let visit = "target: of a visit must be a path beginning with /";
        let user =
            "user: must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
        let range = "user: must not have a number beyond the range of 64-bit floating point";
        let target = "target: is missing";
        let future = "at: must not be more than 60 seconds in the future";
        for (line, reason) in [
            (&*like("\" 42\""), user),
            (&like("61000.5"), user),
            (&like("1e999"), range),
            (&like("1,\"user\":2"), "user: must not be repeated"),
            (r#"{"user":"1","action":"like"}"#, target),
            (time, future),
            (r#"{"user":"1","action":"visit","target":"p"}"#, visit),
            ("7", "An activity is a JSON object."),
        ] {
            let refused = parse(line.as_bytes()).err().unwrap_or_default();
            let expected = format!("line 1: invalid-request: The request is invalid: {reason}");
            assert_eq!(refused, expected, "{line}");
        }
    }

    #[test]
    fn invalid_json_is_refused_with_column() {
        let bytes =
            "line 1: not-json: Not a JSON object: invalid utf-8 sequence of 1 bytes from index 2";
        assert_eq!(parse(b"{}\xff"), Err(bytes.to_owned()));
        for (user, cause) in [
            ("NaN", "expected value at column 9"),
            ("Infinity", "expected value at column 9"),
            ("-Infinity", "invalid number at column 10"),
            ("0x2a", "expected `,` or `}` at column 10"),
        ] {
            let refused = parse(like(user).as_bytes()).err().unwrap_or_default();
            let expected = format!("line 1: not-json: Not a JSON object: {cause}");
            assert_eq!(refused, expected);
        }
    }

    #[test]
    fn blank_line_is_skipped() {
        assert_eq!(parse(b" \t\r\n"), Ok(None));
    }

    #[test]
    fn line_larger_than_a_request_is_refused() {
        let long = format!(r#"{{"user":"{}"}}"#, "x".repeat(MAX_BODY_BYTES));
        let refused = parse(long.as_bytes()).err().unwrap_or_default();
        let expected =
            "line 1: too-large: Too large: 262155 bytes; a request may have at most 262144";
        assert_eq!(refused, expected);
    }
}
