//! Limits the memory of replies, while they are read from Redis.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::error::GatewayError;

/// Memory of the replies to one request that the limit of all requests does not apply to, in bytes:
/// large replies do not fail other requests. `MAX_CONNECTIONS` limits the number of requests.
const SMALL: usize = 16_384;

/// The limits of replies, and the memory that the replies of all requests take.
pub(crate) struct ReplyLimits {
    /// Maximum length of all strings in the reply to one command, in bytes.
    pub(crate) command: usize,
    /// Maximum memory of the replies to one request, in bytes.
    pub(crate) request: usize,
    /// Maximum memory of the replies to all requests, in bytes.
    pub(crate) total: usize,
    used: AtomicUsize,
}

impl ReplyLimits {
    pub(crate) fn new(command: usize, request: usize, total: usize) -> Arc<Self> {
        Arc::new(Self {
            command,
            request,
            total,
            used: AtomicUsize::new(0),
        })
    }
}

/// The memory of the replies to one request. Dropping it frees the memory for other requests, so it
/// lives as long as the replies and the response made of them.
pub(crate) struct ReplyBudget {
    limits: Arc<ReplyLimits>,
    used: AtomicUsize,
}

impl ReplyBudget {
    pub(crate) fn new(limits: &Arc<ReplyLimits>) -> Arc<Self> {
        Arc::new(Self {
            limits: Arc::clone(limits),
            used: AtomicUsize::new(0),
        })
    }

    /// Returns a budget without limits, for commands of the gateway itself.
    pub(crate) fn unlimited() -> Arc<Self> {
        Self::new(&ReplyLimits::new(usize::MAX, usize::MAX, usize::MAX))
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
        let add = |used: &AtomicUsize, limit: usize| {
            let sum = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
            used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum)
        };
        let (request, total) = (self.limits.request, self.limits.total);
        let Ok(before) = add(&self.used, request) else {
            return Err(GatewayError::RepliesTooLarge { limit: request });
        };
        let is_small = before + bytes <= SMALL;
        if add(&self.limits.used, if is_small { usize::MAX } else { total }).is_err() {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(GatewayError::TooManyReplies { limit: total });
        }
        Ok(())
    }

    /// Returns `bytes` to the budget.
    pub(super) fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.limits.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Replaces the memory of the replies by that of the response made of them, which the limit of
    /// the request bounds.
    pub(crate) fn set(&self, bytes: usize) {
        self.limits.used.fetch_add(bytes, Ordering::Relaxed);
        let replies = self.used.swap(bytes, Ordering::Relaxed);
        self.limits.used.fetch_sub(replies, Ordering::Relaxed);
    }
}

impl Drop for ReplyBudget {
    fn drop(&mut self) {
        let used = *self.used.get_mut();
        self.limits.used.fetch_sub(used, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{ReplyBudget, ReplyLimits, SMALL};
    use crate::error::GatewayError;

    #[test]
    fn requests_share_the_total() {
        let limits = ReplyLimits::new(9, 60_000, 100_000);
        let first = ReplyBudget::new(&limits);
        let second = ReplyBudget::new(&limits);
        assert_eq!(first.charge(60_000), Ok(()));
        assert_eq!(
            first.charge(1),
            Err(GatewayError::RepliesTooLarge { limit: 60_000 })
        );
        assert_eq!(
            second.charge(40_001),
            Err(GatewayError::TooManyReplies { limit: 100_000 })
        );
        assert_eq!(second.charge(40_000), Ok(()));
        // A small reply never fails because of other requests.
        let third = ReplyBudget::new(&limits);
        assert_eq!(third.charge(SMALL), Ok(()));
        assert_eq!(
            third.charge(1),
            Err(GatewayError::TooManyReplies { limit: 100_000 })
        );
        drop(third);
        first.release(10_000);
        second.set(7);
        assert_eq!(limits.used.load(Ordering::Relaxed), 50_007);
        drop((first, second));
        assert_eq!(limits.used.load(Ordering::Relaxed), 0);
    }
}
