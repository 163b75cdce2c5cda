//! Benchmarks the gateway against redis-benchmark, which uses the same Redis directly, and with a Redis
//! Cluster instead of one Redis: commands per second, single and in pipelines, over the same number of
//! connections, and the gateway's processor time per command.
//!
//! ```text
//! stores (one Redis; clusters of 1, 2, 3 primaries; a gateway for each), filled ─► rounds ─► report
//! ```
//!
//! All nodes run on one machine, so more primaries cannot be faster: they show the cost of routing.

mod load;
mod report;

use crate::options::{file, number};
use load::Load;
use report::{Report, Row};
use test_support::{Gateway, RedisOptions, RedisServer};

/// The number of primaries of each store; `None` is a single Redis without cluster mode.
const STORES: [Option<usize>; 4] = [None, Some(1), Some(2), Some(3)];

/// Runs `ROUNDS` (5) rounds of `SECONDS` (1) each. Writes the tables to stdout and the figures to
/// `JSON` (target/gateway.json). With the defaults it takes three minutes.
pub async fn run() -> Result<(), String> {
    let rounds: usize = number("ROUNDS", 5)?;
    let seconds: f64 = number("SECONDS", 1.0)?;
    let json = file("JSON", "target/gateway.json");
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
            row.direct
                .push(load::measure_direct(&stores[0], load, seconds)?);
            // A different store starts each round.
            for index in 0..stores.len() {
                let index = (index + round) % stores.len();
                let turn = load::measure(&stores[index], load, seconds).await?;
                row.stores[index].turns.push(turn);
            }
        }
    }
    for store in &stores {
        load::check(store).await?;
    }
    Report::new(seconds, rows).publish(&json)
}

/// One Redis or a cluster, with its own gateway.
struct Store {
    /// The number of primaries of a cluster.
    primaries: Option<usize>,
    redis: RedisServer,
    gateway: Gateway,
}

impl Store {
    fn start(primaries: Option<usize>) -> Self {
        let redis = match primaries {
            None => RedisServer::spawn(RedisOptions::default()),
            Some(primaries) => RedisServer::spawn_cluster(primaries),
        };
        let gateway = Gateway::spawn(&redis.url());
        Self {
            primaries,
            redis,
            gateway,
        }
    }

    fn title(&self) -> String {
        store_title(self.primaries)
    }
}

fn store_title(primaries: Option<usize>) -> String {
    match primaries {
        None => "one Redis".to_owned(),
        Some(1) => "cluster, 1 primary".to_owned(),
        Some(primaries) => format!("cluster, {primaries} primaries"),
    }
}
