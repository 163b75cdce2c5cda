//! Loads of the gateway and their measurement, also with redis-benchmark.

use super::Store;
use crate::client::Connection;
use crate::load::CONNECTIONS;
use crate::stats::CpuMeter;
use futures::future::try_join_all;
use serde::Serialize;
use std::process::Command;
use std::time::Instant;
use test_support::{TOKEN, Value, json};

/// The number of keys. In a cluster they are in 16,128 of the 16,384 slots.
pub const KEYS: u32 = 100_000;
/// The value of every key.
pub const VALUE: &str = "0123456789";
/// The number of keys per request of the initial fill.
const FILL_BATCH: u32 = 1_000;

/// A load of one command, single or in pipelines.
#[derive(Clone, Copy)]
pub struct Load {
    /// Whether the command is SET; otherwise it is GET.
    pub writes: bool,
    /// The number of commands per request.
    pub depth: usize,
    /// The number of commands redis-benchmark sends per second of a round: about its maximum.
    pub direct_rate: f64,
}

impl Load {
    /// All loads, in the order of the tables.
    pub const ALL: [Self; 6] = [
        Self::new(true, 1, 50_000.0),
        Self::new(true, 10, 250_000.0),
        Self::new(true, 100, 500_000.0),
        Self::new(false, 1, 50_000.0),
        Self::new(false, 10, 250_000.0),
        Self::new(false, 100, 500_000.0),
    ];

    const fn new(writes: bool, depth: usize, direct_rate: f64) -> Self {
        Self {
            writes,
            depth,
            direct_rate,
        }
    }

    /// Returns the command.
    pub fn command(self) -> &'static str {
        match self.writes {
            true => "SET",
            false => "GET",
        }
    }

    /// Returns the name in the tables.
    pub fn title(self) -> String {
        match self.depth {
            1 => format!("{}, one by one", self.command()),
            depth => format!("{}, pipelines of {depth}", self.command()),
        }
    }

    fn request(self, random: &mut fastrand::Rng) -> Vec<u8> {
        let mut command = || match self.writes {
            true => set(random.u32(..KEYS)),
            false => json!(["GET", key(random.u32(..KEYS))]),
        };
        match self.depth {
            1 => post("/", &command()),
            depth => post("/pipeline", &(0..depth).map(|_| command()).collect()),
        }
    }
}

/// The figures of one round.
#[derive(Clone, Copy, Serialize)]
pub struct Turn {
    /// Commands per second.
    pub rate: f64,
    /// Processor time of the gateway per command in microseconds, where available.
    pub cpu_us: Option<f64>,
}

/// Measures a load through the gateway.
pub async fn measure(store: &Store, load: Load, seconds: f64) -> Result<Turn, String> {
    let url = store.gateway.url();
    let (meter, began) = (CpuMeter::start(store.gateway.pid()), Instant::now());
    let connections = (0..CONNECTIONS).map(async |number| {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let mut connection = Connection::open(&url).await?;
        let mut sent = 0_usize;
        while began.elapsed().as_secs_f64() < seconds {
            exchange(&mut connection, &load.request(&mut random)).await?;
            sent += load.depth;
        }
        Ok::<_, String>(sent)
    });
    let sent: usize = try_join_all(connections).await?.into_iter().sum();
    let cpu_us = meter
        .elapsed()
        .map(|time| time.as_secs_f64() * 1e6 / sent as f64);
    Ok(Turn {
        rate: sent as f64 / began.elapsed().as_secs_f64(),
        cpu_us,
    })
}

/// Measures a load with redis-benchmark and returns its commands per second.
pub fn measure_direct(store: &Store, load: Load, seconds: f64) -> Result<f64, String> {
    let url = store.redis.url();
    let port = url.rsplit(':').next().unwrap_or_default();
    let commands = format!("{:.0}", load.direct_rate * seconds);
    let mut command = Command::new("redis-benchmark");
    command.args(["-p", port, "-n", &commands, "--csv"]);
    for (option, number) in [
        ("-c", CONNECTIONS),
        ("-P", load.depth),
        ("-r", KEYS as usize),
    ] {
        command.args([option, &number.to_string()]);
    }
    match load.writes {
        true => command.args(["SET", "key:__rand_int__", VALUE]),
        false => command.args(["GET", "key:__rand_int__"]),
    };
    let output = command
        .output()
        .map_err(|error| format!("redis-benchmark: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().last().and_then(|line| line.split(',').nth(1));
    rate.and_then(|rate| rate.trim_matches('"').parse().ok())
        .ok_or_else(|| {
            format!(
                "redis-benchmark: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
}

/// Writes every key once, so that every GET finds a value.
pub async fn fill(store: &Store) -> Result<(), String> {
    let mut connection = Connection::open(&store.gateway.url()).await?;
    for first in (0..KEYS).step_by(FILL_BATCH as usize) {
        let commands = (first..first + FILL_BATCH).map(set).collect();
        exchange(&mut connection, &post("/pipeline", &commands)).await?;
    }
    check(store).await
}

/// Returns an error unless the number of keys in the store is right.
pub async fn check(store: &Store) -> Result<(), String> {
    let mut connection = Connection::open(&store.gateway.url()).await?;
    exchange(&mut connection, &post("/", &json!(["DBSIZE"]))).await?;
    let response = String::from_utf8_lossy(connection.response());
    match response.ends_with(&json!({ "result": KEYS }).to_string()) {
        true => Ok(()),
        false => Err(format!(
            "{} does not have {KEYS} keys:\n{response}",
            store.title()
        )),
    }
}

/// Sends one request. An error among the replies invalidates the run.
async fn exchange(connection: &mut Connection, request: &[u8]) -> Result<(), String> {
    connection.exchange(request).await?;
    let response = connection.response();
    match response.windows(7).any(|seven| seven == b"\"error\"") {
        true => Err(String::from_utf8_lossy(response).into_owned()),
        false => Ok(()),
    }
}

fn set(number: u32) -> Value {
    json!(["SET", key(number), VALUE])
}

/// Returns a key as redis-benchmark names it.
fn key(number: u32) -> String {
    format!("key:{number:012}")
}

fn post(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: gateway.example\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
