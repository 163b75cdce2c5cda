//! The clock. In production it stands still between I/O operations.

use super::bridge::HostCall;
use activity_rank_core::calendar::Instant;
use activity_rank_store::deployment::Wait;
use worker::Date;

/// Returns milliseconds since 1970.
///
/// A request reads the clock once, in `request.js`; this is for work that takes time.
#[must_use]
pub fn millis() -> i64 {
    i64::try_from(Date::now().as_millis()).unwrap_or(i64::MAX)
}

/// Returns the current instant; see [`millis`].
#[must_use]
pub fn now() -> Instant {
    Instant(millis())
}

/// Waits so many milliseconds.
#[must_use]
pub fn wait(milliseconds: u32) -> Wait {
    let waited = HostCall::Wait(milliseconds).start();
    Box::pin(async {
        // A timer does not fail.
        let _ = waited.await;
    })
}
