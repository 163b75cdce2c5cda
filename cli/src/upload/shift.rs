//! Moves times so that the latest of a file is now: old data for a demonstration of today.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::problem::{Pointed, Problem};
use crate::upload::line::Reading;
use crate::upload::source::Source;

/// How far all times move: by the same whole milliseconds, so order and gaps stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift(SignedDuration);

impl Shift {
    /// The shift that brings the latest time of the file to this moment. Reads the file once.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] if the file can't be read.
    pub fn to_now(source: &mut Source) -> Result<Self, Failure> {
        let reading = Reading {
            owner: "",
            shift: None,
        };
        let mut latest = None;
        source.read_ahead(|raw| {
            // Bad lines are told of when the file is read again.
            if let Ok(Some(line)) = reading.line(raw) {
                latest = latest.max(line.at);
            }
        })?;
        Ok(Self::between(latest, Timestamp::now()))
    }

    /// The shift from the latest time to now; none at all if no line has a time.
    #[must_use]
    pub fn between(latest: Option<Timestamp>, now: Timestamp) -> Self {
        let milliseconds =
            latest.map_or(0, |latest| now.as_millisecond() - latest.as_millisecond());
        Self(SignedDuration::from_millis(milliseconds))
    }

    /// Milliseconds, forward in time.
    #[must_use]
    pub fn milliseconds(self) -> i128 {
        self.0.as_millis()
    }

    /// The line with its time moved, all other bytes as they were, and that time.
    ///
    /// # Errors
    ///
    /// A problem with `/at` if `at` is no instant or would leave the calendar.
    pub fn moved(
        self,
        json: &str,
        at: Option<Timestamp>,
    ) -> Result<(String, Option<Timestamp>), Problem> {
        let wrong = |detail: &str| Problem {
            errors: vec![Pointed {
                pointer: "/at".to_owned(),
                detail: detail.to_owned(),
            }],
            ..Problem::local(
                "invalid-request",
                "Invalid request",
                "the time can't be moved".to_owned(),
            )
        };
        let at = at.ok_or_else(|| wrong("is no instant like 2026-11-20T08:00:00Z"))?;
        let at = at
            .checked_add(self.0)
            .map_err(|_| wrong("lies too far from the latest"))?;
        let moved =
            replaced_at(json, &format!("\"{at}\"")).ok_or_else(|| wrong("is there twice"))?;
        Ok((moved, Some(at)))
    }
}

/// Puts another value in the place of `at`. Parsing and printing the whole line instead would
/// change numbers and drop repeated members, and so change what the service has to judge.
fn replaced_at(json: &str, value: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow)]
        at: &'a RawValue,
    }
    let old = serde_json::from_str::<Members<'_>>(json).ok()?.at.get();
    let start = old.as_ptr().addr().checked_sub(json.as_ptr().addr())?;
    Some([json.get(..start)?, value, json.get(start + old.len()..)?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Result<Timestamp, jiff::Error> {
        text.parse()
    }

    fn moved(shift: Shift, json: &str, time: &str) -> Result<String, String> {
        shift
            .moved(json, time.parse().ok())
            .map(|(json, _)| json)
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_latest_becomes_now_and_gaps_stay() -> Result<(), Box<dyn std::error::Error>> {
        let shift = Shift::between(
            Some(at("2018-09-01T21:16:55.083Z")?),
            at("2026-11-20T08:00:00.5Z")?,
        );
        assert_eq!(
            moved(
                shift,
                r#"{"at":"2018-09-01T21:16:55.083Z","user":"1"}"#,
                "2018-09-01T21:16:55.083Z"
            )?,
            r#"{"at":"2026-11-20T08:00:00.5Z","user":"1"}"#
        );
        assert_eq!(
            moved(
                shift,
                r#"{"user":"1","at":"2018-09-01T23:16:54.082+02:00"}"#,
                "2018-09-01T23:16:54.082+02:00"
            )?,
            r#"{"user":"1","at":"2026-11-20T07:59:59.499Z"}"#
        );
        Ok(())
    }

    #[test]
    fn a_shift_is_of_whole_milliseconds() -> Result<(), Box<dyn std::error::Error>> {
        let shift = Shift::between(
            Some(at("2018-01-01T00:00:00.0019Z")?),
            at("2018-01-01T00:00:01.0021Z")?,
        );
        assert_eq!(shift.milliseconds(), 1001);
        Ok(())
    }

    #[test]
    fn all_but_the_time_stays_to_the_byte() -> Result<(), Box<dyn std::error::Error>> {
        let shift = Shift::between(
            Some(at("2018-01-01T00:00:00Z")?),
            at("2018-01-01T00:00:01Z")?,
        );
        let line = |at: &str| {
            format!(r#"{{ "user": 123456789012345678901, "x":1, "at" : "{at}", "x":"\u00e9" }}"#)
        };
        assert_eq!(
            moved(shift, &line("2018-01-01T00:00:00Z"), "2018-01-01T00:00:00Z")?,
            line("2018-01-01T00:00:01Z")
        );
        Ok(())
    }

    #[test]
    fn without_a_time_nothing_moves() -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(
            Shift::between(None, at("2026-11-20T08:00:00Z")?).milliseconds(),
            0
        );
        Ok(())
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        let shift = Shift(SignedDuration::from_secs(1));
        assert_eq!(
            moved(shift, r#"{"at":"yesterday"}"#, "yesterday")
                .err()
                .unwrap_or_default(),
            "Invalid request: the time can't be moved (/at: is no instant like 2026-11-20T08:00:00Z)"
        );
    }
}
