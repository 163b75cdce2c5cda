//! Every error that a caller can receive.
//!
//! An [`Error`] becomes a problem document (RFC 9457) with a status and a slug. Its public part
//! helps the caller; its private part goes to the log alone.
//!
//! | status | slug | public detail | logged |
//! |---|---|---|---|
//! | 400 | `invalid-request` | each invalid field, and what is valid | |
//! | 401 | `unauthenticated` | how to authenticate | |
//! | 403 | `forbidden` | what the caller may not do | |
//! | 404 | `not-found` | what does not exist | |
//! | 405 | `method-not-allowed` | the allowed methods | |
//! | 413 | `too-large` | the limit | |
//! | 415 | `unsupported-media-type` | the supported media type | |
//! | 422 | `unknown-action`, `not-undoable`, `score-overflow` | the rule that applies | |
//! | 429 | `rate-limited` | the limit that applies | |
//! | 500 | `misconfigured` | the variable, and how to correct it | the same |
//! | 503 | `store-unavailable`, `keys-unavailable` | that a retry is safe | the cause |

use serde::Serialize;

/// One invalid part of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// A JSON pointer into the body, or `/` and the name of a path or query parameter.
    pub pointer: String,
    /// The reason why the value is invalid, and the valid values.
    pub detail: String,
}

impl FieldError {
    /// Returns an error at a pointer.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            detail: detail.into(),
        }
    }
}

/// Returns a field name or an array index as one reference token of a JSON pointer (RFC 6901).
#[must_use]
pub fn pointer_part(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Collects the errors of a request, so that one response reports all of them.
#[derive(Debug, Default)]
pub struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    /// Returns the value, or collects its error and returns `None`.
    pub fn check<T>(&mut self, pointer: &str, value: Result<T, String>) -> Option<T> {
        value
            .map_err(|detail| self.0.push(FieldError::new(pointer, detail)))
            .ok()
    }

    /// Collects an error for each unknown field, up to 20: a response must not be many times as
    /// large as its request.
    pub fn reject_unknown<'a>(&mut self, fields: impl Iterator<Item = &'a String>, known: &[&str]) {
        const MAX: usize = 20;
        let unknown = fields.filter(|field| !known.contains(&field.as_str()));
        for field in unknown.take(MAX) {
            let pointer = pointer_part(field);
            let detail = if known.is_empty() {
                "is unknown; this route has no parameters".to_owned()
            } else {
                format!("is unknown; expected one of {}", known.join(", "))
            };
            self.0.push(FieldError::new(pointer, detail));
        }
    }

    /// Returns the parsed value if no error was collected.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every collected error.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Error> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            Some(_) | None => Err(Error::field_errors(self.0)),
        }
    }
}

