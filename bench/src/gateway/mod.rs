//! The gateway beside redis-benchmark, which speaks to the same Redis without it, and before a Redis
//! Cluster beside before one Redis: how many commands a second, one by one and in pipelines, over as
//! many connections, and what one costs the gateway.
//!
//! ```text
//! stores (one Redis; clusters of 1, 2, 3 primaries; a gateway before each), filled ─► rounds ─► report
//! ```
//!
//! All nodes are on this machine, so more primaries can't be faster: what they show is the price of
//! routing.

mod direct;
mod load;
mod report;
mod store;

use crate::options::number;
use load::Load;
use report::{Report, Row};
use std::env;
use std::path::PathBuf;
use store::Store;

/// Stores by their primaries; the first is one Redis that is no cluster.
const STORES: [Option<usize>; 4] = [None, Some(1), Some(2), Some(3)];

/// `ROUNDS` turns (5) of `SECONDS` (1) each; the tables go to stdout, the figures to `JSON`
/// (target/gateway.json). As it is, it takes three minutes.
pub async fn run() -> Result<(), String> {
    let rounds: usize = number("ROUNDS", 5)?;
    let seconds: f64 = number("SECONDS", 1.0)?;
    let json = env::var_os("JSON").map_or_else(
        || test_support::root().join("target/gateway.json"),
        PathBuf::from,
    );
    let stores = STORES.map(Store::start);
    for store in &stores {
        eprintln!("gateway: filling {}", store.title());
        load::fill(store).await?;
    }
    let mut rows = Load::ALL.map(|load| Row::new(load, STORES));
    for round in 0..rounds {
        for row in &mut rows {
            let load = row.load;
            eprintln!("gateway: round {} of {rounds}, {}", round + 1, load.title());
            row.direct.push(direct::measure(&stores[0], load, seconds)?);
            // No store always comes first.
            for place in 0..stores.len() {
                let place = (place + round) % stores.len();
                let turn = load::measure(&stores[place], load, seconds).await?;
                row.through[place].turns.push(turn);
            }
        }
    }
    for store in &stores {
        load::check(store).await?;
    }
    Report::new(seconds, rows).publish(&json)
}
