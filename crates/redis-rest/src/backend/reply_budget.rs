//! Limits the memory of replies, while they are read from Redis.

use std::sync::Arc;

use crate::{
    error::GatewayError,
    memory::{Exceeded, Share, SharedLimit},
};

/// The limits of replies.
pub(crate) struct ReplyLimits {
    /// Maximum length of all strings in the reply to one command, in bytes.
    pub(crate) command: usize,
    /// Maximum memory of the replies to one request, in bytes.
    pub(crate) request: usize,
    /// The memory of the replies to all requests.
    total: Arc<SharedLimit>,
}

impl ReplyLimits {
    pub(crate) fn new(command: usize, request: usize, total: usize) -> Arc<Self> {
        Arc::new(Self {
            command,
            request,
            total: SharedLimit::new(total),
        })
    }
}

/// The memory of the replies to one request. Dropping it frees the memory for other requests, so it
/// lives as long as the replies and the response made of them.
pub(crate) struct ReplyBudget {
    limits: Arc<ReplyLimits>,
    replies: Share,
    /// The memory of the body and the commands of the request. They stay until the replies are
    /// complete, also if the client does not wait for them.
    body: Option<Share>,
}

impl ReplyBudget {
    /// Returns the budget of a request whose body takes the memory `body`.
    pub(crate) fn new(limits: &Arc<ReplyLimits>, body: Option<Share>) -> Arc<Self> {
        Arc::new(Self {
            limits: Arc::clone(limits),
            replies: Share::new(&limits.total),
            body,
        })
    }

    /// Returns a budget without limits, for commands of the gateway itself.
    pub(crate) fn unlimited() -> Arc<Self> {
        Self::new(&ReplyLimits::new(usize::MAX, usize::MAX, usize::MAX), None)
    }

    pub(crate) fn limits(&self) -> &ReplyLimits {
        &self.limits
    }

    /// Takes `bytes` of the budget.
    ///
    /// # Errors
    ///
    /// Fails if the limit of the request or that of all requests would be exceeded.
    pub(super) fn charge(&self, bytes: usize) -> Result<(), GatewayError> {
        let limit = self.limits.request;
        self.replies
            .charge(bytes, limit)
            .map_err(|exceeded| match exceeded {
                Exceeded::Request => GatewayError::RepliesTooLarge { limit },
                Exceeded::All(limit) => GatewayError::TooManyReplies { limit },
            })
    }

    /// Returns `bytes` to the budget.
    pub(super) fn release(&self, bytes: usize) {
        self.replies.release(bytes);
    }

    /// Replaces the memory of body and replies by that of the response made of them, which the limit
    /// of the request bounds.
    pub(crate) fn set(&self, bytes: usize) {
        self.replies.set(bytes);
        if let Some(body) = &self.body {
            body.set(0);
        }
    }
}
