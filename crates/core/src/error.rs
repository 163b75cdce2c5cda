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
//! | 409 | `account-conflict` | why a user cannot be an account of the member | |
//! | 409 | `author-conflict` | which target has another author | |
//! | 409 | `event-conflict` | why the event cannot be defined or adjusted like that | |
//! | 409 | `pause-conflict` | why the user cannot have the pause | |
//! | 409 | `rules-conflict` | why the rules cannot be published, taken back or previewed | |
//! | 409 | `sync-conflict` | why no further source can report | |
//! | 405 | `method-not-allowed` | the allowed methods | |
//! | 413 | `too-large` | the limit | |
//! | 415 | `unsupported-media-type` | the supported media type | |
//! | 422 | `unknown-action`, `not-undoable`, `score-overflow` | the rule that applies | |
//! | 429 | `rate-limited` | the limit that applies | |
//! | 500 | `misconfigured` | the variable, and how to correct it | the same |
//! | 503 | `store-unavailable`, `keys-unavailable`, `turnstile-unavailable` | that a retry is safe | the cause |

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

/// The most errors that one problem document lists: a response must not be many times as large as
/// its request.
pub const MAX_FIELD_ERRORS: usize = 20;

/// The errors of a request, collected so that one response reports all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors {
    /// The first ones, at most [`MAX_FIELD_ERRORS`].
    listed: Vec<FieldError>,
    /// The number of the rest.
    omitted: usize,
}

impl FieldErrors {
    /// Returns the first errors, at most [`MAX_FIELD_ERRORS`].
    #[must_use]
    pub fn listed(&self) -> &[FieldError] {
        &self.listed
    }

    fn push(&mut self, pointer: &str, detail: String) {
        if self.listed.len() < MAX_FIELD_ERRORS {
            self.listed.push(FieldError::new(pointer, detail));
        } else {
            self.omitted += 1;
        }
    }

    /// Returns the value, or collects its error and returns `None`.
    pub fn check<T>(&mut self, pointer: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|detail| self.push(pointer, detail)).ok()
    }

    /// Collects an error for each unknown field.
    pub fn reject_unknown<'a>(&mut self, fields: impl Iterator<Item = &'a String>, known: &[&str]) {
        for field in fields.filter(|field| !known.contains(&field.as_str())) {
            let detail = if known.is_empty() {
                "is unknown; this route has no parameters".to_owned()
            } else {
                format!("is unknown; expected one of {}", known.join(", "))
            };
            self.push(&pointer_part(field), detail);
        }
    }

    /// Returns the parsed value if no error was collected.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every collected error.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Error> {
        match value {
            Some(value) if self.listed.is_empty() => Ok(value),
            Some(_) | None => Err(Error::field_errors(self)),
        }
    }
}

