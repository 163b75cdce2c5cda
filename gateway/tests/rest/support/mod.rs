//! Starts redis-server and the gateway, and asks the gateway.

mod cluster;
mod gateway;
mod redis;

pub use cluster::{Cluster, PRIMARIES, until};
pub use gateway::{Answer, Gateway, TOKEN, ask, client};
pub use redis::{Redis, shared_redis};

/// A text no other test has, to begin keys with.
pub fn prefix() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
