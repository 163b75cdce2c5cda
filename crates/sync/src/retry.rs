//! Retries: exponential backoff with jitter, overruled by `Retry-After`.
//!
//! Every request is idempotent, so a retry is always safe: the service counts an activity once, and
//! storing a profile twice has no further effect.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable, Sleeper};

use crate::platform::Platform;
use crate::request_error::RequestError;

const MIN_DELAY: Duration = Duration::from_millis(200);
const MAX_DELAY: Duration = Duration::from_secs(10);

/// Maximum `Retry-After`. With a longer one, the command fails and reports it.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Returns the delays before up to `retries` retries.
#[must_use]
pub fn backoff(retries: usize) -> ExponentialBuilder {
    ExponentialBuilder::default()
        .with_min_delay(MIN_DELAY)
        .with_max_delay(MAX_DELAY)
        .with_max_times(retries)
        .with_jitter()
}

/// Returns how a platform waits before a retry.
pub fn waits(platform: &Arc<dyn Platform>) -> impl Sleeper + use<> {
    let platform = Arc::clone(platform);
    move |wait| {
        let platform = Arc::clone(&platform);
        async move { platform.sleep(wait).await }
    }
}

/// Runs `call` and retries transient errors up to `retries` times, each after `sleep`. Calls `on_retry` with the error
/// and the delay before each retry.
///
/// # Errors
///
/// Returns the last error.
pub async fn with_backoff<T, F, Call>(
    sleep: impl Sleeper,
    retries: usize,
    on_retry: impl FnMut(&RequestError, Duration),
    call: Call,
) -> Result<T, RequestError>
where
    F: Future<Output = Result<T, RequestError>>,
    Call: FnMut() -> F,
{
    call.retry(backoff(retries))
        .sleep(sleep)
        .when(RequestError::is_transient)
        .adjust(|error, delay| match (delay, error.retry_after()) {
            (Some(delay), Some(requested)) if requested <= MAX_RETRY_AFTER => {
                Some(delay.max(requested))
            }
            (_, Some(_)) => None,
            (delay, None) => delay,
        })
        .notify(on_retry)
        .await
}
