//! The store requests, commands and bytes of a request. They are counted on a few requests through a
//! relay, which is not used while performance is measured. They are sequential, except for a crowd.

use crate::client;
use crate::contender::RunningContender;
use crate::load::{Load, Requests};
use crate::stack::Stack;
use redis::Connection;
use serde::Serialize;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The number of counted requests of a load on one connection.
const REQUESTS: usize = 100;

/// The number of counted requests of each connection of a crowd.
const CROWD_REQUESTS: usize = 20;

/// The means per request.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// HTTP requests to the store.
    pub requests: f64,
    /// Commands that Redis executed, including those in scripts.
    pub commands: f64,
    /// The time that Redis spent in scripts, in microseconds.
    pub script_us: f64,
    /// Bytes to the store, including heads.
    pub sent: f64,
    /// Bytes from the store.
    pub received: f64,
}

/// Measures the cost of a contender under a load.
pub async fn cost(running: &RunningContender, load: Load, stack: &Stack) -> Result<Cost, String> {
    let (url, traffic) = start_relay(&stack.gateway.url())
        .await
        .map_err(|error| error.to_string())?;
    let worker = running.start_worker(load, &url);
    let mut requests = Requests::new(load, &running.activity_log);
    let (connections, count) = match load {
        Load::Crowd => (load.connections(), load.connections() * CROWD_REQUESTS),
        _ => (1, REQUESTS),
    };
    // Fills the cache.
    client::send(worker.url(), &mut requests, 1, 2).await?;
    let mut redis = stack.redis.connection();
    let before = CommandStats::read(&mut redis)?;
    traffic.reset();
    client::send(worker.url(), &mut requests, connections, count).await?;
    let mean = |total: u64| total as f64 / count as f64;
    let read = |count: &AtomicU64| mean(count.load(Ordering::Relaxed));
    let after = CommandStats::read(&mut redis)?;
    Ok(Cost {
        requests: read(&traffic.requests),
        // The gateway sends no commands of its own.
        commands: mean(after.calls - before.calls),
        script_us: mean(after.script_us - before.script_us),
        sent: read(&traffic.up),
        received: read(&traffic.down),
    })
}

/// The commands that Redis executed since its start, except for INFO.
#[derive(Default)]
struct CommandStats {
    calls: u64,
    /// Microseconds of the scripts.
    script_us: u64,
}

impl CommandStats {
    fn read(redis: &mut Connection) -> Result<Self, String> {
        let mut command = redis::cmd("INFO");
        let text = command.arg("commandstats").query::<String>(redis);
        let text = text.map_err(|error| error.to_string())?;
        let mut stats = Self::default();
        // cmdstat_evalsha:calls=1,usec=30,…
        for line in text.lines() {
            let figure = |name: &str| {
                let rest = line.split_once(name)?.1;
                rest.split(',').next()?.parse::<u64>().ok()
            };
            let (calls, usec) = (figure(":calls="), figure(",usec="));
            if line.starts_with("cmdstat_info:") {
                continue;
            }
            stats.calls += calls.unwrap_or(0);
            if line.starts_with("cmdstat_eval") {
                stats.script_us += usec.unwrap_or(0);
            }
        }
        Ok(stats)
    }
}

/// The traffic of a relay.
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

/// Starts a relay to a server and returns its URL.
async fn start_relay(target: &str) -> std::io::Result<(String, Arc<Traffic>)> {
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
            tokio::spawn(async move { forward(client, &target, &traffic).await });
        }
    });
    Ok((url, traffic))
}

/// Forwards one connection. Requests on it are sequential, so each change to the direction of the
/// server is a new request.
async fn forward(mut client: TcpStream, target: &str, traffic: &Traffic) -> std::io::Result<()> {
    let mut server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut request, mut response) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut is_sending = false;
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let read = read?;
                traffic.requests.fetch_add(u64::from(!is_sending && read > 0), Ordering::Relaxed);
                traffic.up.fetch_add(read as u64, Ordering::Relaxed);
                is_sending = true;
                if read == 0 {
                    return Ok(());
                }
                server.write_all(&request[..read]).await?;
            }
            read = server.read(&mut response) => {
                let read = read?;
                traffic.down.fetch_add(read as u64, Ordering::Relaxed);
                is_sending = false;
                if read == 0 {
                    return Ok(());
                }
                client.write_all(&response[..read]).await?;
            }
        }
    }
}
