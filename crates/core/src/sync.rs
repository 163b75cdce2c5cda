//! Results of sync runs, which bring the history of a source, such as a forum, to the boards.

use crate::config::is_action;
use crate::error::{Error, FieldErrors};
use crate::text;
use serde_json::Value;

/// The most characters of a detail.
const MAX_DETAIL: usize = 300;

/// The most reasons for which the rules refuse activity.
const MAX_REASONS: usize = 20;

/// The report of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncReport {
    /// The source of the run, such as `discourse`.
    pub source: String,
    /// The valid body of the request, as JSON.
    pub json: String,
}

impl SyncReport {
    /// Parses a request body; the source comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(source: &str, body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("A report is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        let known: &[&str] = &["state", "differences", "mended", "refused", "detail"];
        errors.reject_unknown(fields.keys(), known);
        let field = |name: &str| fields.get(name);
        let state = field("state").and_then(Value::as_str).unwrap_or_default();
        let is_number_or_absent = |name: &str| field(name).is_none_or(is_number);
        let has_differences = state != "done" || field("differences").is_some();
        for (pointer, is_valid, requirement) in [
            ("/source", is_source(source), SOURCE),
            (
                "/state",
                ["running", "done", "failed"].contains(&state),
                "must be one of running, done, failed",
            ),
            (
                "/differences",
                has_differences && is_number_or_absent("differences"),
                NUMBER,
            ),
            ("/mended", is_number_or_absent("mended"), NUMBER),
            ("/refused", field("refused").is_none_or(is_refused), REFUSED),
        ] {
            if !is_valid {
                errors.check::<()>(pointer, Err(requirement.to_owned()));
            }
        }
        if let Some(detail) = field("detail") {
            let detail = detail.as_str().unwrap_or_default();
            errors.check("/detail", text::check(detail, MAX_DETAIL));
        }
        errors.finish(Some(Self {
            source: source.to_owned(),
            json: body.to_string(),
        }))
    }
}

/// The requirements of a source, as the detail of an error.
pub const SOURCE: &str = "must be 1 to 100 of a-z 0-9 . _ : / - and not '.' or '..'";

/// Returns whether a text is a valid source.
#[must_use]
pub fn is_source(text: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._:/-".contains(&byte);
    (1..=100).contains(&text.len()) && text.bytes().all(allowed) && text != "." && text != ".."
}

/// The requirements of a number.
const NUMBER: &str = "must be an integer from 0 to 4294967295";

fn is_number(value: &Value) -> bool {
    value
        .as_u64()
        .is_some_and(|number| number <= u64::from(u32::MAX))
}

/// The requirements of numbers by reason.
const REFUSED: &str =
    "must have at most 20 reasons of 1 to 32 of a-z 0-9 _ -, with integers from 0 to 4294967295";

fn is_refused(value: &Value) -> bool {
    value.as_object().is_some_and(|numbers| {
        let mut reasons = numbers.iter();
        numbers.len() <= MAX_REASONS
            && reasons.all(|(reason, number)| is_action(reason) && is_number(number))
    })
}
