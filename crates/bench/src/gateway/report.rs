//! The report: tables on stdout, and the same figures as a JSON file.

use super::load::{KEYS, Load, Turn};
use super::store_title;
use crate::load::CONNECTIONS;
use crate::report::{add_row, median, table, write_json};
use crate::stats::Spread;
use comfy_table::Table;
use serde::Serialize;
use std::path::Path;
use std::thread;

/// The measurements of one load.
pub struct Row {
    /// The load.
    pub load: Load,
    /// Commands per second of redis-benchmark in each round.
    pub direct: Vec<f64>,
    /// The measurements through the gateway: one Redis, then each cluster.
    pub stores: Vec<StoreTurns>,
}

/// The measurements with one store.
pub struct StoreTurns {
    primaries: Option<usize>,
    /// The figures of each round.
    pub turns: Vec<Turn>,
}

/// The report of a run.
#[derive(Serialize)]
pub struct Report {
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
    /// The gateway's rate with one Redis divided by that of redis-benchmark.
    rate_to_redis_benchmark: Option<Spread>,
    stores: Vec<Figures>,
}

#[derive(Serialize)]
struct Figures {
    /// `None` for a single Redis.
    primaries: Option<usize>,
    rate: Option<Spread>,
    cpu_us: Option<Spread>,
    /// The figures divided by one Redis's figures, by round.
    rate_to_one: Option<Spread>,
    cpu_to_one: Option<Spread>,
    turns: Vec<Turn>,
}

impl Row {
    /// Creates an empty row.
    pub fn new(load: Load, stores: impl IntoIterator<Item = Option<usize>>) -> Self {
        let stores = stores.into_iter().map(|primaries| StoreTurns {
            primaries,
            turns: Vec::new(),
        });
        Self {
            load,
            direct: Vec::new(),
            stores: stores.collect(),
        }
    }

    fn summary(self) -> Summary {
        let first_turns = self.stores.first().map(|store| store.turns.clone());
        let first_turns = first_turns.unwrap_or_default();
        let to_direct = first_turns.iter().zip(&self.direct);
        Summary {
            command: self.load.command(),
            depth: self.load.depth,
            title: self.load.title(),
            rate_to_redis_benchmark: Spread::of(to_direct.map(|(turn, direct)| turn.rate / direct)),
            redis_benchmark_rate: Spread::of(self.direct),
            stores: self
                .stores
                .into_iter()
                .map(|store| store.figures(&first_turns))
                .collect(),
        }
    }
}

impl StoreTurns {
    fn figures(self, first_turns: &[Turn]) -> Figures {
        let turns = || self.turns.iter();
        let pairs = || turns().zip(first_turns);
        let cpu_to_one = pairs().filter_map(|(turn, first)| Some(turn.cpu_us? / first.cpu_us?));
        Figures {
            primaries: self.primaries,
            rate: Spread::of(turns().map(|turn| turn.rate)),
            cpu_us: Spread::of(turns().filter_map(|turn| turn.cpu_us)),
            rate_to_one: Spread::of(pairs().map(|(turn, first)| turn.rate / first.rate)),
            // The processor time of a very short round may be zero.
            cpu_to_one: Spread::of(cpu_to_one.filter(|ratio| ratio.is_finite())),
            turns: self.turns,
        }
    }
}

impl Report {
    /// Summarises the rows.
    pub fn new(seconds: f64, rows: impl IntoIterator<Item = Row>) -> Self {
        Self {
            cores: thread::available_parallelism().ok().map(usize::from),
            connections: CONNECTIONS,
            keys: KEYS,
            seconds,
            rows: rows.into_iter().map(Row::summary).collect(),
        }
    }

    /// Writes the figures to a file and the tables to stdout.
    pub fn publish(&self, path: &Path) -> Result<(), String> {
        write_json(path, self)?;
        println!("{}\n\n{}", self.direct_table(), self.store_table());
        println!(
            "Medians of the rounds over {CONNECTIONS} connections. to one: divided by the figure with one Redis."
        );
        Ok(())
    }

    /// Renders the gateway with one Redis, compared with redis-benchmark.
    fn direct_table(&self) -> Table {
        let mut table = table([
            "commands",
            "redis-benchmark/s",
            "gateway/s",
            "ratio",
            "gateway CPU µs a command",
        ]);
        for row in &self.rows {
            let first = row.stores.first();
            let figures = [
                median(row.redis_benchmark_rate, 0),
                median(first.and_then(|first| first.rate), 0),
                median(row.rate_to_redis_benchmark, 2),
                median(first.and_then(|first| first.cpu_us), 2),
            ];
            add_row(
                &mut table,
                std::iter::once(row.title.clone()).chain(figures),
            );
        }
        table
    }

    /// Renders the gateway with one Redis and with clusters.
    fn store_table(&self) -> Table {
        let mut table = table([
            "commands",
            "store",
            "gateway/s",
            "to one",
            "gateway CPU µs a command",
            "to one",
        ]);
        for row in &self.rows {
            for (index, store) in row.stores.iter().enumerate() {
                let title = match index {
                    0 => row.title.clone(),
                    _ => String::new(),
                };
                let cells = [
                    title,
                    store_title(store.primaries),
                    median(store.rate, 0),
                    median(store.rate_to_one, 2),
                    median(store.cpu_us, 2),
                    median(store.cpu_to_one, 2),
                ];
                add_row(&mut table, cells);
            }
        }
        table
    }
}
