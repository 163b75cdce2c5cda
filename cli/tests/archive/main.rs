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
#[path = "../run/mod.rs"]
mod run;
mod shards;
mod site;

use test_support::gateway;

use command::Place;
use site::Site;

/// A site in the shared Redis.
fn start() -> Site {
    let worker = site::builder().start();
    let place = Place {
        store: gateway().url(),
        prefix: worker.prefix().to_owned(),
    };
    Site::of(worker.api(), place, worker)
}

/// What a test returns.
type Tested = Result<(), Box<dyn std::error::Error>>;
