//! Waiting for what can only be looked for.

use std::time::{Duration, Instant};

/// Asks again and again until `probe` finds something; for what comes from outside and tells
/// nobody, such as an expiry in Redis.
///
/// # Panics
///
/// After 30 seconds, naming `what` did not come.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within 30 seconds");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
