//! The sync token: an opaque text that changes after every write.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use axum::http::HeaderValue;

/// Counts writes. There is one primary and every read goes to it, so a client's own token never
/// has to be waited for; it only has to change.
pub(crate) struct SyncToken {
    /// Differs between runs, so that a token never repeats after a restart.
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

    /// A write may have happened.
    pub(crate) fn advance(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn header(&self) -> HeaderValue {
        let text = format!("{:x}.{}", self.boot, self.writes.load(Ordering::Relaxed));
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("0"))
    }
}
