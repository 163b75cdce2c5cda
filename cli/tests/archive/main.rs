//! `export` and `restore`, with the built Worker, the gateway and real Redis.
#![allow(
    clippy::indexing_slicing,
    reason = "a member that is missing from a JSON value reads as null"
)]

mod answers;
mod command;
mod content;
mod faults;
mod meanwhile;
mod refused;
mod restored;
mod site;

/// What a test returns.
type Tested = Result<(), Box<dyn std::error::Error>>;
