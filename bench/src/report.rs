//! The table, and the same figures as a file.

use crate::client::CONNECTIONS;
use crate::contender::Contender;
use crate::load::Load;
use crate::options::Options;
use crate::relay::Cost;
use crate::stats::{Figures, Spread};
use crate::table;
use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;
use std::env;
use std::path::Path;
use std::thread;

/// What was measured of one contender under one load.
pub struct Row {
    /// The load.
    pub load: Load,
    /// The contender.
    pub who: Contender,
    /// What a request costs the store.
    pub cost: Cost,
    /// Turn by turn.
    pub rounds: Vec<Figures>,
}

/// A whole run.
#[derive(Serialize)]
pub struct Report {
    /// Of the wasm, `gzip -9`.
    gzipped_bytes: Option<u64>,
    /// Processor time that starting it takes, in milliseconds.
    startup_ms: Option<f64>,
    /// Of the machine.
    cores: Option<usize>,
    connections: usize,
    users: usize,
    seconds: f64,
    rows: Vec<Summary>,
}

#[derive(Serialize)]
struct Summary {
    load: &'static str,
    who: &'static str,
    #[serde(skip)]
    titles: [&'static str; 2],
    rate: Option<Spread>,
    p50_ms: Option<Spread>,
    p99_ms: Option<Spread>,
    cpu_us: Option<Spread>,
    answer_bytes: Option<Spread>,
    store: Cost,
    /// Our rate divided by theirs, round by round.
    ours_to_it: Option<Spread>,
    rounds: Vec<Figures>,
}

impl Row {
    /// Nothing measured yet.
    pub fn new(load: Load, who: Contender) -> Self {
        let (cost, rounds) = (Cost::default(), Vec::new());
        Self {
            load,
            who,
            cost,
            rounds,
        }
    }

    fn summary(&self, all: &[Self]) -> Summary {
        let each = |figure: fn(&Figures) -> f64| Spread::of(self.rounds.iter().map(figure));
        let ours = all
            .iter()
            .find(|row| row.load == self.load && row.who == Contender::Ours);
        let ours = ours.filter(|_| self.who != Contender::Ours).into_iter();
        let ratios = ours.flat_map(|ours| {
            let pairs = ours.rounds.iter().zip(&self.rounds);
            pairs.map(|(ours, theirs)| ours.rate / theirs.rate)
        });
        Summary {
            load: self.load.name(),
            who: self.who.name(),
            titles: [self.load.title(), self.who.title()],
            rate: each(|figures| figures.rate),
            p50_ms: each(|figures| figures.p50),
            p99_ms: each(|figures| figures.p99),
            cpu_us: Spread::of(self.rounds.iter().filter_map(|figures| figures.cpu)),
            answer_bytes: each(|figures| figures.answer),
            store: self.cost,
            ours_to_it: Spread::of(ratios),
            rounds: self.rounds.clone(),
        }
    }
}

impl Report {
    /// Of all rows.
    pub fn new(options: &Options, rows: &[Row]) -> Self {
        let given = |name| env::var(name).ok();
        Self {
            gzipped_bytes: given("GZIPPED_BYTES").and_then(|bytes| bytes.parse().ok()),
            startup_ms: given("STARTUP_MS").and_then(|millis| millis.parse().ok()),
            cores: thread::available_parallelism().ok().map(usize::from),
            connections: CONNECTIONS,
            users: options.users,
            seconds: options.seconds.as_secs_f64(),
            rows: rows.iter().map(|row| row.summary(rows)).collect(),
        }
    }

    /// Writes the figures to a file, and the table to stdout.
    pub fn publish(&self, path: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        std::fs::write(path, json + "\n").map_err(|error| error.to_string())?;
        println!("{}", self.table());
        println!(
            "Medians of the rounds; in brackets the least and the most. ours/it: how many times as fast ours is."
        );
        let known = |what: Option<String>| what.unwrap_or_else(|| "unknown".to_owned());
        println!(
            "Our wasm: {} bytes gzipped; start-up: {} ms of processor time.",
            known(self.gzipped_bytes.map(|bytes| bytes.to_string())),
            known(self.startup_ms.map(|millis| millis.to_string())),
        );
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = table::of([
            "load",
            "who",
            "requests/s",
            "ours/it",
            "p50 ms",
            "p99 ms",
            "CPU µs",
            "to store",
            "commands",
            "bytes out",
            "bytes in",
            "answer",
        ]);
        let mut last = "";
        for row in &self.rows {
            let [load, who] = row.titles;
            let first = if load == last { "" } else { load };
            last = load;
            let mut cells = vec![Cell::new(first), Cell::new(who)];
            let figures = [
                spread(row.rate, 0),
                spread(row.ours_to_it, 2),
                median(row.p50_ms, 2),
                median(row.p99_ms, 2),
                median(row.cpu_us, 0),
                format!("{:.1}", row.store.requests),
                format!("{:.1}", row.store.commands),
                format!("{:.0}", row.store.sent),
                format!("{:.0}", row.store.received),
                median(row.answer_bytes, 0),
            ];
            let right = |text| Cell::new(text).set_alignment(CellAlignment::Right);
            cells.extend(figures.map(right));
            table.add_row(cells);
        }
        table
    }
}

fn median(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(String::new, |spread| {
        format!("{:.decimals$}", spread.median)
    })
}

fn spread(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(
        String::new,
        |Spread {
             median,
             least,
             most,
         }| { format!("{median:.decimals$} ({least:.decimals$}–{most:.decimals$})") },
    )
}
