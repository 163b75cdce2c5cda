//! What is sent through the gateway, and how it is measured.

use super::store::Store;
use crate::client::{CONNECTIONS, Connection};
use crate::meter::Meter;
use futures::future::try_join_all;
use serde::Serialize;
use std::time::Instant;
use test_support::{TOKEN, Value, json};

/// Keys are taken from so many; in a cluster they lie in 16,128 of its 16,384 slots.
pub const KEYS: u32 = 100_000;
/// What each of them holds, always.
pub const VALUE: &str = "0123456789";
/// Keys written in one request, before anything is measured.
const FILLED: u32 = 1_000;

/// Commands of one kind, so many together.
#[derive(Clone, Copy)]
pub struct Load {
    /// SET, else GET.
    pub writes: bool,
    /// How many go together.
    pub depth: usize,
    /// What redis-benchmark sends of it for every second of a turn: about as much as it can.
    pub direct: f64,
}

impl Load {
    /// In the order of the tables.
    pub const ALL: [Self; 6] = [
        Self::of(true, 1, 50_000.0),
        Self::of(true, 10, 250_000.0),
        Self::of(true, 100, 500_000.0),
        Self::of(false, 1, 50_000.0),
        Self::of(false, 10, 250_000.0),
        Self::of(false, 100, 500_000.0),
    ];

    const fn of(writes: bool, depth: usize, direct: f64) -> Self {
        Self {
            writes,
            depth,
            direct,
        }
    }

    /// The command.
    pub fn command(self) -> &'static str {
        match self.writes {
            true => "SET",
            false => "GET",
        }
    }

    /// What it is, for people.
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

/// What one turn came to.
#[derive(Clone, Copy, Serialize)]
pub struct Turn {
    /// Commands a second.
    pub rate: f64,
    /// Processor time of the gateway for a command in microseconds, where the system tells.
    pub cpu_us: Option<f64>,
}

/// Sends a load through the gateway for a while.
pub async fn measure(store: &Store, load: Load, seconds: f64) -> Result<Turn, String> {
    let url = store.gateway.url();
    let (meter, began) = (Meter::start(store.gateway.pid()), Instant::now());
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

/// Writes every key once, so that every GET finds something.
pub async fn fill(store: &Store) -> Result<(), String> {
    let mut connection = Connection::open(&store.gateway.url()).await?;
    for first in (0..KEYS).step_by(FILLED as usize) {
        let commands = (first..first + FILLED).map(set).collect();
        exchange(&mut connection, &post("/pipeline", &commands)).await?;
    }
    check(store).await
}

/// An error unless the store has each key once and nothing else.
pub async fn check(store: &Store) -> Result<(), String> {
    let mut connection = Connection::open(&store.gateway.url()).await?;
    exchange(&mut connection, &post("/", &json!(["DBSIZE"]))).await?;
    let answer = String::from_utf8_lossy(connection.answer());
    match answer.ends_with(&json!({ "result": KEYS }).to_string()) {
        true => Ok(()),
        false => Err(format!(
            "{} has not {KEYS} keys but answers\n{answer}",
            store.title()
        )),
    }
}

/// One request; an error among the answers voids the run.
async fn exchange(connection: &mut Connection, request: &[u8]) -> Result<(), String> {
    connection.exchange(request).await?;
    let answer = connection.answer();
    match answer.windows(7).any(|seven| seven == b"\"error\"") {
        true => Err(String::from_utf8_lossy(answer).into_owned()),
        false => Ok(()),
    }
}

fn set(key_number: u32) -> Value {
    json!(["SET", key(key_number), VALUE])
}

/// As redis-benchmark names them.
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
