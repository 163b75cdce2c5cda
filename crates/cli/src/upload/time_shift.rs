//! Shifts the times of a file so that the latest one is now, as for a demonstration with old data.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::problem::{FieldError, Problem};

/// The duration added to every time, in whole milliseconds. Order and intervals do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeShift(SignedDuration);

impl TimeShift {
    /// Returns the shift from the latest time to now, or zero if no line has a time.
    #[must_use]
    pub fn between(latest: Option<Timestamp>, now: Timestamp) -> Self {
        let milliseconds =
            latest.map_or(0, |latest| now.as_millisecond() - latest.as_millisecond());
        Self(SignedDuration::from_millis(milliseconds))
    }

    /// Returns the shift in milliseconds, positive towards the future.
    #[must_use]
    pub fn milliseconds(self) -> i128 {
        self.0.as_millis()
    }

    /// Returns the line with `at` shifted and all other bytes unchanged, and the new time.
    ///
    /// # Errors
    ///
    /// Returns a problem at `/at` if the field is not a timestamp, appears twice, or would leave
    /// the supported range.
    pub fn apply(
        self,
        json: &str,
        at: Option<Timestamp>,
    ) -> Result<(String, Option<Timestamp>), Problem> {
        let invalid = |detail: &str| Problem {
            errors: vec![FieldError {
                pointer: "/at".to_owned(),
                detail: detail.to_owned(),
            }],
            ..Problem::local(
                "invalid-request",
                "Invalid request",
                "the time cannot be shifted".to_owned(),
            )
        };
        let at = at.ok_or_else(|| invalid("must be a timestamp such as 2026-11-20T08:00:00Z"))?;
        let at = at
            .checked_add(self.0)
            .map_err(|_| invalid("is out of range after the shift"))?;
        let json =
            replace_at(json, &format!("\"{at}\"")).ok_or_else(|| invalid("appears twice"))?;
        Ok((json, Some(at)))
    }
}

/// Replaces the value of `at`, or returns `None` if the field appears twice. Parsing and
/// serializing the whole line instead would change numbers and drop repeated fields, so the
/// service would validate a different input.
fn replace_at(json: &str, value: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(borrow)]
        at: &'a RawValue,
    }
    let old = serde_json::from_str::<Fields<'_>>(json).ok()?.at.get();
    let start = old.as_ptr().addr().checked_sub(json.as_ptr().addr())?;
    Some([json.get(..start)?, value, json.get(start + old.len()..)?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Result<Timestamp, jiff::Error> {
        text.parse()
    }

    fn apply(shift: TimeShift, json: &str, time: &str) -> Result<String, String> {
        shift
            .apply(json, time.parse().ok())
            .map(|(json, _)| json)
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn latest_time_becomes_now_and_intervals_stay() -> Result<(), Box<dyn std::error::Error>> {
        let shift = TimeShift::between(
            Some(at("2018-09-01T21:16:55.083Z")?),
            at("2026-11-20T08:00:00.5Z")?,
        );
        assert_eq!(
            apply(
                shift,
                r#"{"at":"2018-09-01T21:16:55.083Z","user":"1"}"#,
                "2018-09-01T21:16:55.083Z"
            )?,
            r#"{"at":"2026-11-20T08:00:00.5Z","user":"1"}"#
        );
        assert_eq!(
            apply(
                shift,
                r#"{"user":"1","at":"2018-09-01T23:16:54.082+02:00"}"#,
                "2018-09-01T23:16:54.082+02:00"
            )?,
            r#"{"user":"1","at":"2026-11-20T07:59:59.499Z"}"#
        );
        Ok(())
    }

    #[test]
    fn shift_is_whole_milliseconds() -> Result<(), Box<dyn std::error::Error>> {
        let shift = TimeShift::between(
            Some(at("2018-01-01T00:00:00.0019Z")?),
            at("2018-01-01T00:00:01.0021Z")?,
        );
        assert_eq!(shift.milliseconds(), 1001);
        Ok(())
    }

    #[test]
    fn bytes_outside_the_time_are_unchanged() -> Result<(), Box<dyn std::error::Error>> {
        let shift = TimeShift::between(
            Some(at("2018-01-01T00:00:00Z")?),
            at("2018-01-01T00:00:01Z")?,
        );
        let line = |at: &str| {
            format!(r#"{{ "user": 123456789012345678901, "x":1, "at" : "{at}", "x":"\u00e9" }}"#)
        };
        assert_eq!(
            apply(shift, &line("2018-01-01T00:00:00Z"), "2018-01-01T00:00:00Z")?,
            line("2018-01-01T00:00:01Z")
        );
        Ok(())
    }

    #[test]
    fn file_without_times_is_not_shifted() -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(
            TimeShift::between(None, at("2026-11-20T08:00:00Z")?).milliseconds(),
            0
        );
        Ok(())
    }

    #[test]
    fn invalid_time_is_refused() {
        let shift = TimeShift(SignedDuration::from_secs(1));
        assert_eq!(
            apply(shift, r#"{"at":"yesterday"}"#, "yesterday")
                .err()
                .unwrap_or_default(),
            "Invalid request: the time cannot be shifted (/at: must be a timestamp such as 2026-11-20T08:00:00Z)"
        );
    }
}
