//! The seam to Redis: a batch of commands in, one reply to each out, in order.
//!
//! Everything above this file is indifferent to what is behind it. Another kind of backend needs
//! `send`, `ping` and `listen`, and nothing else.

mod feed;
mod link;
mod socket;
mod text_lines;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use redis::{
    ConnectionInfo, IntoConnectionInfo, Pipeline, ProtocolVersion, Value,
    aio::MultiplexedConnection,
};
use tokio::time::timeout;

pub(crate) use self::feed::{Feed, Kind};
use self::link::Link;
use crate::{command::Command, error::Fault};

/// One Redis, reached over a few connections that all requests share.
pub(crate) struct Backend {
    info: ConnectionInfo,
    links: Vec<Link>,
    next: AtomicUsize,
    patience: Duration,
}

impl Backend {
    /// Connects, or begins to try: Redis need not be there yet.
    pub(crate) async fn open(
        url: &str,
        connections: usize,
        patience: Duration,
    ) -> Result<Self, String> {
        let info = connection_info(url)?;
        let mut links: Vec<Link> = (0..connections)
            .map(|_| Link::open(info.clone(), patience))
            .collect();
        for link in &mut links {
            link.first_attempt().await;
        }
        Ok(Self {
            info,
            links,
            next: AtomicUsize::new(0),
            patience,
        })
    }

    /// Sends all commands in one write on one connection, so that none of another request comes
    /// between them, and returns the reply to each. Errors Redis answers are replies.
    pub(crate) async fn send(&self, commands: Vec<Command>) -> Result<Vec<Value>, Fault> {
        let connection = self.pick()?;
        let Ok(sent) = timeout(self.patience, send(connection, commands)).await else {
            return Err(Fault::RedisTimeout {
                ms: self.patience.as_millis(),
            });
        };
        sent.map_err(|_cause| Fault::ConnectionLost)
    }

    /// Whether Redis answers; if not, the fault is one of 503.
    pub(crate) async fn ping(&self) -> Result<(), Fault> {
        let ping = self.send(vec![Command::of([&b"PING"[..]])]).await;
        match ping.as_deref() {
            Ok([Value::ServerError(error)]) => {
                Err(Fault::RedisDown(crate::reply::error_line(error)))
            }
            Ok(_) => Ok(()),
            Err(Fault::RedisDown(why)) => Err(Fault::RedisDown(why.clone())),
            Err(fault) => Err(Fault::RedisDown(fault.text().into_owned())),
        }
    }

    /// A feed of what Redis sends by itself, on a connection of its own.
    pub(crate) async fn listen(&self, kind: Kind, names: Vec<Vec<u8>>) -> Result<Feed, Fault> {
        timeout(self.patience, feed::open(&self.info, kind, names))
            .await
            .unwrap_or_else(|_elapsed| {
                Err(Fault::RedisTimeout {
                    ms: self.patience.as_millis(),
                })
            })
    }

    /// The next connection that is up, in turn.
    fn pick(&self) -> Result<MultiplexedConnection, Fault> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let mut why = String::new();
        for offset in 0..self.links.len() {
            let Some(link) = self
                .links
                .get(start.wrapping_add(offset) % self.links.len())
            else {
                continue;
            };
            match link.connection() {
                Ok(connection) => return Ok(connection),
                Err(down) => why = down,
            }
        }
        Err(Fault::RedisDown(why))
    }
}

async fn send(
    mut connection: MultiplexedConnection,
    commands: Vec<Command>,
) -> redis::RedisResult<Vec<Value>> {
    let count = commands.len();
    let mut pipeline = Pipeline::with_capacity(count);
    for command in commands {
        pipeline.add_command(command.into_cmd());
    }
    connection.send_packed_commands(&pipeline, 0, count).await
}

fn connection_info(url: &str) -> Result<ConnectionInfo, String> {
    // Never the URL itself in a message: it may hold a password.
    let info = url
        .into_connection_info()
        .map_err(|problem| format!("REDIS_URL cannot be used: {problem}"))?;
    let settings = info
        .redis_settings()
        .clone()
        .set_protocol(ProtocolVersion::RESP2);
    Ok(info.set_redis_settings(settings))
}