/// Why a request, or one item of an array, was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The request is invalid: a summary, and each invalid field.
    InvalidRequest(String, Vec<FieldError>),
    /// The request has no valid credentials: how to authenticate.
    Unauthenticated(&'static str),
    /// The user token is malformed, expired or not signed by a known key: which of these.
    InvalidToken(&'static str),
    /// The caller is authenticated but not allowed to do this.
    Forbidden(String),
    /// The resource does not exist.
    NotFound(String),
    /// The route does not support the method: the value of `Allow`.
    MethodNotAllowed(&'static str),
    /// The body exceeds a limit.
    TooLarge(String),
    /// Unsupported media type.
    UnsupportedMediaType,
    /// No rule exists for the action.
    UnknownAction(String),
    /// The rule of the action does not allow an undo.
    NotUndoable(String),
    /// The score would leave the range that boards store exactly.
    ScoreOverflow(String),
    /// The caller exceeded a rate limit.
    RateLimited(&'static str),
    /// The deployment is misconfigured: the variable, and how to correct it.
    Misconfigured(&'static str, String),
    /// The store failed or did not answer in time: the cause, for the log.
    StoreUnavailable(String),
    /// The keys of user tokens could not be fetched: the cause, for the log.
    KeysUnavailable(String),
}

impl Error {
    #[must_use]
    fn field_errors(errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [one] => format!("{}: {}", one.pointer.trim_start_matches('/'), one.detail),
            many => format!("{} fields are invalid.", many.len()),
        };
        Self::InvalidRequest(detail, errors)
    }

    /// Returns the error of a request with one invalid field.
    #[must_use]
    pub fn field(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::field_errors(vec![FieldError::new(pointer, detail)])
    }

    /// Returns the error of a request that is invalid as a whole.
    #[must_use]
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::InvalidRequest(detail.into(), Vec::new())
    }

    /// Returns the HTTP status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidRequest(..) => 400,
            Self::Unauthenticated(_) | Self::InvalidToken(_) => 401,
            Self::Forbidden(_) => 403,
            Self::NotFound(_) => 404,
            Self::MethodNotAllowed(_) => 405,
            Self::TooLarge(_) => 413,
            Self::UnsupportedMediaType => 415,
            Self::UnknownAction(_) | Self::NotUndoable(_) | Self::ScoreOverflow(_) => 422,
            Self::RateLimited(_) => 429,
            Self::Misconfigured(..) => 500,
            Self::StoreUnavailable(_) | Self::KeysUnavailable(_) => 503,
        }
    }

    /// Returns the problem document.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let (slug, title, detail) = self.describe();
        let errors = match self {
            Self::InvalidRequest(_, errors) => errors.clone(),
            Self::UnknownAction(detail) => vec![FieldError::new("/action", detail.clone())],
            Self::NotUndoable(detail) => vec![FieldError::new("/undo", detail.clone())],
            Self::Unauthenticated(_)
            | Self::InvalidToken(_)
            | Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed(_)
            | Self::TooLarge(_)
            | Self::UnsupportedMediaType
            | Self::ScoreOverflow(_)
            | Self::RateLimited(_)
            | Self::Misconfigured(..)
            | Self::StoreUnavailable(_)
            | Self::KeysUnavailable(_) => Vec::new(),
        };
        let kind = format!("/problems/{slug}");
        Problem {
            kind,
            title,
            status: self.status(),
            detail,
            errors,
        }
    }

    /// Returns the cause to log; `None` for an error of the caller.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::StoreUnavailable(cause) | Self::KeysUnavailable(cause) => Some(cause.clone()),
            Self::Misconfigured(variable, remedy) => Some(format!("{variable}: {remedy}")),
            Self::InvalidRequest(..)
            | Self::Unauthenticated(_)
            | Self::InvalidToken(_)
            | Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed(_)
            | Self::TooLarge(_)
            | Self::UnsupportedMediaType
            | Self::UnknownAction(_)
            | Self::NotUndoable(_)
            | Self::ScoreOverflow(_)
            | Self::RateLimited(_) => None,
        }
    }

    /// Returns slug, title and detail.
    fn describe(&self) -> (&'static str, &'static str, String) {
        match self {
            Self::InvalidRequest(detail, _) => {
                ("invalid-request", "The request is invalid", detail.clone())
            }
            Self::Unauthenticated(detail) | Self::InvalidToken(detail) => (
                "unauthenticated",
                "Authentication failed",
                (*detail).to_owned(),
            ),
            Self::Forbidden(detail) => ("forbidden", "Forbidden", detail.clone()),
            Self::NotFound(detail) => ("not-found", "Not found", detail.clone()),
            Self::MethodNotAllowed(allow) => (
                "method-not-allowed",
                "Method not allowed",
                format!("Allowed methods: {allow}."),
            ),
            Self::TooLarge(detail) => {
                ("too-large", "The request body is too large", detail.clone())
            }
            Self::UnsupportedMediaType => (
                "unsupported-media-type",
                "Unsupported media type",
                "Send the header Content-Type: application/json.".to_owned(),
            ),
            Self::UnknownAction(detail) => (
                "unknown-action",
                "Unknown action",
                format!("action: {detail}"),
            ),
            Self::NotUndoable(detail) => (
                "not-undoable",
                "The action cannot be undone",
                format!("undo: {detail}"),
            ),
            Self::ScoreOverflow(detail) => ("score-overflow", "Score overflow", detail.clone()),
            Self::RateLimited(detail) => {
                ("rate-limited", "Too many requests", (*detail).to_owned())
            }
            Self::Misconfigured(variable, remedy) => (
                "misconfigured",
                "The service is misconfigured",
                format!("{variable}: {remedy}"),
            ),
            Self::StoreUnavailable(_) => (
                "store-unavailable",
                "The store is unavailable",
                "The request was not partially applied. Retrying it is safe.".to_owned(),
            ),
            Self::KeysUnavailable(_) => (
                "keys-unavailable",
                "The key server is unavailable",
                "Nothing was changed. Retrying the request is safe.".to_owned(),
            ),
        }
    }
}

/// A problem document (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// `/problems/<slug>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A summary that is the same for every occurrence.
    pub title: &'static str,
    /// The HTTP status code.
    pub status: u16,
    /// This occurrence.
    pub detail: String,
    /// Each invalid field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}
