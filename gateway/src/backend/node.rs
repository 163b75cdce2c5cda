//! One redis-server, reached over a few connections that all requests share.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use redis::{ConnectionInfo, Pipeline, aio::MultiplexedConnection};
use tokio::time::timeout;

use super::{
    Reply,
    feed::{self, Feed, Kind},
    link::Link,
    replicas::Replicas,
};
use crate::error::Fault;

/// How every server is spoken to.
#[derive(Clone, Copy)]
pub(crate) struct Manner {
    /// Connections to each server.
    pub(crate) connections: usize,
    /// How long a request may wait for an answer.
    pub(crate) patience: Duration,
    /// Whether replicas must have a write before it is answered.
    pub(crate) replicas: Option<Replicas>,
}

/// One redis-server.
pub(crate) struct Node {
    info: ConnectionInfo,
    links: Vec<Link>,
    next: AtomicUsize,
    manner: Manner,
}

impl Node {
    /// Begins to connect: the server need not be there yet.
    pub(super) fn open(info: ConnectionInfo, manner: Manner) -> Self {
        let links = (0..manner.connections)
            .map(|_| Link::open(info.clone(), manner.patience))
            .collect();
        Self {
            info,
            links,
            next: AtomicUsize::new(0),
            manner,
        }
    }

    /// Waits until it is known whether the server is there.
    pub(super) async fn first_attempt(&self) {
        for link in &self.links {
            link.first_attempt().await;
        }
    }

    pub(super) fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    pub(super) fn is_up(&self) -> bool {
        self.links.iter().any(|link| link.connection().is_ok())
    }

    /// Sends all commands in one write on one connection, so that none of another request comes
    /// between them, and returns the reply to each. Errors Redis answers are values.
    pub(super) async fn send(&self, mut pipeline: Pipeline) -> Sent {
        let writes = self
            .manner
            .replicas
            .and_then(|replicas| replicas.follow(&mut pipeline));
        let replies = match self.pick() {
            Ok(connection) => self.ask(connection, &pipeline).await,
            Err(fault) => Err(fault),
        };
        let replies = replies.map(|mut replies| {
            if let Some(writes) = writes {
                writes.confirm(&mut replies);
            }
            replies
        });
        Sent { pipeline, replies }
    }

    async fn ask(
        &self,
        mut connection: MultiplexedConnection,
        pipeline: &Pipeline,
    ) -> Result<Vec<Reply>, Fault> {
        let sent = connection.send_packed_commands(pipeline, 0, pipeline.len());
        let Ok(sent) = timeout(self.manner.patience, sent).await else {
            return Err(Fault::RedisTimeout {
                ms: self.manner.patience.as_millis(),
            });
        };
        match sent {
            Ok(values) => Ok(values.into_iter().map(Ok).collect()),
            Err(_cause) => Err(Fault::ConnectionLost),
        }
    }

    /// A feed of what Redis sends by itself, on a connection of its own.
    pub(super) async fn listen(&self, kind: Kind, names: Vec<Vec<u8>>) -> Result<Feed, Fault> {
        timeout(self.manner.patience, feed::open(&self.info, kind, names))
            .await
            .unwrap_or_else(|_elapsed| {
                Err(Fault::RedisTimeout {
                    ms: self.manner.patience.as_millis(),
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

/// What was sent, for whoever has to send some of it again, and what came back.
pub(super) struct Sent {
    pub(super) pipeline: Pipeline,
    pub(super) replies: Result<Vec<Reply>, Fault>,
}
