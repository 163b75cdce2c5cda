//! Measures the Worker beside the same in JavaScript, each in a workerd of its own, before one
//! gateway and one redis-server. How to run it and what it compares is in the README.
//!
//! ```text
//! options ─► stand (each contender, started and filled) ─► rounds of drive() ─► boards ─► report
//! ```

mod boards;
mod bundles;
mod client;
mod contender;
mod gateway;
mod growth;
mod ledger;
mod load;
mod memory;
mod meter;
mod options;
mod relay;
mod report;
mod stand;
mod stats;
mod table;
mod templates;

use contender::Contender;
use load::{Load, Requests};
use meter::Meter;
use options::Options;
use report::{Report, Row};
use stand::{Parts, Stand};
use std::process::ExitCode;
use std::time::Duration;

/// How long a contender gets used to a load before it is measured.
const WARM_UP: Duration = Duration::from_millis(250);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let done = match what.as_str() {
        "" => run().await,
        "gateway" => gateway::run().await,
        "growth" => growth::run().await,
        "memory" => memory::run(),
        _ => Err(format!(
            "{what}: there are gateway, growth and memory, and without a word all contenders"
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench: this run is void: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let options = Options::read()?;
    bundles::make()?;
    let parts = Parts::start();
    let templates = templates::capture(&parts).await?;
    let mut stands = Vec::new();
    for who in options.contenders.iter().copied() {
        eprintln!("bench: filling {}", who.title());
        stands.push(Stand::start(who, &parts, &templates, options.users).await?);
    }
    boards::same_answers(&stands, &parts, &templates).await?;

    let mut rows = Vec::new();
    for (load, who) in pairs(&options) {
        rows.push(Row::new(load, who));
    }
    for stand in &stands {
        for row in rows.iter_mut().filter(|row| row.who == stand.who) {
            row.cost = relay::cost(stand, row.load, &parts).await?;
        }
    }
    for round in 0..options.rounds {
        for load in options.loads.iter().copied() {
            eprintln!(
                "bench: round {} of {}, {}",
                round + 1,
                options.rounds,
                load.name()
            );
            // Nobody always comes first.
            let turn = round % stands.len();
            for stand in stands[turn..].iter().chain(&stands[..turn]) {
                let row = rows
                    .iter_mut()
                    .find(|row| row.load == load && row.who == stand.who);
                if let Some(row) = row {
                    row.rounds
                        .push(measure(&parts, stand, load, options.seconds).await?);
                }
            }
        }
    }
    for stand in &stands {
        boards::check(stand).await?;
    }
    Report::new(&options, &rows).publish(&options.json)
}

/// What is measured: a load may mean nothing to a contender.
fn pairs(options: &Options) -> impl Iterator<Item = (Load, Contender)> {
    let loads = options.loads.iter().copied();
    loads.flat_map(|load| {
        let who = options.contenders.iter().copied();
        who.filter(move |who| who.takes(load))
            .map(move |who| (load, who))
    })
}

/// One contender under one load for a while.
async fn measure(
    parts: &Parts,
    stand: &Stand,
    load: Load,
    time: Duration,
) -> Result<stats::Figures, String> {
    let worker = stand.worker(load);
    let what = |why: String| format!("{} under {}: {why}", stand.who.title(), load.name());
    let mut requests = Requests::new(load, &stand.ledger);
    client::drive(worker.url(), &mut requests, WARM_UP)
        .await
        .map_err(what)?;
    let processes = [worker.pid(), parts.gateway.pid(), parts.redis.pid()];
    let meters = processes.map(Meter::start);
    let sample = client::drive(worker.url(), &mut requests, time)
        .await
        .map_err(what)?;
    let figures = sample.figures(meters.map(|meter| meter.elapsed()));
    if load.writes() {
        boards::check(stand).await?;
    }
    Ok(figures)
}
