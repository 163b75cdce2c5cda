//! Benchmarks the Worker against JavaScript implementations, each in its own workerd, with one gateway
//! and one redis-server. The README explains how to run it and what it compares.
//!
//! ```text
//! options ─► contenders (started and filled) ─► rounds of client::drive() ─► boards ─► report
//! ```

mod boards;
mod client;
mod contender;
mod cost;
mod gateway;
mod growth;
mod isolate;
mod load;
mod memory;
mod moderation;
mod options;
mod relay;
mod replay;
mod report;
mod stack;
mod stats;
mod templates;

use contender::RunningContender;
use load::{Load, Requests};
use options::Options;
use report::{Report, Row};
use stack::Stack;
use stats::CpuMeter;
use std::process::ExitCode;
use std::time::Duration;

/// The time a contender runs under a load before it is measured.
const WARM_UP: Duration = Duration::from_millis(250);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let result = match command.as_str() {
        "" => run().await,
        "cost" => cost::run().await,
        "gateway" => gateway::run().await,
        "growth" => growth::run().await,
        "isolate" => isolate::run().await,
        "routes" => cost::routes::run().await,
        "memory" => memory::run().map_err(|error| error.to_string()),
        "moderation" => moderation::run().await,
        "replay" => replay::run().await,
        _ => Err(format!(
            "unknown command {command}: use cost, gateway, growth, isolate, memory, moderation, replay, routes, or none for all contenders"
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: this run is invalid: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let options = Options::read()?;
    contender::bundle_all()?;
    let stack = Stack::start();
    let templates = templates::capture(&stack).await?;
    let mut running = Vec::new();
    for contender in options.contenders.iter().copied() {
        eprintln!("bench: filling {}", contender.title());
        let started = RunningContender::start(contender, &stack, &templates, options.users).await?;
        boards::check(&started).await?;
        running.push(started);
    }
    boards::compare_responses(&running, &stack, &templates).await?;

    let mut rows = rows(&options);
    for running in &running {
        let contender = running.contender;
        for row in rows.iter_mut().filter(|row| row.contender == contender) {
            row.cost = relay::cost(running, row.load, &stack).await?;
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
            // A different contender starts each round.
            let first = round % running.len();
            for running in running[first..].iter().chain(&running[..first]) {
                let row = rows
                    .iter_mut()
                    .find(|row| row.load == load && row.contender == running.contender);
                if let Some(row) = row {
                    row.rounds
                        .push(measure(&stack, running, load, options.seconds).await?);
                }
            }
        }
    }
    for running in &running {
        boards::check(running).await?;
    }
    Report::new(&options, &rows).publish(&options.json)
}

/// Returns an empty row for each load and contender that supports it.
fn rows(options: &Options) -> Vec<Row> {
    let loads = options.loads.iter().copied();
    let rows = loads.flat_map(|load| {
        let contenders = options.contenders.iter().copied();
        contenders
            .filter(move |contender| contender.supports(load))
            .map(move |contender| Row::new(load, contender))
    });
    rows.collect()
}

/// Measures one contender under one load for one round.
async fn measure(
    stack: &Stack,
    running: &RunningContender,
    load: Load,
    time: Duration,
) -> Result<stats::Figures, String> {
    let worker = running.worker(load);
    let context = |error: String| {
        format!(
            "{} under {}: {error}",
            running.contender.title(),
            load.name()
        )
    };
    let mut requests = Requests::new(load, &running.activity_log);
    let warmed_up = client::drive(worker.url(), &mut requests, WARM_UP).await;
    warmed_up.map_err(context)?;
    let processes = [worker.pid(), stack.gateway.pid(), stack.redis.pid()];
    let meters = processes.map(CpuMeter::start);
    let sample = client::drive(worker.url(), &mut requests, time).await;
    let figures = sample
        .map_err(context)?
        .figures(meters.map(|meter| meter.elapsed()));
    if load.writes() {
        boards::check(running).await?;
    }
    Ok(figures)
}
