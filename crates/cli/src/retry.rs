//! Retries on a host, which waits with tokio.

use std::time::Duration;

use activity_rank_sync::retry;
pub use activity_rank_sync::retry::backoff;

use crate::request_error::RequestError;

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
    retry::with_backoff(tokio::time::sleep, retries, on_retry, call).await
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
