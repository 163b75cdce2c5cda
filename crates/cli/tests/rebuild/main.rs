//! `rebuild`, `verify` and `recount`, run against the built Worker in Miniflare, its journal, the gateway and one
//! Redis per test.
#![allow(
    clippy::indexing_slicing,
    reason = "a missing member of a JSON value reads as null"
)]

mod accounts;
mod app;
mod cli;
mod concurrent_reads;
mod concurrent_writes;
mod content;
mod corrections;
mod data_loss;
mod events;
mod expiry;
mod export;
mod former_version;
mod import;
mod interruption;
mod journal_app;
mod observed;
mod order_bits;
mod past;
mod pauses;
mod random;
mod recount;
#[path = "../run/refusals.rs"]
mod refusals;
mod refused_writes;
mod rejections;

mod responses;
mod rules;
mod rules_preview;
#[path = "../run/mod.rs"]
mod run;
mod shards;

mod stored;
mod sync;
mod verify;

/// The result of a test.
type TestResult = Result<(), Box<dyn std::error::Error>>;
