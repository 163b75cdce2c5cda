//! One line: checked as far as it can be here, and moved in time if asked.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::problem::Problem;
use crate::upload::batch::{BRACKETS, MOST_BYTES};
use crate::upload::shift::Shift;
use crate::upload::source::RawLine;
use crate::upload::verdict::Verdict;

/// What to make of the lines of a file.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The member that says whose line it is.
    pub owner: &'static str,
    /// How far times move.
    pub shift: Option<Shift>,
}

/// A line to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1, in the file.
    pub number: u64,
    /// Its length in the file.
    pub bytes: u64,
    /// Whose it is; empty where the service will have to say what is wrong with it.
    pub owner: String,
    /// When it happened, if it says so readably.
    pub at: Option<Timestamp>,
    /// The JSON object, as it stands in the file but for a moved time.
    pub json: String,
}

impl Reading {
    /// The line to send; none if it is blank.
    ///
    /// # Errors
    ///
    /// A refusal for a line that is no JSON object, too long, or of a time that can't be moved.
    /// All else is left to the service, which knows its rules.
    pub fn line(&self, raw: RawLine) -> Result<Option<Line>, Verdict> {
        let RawLine {
            number,
            bytes,
            text,
        } = raw;
        self.checked(number, bytes, text)
            .map_err(|problem| Verdict {
                line: number,
                bytes,
                result: Err(problem),
            })
    }

    fn checked(
        &self,
        number: u64,
        bytes: u64,
        text: Option<Vec<u8>>,
    ) -> Result<Option<Line>, Problem> {
        let text = text.ok_or_else(|| too_large(bytes))?;
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
            serde_json::from_str(text).map_err(|error| not_json(told(&error)))?;
        let owner = match object.get(self.owner) {
            Some(Value::String(id)) => id.clone(),
            // An integer is read as its decimal text, so 42 and "42" are one user.
            Some(Value::Number(id)) => id.to_string(),
            _ => String::new(),
        };
        let at = object
            .get("at")
            .and_then(Value::as_str)
            .and_then(|at| at.parse().ok());
        let (json, at) = match &self.shift {
            Some(shift) if !matches!(object.get("at"), None | Some(Value::Null)) => {
                shift.moved(text, at)?
            }
            _ => (text.to_owned(), at),
        };
        if json.len() + BRACKETS > MOST_BYTES {
            return Err(too_large(bytes));
        }
        Ok(Some(Line {
            number,
            bytes,
            owner,
            at,
            json,
        }))
    }
}

fn too_large(bytes: u64) -> Problem {
    let detail = format!("{bytes} bytes; the service takes {MOST_BYTES} in one request");
    Problem::local("too-large", "Too large", detail)
}

fn not_json(detail: String) -> Problem {
    Problem::local("not-json", "Not a JSON object", detail)
}

/// The parser's words without its own idea of which line this is.
fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Option<Line>, String> {
        let reading = Reading {
            owner: "user",
            shift: None,
        };
        let raw = RawLine {
            number: 1,
            bytes: text.len() as u64,
            text: Some(text.to_vec()),
        };
        reading.line(raw).map_err(|verdict| verdict.to_string())
    }

    #[test]
    fn a_line_is_sent_as_it_stands() -> Result<(), String> {
        let json = r#"{ "user": 42, "more": 1e2, "at": "2026-11-20T08:00:00Z" }"#;
        let line = read(format!("\u{feff} {json}\r\n").as_bytes())?.ok_or("blank")?;
        assert_eq!((line.owner.as_str(), line.json.as_str()), ("42", json));
        assert_eq!(line.at, "2026-11-20T08:00:00Z".parse().ok());
        Ok(())
    }

    #[test]
    fn an_integer_and_its_text_are_the_same_user() -> Result<(), String> {
        let owner = |text: &str| read(text.as_bytes()).map(|line| line.map(|line| line.owner));
        assert_eq!(owner(r#"{"user":42}"#)?, owner(r#"{"user":"\u00342"}"#)?);
        Ok(())
    }

    #[test]
    fn blank_lines_are_none() {
        assert_eq!(read(b" \t\r\n"), Ok(None));
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_column() {
        let refused = |text: &[u8]| read(text).err().unwrap_or_default();
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
    fn a_line_that_fits_in_no_request_is_refused() {
        let long = format!(r#"{{"user":"{}"}}"#, "x".repeat(MOST_BYTES));
        assert_eq!(
            read(long.as_bytes()).err().unwrap_or_default(),
            "line 1: too-large: Too large: 262155 bytes; the service takes 262144 in one request"
        );
    }
}
