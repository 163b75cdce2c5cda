//! Polling.

use std::time::{Duration, Instant};

/// Calls `probe` every 10 ms until it returns a value, for changes that send no notification, such
/// as an expiry in Redis.
///
/// # Panics
///
/// Panics after 30 seconds with `what`, the description of the awaited condition.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "timed out after 30 seconds: {what}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
