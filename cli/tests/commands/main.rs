//! Runs the built `activity-rank` against a service that misbehaves on purpose.

#![allow(
    clippy::indexing_slicing,
    reason = "a member that is missing from a JSON value reads as null"
)]

mod boards;
mod command;
mod faults;
mod import;
mod profiles;
mod refusals;
#[path = "../run/mod.rs"]
mod run;
mod service;
mod shift;
mod token;

/// What a test returns.
type Tested = Result<(), Box<dyn std::error::Error>>;
