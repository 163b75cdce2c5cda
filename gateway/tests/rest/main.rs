//! The protocol, line by line, against a real redis-server.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot go on should stop"
)]

mod anything;
mod arguments;
mod auth;
mod cluster;
mod concurrency;
mod cors;
mod encoding;
mod events;
mod health;
mod limits;
mod multi_exec;
mod outage;
mod path;
mod pipeline;
mod program;
mod refused;
mod resp2;
mod scripts;
mod single;
mod support;
mod sync_token;
