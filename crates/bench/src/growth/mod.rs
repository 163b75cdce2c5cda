//! Measures response times by the size of boards and by the number of shards. Requests are sequential,
//! so that they never wait for each other. All deployments run at the same time, each with its own
//! Worker, and take turns.

mod deployment;

use crate::client::Connection;
use crate::options::{file, number};
use crate::report::{add_row, table, write_json};
use crate::stack::Stack;
use crate::stats::Sample;
use comfy_table::Table;
use deployment::Deployment;
use plotters::prelude::*;
use serde::Serialize;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// The number of requests of a kind per round.
const REQUESTS_PER_ROUND: usize = 100;
/// The number of users of deployments with several shards.
const SHARDED_USERS: usize = 1_000_000;

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// One activity of a random user.
    Write,
    /// A page of 30 near the top, always another one, so that no cache serves it.
    Top,
    /// A page of 30 as deep as pages go: at offset 100,000, or at the end.
    Deep,
    /// The standing of a random user, with two neighbours on either side.
    Standing,
}

impl RequestKind {
    const ALL: [Self; 4] = [Self::Write, Self::Top, Self::Deep, Self::Standing];

    fn title(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Top => "top 30",
            Self::Deep => "deep page",
            Self::Standing => "standing",
        }
    }
}

/// The figures of one deployment.
#[derive(Serialize)]
struct Row {
    #[serde(rename = "members")]
    users: usize,
    shards: u32,
    /// The median response time in milliseconds of each kind of request.
    p50: [f64; 4],
    /// The 99th percentile.
    p99: [f64; 4],
}

/// Measures boards of up to `MOST` (10,000,000) users in `ROUNDS` (5) rounds. Writes the figures to
/// `JSON` (target/growth.json) and a plot to `PLOT` (target/growth.svg).
pub async fn run() -> Result<(), String> {
    let max_users: usize = number("MOST", 10_000_000)?;
    let rounds: usize = number("ROUNDS", 5)?;
    let json = file("JSON", "target/growth.json");
    let svg = file("PLOT", "target/growth.svg");

    let stack = Stack::start();
    let sizes = (3..).map(|power| 10_usize.pow(power));
    let mut plans: Vec<(usize, u32)> = sizes
        .take_while(|size| *size <= max_users)
        .map(|size| (size, 1))
        .collect();
    plans.extend([2, 4, 8].map(|shards| (SHARDED_USERS.min(max_users), shards)));
    let mut deployments = Vec::new();
    for (users, shards) in plans {
        eprintln!("growth: filling five boards of {users} users, {shards} shard(s)");
        deployments.push(Deployment::start(&stack, users, shards).await?);
    }
    let mut samples: Vec<[Sample; 4]> = deployments.iter().map(|_| Default::default()).collect();
    for round in 0..=rounds {
        eprintln!(
            "growth: round {round} of {rounds}{}",
            if round == 0 { " (warm-up)" } else { "" }
        );
        for (deployment, samples) in deployments.iter_mut().zip(&mut samples) {
            for (kind, sample) in RequestKind::ALL.into_iter().zip(samples) {
                let measured = measure(deployment, kind).await?;
                if round > 0 {
                    sample.merge(measured);
                }
            }
        }
    }
    let rows: Vec<Row> = deployments
        .iter()
        .zip(samples)
        .map(|(deployment, samples)| {
            let figures = samples.map(|sample| sample.figures([None; 3]));
            Row {
                users: deployment.users,
                shards: deployment.shards,
                p50: figures.map(|figures| figures.p50),
                p99: figures.map(|figures| figures.p99),
            }
        })
        .collect();
    write_json(&json, &rows)?;
    draw_plot(&rows, &svg).map_err(|error| format!("{}: {error}", svg.display()))?;
    println!("{}", results_table(&rows));
    println!("Response times of sequential requests in milliseconds: median / 99th percentile.");
    Ok(())
}

/// Measures one kind of request for one round.
async fn measure(deployment: &mut Deployment, kind: RequestKind) -> Result<Sample, String> {
    let mut connection = Connection::open(deployment.worker.url()).await?;
    let (mut sample, mut bytes) = (Sample::default(), Vec::new());
    for _ in 0..REQUESTS_PER_ROUND {
        deployment.request(kind, &mut bytes);
        let sent = Instant::now();
        let length = connection.exchange(&bytes).await?;
        sample.add(sent.elapsed(), length);
    }
    Ok(sample)
}

fn results_table(rows: &[Row]) -> Table {
    let titles = RequestKind::ALL.map(RequestKind::title);
    let mut table = table(["members", "shards"].into_iter().chain(titles));
    for row in rows {
        let quantiles = row.p50.iter().zip(row.p99);
        let times = quantiles.map(|(p50, p99)| format!("{p50:.2} / {p99:.2}"));
        let labels = [row.users.to_string(), row.shards.to_string()];
        add_row(&mut table, labels.into_iter().chain(times));
    }
    table
}

const PLOT_SIZE: (u32, u32) = (720, 400);

/// Draws medians by the size of boards on one shard.
fn draw_plot(rows: &[Row], path: &Path) -> Result<(), Box<dyn Error>> {
    let unsharded: Vec<&Row> = rows.iter().filter(|row| row.shards == 1).collect();
    let max = unsharded.iter().flat_map(|row| row.p50).fold(0.0, f64::max);
    let last = unsharded.last().map_or(1e4, |row| row.users as f64);
    let area = SVGBackend::new(path, PLOT_SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Median response time", ("sans-serif", 16))
        .margin(12)
        .margin_right(40)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d((1e3..last).log_scale(), 0.0..max * 1.3)?;
    chart
        .configure_mesh()
        .x_desc("users of each board")
        .y_desc("milliseconds")
        .x_label_formatter(&|users| format!("{users:.0}"))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (number, kind) in RequestKind::ALL.into_iter().enumerate() {
        let colour = Palette99::pick(number).stroke_width(2);
        let points = unsharded
            .iter()
            .map(|row| (row.users as f64, row.p50[number]));
        chart
            .draw_series(LineSeries::new(points, colour).point_size(3))?
            .label(kind.title())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    Ok(())
}
