//! The gateway beside redis-benchmark, which speaks to the same Redis without it: how many
//! commands a second, one by one and in pipelines, over as many connections.

use crate::client::{CONNECTIONS, Connection};
use crate::meter::Meter;
use crate::options::number;
use crate::stand::Parts;
use crate::stats::Spread;
use crate::table;
use futures::future::try_join_all;
use std::process::Command;
use std::time::Instant;
use test_support::{TOKEN, json};

/// How many commands go together.
const DEPTHS: [usize; 3] = [1, 10, 100];
/// What redis-benchmark sends of each for every second of a turn: about as much as it can.
const COMMANDS: [f64; 3] = [50_000.0, 250_000.0, 500_000.0];
/// Keys are taken from so many.
const KEYS: u32 = 100_000;
const VALUE: &str = "0123456789";

/// One line of the table.
#[derive(Default)]
struct Row {
    title: String,
    direct: Vec<f64>,
    through: Vec<f64>,
    cpu: Vec<f64>,
}

/// `ROUNDS` turns (5) of `SECONDS` (2) each; the table goes to stdout.
pub async fn run() -> Result<(), String> {
    let rounds: usize = number("ROUNDS", 5)?;
    let seconds: f64 = number("SECONDS", 2.0)?;
    let parts = Parts::start();
    let mut rows = Vec::new();
    for round in 0..rounds {
        let mut number = 0;
        for write in [true, false] {
            for (depth, commands) in DEPTHS.into_iter().zip(COMMANDS) {
                let name = if write { "SET" } else { "GET" };
                eprintln!(
                    "gateway: round {} of {rounds}, {name}, {depth} at a time",
                    round + 1
                );
                if rows.len() == number {
                    let title = match depth {
                        1 => format!("{name}, one by one"),
                        _ => format!("{name}, pipelines of {depth}"),
                    };
                    rows.push(Row {
                        title,
                        ..Row::default()
                    });
                }
                let direct = direct(&parts, write, depth, commands * seconds)?;
                let (through, cpu) = through(&parts, write, depth, seconds).await?;
                rows[number].direct.push(direct);
                rows[number].through.push(through);
                rows[number].cpu.extend(cpu);
                number += 1;
            }
        }
    }
    let mut shown = table::of([
        "commands",
        "redis-benchmark/s",
        "gateway/s",
        "ratio",
        "gateway CPU µs a command",
    ]);
    for row in rows {
        let ratios = row
            .through
            .iter()
            .zip(&row.direct)
            .map(|(through, direct)| through / direct);
        let (direct, through) = (
            Spread::of(row.direct.iter().copied()),
            Spread::of(row.through.iter().copied()),
        );
        let figures = [
            (direct, 0),
            (through, 0),
            (Spread::of(ratios), 2),
            (Spread::of(row.cpu), 2),
        ];
        let figures = figures.map(|(figure, decimals)| {
            figure.map_or_else(String::new, |figure| {
                format!("{:.decimals$}", figure.median)
            })
        });
        table::add(&mut shown, std::iter::once(row.title).chain(figures));
    }
    println!("{shown}\nMedians of {rounds} rounds over {CONNECTIONS} connections.");
    Ok(())
}

/// Commands a second past the gateway.
fn direct(parts: &Parts, write: bool, depth: usize, commands: f64) -> Result<f64, String> {
    let url = parts.redis.url();
    let port = url.rsplit(':').next().unwrap_or_default();
    let mut command = Command::new("redis-benchmark");
    let (connections, depth) = (CONNECTIONS.to_string(), depth.to_string());
    let (commands, keys) = (format!("{commands:.0}"), KEYS.to_string());
    command.args([
        "-p",
        port,
        "-c",
        &connections,
        "-P",
        &depth,
        "-n",
        &commands,
        "-r",
        &keys,
        "--csv",
    ]);
    match write {
        true => command.args(["SET", "key:__rand_int__", VALUE]),
        false => command.args(["GET", "key:__rand_int__"]),
    };
    let output = command
        .output()
        .map_err(|error| format!("redis-benchmark: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = text.lines().last().and_then(|line| line.split(',').nth(1));
    figure
        .and_then(|figure| figure.trim_matches('"').parse().ok())
        .ok_or_else(|| {
            format!(
                "redis-benchmark: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
}

/// Commands a second through it, and the processor time that it takes for one, in microseconds.
async fn through(
    parts: &Parts,
    write: bool,
    depth: usize,
    seconds: f64,
) -> Result<(f64, Option<f64>), String> {
    let url = parts.gateway.url();
    let (meter, began) = (Meter::start(parts.gateway.pid()), Instant::now());
    let connections = (0..CONNECTIONS).map(async |number| {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let mut connection = Connection::open(&url).await?;
        let mut sent = 0_usize;
        while began.elapsed().as_secs_f64() < seconds {
            connection
                .exchange(&request(write, depth, &mut random))
                .await?;
            if connection
                .answer()
                .windows(7)
                .any(|seven| seven == b"\"error\"")
            {
                return Err(String::from_utf8_lossy(connection.answer()).into_owned());
            }
            sent += depth;
        }
        Ok::<_, String>(sent)
    });
    let sent: usize = try_join_all(connections).await?.into_iter().sum();
    let cpu = meter
        .elapsed()
        .map(|time| time.as_secs_f64() * 1e6 / sent as f64);
    Ok((sent as f64 / began.elapsed().as_secs_f64(), cpu))
}

fn request(write: bool, depth: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    let mut command = || {
        let key = format!("key:{:012}", random.u32(..KEYS));
        match write {
            true => json!(["SET", key, VALUE]),
            false => json!(["GET", key]),
        }
    };
    let (path, body) = match depth {
        1 => ("/", command()),
        _ => ("/pipeline", (0..depth).map(|_| command()).collect()),
    };
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: gateway.example\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
