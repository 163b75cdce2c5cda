//! Errors of requests to the service, with the remedy where it is known.

use std::time::Duration;

use http::StatusCode;

use url::Url;

use crate::platform::SendError;
use crate::printable::printable;
use crate::problem::Problem;

/// The error of a request.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    /// No response, or an incomplete one: connection refused, connection lost, or timeout.
    #[error("{url} did not answer: {cause}")]
    NoResponse {
        /// Requested URL.
        url: String,
        /// Cause.
        cause: String,
    },
    /// A response with an error status.
    #[error("{problem}{}", remedy(problem, *retry_after, *keyless))]
    Refused {
        /// Problem document of the response.
        problem: Box<Problem>,
        /// Value of `Retry-After`.
        retry_after: Option<Duration>,
        /// Whether the request was sent without a key.
        keyless: bool,
    },
    /// The platform's budget of requests or time is used up: a later run goes on.
    #[error("the budget of requests is used up")]
    Paused,
    /// A response that does not conform to the API.
    #[error("unexpected response from {url}: {what}")]
    UnexpectedResponse {
        /// Requested URL.
        url: String,
        /// The deviation.
        what: String,
    },
}

impl RequestError {
    /// Creates the error of a request without a response.
    #[must_use]
    pub fn without_response(url: &Url, error: SendError) -> Self {
        match error {
            SendError::NoResponse(cause) => Self::NoResponse {
                url: url.to_string(),
                cause: printable(&cause),
            },
            SendError::Unusable(what) => Self::UnexpectedResponse {
                url: url.to_string(),
                what,
            },
            SendError::Paused => Self::Paused,
        }
    }

    /// Returns whether a retry may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NoResponse { .. } => true,
            Self::Refused { problem, .. } => problem.is_transient(),
            Self::UnexpectedResponse { .. } | Self::Paused => false,
        }
    }

    /// Returns the delay requested by `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::NoResponse { .. } | Self::UnexpectedResponse { .. } | Self::Paused => None,
        }
    }
}

/// Returns what the user can do about the problem, or an empty string.
fn remedy(problem: &Problem, retry_after: Option<Duration>, keyless: bool) -> String {
    match (StatusCode::from_u16(problem.status), keyless, retry_after) {
        (Ok(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN), true, _) => {
            " (no key was sent: set ACTIVITY_RANK_KEY)".to_owned()
        }
        (Ok(StatusCode::UNAUTHORIZED), false, _) => {
            " (is ACTIVITY_RANK_KEY one of the service's SERVICE_KEYS?)".to_owned()
        }
        (_, _, Some(wait)) => format!(" (retry after {} s)", wait.as_secs()),
        _ => String::new(),
    }
}
