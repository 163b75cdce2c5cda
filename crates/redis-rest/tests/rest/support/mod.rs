//! Starts redis-server and the gateway, and sends requests to the gateway.

mod cluster;
mod gateway;
mod redis;

pub use cluster::{Cluster, PRIMARIES, wait_until};
pub use gateway::{Gateway, HttpResponse, TOKEN, client, failed, ok, send};
pub use redis::{Redis, shared_redis};

/// Returns a key prefix that no other test of this process uses.
pub fn prefix() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
