//! `export` and `restore`, run against the built Worker, the gateway and a real Redis.
#![allow(
    clippy::indexing_slicing,
    reason = "a missing member of a JSON value reads as null"
)]

mod app;
mod cli;
mod concurrent_writes;
mod content;
mod faults;
mod order_bits;
#[path = "../run/refusals.rs"]
mod refusals;
mod refused_writes;
mod rejections;
mod responses;
mod round_trip;
#[path = "../run/mod.rs"]
mod run;
mod shards;
mod stored;

use test_support::gateway;

use app::{Endpoint, TestApp};

/// Starts an app on the shared Redis.
fn start() -> TestApp {
    let worker = app::builder().start();
    let endpoint = Endpoint {
        store: gateway().url(),
        prefix: worker.prefix().to_owned(),
    };
    TestApp::new(worker.api(), endpoint, worker)
}

/// The result of a test.
type TestResult = Result<(), Box<dyn std::error::Error>>;
