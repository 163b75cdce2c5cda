//! The `Upstash-Sync-Token` header: an opaque text that changes after every write.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use axum::http::HeaderValue;

/// A counter of writes, rendered as the sync token.
///
/// The hosted service delays a read until its replica has caught up with the token that the client
/// sends. Here every read goes to a primary, so the token of a client is ignored.
pub(crate) struct SyncToken {
    /// Random per process, so that no token repeats after a restart.
    boot: u64,
    writes: AtomicU64,
}

impl SyncToken {
    pub(crate) fn new() -> Self {
        Self {
            boot: RandomState::new().hash_one(std::process::id()),
            writes: AtomicU64::new(0),
        }
    }

    /// Counts a write that may have run.
    pub(crate) fn advance(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the current token as a header value.
    pub(crate) fn header(&self) -> HeaderValue {
        let text = format!("{:x}.{}", self.boot, self.writes.load(Ordering::Relaxed));
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("0"))
    }
}
