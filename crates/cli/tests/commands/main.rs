//! Runs the built `activity-rank` against a fake service with injected faults.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a missing field of a JSON value reads as null"
)]

mod boards;
mod command;
mod faults;
mod import;
mod profiles;
mod refusals;
mod report;
#[path = "../run/mod.rs"]
mod run;
mod service;
mod targets;
mod time_shift;
mod token;

/// The result of a test.
type TestResult = Result<(), Box<dyn std::error::Error>>;
