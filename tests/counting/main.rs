//! Proof of the counting, on the built wasm, the gateway and a real redis-server: against a
//! model, under load, at the limits of the packing, past lost answers and killed servers.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods
)]

mod activity;
mod caps;
mod community;
mod crowd;
mod damage;
mod everything;
mod expiry;
mod faults;
mod killed;
mod limits;
mod property;
mod queued;
mod random;
mod round_trips;
mod run;
mod shards;
mod site;
mod stored;
mod ties;
mod undo;

/// A number that the environment may set.
fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}
