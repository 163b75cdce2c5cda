//! The report: tables on stdout, and the same figures as a JSON file.

use crate::contender::Contender;
use crate::load::Load;
use crate::options::Options;
use crate::relay::Cost;
use crate::stats::{Figures, Spread};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;
use std::env;
use std::path::Path;
use std::thread;

/// The measurements of one contender under one load.
pub struct Row {
    /// The load.
    pub load: Load,
    /// The contender.
    pub contender: Contender,
    /// The store requests and commands of a request.
    pub cost: Cost,
    /// The figures of each round.
    pub rounds: Vec<Figures>,
}

/// The report of a run.
#[derive(Serialize)]
pub struct Report {
    /// The size of the wasm after `gzip -9`.
    gzipped_bytes: Option<u64>,
    /// The processor time of a start of the Worker, in milliseconds.
    startup_ms: Option<f64>,
    cores: Option<usize>,
    users: usize,
    seconds: f64,
    rows: Vec<Summary>,
}

#[derive(Serialize)]
struct Summary {
    load: &'static str,
    connections: usize,
    #[serde(rename = "who")]
    contender: &'static str,
    #[serde(skip)]
    titles: [&'static str; 2],
    rate: Option<Spread>,
    p50_ms: Option<Spread>,
    p99_ms: Option<Spread>,
    cpu_us: Option<Spread>,
    #[serde(rename = "answer_bytes")]
    response_bytes: Option<Spread>,
    store: Cost,
    /// Our rate divided by the contender's, by round.
    ours_to_it: Option<Spread>,
    rounds: Vec<Figures>,
}

impl Row {
    /// Creates an empty row.
    pub fn new(load: Load, contender: Contender) -> Self {
        let (cost, rounds) = (Cost::default(), Vec::new());
        Self {
            load,
            contender,
            cost,
            rounds,
        }
    }

    fn summary(&self, all: &[Self]) -> Summary {
        let spread = |figure: fn(&Figures) -> f64| Spread::of(self.rounds.iter().map(figure));
        let ours = all
            .iter()
            .find(|row| row.load == self.load && row.contender == Contender::Ours);
        let ours = ours
            .filter(|_| self.contender != Contender::Ours)
            .into_iter();
        let ratios = ours.flat_map(|ours| {
            let pairs = ours.rounds.iter().zip(&self.rounds);
            pairs.map(|(ours, theirs)| ours.rate / theirs.rate)
        });
        Summary {
            load: self.load.name(),
            connections: self.load.connections(),
            contender: self.contender.name(),
            titles: [self.load.title(), self.contender.title()],
            rate: spread(|figures| figures.rate),
            p50_ms: spread(|figures| figures.p50),
            p99_ms: spread(|figures| figures.p99),
            cpu_us: Spread::of(self.rounds.iter().filter_map(|figures| figures.cpu)),
            response_bytes: spread(|figures| figures.response_bytes),
            store: self.cost,
            ours_to_it: Spread::of(ratios),
            rounds: self.rounds.clone(),
        }
    }
}

impl Report {
    /// Summarises the rows.
    pub fn new(options: &Options, rows: &[Row]) -> Self {
        let variable = |name| env::var(name).ok();
        Self {
            gzipped_bytes: variable("GZIPPED_BYTES").and_then(|bytes| bytes.parse().ok()),
            startup_ms: variable("STARTUP_MS").and_then(|millis| millis.parse().ok()),
            cores: thread::available_parallelism().ok().map(usize::from),
            users: options.users,
            seconds: options.seconds.as_secs_f64(),
            rows: rows.iter().map(|row| row.summary(rows)).collect(),
        }
    }

    /// Writes the figures to a file and the table to stdout.
    pub fn publish(&self, path: &Path) -> Result<(), String> {
        write_json(path, self)?;
        println!("{}", self.table());
        println!(
            "Medians of the rounds, with minimum and maximum in parentheses. ours/it: our rate divided by the contender's."
        );
        let text = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        println!(
            "Our wasm: {} bytes gzipped; start-up: {} ms of processor time.",
            text(self.gzipped_bytes.map(|bytes| bytes.to_string())),
            text(self.startup_ms.map(|millis| millis.to_string())),
        );
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = table([
            "load",
            "who",
            "requests/s",
            "ours/it",
            "p50 ms",
            "p99 ms",
            "CPU µs",
            "to store",
            "commands",
            "script µs",
            "bytes out",
            "bytes in",
            "answer",
        ]);
        let mut last = "";
        for row in &self.rows {
            let [load, contender] = row.titles;
            let first = if load == last { "" } else { load };
            last = load;
            let mut cells = vec![Cell::new(first), Cell::new(contender)];
            let figures = [
                range(row.rate, 0),
                range(row.ours_to_it, 2),
                median(row.p50_ms, 2),
                median(row.p99_ms, 2),
                median(row.cpu_us, 0),
                format!("{:.1}", row.store.requests),
                format!("{:.1}", row.store.commands),
                format!("{:.0}", row.store.script_us),
                format!("{:.0}", row.store.sent),
                format!("{:.0}", row.store.received),
                median(row.response_bytes, 0),
            ];
            cells.extend(figures.map(right_aligned));
            table.add_row(cells);
        }
        table
    }
}

/// Renders the median.
pub fn median(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(String::new, |spread| {
        format!("{:.decimals$}", spread.median)
    })
}

/// Renders the median with minimum and maximum.
fn range(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(String::new, |Spread { median, min, max }| {
        format!("{median:.decimals$} ({min:.decimals$}–{max:.decimals$})")
    })
}

/// Creates an empty table.
pub fn table<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(headings);
    table
}

/// Adds a row of right-aligned cells.
pub fn add_row(table: &mut Table, cells: impl IntoIterator<Item = String>) {
    table.add_row(cells.into_iter().map(right_aligned));
}

fn right_aligned(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Writes figures to a file as JSON.
pub fn write_json(path: &Path, figures: &impl Serialize) -> Result<(), String> {
    let json = serde_json::to_string_pretty(figures).map_err(|error| error.to_string())?;
    std::fs::write(path, json + "\n").map_err(|error| format!("{}: {error}", path.display()))
}
