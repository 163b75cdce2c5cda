//! What the service says when it refuses: `application/problem+json`, as one line of text.

use std::fmt;

use reqwest::StatusCode;
use serde::Deserialize;

use crate::printable::printable;

/// A problem document. Every member may be missing, as something between us and the service may
/// have answered in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// `/problems/<slug>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What kind of problem, for people.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong this time.
    pub detail: String,
    /// Which members of the input are wrong.
    pub errors: Vec<Pointed>,
}

/// One wrong member of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Pointed {
    /// JSON pointer to the member.
    pub pointer: String,
    /// What is wrong with it.
    pub detail: String,
}

impl Problem {
    /// A problem found here, before anything was sent.
    #[must_use]
    pub fn local(slug: &str, title: &str, detail: String) -> Self {
        Self {
            kind: format!("/problems/{slug}"),
            title: title.to_owned(),
            detail,
            ..Self::default()
        }
    }

    /// The problem in the body of an answer, or the status alone if there is none.
    #[must_use]
    pub fn from_answer(status: StatusCode, body: &[u8]) -> Self {
        let told: Self = serde_json::from_slice(body).unwrap_or_default();
        let title = match told.title.as_str() {
            "" => status
                .canonical_reason()
                .unwrap_or("an unknown status")
                .to_owned(),
            title => title.to_owned(),
        };
        let detail = match told.detail.as_str() {
            "" => format!("the answer was {} without an explanation", status.as_u16()),
            detail => detail.to_owned(),
        };
        Self {
            title,
            detail,
            status: status.as_u16(),
            ..told
        }
    }

    /// The last part of `type`, by which problems are counted; the status where there is none.
    #[must_use]
    pub fn slug(&self) -> String {
        match self.kind.rsplit('/').next() {
            Some("") | None if self.status == 0 => "unknown".to_owned(),
            Some("") | None => self.status.to_string(),
            Some(slug) => printable(slug),
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        // A service that names a wrong variable will not get better by waiting.
        matches!(self.status, 408 | 429 | 500..=599) && self.slug() != "misconfigured"
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", printable(&self.title), printable(&self.detail))?;
        for Pointed { pointer, detail } in &self.errors {
            write!(f, " ({}: {})", printable(pointer), printable(detail))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_with_title_detail_and_pointers() {
        let body = br#"{"type":"/problems/invalid-request","title":"Invalid request","status":400,
            "detail":"The activity is not valid.","errors":[{"pointer":"/target","detail":"is empty"},
            {"pointer":"/user","detail":"has a \u001b[31m"}]}"#;
        let problem = Problem::from_answer(StatusCode::BAD_REQUEST, body);
        assert_eq!(
            problem.to_string(),
            "Invalid request: The activity is not valid. (/target: is empty) (/user: has a �[31m)"
        );
        assert_eq!(problem.slug(), "invalid-request");
    }

    #[test]
    fn an_answer_that_is_no_problem_document_is_told_by_its_status() {
        let problem = Problem::from_answer(StatusCode::BAD_GATEWAY, b"<html>");
        assert_eq!(
            problem.to_string(),
            "Bad Gateway: the answer was 502 without an explanation"
        );
        assert_eq!(problem.slug(), "502");
    }

    #[test]
    fn what_waiting_can_cure_is_transient() {
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
