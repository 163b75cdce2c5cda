//! One line of the file: its check before sending, and its result.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::problem::Problem;
use crate::upload::source::{RawLine, Source};
use crate::upload::time_shift::TimeShift;
use activity_rank_core::MAX_BODY_BYTES;

/// Bytes of the brackets around a JSON array.
pub const BRACKETS: usize = 2;

/// Turns raw lines into lines to send.
#[derive(Clone, Copy, Debug)]
pub struct LineParser {
    /// Fields that every line has.
    pub required: &'static [&'static str],
    /// Field that holds the user id.
    pub user_field: &'static str,
    /// Shift applied to `at`.
    pub time_shift: Option<TimeShift>,
}

/// A line to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Line number in the file, from 1.
    pub number: u64,
    /// Length in the file, in bytes.
    pub bytes: u64,
    /// User id; empty if the field is missing or has another type, which the service then reports.
    pub user: String,
    /// Instant of `at`, if the field can be parsed.
    pub at: Option<Timestamp>,
    /// JSON object exactly as in the file, except for a shifted `at`.
    pub json: String,
}

/// The result of one line: an outcome of the service, or a problem found here or there.
#[derive(Clone, Debug, PartialEq)]
pub struct LineResult {
    /// Line number in the file, from 1.
    pub line: u64,
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
}

impl LineParser {
    /// Parses a line, or returns `None` if it is blank.
    ///
    /// # Errors
    ///
    /// Refuses a line that is not a JSON object, lacks a required field, exceeds the size limit of a request or
    /// has a time that cannot be shifted. The service validates everything else, because it knows the rules.
    pub fn parse(&self, raw: RawLine) -> Result<Option<Line>, LineResult> {
        let (line, bytes) = (raw.number, raw.bytes);
        self.check(raw).map_err(|problem| LineResult {
            line,
            bytes,
            result: Err(problem),
        })
    }

    fn check(&self, raw: RawLine) -> Result<Option<Line>, Problem> {
        let (number, bytes) = (raw.number, raw.bytes);
        let text = raw.text.ok_or_else(|| too_large(bytes))?;
        let text = std::str::from_utf8(&text).map_err(|error| not_json(error.to_string()))?;
        let text = text
            .strip_prefix('\u{feff}')
            .filter(|_| number == 1)
            .unwrap_or(text)
            .trim();
        if text.is_empty() {
            return Ok(None);
        }
        let object: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| not_json(parse_error(&error)))?;
        if let Some(field) = self
            .required
            .iter()
            .find(|field| !object.contains_key(**field))
        {
            let detail = format!("`{field}` is required");
            return Err(Problem::local("missing-field", "Missing field", detail));
        }
        let user = match object.get(self.user_field) {
            Some(Value::String(id)) => id.clone(),
            // The service reads an integer as its decimal text, so 42 and "42" are the same user.
            Some(Value::Number(id)) => id.to_string(),
            _ => String::new(),
        };
        let at = object
            .get("at")
            .and_then(Value::as_str)
            .and_then(|at| at.parse().ok());
        let (json, at) = match &self.time_shift {
            Some(shift) if !matches!(object.get("at"), None | Some(Value::Null)) => {
                shift.apply(text, at)?
            }
            _ => (text.to_owned(), at),
        };
        if json.len() + BRACKETS > MAX_BODY_BYTES {
            return Err(too_large(bytes));
        }
        Ok(Some(Line {
            number,
            bytes,
            user,
            at,
            json,
        }))
    }
}

impl LineResult {
    /// Creates the result of a line that was sent.
    #[must_use]
    pub fn new(line: &Line, result: Result<Outcome, Problem>) -> Self {
        Self {
            line: line.number,
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
pub fn latest_time(source: &mut Source) -> Result<Option<Timestamp>, Failure> {
    let parser = LineParser {
        required: &[],
        user_field: "",
        time_shift: None,
    };
    let mut latest = None;
    source.read_ahead(|raw| {
        // Bad lines are reported by the second pass.
        if let Ok(Some(line)) = parser.parse(raw) {
            latest = latest.max(line.at);
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

/// Renders a parse error with its column only: the parser counts every line as line 1.
fn parse_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} at column {}", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> Result<Option<Line>, String> {
        let parser = LineParser {
            required: &["user"],
            user_field: "user",
            time_shift: None,
        };
        let raw = RawLine {
            number: 1,
            bytes: text.len() as u64,
            text: Some(text.to_vec()),
        };
        parser.parse(raw).map_err(|refused| refused.to_string())
    }

    #[test]
    fn json_is_sent_unchanged() -> Result<(), String> {
        let json = r#"{ "user": 42, "more": 1e2, "at": "2026-11-20T08:00:00Z" }"#;
        let line = parse(format!("\u{feff} {json}\r\n").as_bytes())?.ok_or("blank")?;
        assert_eq!((line.user.as_str(), line.json.as_str()), ("42", json));
        assert_eq!(line.at, "2026-11-20T08:00:00Z".parse().ok());
        Ok(())
    }

    #[test]
    fn integer_and_string_ids_are_the_same_user() -> Result<(), String> {
        let user = |text: &str| parse(text.as_bytes()).map(|line| line.map(|line| line.user));
        assert_eq!(user(r#"{"user":42}"#)?, user(r#"{"user":"\u00342"}"#)?);
        Ok(())
    }

    #[test]
    fn line_without_required_field_is_refused() {
        assert_eq!(
            parse(br#"{"action":"like"}"#).err().unwrap_or_default(),
            "line 1: missing-field: Missing field: `user` is required"
        );
    }

    #[test]
    fn blank_line_is_skipped() {
        assert_eq!(parse(b" \t\r\n"), Ok(None));
    }

    #[test]
    fn invalid_json_is_refused_with_column() {
        let refused = |text: &[u8]| parse(text).err().unwrap_or_default();
        assert_eq!(
            refused(b"{\"user\":\n"),
            "line 1: not-json: Not a JSON object: EOF while parsing a value at column 8"
        );
        assert_eq!(
            refused(b"[1]"),
            "line 1: not-json: Not a JSON object: invalid type: sequence, expected a map at column 0"
        );
        assert_eq!(
            refused(b"{}\xff"),
            "line 1: not-json: Not a JSON object: invalid utf-8 sequence of 1 bytes from index 2"
        );
    }

    #[test]
    fn line_larger_than_a_request_is_refused() {
        let long = format!(r#"{{"user":"{}"}}"#, "x".repeat(MAX_BODY_BYTES));
        assert_eq!(
            parse(long.as_bytes()).err().unwrap_or_default(),
            "line 1: too-large: Too large: 262155 bytes; a request may have at most 262144"
        );
    }
}
