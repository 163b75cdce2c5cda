//! Everything that can go wrong, as the caller sees it.
//!
//! | status | slug | told | hidden (logged) |
//! |---|---|---|---|
//! | 400 | `invalid-request` | what is wrong, and where | |
//! | 401 | `unauthenticated` | how to identify | |
//! | 403 | `forbidden` | what is not allowed | |
//! | 404 | `not-found` | what there is not | |
//! | 405 | `method-not-allowed` | the methods there are | |
//! | 413 | `too-large` | the limit | |
//! | 415 | `unsupported-media-type` | the type that is | |
//! | 422 | `unknown-action`, `not-undoable`, `score-overflow` | the rule | |
//! | 429 | `rate-limited` | who calls too often | |
//! | 500 | `misconfigured` | the variable and the way out | |
//! | 503 | `store-unavailable`, `keys-unavailable` | that a retry is safe | the cause |

use serde::Serialize;

/// One thing wrong with a request's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Where: a JSON pointer into the body, or `/` and the name of a path or query parameter.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub detail: String,
}

impl Fault {
    /// A fault at a pointer.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            detail: detail.into(),
        }
    }
}

/// The name of a field, or the number of an item, as one step of a JSON pointer.
#[must_use]
pub fn pointer_part(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Gathers the faults of a request's content, so that all are told at once.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// The value at a pointer, or `None` and its fault kept.
    pub fn check<T>(&mut self, pointer: &str, value: Result<T, String>) -> Option<T> {
        value
            .map_err(|detail| self.0.push(Fault::new(pointer, detail)))
            .ok()
    }

    /// Keeps a fault for each field that is not known; of very many the first, so that an answer
    /// is not many times what was sent.
    pub fn unknown<'a>(&mut self, fields: impl Iterator<Item = &'a String>, known: &[&str]) {
        const MOST: usize = 20;
        let unknown = fields.filter(|field| !known.contains(&field.as_str()));
        for field in unknown.take(MOST) {
            let pointer = pointer_part(field);
            let detail = if known.is_empty() {
                "is not known: there are no parameters here".to_owned()
            } else {
                format!("is not known; known are {}", known.join(", "))
            };
            self.0.push(Fault::new(pointer, detail));
        }
    }

    /// What was read, if nothing was at fault.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with every fault kept.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Error> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            Some(_) | None => Err(Error::faults(self.0)),
        }
    }
}

/// Why a request, or one item of it, was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The request is not what the API takes: what is wrong as a whole, or each fault.
    InvalidRequest(String, Vec<Fault>),
    /// No caller could be made out.
    Unauthenticated(&'static str),
    /// What should be a user token is none, or does not hold.
    InvalidToken(&'static str),
    /// The caller is known and may not do this.
    Forbidden(String),
    /// There is nothing here.
    NotFound(String),
    /// The route has other methods: those of `Allow`.
    MethodNotAllowed(&'static str),
    /// The body is larger than the API takes.
    TooLarge(String),
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// No rule names this action.
    UnknownAction(String),
    /// The rule of this action has no undo.
    NotUndoable(String),
    /// A score would leave the range that boards hold exactly.
    ScoreOverflow(String),
    /// Too many requests: whose.
    RateLimited(&'static str),
    /// The deployment is set up wrongly: the variable and the way out.
    Misconfigured(&'static str, String),
    /// The store did not answer, or not in time: the cause, for the log.
    StoreUnavailable(String),
    /// No keys of user tokens can be had: the cause, for the log.
    KeysUnavailable(String),
}

impl Error {
    #[must_use]
    fn faults(faults: Vec<Fault>) -> Self {
        let detail = match faults.as_slice() {
            [one] => format!("{}: {}", one.pointer.trim_start_matches('/'), one.detail),
            many => format!("{} things are wrong with this request.", many.len()),
        };
        Self::InvalidRequest(detail, faults)
    }

    /// A request in whose content one thing is wrong.
    #[must_use]
    pub fn fault(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::faults(vec![Fault::new(pointer, detail)])
    }

    /// A request that is wrong as a whole.
    #[must_use]
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::InvalidRequest(detail.into(), Vec::new())
    }

    /// The HTTP status code.
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

    /// The problem document of RFC 9457.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let (slug, title, detail) = self.told();
        let errors = match self {
            Self::InvalidRequest(_, faults) => faults.clone(),
            Self::UnknownAction(detail) => vec![Fault::new("/action", detail.clone())],
            Self::NotUndoable(detail) => vec![Fault::new("/undo", detail.clone())],
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

    /// What to log; `None` where it is the caller's fault.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::StoreUnavailable(cause) | Self::KeysUnavailable(cause) => Some(cause.clone()),
            Self::Misconfigured(variable, way_out) => Some(format!("{variable}: {way_out}")),
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

    fn told(&self) -> (&'static str, &'static str, String) {
        match self {
            Self::InvalidRequest(detail, _) => (
                "invalid-request",
                "The request is not valid",
                detail.clone(),
            ),
            Self::Unauthenticated(detail) | Self::InvalidToken(detail) => (
                "unauthenticated",
                "The caller is not known",
                (*detail).to_owned(),
            ),
            Self::Forbidden(detail) => ("forbidden", "The caller may not do this", detail.clone()),
            Self::NotFound(detail) => ("not-found", "There is nothing here", detail.clone()),
            Self::MethodNotAllowed(allow) => (
                "method-not-allowed",
                "This route has no such method",
                format!("Allowed here: {allow}."),
            ),
            Self::TooLarge(detail) => ("too-large", "The body is too large", detail.clone()),
            Self::UnsupportedMediaType => (
                "unsupported-media-type",
                "The body is not declared as JSON",
                "Send the header Content-Type: application/json.".to_owned(),
            ),
            Self::UnknownAction(detail) => (
                "unknown-action",
                "No rule names this action",
                format!("action: {detail}"),
            ),
            Self::NotUndoable(detail) => (
                "not-undoable",
                "This action cannot be undone",
                format!("undo: {detail}"),
            ),
            Self::ScoreOverflow(detail) => (
                "score-overflow",
                "The score would grow too large",
                detail.clone(),
            ),
            Self::RateLimited(detail) => {
                ("rate-limited", "Too many requests", (*detail).to_owned())
            }
            Self::Misconfigured(variable, way_out) => (
                "misconfigured",
                "The service is set up wrongly",
                format!("{variable}: {way_out}"),
            ),
            Self::StoreUnavailable(_) => (
                "store-unavailable",
                "The store did not answer in time",
                "Nothing is half-done; sending the same request again is safe.".to_owned(),
            ),
            Self::KeysUnavailable(_) => (
                "keys-unavailable",
                "The key server did not answer",
                "Nothing was done; sending the same request again is safe.".to_owned(),
            ),
        }
    }
}

/// A problem document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// `/problems/<slug>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem in words, the same each time.
    pub title: &'static str,
    /// The HTTP status code.
    pub status: u16,
    /// This occurrence in words.
    pub detail: String,
    /// Each fault of the content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
}
