//! How often one caller may call, by the platform's counters.
//!
//! They are the bindings `WRITE_LIMIT` and `READ_LIMIT`; without one nothing is limited by it.

use super::call::Call;
use super::edge::{is_bound, perform};
use super::log;
use crate::error::Error;
use worker::Env;

/// The counters of a deployment.
pub struct Limits {
    write: bool,
    read: bool,
}

const WRITE: &str = "WRITE_LIMIT";
const READ: &str = "READ_LIMIT";

impl Limits {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        Self {
            write: is_bound(env, WRITE),
            read: is_bound(env, READ),
        }
    }

    /// Counts a write of a user.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] where there were too many.
    pub async fn write(&self, call: &Call, user: &str) -> Result<(), Error> {
        if self.write && is_over(call, WRITE, user).await {
            return Err(Error::RateLimited("This user writes too often."));
        }
        Ok(())
    }

    /// Counts a read, or a caller who is not known, of the address it comes from.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] where there were too many.
    pub async fn read(&self, call: &Call) -> Result<(), Error> {
        // Only the platform's edge tells the address; without it everybody would be one caller.
        let Some(address) = call.header("cf-connecting-ip") else {
            return Ok(());
        };
        if self.read && is_over(call, READ, address).await {
            let detail = "Too many requests come from this address.";
            return Err(Error::RateLimited(detail));
        }
        Ok(())
    }
}

/// Whether there were too many. A counter that fails stops nobody.
async fn is_over(call: &Call, name: &str, who: &str) -> bool {
    match perform("lets_through", &[name, who]).await {
        Ok(lets) => lets.is_empty(),
        Err(cause) => {
            log::warning(call, &format!("{name}: {cause}"));
            false
        }
    }
}
