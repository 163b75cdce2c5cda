//! How long a request takes by the size of the boards, and by the number of shards: one request
//! at a time, so that nothing waits for anything but itself. All sites are there at once, each with
//! a Worker of its own, and take turns.

mod board;
mod plot;

use crate::client::Connection;
use crate::options::number;
use crate::stand::Parts;
use crate::stats::Sample;
use crate::table;
use board::Site;
use comfy_table::Table;
use serde::Serialize;
use std::env;
use std::path::PathBuf;
use std::time::Instant;

/// How many requests of a kind a site gets in a turn.
const TURN: usize = 100;
/// How many members the site has whose users are split.
const SPLIT: usize = 1_000_000;

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// One activity of anybody.
    Write,
    /// 30 of the first few hundred: never the same page twice, so that no copy answers.
    Top,
    /// 30 as far down as pages go: behind 100,000 members, or at the end.
    Deep,
    /// Where anybody stands, with two neighbours on either side.
    Standing,
}

impl Question {
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

/// What a site took.
#[derive(Serialize)]
struct Row {
    members: usize,
    shards: u32,
    /// Milliseconds within which half of the answers came, and 99 of 100, of each question.
    p50: [f64; 4],
    p99: [f64; 4],
}

/// `MOST` members on the largest board (10,000,000), `ROUNDS` turns (5); the figures go to `JSON`
/// (target/growth.json), the plot to `PLOT` (target/growth.svg).
pub async fn run() -> Result<(), String> {
    let most: usize = number("MOST", 10_000_000)?;
    let rounds: usize = number("ROUNDS", 5)?;
    let file = |name: &str, default: &str| {
        env::var_os(name).map_or_else(|| test_support::root().join(default), PathBuf::from)
    };
    let (json, svg) = (
        file("JSON", "target/growth.json"),
        file("PLOT", "target/growth.svg"),
    );

    let parts = Parts::start();
    let sizes = (3..).map(|power| 10_usize.pow(power));
    let mut plans: Vec<(usize, u32)> = sizes
        .take_while(|size| *size <= most)
        .map(|size| (size, 1))
        .collect();
    plans.extend([2, 4, 8].map(|shards| (SPLIT.min(most), shards)));
    let mut sites = Vec::new();
    for (members, shards) in plans {
        eprintln!("growth: five boards of {members} members, {shards} shard(s)");
        sites.push(Site::fill(&parts, members, shards).await?);
    }
    let mut samples: Vec<[Sample; 4]> = sites.iter().map(|_| Default::default()).collect();
    for round in 0..=rounds {
        eprintln!(
            "growth: round {round} of {rounds}{}",
            if round == 0 { ", to warm up" } else { "" }
        );
        for (site, samples) in sites.iter_mut().zip(&mut samples) {
            for (question, sample) in Question::ALL.into_iter().zip(samples) {
                let taken = ask(site, question).await?;
                if round > 0 {
                    sample.join(taken);
                }
            }
        }
    }
    let rows: Vec<Row> = sites
        .iter()
        .zip(samples)
        .map(|(site, samples)| {
            let figures = samples.map(|sample| sample.figures([None; 3]));
            Row {
                members: site.members,
                shards: site.shards,
                p50: figures.map(|figures| figures.p50),
                p99: figures.map(|figures| figures.p99),
            }
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
    std::fs::write(json, text + "\n").map_err(|error| error.to_string())?;
    plot::draw(&rows, &svg).map_err(|error| format!("{}: {error}", svg.display()))?;
    println!("{}", shown(&rows));
    println!(
        "Milliseconds, one request at a time: half of the answers came within the first figure, 99 of 100 within the second."
    );
    Ok(())
}

/// One turn of a question.
async fn ask(site: &mut Site, question: Question) -> Result<Sample, String> {
    let mut connection = Connection::open(site.worker.url()).await?;
    let (mut sample, mut bytes) = (Sample::default(), Vec::new());
    for _ in 0..TURN {
        site.request(question, &mut bytes);
        let sent = Instant::now();
        let length = connection.exchange(&bytes).await?;
        sample.add(sent.elapsed(), length);
    }
    Ok(sample)
}

fn shown(rows: &[Row]) -> Table {
    let titles = Question::ALL.map(Question::title);
    let mut table = table::of(["members", "shards"].into_iter().chain(titles));
    for row in rows {
        let both = row.p50.iter().zip(row.p99);
        let times = both.map(|(p50, p99)| format!("{p50:.2} / {p99:.2}"));
        let about = [row.members.to_string(), row.shards.to_string()];
        table::add(&mut table, about.into_iter().chain(times));
    }
    table
}
