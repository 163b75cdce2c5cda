//! Rate limits of callers, by the bindings `WRITE_LIMIT` and `READ_LIMIT`. Without a binding there is
//! no limit.

use crate::app::App;
use crate::log;
use crate::platform::rate_limit::{READ, WRITE, is_allowed, network_of};
use crate::request::Request;
use activity_rank_core::error::Error;

/// Counts a write of a user.
///
/// # Errors
///
/// [`Error::RateLimited`].
pub async fn check_write(app: &App, request: &Request, user: &str) -> Result<(), Error> {
    if app.rate_limits.write && is_exceeded(request, WRITE, user).await {
        return Err(Error::RateLimited("This user exceeded the write limit."));
    }
    Ok(())
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
    if is_exceeded(request, READ, &network_of(address)).await {
        let detail = "This address exceeded the read limit.";
        return Err(Error::RateLimited(detail));
    }
    Ok(())
}

/// Returns whether a key is over its limit. A limiter that fails lets everything pass.
async fn is_exceeded(request: &Request, binding: &str, key: &str) -> bool {
    match is_allowed(binding, key).await {
        Ok(allowed) => !allowed,
        Err(cause) => {
            log::warning(request, &format!("{binding}: {cause}"));
            false
        }
    }
}
