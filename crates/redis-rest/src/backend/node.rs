//! One Redis server, reached over a few connections that all requests share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use redis::{ConnectionInfo, Pipeline};
use tokio::time::timeout;

use super::{
    Reply,
    connection::Connection,
    message_stream::{self, MessageStream, StreamKind},
    multiplexer::Multiplexer,
    reply_budget::ReplyBudget,
    restriction::Restriction,
    wait::ReplicaAcks,
};
use crate::error::GatewayError;

/// The options for connections to a server.
#[derive(Clone)]
pub(crate) struct NodeOptions {
    /// Restricts what scripts can do.
    pub(crate) restriction: Arc<Restriction>,
    /// Number of connections to each server.
    pub(crate) connections: usize,
    /// Timeout of the reply to a pipeline.
    pub(crate) timeout: Duration,
    /// Replica acknowledgements that a write requires, if any.
    pub(crate) replica_acks: Option<ReplicaAcks>,
}

/// One Redis server.
pub(crate) struct Node {
    info: ConnectionInfo,
    connections: Vec<Connection>,
    /// Counts the choices of a connection, for round-robin.
    turn: AtomicUsize,
    options: NodeOptions,
}

impl Node {
    /// Starts to connect. The server may still be unreachable.
    pub(super) fn open(info: ConnectionInfo, options: NodeOptions) -> Self {
        let connections = (0..options.connections)
            .map(|_| {
                Connection::open(
                    info.clone(),
                    options.timeout,
                    Arc::clone(&options.restriction),
                )
            })
            .collect();
        Self {
            info,
            connections,
            turn: AtomicUsize::new(0),
            options,
        }
    }

    /// Waits until the first attempt of each connection has succeeded or failed.
    pub(super) async fn first_attempt(&self) {
        for connection in &self.connections {
            connection.first_attempt().await;
        }
    }

    pub(super) fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    /// Returns whether a connection is open.
    pub(super) fn is_up(&self) -> bool {
        self.connections
            .iter()
            .any(|connection| connection.get().is_ok())
    }

    /// Returns whether the server is known to reject scripts with a shebang line.
    pub(super) fn rejects_shebang(&self) -> bool {
        self.connections.iter().any(Connection::rejects_shebang)
    }

    /// Sends all commands in one write on one connection, so that no command of another request can
    /// run between them. The replies take memory of `budget`.
    pub(super) async fn send(&self, mut pipeline: Pipeline, budget: &Arc<ReplyBudget>) -> Sent {
        let pending_acks = self
            .options
            .replica_acks
            .and_then(|acks| acks.append_wait(&mut pipeline));
        let replies = match self.pick() {
            Ok(connection) => self.send_on(&connection, &pipeline, budget).await,
            Err(error) => Err(error),
        };
        let replies = replies.map(|mut replies| {
            if let Some(pending_acks) = pending_acks {
                pending_acks.check(&mut replies);
            }
            replies
        });
        Sent { pipeline, replies }
    }

    async fn send_on(
        &self,
        connection: &Multiplexer,
        pipeline: &Pipeline,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<Reply>, GatewayError> {
        let limit = self.options.timeout;
        match timeout(limit, connection.send(pipeline, Arc::clone(budget), limit)).await {
            Ok(Ok(replies)) => Ok(replies),
            Ok(Err(_lost)) => Err(GatewayError::ConnectionLost),
            Err(_elapsed) => Err(self.timeout_error()),
        }
    }

    /// Opens a stream of messages on a connection of its own.
    pub(super) async fn open_stream(
        &self,
        kind: StreamKind,
        names: Vec<Vec<u8>>,
    ) -> Result<MessageStream, GatewayError> {
        let stream = message_stream::open(&self.info, kind, names);
        timeout(self.options.timeout, stream)
            .await
            .unwrap_or_else(|_elapsed| Err(self.timeout_error()))
    }

    fn timeout_error(&self) -> GatewayError {
        GatewayError::RedisTimeout {
            ms: self.options.timeout.as_millis(),
        }
    }

    /// Returns the next open connection in round-robin order.
    fn pick(&self) -> Result<Multiplexer, GatewayError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let count = self.connections.len();
        let mut reason = String::new();
        for offset in 0..count {
            let Some(connection) = self.connections.get(turn.wrapping_add(offset) % count) else {
                continue;
            };
            match connection.get() {
                Ok(connection) => return Ok(connection),
                Err(down) => reason = down,
            }
        }
        Err(GatewayError::RedisDown(reason))
    }
}

/// A pipeline that was sent, and its replies.
pub(super) struct Sent {
    /// Kept because a cluster may send some of its commands again.
    pub(super) pipeline: Pipeline,
    pub(super) replies: Result<Vec<Reply>, GatewayError>,
}
