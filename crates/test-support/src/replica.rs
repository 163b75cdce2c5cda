//! A replica of Redis that can lag, as a replica of an Upstash database can.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use crate::gateway::Gateway;
use crate::listener::serve_on_thread;
use crate::redis_server::{RedisOptions, RedisServer};

/// The commands that a replica may serve.
const READS: [&str; 10] = [
    "EXISTS", "GET", "HGET", "HGETALL", "HMGET", "XLEN", "XRANGE", "ZCOUNT", "ZRANGE", "ZSCORE",
];

/// A replica with a gateway of its own. Its replication link can be paused, so that it lags while it
/// still serves reads. Both end on drop.
#[must_use]
pub struct Replica {
    primary: u16,
    redis: RedisServer,
    gateway: Gateway,
    link: Link,
    stale_reads: Arc<AtomicU64>,
}

impl Replica {
    /// Starts a replica of a redis-server.
    ///
    /// # Panics
    ///
    /// Panics when a component does not start.
    pub fn of(primary: &RedisServer) -> Self {
        let link = Link::to(primary.port());
        let options = RedisOptions::default().arg("--replicaof");
        let options = options.arg("127.0.0.1").arg(&link.port.to_string());
        let redis = RedisServer::spawn(options);
        let gateway = Gateway::spawn(&redis.url());
        Self {
            primary: primary.port(),
            redis,
            gateway,
            link,
            stale_reads: Arc::default(),
        }
    }

    /// Pauses replication: the replica serves its current state.
    pub fn pause_replication(&self) {
        self.link.paused.send_replace(true);
    }

    /// Resumes replication.
    pub fn resume_replication(&self) {
        self.link.paused.send_replace(false);
    }

    /// Returns whether the replica has all writes of the primary.
    pub async fn is_current(&self) -> bool {
        // First: meanwhile the primary may have more.
        let primary = Position::of(self.primary).await;
        let replica = Position::of(self.redis.port()).await;
        let both = replica.zip(primary);
        both.is_some_and(|(replica, primary)| replica.has(&primary.token()))
    }

    /// Returns the number of reads that it served while it lagged.
    pub fn stale_reads(&self) -> u64 {
        self.stale_reads.load(Ordering::Relaxed)
    }

    pub(crate) fn route(&self) -> Route {
        Route {
            primary: self.primary,
            replica: self.redis.port(),
            url: self.gateway.url(),
            stale_reads: Arc::clone(&self.stale_reads),
        }
    }
}

/// How a forwarder sends reads to a replica.
#[derive(Clone)]
pub(crate) struct Route {
    primary: u16,
    replica: u16,
    /// The URL of the replica's gateway.
    pub url: String,
    stale_reads: Arc<AtomicU64>,
}

impl Route {
    /// Returns whether the replica may serve these commands: all of them are reads, and it has the
    /// writes before the token.
    pub(crate) async fn accepts<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
        token: &str,
    ) -> bool {
        if !names.all(|name| READS.contains(&name)) {
            return false;
        }
        let replica = Position::of(self.replica).await;
        let Some(replica) = replica.filter(|replica| replica.has(token)) else {
            return false;
        };
        let primary = Position::of(self.primary).await;
        if primary.is_some_and(|primary| !replica.has(&primary.token())) {
            self.stale_reads.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Returns the token of a response that the replica or the primary has just sent; `None` if the
    /// server does not respond any more.
    pub(crate) async fn token(&self, is_replica: bool) -> Option<String> {
        let port = if is_replica {
            self.replica
        } else {
            self.primary
        };
        Some(Position::of(port).await?.token())
    }
}

/// The position of a server in the replication stream of a primary.
struct Position {
    /// A primary that restarts begins another history.
    history: String,
    /// The bytes of the replication stream.
    offset: u64,
    /// Whether it is a primary or has a link to one.
    is_linked: bool,
}

impl Position {
    /// Reads the position of a redis-server; `None` without a response.
    async fn of(port: u16) -> Option<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
        let mut stream = BufReader::new(stream);
        stream.write_all(b"INFO replication\r\n").await.ok()?;
        let mut length = String::new();
        stream.read_line(&mut length).await.ok()?;
        let length = length.strip_prefix('$')?.trim().parse().ok()?;
        let mut text = vec![0; length];
        stream.read_exact(&mut text).await.ok()?;
        let text = String::from_utf8(text).ok()?;
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find_map(|(known, value)| (known == name).then_some(value))
        };
        let offset = field("slave_repl_offset").or(field("master_repl_offset"));
        Some(Self {
            history: field("master_replid")?.to_owned(),
            offset: offset?.parse().ok()?,
            is_linked: field("master_link_status").is_none_or(|status| status == "up"),
        })
    }

    fn token(&self) -> String {
        format!("{}:{}", self.history, self.offset)
    }

    /// Returns whether it has the writes before a token; an empty token is before all.
    fn has(&self, token: &str) -> bool {
        let is_reached = token.split_once(':').is_some_and(|(history, offset)| {
            let offset: Option<u64> = offset.parse().ok();
            history == self.history && offset.is_some_and(|offset| self.offset >= offset)
        });
        self.is_linked && (token.is_empty() || is_reached)
    }
}

/// A TCP forwarder that can be paused, on its own thread; ends on drop.
struct Link {
    port: u16,
    paused: watch::Sender<bool>,
    /// Dropping it ends the thread.
    _stop: oneshot::Sender<Infallible>,
}

impl Link {
    /// Starts a forwarder to a port.
    fn to(target: u16) -> Self {
        let (paused, is_paused) = watch::channel(false);
        let (port, stop) = serve_on_thread(move |listener| serve(listener, target, is_paused));
        Self {
            port,
            paused,
            _stop: stop,
        }
    }
}

async fn serve(listener: TcpListener, target: u16, is_paused: watch::Receiver<bool>) {
    while let Ok((client, _)) = listener.accept().await {
        let is_paused = is_paused.clone();
        tokio::spawn(async move {
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await else {
                return;
            };
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            // The end of one direction closes both connections.
            tokio::select! {
                _ = copy(from_client, to_server, is_paused.clone()) => {}
                _ = copy(from_server, to_client, is_paused) => {}
            }
        });
    }
}

/// Copies bytes until either connection ends.
async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut is_paused: watch::Receiver<bool>,
) -> Option<Infallible> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut bytes).await.ok().filter(|read| *read > 0)?;
        is_paused.wait_for(|is_paused| !is_paused).await.ok()?;
        to.write_all(bytes.get(..length)?).await.ok()?;
    }
}
