//! Shifts the times of a file so that the latest one is now, as for a demonstration with old data.

use activity_rank_core::calendar::Instant;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The milliseconds added to every time. Order and intervals do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeShift(i64);

impl TimeShift {
    /// Returns the shift from the latest time to now, or zero if no line has a time.
    #[must_use]
    pub fn between(latest: Option<Instant>, now: Instant) -> Self {
        Self(latest.map_or(0, |latest| now.0 - latest.0))
    }

    /// Returns the shift in milliseconds, positive towards the future.
    #[must_use]
    pub fn milliseconds(self) -> i64 {
        self.0
    }

    /// Shifts `at` in a line and in its parsed form, and leaves all other bytes unchanged. Leaves an `at` that is no
    /// instant, which the service refuses.
    pub fn apply(self, json: &mut String, value: &mut Value) {
        let Some(at) = instant(value) else { return };
        let at = Instant(at.0.saturating_add(self.0)).to_string();
        if let Some(shifted) = replace_at(json, &format!("\"{at}\"")) {
            *json = shifted;
            if let Some(field) = value.get_mut("at") {
                *field = Value::String(at);
            }
        }
    }
}

/// Returns the instant of `at`.
#[must_use]
pub fn instant(value: &Value) -> Option<Instant> {
    value.get("at")?.as_str().and_then(Instant::parse)
}

/// Replaces the value of `at`. Parsing and serializing the whole line instead would change numbers, so the service would
/// read a different input.
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

    type TestResult = Result<(), Box<dyn std::error::Error>>;

    fn shift(latest: &str, now: &str) -> TimeShift {
        let now = Instant::parse(now).unwrap_or(Instant(0));
        TimeShift::between(Instant::parse(latest), now)
    }

    fn apply(shift: TimeShift, json: &str) -> Result<String, Box<dyn std::error::Error>> {
        let (mut json, mut value) = (json.to_owned(), serde_json::from_str(json)?);
        shift.apply(&mut json, &mut value);
        let reparsed: Value = serde_json::from_str(&json)?;
        assert_eq!(value, reparsed);
        Ok(json)
    }

    #[test]
    fn latest_time_becomes_now_and_intervals_stay() -> TestResult {
        let shift = shift("2018-09-01T21:16:55.083Z", "2026-11-20T08:00:00.5Z");
        assert_eq!(
            apply(shift, r#"{"at":"2018-09-01T21:16:55.083Z","user":"1"}"#)?,
            r#"{"at":"2026-11-20T08:00:00.500Z","user":"1"}"#
        );
        assert_eq!(
            apply(
                shift,
                r#"{"user":"1","at":"2018-09-01T23:16:54.082+02:00"}"#
            )?,
            r#"{"user":"1","at":"2026-11-20T07:59:59.499Z"}"#
        );
        Ok(())
    }

    #[test]
    fn shift_is_whole_milliseconds() {
        let shift = shift("2018-01-01T00:00:00.0019Z", "2018-01-01T00:00:01.0021Z");
        assert_eq!(shift.milliseconds(), 1001);
    }

    #[test]
    fn bytes_outside_the_time_are_unchanged() -> TestResult {
        let line =
            |at: &str| format!(r#"{{ "user": 61000.0, "x":1, "at" : "{at}", "y":"\u00e9" }}"#);
        let shift = shift("2018-01-01T00:00:00Z", "2018-01-01T00:00:01Z");
        assert_eq!(
            apply(shift, &line("2018-01-01T00:00:00Z"))?,
            line("2018-01-01T00:00:01Z")
        );
        Ok(())
    }

    #[test]
    fn lines_without_an_instant_stay() -> TestResult {
        assert_eq!(shift("", "2026-11-20T08:00:00Z").milliseconds(), 0);
        for line in [r#"{"at":"yesterday"}"#, r#"{"at":null}"#, "{}", "7"] {
            assert_eq!(apply(TimeShift(1000), line)?, line);
        }
        Ok(())
    }
}