/// Why a request, or one item of an array, was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The request is invalid: a summary, and each invalid field.
    InvalidRequest(String, FieldErrors),
    /// The request has no valid credentials: how to authenticate.
    Unauthenticated(&'static str),
    /// The user token is malformed, expired or not signed by a known key: which of these.
    InvalidToken(String),
    /// The caller is authenticated but not allowed to do this.
    Forbidden(String),
    /// The resource does not exist.
    NotFound(String),
    /// The user of the path is an account of this member: the request is handled again for the member. No response shows it.
    AccountOf(String),
    /// The user cannot be an account of the member, or has too many.
    AccountConflict(&'static str),
    /// A target has another author already.
    AuthorConflict(String),
    /// An event cannot be defined like that any more, or beside the others, or adjusted in its state.
    EventConflict(String),
    /// The user has a pause on some of its days, or too many.
    PauseConflict(&'static str),
    /// The rules cannot be published, taken back or previewed.
    RulesConflict(String),
    /// There are too many sources of sync runs.
    SyncConflict(&'static str),
    /// The route does not support the method: the value of `Allow`.
    MethodNotAllowed(String),
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
    /// The caller exceeded a rate limit: the detail, and the seconds until a retry may succeed.
    RateLimited(&'static str, u32),
    /// The deployment is misconfigured: the variable, and how to correct it.
    Misconfigured(&'static str, String),
    /// The store failed or did not answer in time: the cause, for the log.
    StoreUnavailable(String),
    /// The keys of user tokens could not be fetched: the cause, for the log.
    KeysUnavailable(String),
    /// Turnstile did not check the token of a new visitor: the cause, for the log.
    TurnstileUnavailable(String),
}

impl Error {
    #[must_use]
    fn field_errors(errors: FieldErrors) -> Self {
        let mut detail = String::new();
        if let Some(first) = errors.listed.first() {
            detail = match first.pointer.strip_prefix('/') {
                Some(place) => format!("{place}: {}", first.detail),
                None => format!("The JSON {}.", first.detail),
            };
            let count = errors.listed.len() + errors.omitted;
            if count > 1 {
                detail += &format!(" (1 of {count} errors)");
            }
        }
        Self::InvalidRequest(detail, errors)
    }

    /// Returns the error of a request with one invalid field.
    #[must_use]
    pub fn field(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::field_errors(FieldErrors {
            listed: vec![FieldError::new(pointer, detail)],
            omitted: 0,
        })
    }

    /// Returns the error of a request that is invalid as a whole.
    #[must_use]
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::InvalidRequest(detail.into(), FieldErrors::default())
    }

    /// Returns the error of a request for content where there are no boards of it.
    #[must_use]
    pub fn no_content() -> Self {
        let detail = "This deployment has no boards of content: CONTENT_PERIODS is not set.";
        Self::NotFound(detail.to_owned())
    }

    /// Returns the error of a request about visitors where there are none.
    #[must_use]
    pub fn no_visitors() -> Self {
        let detail = "This deployment has no visitors: VISITORS is not set.";
        Self::NotFound(detail.to_owned())
    }

    /// Returns the HTTP status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.kind().0
    }

    /// Returns the last part of the problem's type, such as `not-found`.
    #[must_use]
    pub fn slug(&self) -> &'static str {
        self.kind().1
    }

    /// Returns status, slug and title.
    fn kind(&self) -> (u16, &'static str, &'static str) {
        match self {
            Self::InvalidRequest(..) => (400, "invalid-request", "The request is invalid"),
            Self::Unauthenticated(_) | Self::InvalidToken(_) => {
                (401, "unauthenticated", "Authentication failed")
            }
            Self::Forbidden(_) => (403, "forbidden", "Forbidden"),
            Self::NotFound(_) => (404, "not-found", "Not found"),
            Self::AccountOf(_) | Self::AccountConflict(_) => {
                (409, "account-conflict", "The accounts do not allow this")
            }
            Self::AuthorConflict(_) => (409, "author-conflict", "The target has another author"),
            Self::EventConflict(_) => (409, "event-conflict", "The event does not allow this"),
            Self::PauseConflict(_) => (409, "pause-conflict", "The pauses do not allow this"),
            Self::RulesConflict(_) => (409, "rules-conflict", "The rules do not allow this"),
            Self::SyncConflict(_) => (409, "sync-conflict", "There are too many sources"),
            Self::MethodNotAllowed(_) => (405, "method-not-allowed", "Method not allowed"),
            Self::TooLarge(_) => (413, "too-large", "The request body is too large"),
            Self::UnsupportedMediaType => (415, "unsupported-media-type", "Unsupported media type"),
            Self::UnknownAction(_) => (422, "unknown-action", "Unknown action"),
            Self::NotUndoable(_) => (422, "not-undoable", "The action cannot be undone"),
            Self::ScoreOverflow(_) => (422, "score-overflow", "Score overflow"),
            Self::RateLimited(..) => (429, "rate-limited", "Too many requests"),
            Self::Misconfigured(..) => (500, "misconfigured", "The service is misconfigured"),
            Self::StoreUnavailable(_) => (503, "store-unavailable", "The store is unavailable"),
            Self::KeysUnavailable(_) => (503, "keys-unavailable", "The key server is unavailable"),
            Self::TurnstileUnavailable(_) => {
                (503, "turnstile-unavailable", "Turnstile is unavailable")
            }
        }
    }

    /// Returns the problem document.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let (status, slug, title) = self.kind();
        let (errors, errors_omitted) = if let Self::InvalidRequest(_, errors) = self {
            (errors.listed.clone(), errors.omitted)
        } else if let Self::UnknownAction(detail) = self {
            (vec![FieldError::new("/action", detail.clone())], 0)
        } else if let Self::NotUndoable(detail) = self {
            (vec![FieldError::new("/undo", detail.clone())], 0)
        } else {
            (Vec::new(), 0)
        };
        Problem {
            kind: format!("/problems/{slug}"),
            title,
            status,
            detail: self.detail(),
            errors,
            errors_omitted,
        }
    }

    /// Returns the cause to log; `None` for an error of the caller.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        if let Self::StoreUnavailable(cause)
        | Self::KeysUnavailable(cause)
        | Self::TurnstileUnavailable(cause) = self
        {
            return Some(cause.clone());
        }
        // The public detail contains the variable and how to correct it.
        (self.status() >= 500).then(|| self.detail())
    }

    fn detail(&self) -> String {
        match self {
            Self::InvalidRequest(detail, _)
            | Self::Forbidden(detail)
            | Self::NotFound(detail)
            | Self::AccountOf(detail)
            | Self::AuthorConflict(detail)
            | Self::EventConflict(detail)
            | Self::RulesConflict(detail)
            | Self::TooLarge(detail)
            | Self::InvalidToken(detail)
            | Self::ScoreOverflow(detail) => detail.clone(),
            Self::Unauthenticated(detail)
            | Self::AccountConflict(detail)
            | Self::PauseConflict(detail)
            | Self::SyncConflict(detail)
            | Self::RateLimited(detail, _) => (*detail).to_owned(),
            Self::MethodNotAllowed(allow) => format!("Allowed methods: {allow}."),
            Self::UnsupportedMediaType => {
                "Send the header Content-Type: application/json.".to_owned()
            }
            Self::UnknownAction(detail) => format!("action: {detail}"),
            Self::NotUndoable(detail) => format!("undo: {detail}"),
            Self::Misconfigured(variable, remedy) => format!("{variable}: {remedy}"),
            Self::StoreUnavailable(_) => {
                "Retrying the request is safe: nothing is counted twice.".to_owned()
            }
            Self::KeysUnavailable(_) | Self::TurnstileUnavailable(_) => {
                "Nothing was changed. Retrying the request is safe.".to_owned()
            }
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
    /// This occurrence; empty in a brief problem.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The first invalid fields, at most [`MAX_FIELD_ERRORS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The number of further invalid fields.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors_omitted: usize,
}

impl Problem {
    /// Returns the problem without what is particular to this occurrence.
    #[must_use]
    pub fn brief(self) -> Self {
        Self {
            detail: String::new(),
            errors: Vec::new(),
            errors_omitted: 0,
            ..self
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
