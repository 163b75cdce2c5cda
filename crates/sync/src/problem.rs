//! Problem documents of the service (RFC 9457), printed as one line of text.

use std::fmt;

use activity_rank_core::error::Error;
use http::StatusCode;
use serde::Deserialize;

use crate::printable::printable;

/// A problem document. Every field is optional, because the response may come from a proxy instead
/// of the service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// `/problems/<slug>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Title of the problem type.
    pub title: String,
    /// HTTP status; 0 for a problem that only this program finds.
    pub status: u16,
    /// Explanation of this occurrence.
    pub detail: String,
    /// Invalid fields of the input.
    pub errors: Vec<FieldError>,
}

/// An invalid field of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FieldError {
    /// JSON pointer to the field.
    pub pointer: String,
    /// Reason.
    pub detail: String,
}

impl Problem {
    /// Creates a problem found before sending.
    #[must_use]
    pub fn local(slug: &str, title: &str, detail: String) -> Self {
        Self {
            kind: format!("/problems/{slug}"),
            title: title.to_owned(),
            detail,
            ..Self::default()
        }
    }

    /// Parses the body of a response. Without a problem document, the status supplies the texts.
    #[must_use]
    pub fn from_response(status: StatusCode, body: &[u8]) -> Self {
        let parsed: Self = serde_json::from_slice(body).unwrap_or_default();
        let title = match parsed.title.as_str() {
            "" => status
                .canonical_reason()
                .unwrap_or("unknown status")
                .to_owned(),
            title => title.to_owned(),
        };
        let detail = match parsed.detail.as_str() {
            "" => {
                let detail = format!("status {} without a problem document", status.as_u16());
                // activity-rank has one for each error.
                match status {
                    StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                        format!("{detail}: the address is not that of activity-rank")
                    }
                    _ => detail,
                }
            }
            detail => detail.to_owned(),
        };
        Self {
            title,
            detail,
            status: status.as_u16(),
            ..parsed
        }
    }

    /// Returns the last segment of `type`, or the status if there is none.
    #[must_use]
    pub fn slug(&self) -> String {
        match self.kind.rsplit('/').next() {
            Some("") | None if self.status == 0 => "unknown".to_owned(),
            Some("") | None => self.status.to_string(),
            Some(slug) => printable(slug),
        }
    }

    /// Returns whether a retry may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        // A configuration error does not go away by itself.
        matches!(self.status, 408 | 429 | 500..=599) && self.slug() != "misconfigured"
    }
}

/// The problem with which the service would refuse an item.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let problem = error.problem();
        let errors = problem.errors.into_iter().map(|error| FieldError {
            pointer: error.pointer,
            detail: error.detail,
        });
        Self {
            kind: problem.kind,
            title: problem.title.to_owned(),
            status: problem.status,
            detail: problem.detail,
            errors: errors.collect(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", printable(&self.title), printable(&self.detail))?;
        for FieldError { pointer, detail } in &self.errors {
            // The detail of the problem begins with that of the first invalid field.
            let first = format!("{}: {detail}", pointer.trim_start_matches('/'));
            if self.detail.starts_with(&first) {
                continue;
            }
            write!(f, " ({}: {})", printable(pointer), printable(detail))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_title_detail_and_pointers() {
        let body = br#"{"type":"/problems/invalid-request","title":"Invalid request","status":400,
            "detail":"The activity is not valid.","errors":[{"pointer":"/target","detail":"is empty"},
            {"pointer":"/user","detail":"has a \u001b[31m"}]}"#;
        let problem = Problem::from_response(StatusCode::BAD_REQUEST, body);
        assert_eq!(
            problem.to_string(),
            "Invalid request: The activity is not valid. (/target: is empty) (/user: has a �[31m)"
        );
        assert_eq!(problem.slug(), "invalid-request");
    }

    #[test]
    fn only_invalid_field_is_printed_once() {
        let unknown = Error::UnknownAction("must be one of like".to_owned());
        for (error, expected) in [
            (
                Error::field("/user", "is empty"),
                "The request is invalid: user: is empty",
            ),
            (unknown, "Unknown action: action: must be one of like"),
        ] {
            assert_eq!(Problem::from(error).to_string(), expected);
        }
    }

    #[test]
    fn other_body_falls_back_to_the_status() {
        let other = ": the address is not that of activity-rank";
        for (status, title, hint) in [(502, "Bad Gateway", ""), (404, "Not Found", other)] {
            let code = StatusCode::from_u16(status).unwrap();
            let problem = Problem::from_response(code, b"<html>");
            let text = format!("{title}: status {status} without a problem document{hint}");
            assert_eq!(problem.to_string(), text);
            assert_eq!(problem.slug(), status.to_string());
        }
    }

    #[test]
    fn server_errors_and_429_are_transient() {
        let problem = |status, slug: &str| Problem {
            status,
            ..Problem::local(slug, "", String::new())
        };
        assert!(problem(503, "store-unavailable").is_transient());
        assert!(problem(429, "rate-limited").is_transient());
        assert!(!problem(500, "misconfigured").is_transient());
        assert!(!problem(401, "unauthenticated").is_transient());
    }
}
