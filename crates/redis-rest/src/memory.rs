//! Limits the memory that all requests take together.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::error::GatewayError;

/// Memory of one request that the limit of all requests does not apply to, in bytes: large requests
/// do not fail others. `MAX_CONNECTIONS` limits the number of requests.
const SMALL: usize = 16_384;

/// Memory of an argument of a command besides its bytes, in bytes, as for each value of a reply.
const ARGUMENT: usize = 64;

/// A limit of all requests, and the memory that they take.
pub(crate) struct SharedLimit {
    /// Maximum memory in bytes.
    pub(crate) limit: usize,
    used: AtomicUsize,
}

impl SharedLimit {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
        })
    }

    /// Returns the memory that all requests take, in bytes.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// The memory that one request takes of a [`SharedLimit`]. Dropping it frees the memory for other
/// requests.
pub(crate) struct Share {
    shared: Arc<SharedLimit>,
    used: AtomicUsize,
}

/// The limit that more memory would exceed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// The limit of the request.
    Request,
    /// The limit of all requests, in bytes.
    All(usize),
}

impl Share {
    pub(crate) fn new(shared: &Arc<SharedLimit>) -> Self {
        Self {
            shared: Arc::clone(shared),
            used: AtomicUsize::new(0),
        }
    }

    /// Takes `bytes`. `limit` is that of the request.
    ///
    /// # Errors
    ///
    /// Takes nothing if a limit would be exceeded.
    pub(crate) fn charge(&self, bytes: usize, limit: usize) -> Result<(), Exceeded> {
        let add = |used: &AtomicUsize, limit: usize| {
            let sum = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
            used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum)
        };
        let before = add(&self.used, limit).map_err(|_used| Exceeded::Request)?;
        let total = self.shared.limit;
        let is_small = before + bytes <= SMALL;
        if add(&self.shared.used, if is_small { usize::MAX } else { total }).is_err() {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Exceeded::All(total));
        }
        Ok(())
    }

    /// Takes the memory of arguments, without a limit of the request.
    ///
    /// # Errors
    ///
    /// Takes nothing if the limit of all requests would be exceeded.
    pub(crate) fn charge_arguments(&self, count: usize) -> Result<(), GatewayError> {
        let charged = self.charge(count.saturating_mul(ARGUMENT), usize::MAX);
        charged.map_err(|_exceeded| GatewayError::TooManyBodies {
            limit: self.shared.limit,
        })
    }

    /// Frees `bytes`.
    pub(crate) fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.shared.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes `bytes` in place of the memory so far, without a limit.
    pub(crate) fn set(&self, bytes: usize) {
        self.shared.used.fetch_add(bytes, Ordering::Relaxed);
        let before = self.used.swap(bytes, Ordering::Relaxed);
        self.shared.used.fetch_sub(before, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Exceeded, SMALL, Share, SharedLimit};

    #[test]
    fn requests_share_the_limit() {
        let shared = SharedLimit::new(100_000);
        let first = Share::new(&shared);
        let second = Share::new(&shared);
        assert_eq!(first.charge(60_000, 60_000), Ok(()));
        assert_eq!(first.charge(1, 60_000), Err(Exceeded::Request));
        assert_eq!(second.charge(40_001, 60_000), Err(Exceeded::All(100_000)));
        assert_eq!(second.charge(40_000, 60_000), Ok(()));
        // A small request never fails because of others.
        let third = Share::new(&shared);
        assert_eq!(third.charge(SMALL, 60_000), Ok(()));
        assert_eq!(third.charge(1, 60_000), Err(Exceeded::All(100_000)));
        drop(third);
        first.release(10_000);
        second.set(7);
        assert_eq!(shared.used(), 50_007);
        drop((first, second));
        assert_eq!(shared.used(), 0);
    }
}
