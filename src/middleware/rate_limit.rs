//! Rate limits of callers, by the bindings `WRITE_LIMIT` and `READ_LIMIT`. Without a binding there is
//! no limit.

use crate::app::{App, RequestContext};
use crate::log;
use crate::platform::rate_limit::{READ, WRITE, are_allowed, network_of};
use crate::request::Request;
use activity_rank_core::error::Error;

/// The longest period of the platform's limiters, in seconds. They do not report their own.
const LONGEST_PERIOD: u32 = 60;

/// Counts a write of a user.
///
/// # Errors
///
/// [`Error::RateLimited`].
pub async fn check_write(app: &App, request: &Request, user: &str) -> Result<(), Error> {
    if app.rate_limits.write && is_exceeded(request, WRITE, user, 1).await {
        let detail = "This user exceeded the write limit.";
        return Err(Error::RateLimited(detail, LONGEST_PERIOD));
    }
    Ok(())
}

/// Counts further writes of a user, of the items of an array after the first.
pub async fn count_writes(context: RequestContext<'_>, user: &str, writes: usize) {
    let RequestContext { app, request, .. } = context;
    if app.rate_limits.write && writes > 0 {
        is_exceeded(request, WRITE, user, writes).await;
    }
}

/// Counts a read, or a failed authentication, of the address that sends it.
///
/// # Errors
///
/// [`Error::RateLimited`].
pub async fn check_read(app: &App, request: &Request) -> Result<(), Error> {
    // Only Cloudflare's network sets the header; without it all callers would be one.
    let address = request.header("cf-connecting-ip");
    let Some(address) = address.filter(|_| app.rate_limits.read) else {
        return Ok(());
    };
    if is_exceeded(request, READ, &network_of(address), 1).await {
        let detail = "This address exceeded the read limit.";
        return Err(Error::RateLimited(detail, LONGEST_PERIOD));
    }
    Ok(())
}

/// Counts calls of a key and returns whether it is over its limit. A limiter that fails lets
/// everything pass.
async fn is_exceeded(request: &Request, binding: &str, key: &str, calls: usize) -> bool {
    match are_allowed(binding, key, calls).await {
        Ok(allowed) => !allowed,
        Err(cause) => {
            log::warning(request, &format!("{binding}: {cause}"));
            false
        }
    }
}
