//! Retries: exponential backoff with jitter, overruled by `Retry-After`.
//!
//! Every request is idempotent, so a retry is always safe: the service counts an activity once, and
//! storing a profile twice has no further effect.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};

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

/// Runs `call` and retries transient errors up to `retries` times. Calls `on_retry` with the error
/// and the delay before each retry.
///
/// # Errors
///
/// Returns the last error.
pub async fn with_backoff<T, F, Call>(
    retries: usize,
    on_retry: impl FnMut(&RequestError, Duration),
    call: Call,
) -> Result<T, RequestError>
where
    F: Future<Output = Result<T, RequestError>>,
    Call: FnMut() -> F,
{
    call.retry(backoff(retries))
        .sleep(tokio::time::sleep)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::Instant;

    use super::*;
    use crate::problem::Problem;

    fn error(status: u16, retry_after: Option<Duration>) -> RequestError {
        RequestError::Refused {
            problem: Box::new(Problem {
                status,
                ..Problem::default()
            }),
            retry_after,
            keyless: false,
        }
    }

    async fn attempts(retries: usize, error: impl Fn() -> RequestError) -> (usize, Duration) {
        let (calls, start) = (Cell::new(0), Instant::now());
        let _: Result<(), _> = with_backoff(
            retries,
            |_, _| (),
            || {
                calls.set(calls.get() + 1);
                std::future::ready(Err(error()))
            },
        )
        .await;
        (calls.get(), start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn delay_doubles_with_jitter() {
        let (calls, elapsed) = attempts(3, || error(503, None)).await;
        assert_eq!(calls, 4);
        let (min, max) = (Duration::from_millis(1400), Duration::from_millis(2803));
        assert!((min..=max).contains(&elapsed), "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn retry_after_overrules_the_delay() {
        let (calls, elapsed) = attempts(2, || error(429, Some(Duration::from_secs(60)))).await;
        assert_eq!(calls, 3);
        assert_eq!(elapsed.as_secs(), 120);
    }

    #[tokio::test(start_paused = true)]
    async fn long_retry_after_ends_the_retries() {
        assert_eq!(
            attempts(2, || error(429, Some(Duration::from_secs(7200)))).await,
            (1, Duration::ZERO)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_error_is_not_retried() {
        assert_eq!(attempts(5, || error(401, None)).await, (1, Duration::ZERO));
    }
}
