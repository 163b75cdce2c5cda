//! What a request costs the store: counted on a few, sent one after the other through a relay, so
//! that nothing stands between while speed is measured.

use crate::client;
use crate::load::{Load, Requests};
use crate::stand::{Parts, Stand};
use redis::Connection;
use serde::Serialize;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How many requests are counted.
const COUNTED: usize = 100;

/// The mean of a request.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// HTTP requests to the store.
    pub requests: f64,
    /// Commands that Redis ran, those within scripts too.
    pub commands: f64,
    /// Bytes to the store, heads included.
    pub sent: f64,
    /// Bytes from it.
    pub received: f64,
}

/// Counts what a contender costs the store under a load.
pub async fn cost(stand: &Stand, load: Load, parts: &Parts) -> Result<Cost, String> {
    let (url, traffic) = relay(&parts.gateway.url())
        .await
        .map_err(|error| error.to_string())?;
    let worker = stand.another(load, &url);
    let mut requests = Requests::new(load, &stand.ledger);
    // The first fills a cache.
    client::send(worker.url(), &mut requests, 1, 2).await?;
    let mut redis = parts.redis.connection();
    let commands = commands(&mut redis)?;
    traffic.reset();
    client::send(worker.url(), &mut requests, 1, COUNTED).await?;
    let mean = |count: u64| count as f64 / COUNTED as f64;
    let read = |count: &AtomicU64| mean(count.load(Ordering::Relaxed));
    Ok(Cost {
        requests: read(&traffic.requests),
        // The gateway sends none of its own.
        commands: mean(self::commands(&mut redis)? - commands),
        sent: read(&traffic.up),
        received: read(&traffic.down),
    })
}

/// Commands run since the start, but for those that ask this.
fn commands(redis: &mut Connection) -> Result<u64, String> {
    let stats = redis::cmd("INFO")
        .arg("commandstats")
        .query::<String>(redis);
    let stats = stats.map_err(|error| error.to_string())?;
    let lines = stats
        .lines()
        .filter(|line| !line.starts_with("cmdstat_info:"));
    let calls = lines.filter_map(|line| line.split_once("calls=")?.1.split_once(','));
    Ok(calls
        .filter_map(|(calls, _)| calls.parse::<u64>().ok())
        .sum())
}

/// Bytes that went through a relay, and how often they began to go up.
#[derive(Default)]
struct Traffic {
    requests: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
}

impl Traffic {
    fn reset(&self) {
        for count in [&self.requests, &self.up, &self.down] {
            count.store(0, Ordering::Relaxed);
        }
    }
}

/// Hands everything on to a server; returns where it listens.
async fn relay(target: &str) -> std::io::Result<(String, Arc<Traffic>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let traffic = Arc::new(Traffic::default());
    let (target, shared) = (
        target.trim_start_matches("http://").to_owned(),
        Arc::clone(&traffic),
    );
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (target, traffic) = (target.clone(), Arc::clone(&shared));
            tokio::spawn(async move { pass(client, &target, &traffic).await });
        }
    });
    Ok((url, traffic))
}

/// A connection is asked one thing at a time, so each turn of direction is a request.
async fn pass(mut client: TcpStream, target: &str, traffic: &Traffic) -> std::io::Result<()> {
    let mut server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut question, mut answer) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut asking = false;
    loop {
        tokio::select! {
            read = client.read(&mut question) => {
                let read = read?;
                traffic.requests.fetch_add(u64::from(!asking && read > 0), Ordering::Relaxed);
                traffic.up.fetch_add(read as u64, Ordering::Relaxed);
                asking = true;
                if read == 0 {
                    return Ok(());
                }
                server.write_all(&question[..read]).await?;
            }
            read = server.read(&mut answer) => {
                let read = read?;
                traffic.down.fetch_add(read as u64, Ordering::Relaxed);
                asking = false;
                if read == 0 {
                    return Ok(());
                }
                client.write_all(&answer[..read]).await?;
            }
        }
    }
}
