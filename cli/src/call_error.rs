//! Every way a call can fail, and what to do about it.

use std::time::Duration;

use reqwest::StatusCode;

use crate::problem::Problem;

/// Why a call brought no usable answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// No answer, or half of one: not reachable, cut, too slow.
    #[error("{url} did not answer: {cause}")]
    Unanswered {
        /// What was called.
        url: String,
        /// Why, as far as known.
        cause: String,
    },
    /// An answer that refuses.
    #[error("{problem}{}", remedy(problem, *retry_after, *keyless))]
    Refused {
        /// What the service said.
        problem: Box<Problem>,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
        /// Whether the call went without a key.
        keyless: bool,
    },
    /// An answer this service would not give.
    #[error("{url} does not answer like activity-rank: {what}")]
    Foreign {
        /// What was called.
        url: String,
        /// What came instead.
        what: String,
    },
}

impl CallError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unanswered { .. } => true,
            Self::Refused { problem, .. } => problem.is_transient(),
            Self::Foreign { .. } => false,
        }
    }

    /// How long the service asks to wait before the next attempt.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::Unanswered { .. } | Self::Foreign { .. } => None,
        }
    }
}

/// What the caller can do about a refusal, where that is known.
fn remedy(problem: &Problem, retry_after: Option<Duration>, keyless: bool) -> String {
    match (StatusCode::from_u16(problem.status), keyless, retry_after) {
        (Ok(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN), true, _) => {
            " (no key was given: set ACTIVITY_RANK_KEY)".to_owned()
        }
        (Ok(StatusCode::UNAUTHORIZED), false, _) => {
            " (is ACTIVITY_RANK_KEY one of the service's SERVICE_KEYS?)".to_owned()
        }
        (_, _, Some(wait)) => format!(" (it asks to wait {} s)", wait.as_secs()),
        _ => String::new(),
    }
}
