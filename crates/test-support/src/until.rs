//! Polling.

use std::time::{Duration, Instant};

use crate::slowness::scaled;

/// Calls `probe` every 10 ms until it returns a value, for changes that send no notification, such
/// as an expiry in Redis.
///
/// # Panics
///
/// Panics with `what`, the description of the awaited condition, after two minutes, [`scaled`].
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let timeout = scaled(Duration::from_secs(120));
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "timed out after {timeout:?}: {what}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
