//! Tests of the service over HTTP: the built wasm in workerd, the gateway and a real redis-server.
//!
//! [`client::Client`] validates every response against the OpenAPI document.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods
)]

// Routes.
mod activity;
mod cases;
mod content;
mod digest;
mod events;
mod healthz;
mod journal;
mod live;
mod metrics;
mod moderation;
mod openapi;
mod pages;
mod ranking;
mod static_files;
mod static_routes;
mod stats;
mod status;
mod syncs;
mod users;
mod visitors;
mod webhooks;

// Behaviour of several routes.
mod analytics;
mod archive;
mod cancelled;
mod coalescing;
mod cors;
mod cron;
mod head;
mod hidden_members;
mod idle_cron;
mod logging;
mod privacy;
mod rate_limits;
mod refused;
mod resilience;
mod response_cache;
mod scopes;
mod security_headers;
mod token;

// Configuration and deployment.
mod absent_features;
mod deploy_artifact;
mod misconfigured;
mod platforms;
mod reqwest_transport;
mod rules;
mod rules_preview;
mod schema_fingerprint;
mod settings;
mod single_flight;
mod threats;

// Storage.
mod native_store_client;
mod store_keys;
mod tenancy;
mod wrong_type_keys;

// Shared by the tests.
mod app;
mod bodies;
mod client;
mod clock;
mod document;
mod problem;
mod raw;
mod store;
