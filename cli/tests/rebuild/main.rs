//! `rebuild` and `verify`, with the built Worker in wrangler, its journal, the gateway and a Redis of
//! each test's own.
#![allow(
    clippy::indexing_slicing,
    reason = "a member that is missing from a JSON value reads as null"
)]

#[path = "../archive/answers.rs"]
mod answers;
mod command;
#[path = "../archive/content.rs"]
mod content;
mod emptied;
mod erased;
mod forgotten;
mod histories;
mod journalled;
mod killed;
mod meanwhile;
mod random;
mod refused;
#[path = "../run/mod.rs"]
mod run;
mod same;
mod shards;
#[path = "../archive/site.rs"]
mod site;
mod verified;

/// What a test returns.
type Tested = Result<(), Box<dyn std::error::Error>>;
