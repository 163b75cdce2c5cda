//! Polling.

use std::time::{Duration, Instant};

use crate::slowness::scaled;

/// Calls `probe` until it returns a value, for changes that send no notification, such as an expiry in Redis: every 10 ms at
/// first, then after a tenth of the time so far, at most 250 ms, as a probe may cost milliseconds of processor time.
///
/// # Panics
///
/// Panics with `what`, the description of the awaited condition, after two minutes, [`scaled`].
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let timeout = scaled(Duration::from_secs(120));
    let start = Instant::now();
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(
            start.elapsed() < timeout,
            "timed out after {timeout:?}: {what}"
        );
        let pause = start.elapsed() / 10;
        tokio::time::sleep(pause.clamp(Duration::from_millis(10), Duration::from_millis(250)))
            .await;
    }
}
