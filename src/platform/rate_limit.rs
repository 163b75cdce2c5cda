//! The platform's rate limiters: the bindings `WRITE_LIMIT` and `READ_LIMIT`.

use super::bridge::HostCall;
use super::env::is_bound;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

#[wasm_bindgen(raw_module = "platform/rate_limit.js")]
extern "C" {
    #[wasm_bindgen(js_name = "networkOf")]
    fn network_of_address(address: &str) -> String;
}

/// The binding that limits writes of a user.
pub const WRITE: &str = "WRITE_LIMIT";

/// The binding that limits reads of an address.
pub const READ: &str = "READ_LIMIT";

/// The limiters that a deployment has.
#[derive(Clone, Copy, Debug)]
pub struct RateLimits {
    /// Whether [`WRITE`] is bound.
    pub write: bool,
    /// Whether [`READ`] is bound.
    pub read: bool,
}

impl RateLimits {
    /// Returns the limiters whose bindings exist.
    #[must_use]
    pub fn new(env: &Env) -> Self {
        Self {
            write: is_bound(env, WRITE),
            read: is_bound(env, READ),
        }
    }
}

/// Counts calls and returns whether all of them are within the limit.
///
/// # Errors
///
/// Returns the cause if the limiter fails.
pub async fn are_allowed(binding: &str, key: &str, calls: usize) -> Result<bool, String> {
    let calls = u32::try_from(calls).unwrap_or(u32::MAX);
    let call = HostCall::Allow {
        binding,
        key,
        calls,
    };
    let reply = call.start().await?;
    Ok(reply.number == 1.0)
}

/// Returns the network of an address: an IPv6 client has a whole /64 network.
#[must_use]
pub fn network_of(address: &str) -> String {
    network_of_address(address)
}
