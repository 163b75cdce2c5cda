//! Tests of the protocol against a real redis-server.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test stops at its first failure"
)]

/// Asserts the response to a request.
macro_rules! responds {
    ($request:expr => $expected:expr) => {
        assert_eq!($request.await, $expected);
    };
}

mod arguments;
mod auth;
mod cluster;
mod concurrency;
mod connections;
mod cors;
mod encoding;
mod events;
mod health;
mod limits;
mod multi_exec;
mod outage;
mod path;
mod pipeline;
mod process;
mod refused_commands;
mod reply_splitting;
mod resp2;
mod robustness;
mod script_limits;
mod scripts;
mod single_command;
mod support;
mod sync_token;
