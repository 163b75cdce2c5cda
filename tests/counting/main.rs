//! Tests of counting with the built wasm, the gateway and a real redis-server: against a model, under
//! load, at the limits of stored scores, and with lost responses and killed servers.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods
)]

mod caps;
mod community;
mod comparison;
mod concurrency;
mod expiry;
mod full_state;
mod generator;
mod limits;
mod property;
mod requests;
mod resilience;
mod round_trips;
mod shards;
#[path = "../api/token/sign.rs"]
#[allow(dead_code, reason = "it also makes invalid tokens")]
mod sign;
mod standings;
mod storage;
mod store_errors;
mod ties;
mod undo;
mod versions;

/// Returns a number from an environment variable.
fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}
