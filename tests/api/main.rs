//! The service over HTTP: the built wasm in workerd, the gateway and a real redis-server.
//!
//! One module per URL; then what goes across them; at the end what all of them use. Every answer
//! of every test is held against the OpenAPI document by [`client::Client`].

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
mod array;
mod comparison;
mod dated;
mod erasure;
mod files;
mod fixed;
mod healthz;
mod history;
mod journal;
mod live;
mod moderation;
mod profile;
mod ranking;
mod standing;

mod archived;
mod cors;
mod decimals;
mod foreign;
mod freshness;
mod head;
mod host;
mod keys;
mod lifetimes;
mod limited;
mod logged;
mod misconfigured;
mod openapi;
mod periods;
mod queued;
mod refused;
mod rules;
mod scopes;
mod sealed;
mod shipped;
mod silent;
mod stale;
mod stamped;
mod tenancy;
mod threats;
mod token;
mod unavailable;
mod zones;

mod client;
mod clock;
mod document;
mod raw;
mod site;
mod store;
