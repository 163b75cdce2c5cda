//! One Redis server, reached over a few connections that all requests share.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use redis::{ConnectionInfo, Pipeline, Value, cmd};
use tokio::{sync::Mutex, time::timeout};

use super::{
    Reply,
    connection::Connection,
    message_stream::{self, MessageStream, StreamKind},
    multiplexer::Multiplexer,
    reply_budget::ReplyBudget,
    restriction::Restriction,
    wait::ReplicaAcks,
};
use crate::{command::name_of, error::GatewayError, policy};

/// The number of connections for requests that share none.
const EXCLUSIVE: usize = 2;

/// The options for connections to a server.
#[derive(Clone)]
pub(crate) struct NodeOptions {
    /// Restricts what scripts can do.
    pub(crate) restriction: Arc<Restriction>,
    /// Number of connections to each server that requests share.
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
    /// Each for one request at a time.
    exclusive: Vec<Arc<Mutex<Connection>>>,
    /// Counts the choices of a connection, for round-robin.
    turn: AtomicUsize,
    /// The secret of the nonces behind exclusive requests.
    nonces: RandomState,
    options: NodeOptions,
}

impl Node {
    /// Starts to connect. The server may still be unreachable.
    pub(super) fn open(info: ConnectionInfo, options: NodeOptions) -> Self {
        let open = |_| {
            let restriction = Arc::clone(&options.restriction);
            Connection::open(info.clone(), options.timeout, restriction)
        };
        let exclusive = (0..EXCLUSIVE).map(open);
        Self {
            exclusive: exclusive.map(Mutex::new).map(Arc::new).collect(),
            connections: (0..options.connections).map(open).collect(),
            turn: AtomicUsize::new(0),
            nonces: RandomState::new(),
            info,
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
    ///
    /// Requests share a connection, unless a reply to one of them may hold a text of the request as it is.
    pub(super) async fn send(&self, mut pipeline: Pipeline, budget: &Arc<ReplyBudget>) -> Sent {
        let pending_acks = self
            .options
            .replica_acks
            .and_then(|acks| acks.append_wait(&mut pipeline));
        let may_split = pipeline
            .cmd_iter()
            .any(|command| policy::may_split_replies(&name_of(command)));
        let replies = if may_split {
            self.send_alone(&pipeline, budget).await
        } else {
            match self.pick() {
                Ok(connection) => self.send_on(&connection, &pipeline, budget).await,
                Err(error) => Err(error),
            }
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

    /// Sends a pipeline over a connection that no other request has meanwhile. If Redis does not reply to each command once,
    /// only this request gets the surplus: the next one has the connection after the reply to an ECHO of a nonce.
    async fn send_alone(
        &self,
        pipeline: &Pipeline,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<Reply>, GatewayError> {
        let limit = self.options.timeout;
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let exclusive = self.exclusive.get(turn % EXCLUSIVE);
        let exclusive = exclusive.ok_or(GatewayError::Internal)?;
        let locked = timeout(limit, Arc::clone(exclusive).lock_owned()).await;
        let locked = locked.map_err(|_elapsed| self.timeout_error())?;
        locked.first_attempt().await;
        let connection = locked.get().map_err(GatewayError::RedisDown)?;
        let [first, second] = [0, 1].map(|half| self.nonces.hash_one((turn, half)));
        let nonce = format!("{first:016x}{second:016x}").into_bytes();
        let mut sent = pipeline.clone();
        sent.add_command(cmd("ECHO")).arg(&nonce);
        let budget = Arc::clone(budget);
        // Also ends without its caller, which may no longer wait: until then the connection has no other request.
        let task = tokio::spawn(async move {
            let replies = connection.send(&sent, budget, limit).await;
            let mut replies = replies.map_err(|_lost| GatewayError::ConnectionLost)?;
            match replies.pop() {
                Some(Ok(Value::BulkString(last))) if last == nonce => Ok(replies),
                // The nonce exceeds the memory of all replies.
                Some(Err(_)) => {
                    locked.reconnect().await;
                    Ok(replies)
                }
                _ => {
                    locked.reconnect().await;
                    Err(GatewayError::ConnectionLost)
                }
            }
        });
        match timeout(limit, task).await {
            Ok(replies) => replies.unwrap_or(Err(GatewayError::Internal)),
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
