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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::problem::Problem;

    /// Returns the number of calls that all fail like this, and the sum of the delays between them.
    fn attempts(retries: usize, status: u16, retry_after: Option<u64>) -> (usize, Duration) {
        let (calls, waited) = (Cell::new(0), Rc::new(Cell::new(Duration::ZERO)));
        let sum = Rc::clone(&waited);
        let sleep = move |delay| {
            sum.set(sum.get() + delay);
            ready(())
        };
        let call = || {
            calls.set(calls.get() + 1);
            let problem = Problem {
                status,
                ..Problem::default()
            };
            ready(Err::<(), _>(RequestError::Refused {
                problem: Box::new(problem),
                retry_after: retry_after.map(Duration::from_secs),
                keyless: false,
            }))
        };
        let last = pin!(with_backoff(sleep, retries, |_, _| (), call));
        // Nothing in it waits.
        let last = last.poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(last, Poll::Ready(Err(_))));
        (calls.get(), waited.get())
    }

    #[test]
    fn delay_doubles_with_jitter() {
        let (calls, waited) = attempts(3, 503, None);
        assert_eq!(calls, 4);
        let (min, max) = (Duration::from_millis(1400), Duration::from_millis(2803));
        assert!((min..=max).contains(&waited), "{waited:?}");
    }

    #[test]
    fn retry_after_overrules_delay_or_ends_retries() {
        assert_eq!(attempts(2, 429, Some(60)), (3, Duration::from_secs(120)));
        assert_eq!(attempts(2, 429, Some(7200)), (1, Duration::ZERO));
    }

    #[test]
    fn permanent_error_is_not_retried() {
        assert_eq!(attempts(5, 401, None), (1, Duration::ZERO));
    }
}
