//! Trying again: exponential backoff with jitter, unless the service itself says how long to wait.
//!
//! A retry is always safe: the service counts an activity once however often it arrives, and a
//! profile sent twice is the same profile.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};

use crate::call_error::CallError;

const FIRST_DELAY: Duration = Duration::from_millis(200);
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// A `Retry-After` beyond this is not waited for: the command ends and says so.
pub const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Calls until there is an answer, a refusal that waiting can't cure, or no attempt left.
/// `told` hears of every failure that is tried again, and how long that waits.
///
/// # Errors
///
/// The last failure.
pub async fn patiently<T, F, Call>(
    retries: usize,
    told: impl FnMut(&CallError, Duration),
    call: Call,
) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
    Call: FnMut() -> F,
{
    let backoff = ExponentialBuilder::default()
        .with_min_delay(FIRST_DELAY)
        .with_max_delay(LONGEST_DELAY)
        .with_max_times(retries)
        .with_jitter();
    call.retry(backoff)
        .sleep(tokio::time::sleep)
        .when(CallError::is_transient)
        .adjust(|failure, planned| match (planned, failure.retry_after()) {
            (Some(planned), Some(asked)) if asked <= LONGEST_WAIT => Some(planned.max(asked)),
            (_, Some(_)) => None,
            (planned, None) => planned,
        })
        .notify(told)
        .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::Instant;

    use super::*;
    use crate::problem::Problem;

    fn refused(status: u16, retry_after: Option<Duration>) -> CallError {
        CallError::Refused {
            problem: Box::new(Problem {
                status,
                ..Problem::default()
            }),
            retry_after,
            keyless: false,
        }
    }

    async fn attempts(retries: usize, failure: impl Fn() -> CallError) -> (usize, Duration) {
        let (calls, start) = (Cell::new(0), Instant::now());
        let _: Result<(), _> = patiently(
            retries,
            |_, _| (),
            || {
                calls.set(calls.get() + 1);
                std::future::ready(Err(failure()))
            },
        )
        .await;
        (calls.get(), start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_doubles_and_is_jittered() {
        let (calls, waited) = attempts(3, || refused(503, None)).await;
        assert_eq!(calls, 4);
        let (least, most) = (Duration::from_millis(1400), Duration::from_millis(2803));
        assert!((least..=most).contains(&waited), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_service_says_how_long_to_wait() {
        let (calls, waited) = attempts(2, || refused(429, Some(Duration::from_secs(60)))).await;
        assert_eq!(calls, 3);
        assert_eq!(waited.as_secs(), 120);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_of_hours_is_not_waited_for() {
        assert_eq!(
            attempts(2, || refused(429, Some(Duration::from_secs(7200)))).await,
            (1, Duration::ZERO)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_for_good_is_not_tried_again() {
        assert_eq!(
            attempts(5, || refused(401, None)).await,
            (1, Duration::ZERO)
        );
    }
}
