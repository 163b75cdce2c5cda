//! The tables, and the same figures as a file.

use super::load::{KEYS, Load, Turn};
use super::store;
use crate::client::CONNECTIONS;
use crate::stats::Spread;
use crate::table;
use comfy_table::Table;
use serde::Serialize;
use std::path::Path;
use std::thread;

/// What was measured of one load.
pub struct Row {
    /// The load.
    pub load: Load,
    /// Commands a second of redis-benchmark, turn by turn.
    pub direct: Vec<f64>,
    /// Through the gateway: before one Redis, then before each cluster.
    pub through: Vec<Through>,
}

/// Before one store.
pub struct Through {
    primaries: Option<usize>,
    /// Turn by turn.
    pub turns: Vec<Turn>,
}

/// A whole run.
#[derive(Serialize)]
pub struct Report {
    /// Of the machine.
    cores: Option<usize>,
    connections: usize,
    keys: u32,
    seconds: f64,
    rows: Vec<Summary>,
}

#[derive(Serialize)]
struct Summary {
    command: &'static str,
    depth: usize,
    #[serde(skip)]
    title: String,
    redis_benchmark_rate: Option<Spread>,
    /// Of the gateway before one Redis, beside redis-benchmark.
    rate_to_redis_benchmark: Option<Spread>,
    stores: Vec<Figures>,
}

#[derive(Serialize)]
struct Figures {
    /// Nothing where it is no cluster.
    primaries: Option<usize>,
    rate: Option<Spread>,
    cpu_us: Option<Spread>,
    /// Beside the gateway before one Redis, round by round.
    rate_to_one: Option<Spread>,
    cpu_to_one: Option<Spread>,
    turns: Vec<Turn>,
}

impl Row {
    /// Nothing measured yet.
    pub fn new(load: Load, stores: impl IntoIterator<Item = Option<usize>>) -> Self {
        let through = stores.into_iter().map(|primaries| Through {
            primaries,
            turns: Vec::new(),
        });
        Self {
            load,
            direct: Vec::new(),
            through: through.collect(),
        }
    }

    fn summary(self) -> Summary {
        let one = self.through.first().map(|one| one.turns.clone());
        let one = one.unwrap_or_default();
        let to_direct = one.iter().zip(&self.direct);
        Summary {
            command: self.load.command(),
            depth: self.load.depth,
            title: self.load.title(),
            rate_to_redis_benchmark: Spread::of(to_direct.map(|(turn, direct)| turn.rate / direct)),
            redis_benchmark_rate: Spread::of(self.direct),
            stores: self
                .through
                .into_iter()
                .map(|through| through.figures(&one))
                .collect(),
        }
    }
}

impl Through {
    fn figures(self, one: &[Turn]) -> Figures {
        let turns = || self.turns.iter();
        let pairs = || turns().zip(one);
        let cpu_to_one = pairs().filter_map(|(turn, one)| Some(turn.cpu_us? / one.cpu_us?));
        Figures {
            primaries: self.primaries,
            rate: Spread::of(turns().map(|turn| turn.rate)),
            cpu_us: Spread::of(turns().filter_map(|turn| turn.cpu_us)),
            rate_to_one: Spread::of(pairs().map(|(turn, one)| turn.rate / one.rate)),
            // A turn too short to be measured divides by nothing.
            cpu_to_one: Spread::of(cpu_to_one.filter(|ratio| ratio.is_finite())),
            turns: self.turns,
        }
    }
}

impl Report {
    /// Of all rows.
    pub fn new(seconds: f64, rows: impl IntoIterator<Item = Row>) -> Self {
        Self {
            cores: thread::available_parallelism().ok().map(usize::from),
            connections: CONNECTIONS,
            keys: KEYS,
            seconds,
            rows: rows.into_iter().map(Row::summary).collect(),
        }
    }

    /// Writes the figures to a file, and the tables to stdout.
    pub fn publish(&self, path: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        std::fs::write(path, json + "\n").map_err(|error| error.to_string())?;
        println!("{}\n\n{}", self.direct(), self.clusters());
        println!(
            "Medians of the rounds over {CONNECTIONS} connections. to one: divided by that of the gateway before one Redis."
        );
        Ok(())
    }

    /// The gateway before one Redis, and nothing before it.
    fn direct(&self) -> Table {
        let mut table = table::of([
            "commands",
            "redis-benchmark/s",
            "gateway/s",
            "ratio",
            "gateway CPU µs a command",
        ]);
        for row in &self.rows {
            let one = row.stores.first();
            let figures = [
                median(row.redis_benchmark_rate, 0),
                median(one.and_then(|one| one.rate), 0),
                median(row.rate_to_redis_benchmark, 2),
                median(one.and_then(|one| one.cpu_us), 2),
            ];
            table::add(
                &mut table,
                std::iter::once(row.title.clone()).chain(figures),
            );
        }
        table
    }

    /// The gateway before one Redis, and before clusters.
    fn clusters(&self) -> Table {
        let mut table = table::of([
            "commands",
            "store",
            "gateway/s",
            "to one",
            "gateway CPU µs a command",
            "to one",
        ]);
        for row in &self.rows {
            for (place, store) in row.stores.iter().enumerate() {
                let title = match place {
                    0 => row.title.clone(),
                    _ => String::new(),
                };
                let cells = [
                    title,
                    store::title(store.primaries),
                    median(store.rate, 0),
                    median(store.rate_to_one, 2),
                    median(store.cpu_us, 2),
                    median(store.cpu_to_one, 2),
                ];
                table::add(&mut table, cells);
            }
        }
        table
    }
}

fn median(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(String::new, |spread| {
        format!("{:.decimals$}", spread.median)
    })
}
