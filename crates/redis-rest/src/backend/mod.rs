//! The backend: sends a batch of commands to Redis and returns one reply per command, in order.
//!
//! The modules above do not depend on the kind of backend. Another kind has to provide `pipeline`,
//! `transaction`, `rejects_shebang`, `ping` and `open_stream`.

mod cluster;
mod connection;
mod decoder;
mod endpoint;
mod login;
mod message_stream;
mod multiplexer;
mod node;
mod reply_budget;
mod restriction;
mod script_kill;
mod transport;
mod wait;

use std::sync::Arc;

use redis::{Pipeline, Value};

use self::{cluster::Cluster, endpoint::Endpoint, node::Node};
pub(crate) use self::{
    message_stream::{MessageStream, StreamKind},
    node::NodeOptions,
    reply_budget::{ReplyBudget, ReplyLimits},
    restriction::Restriction,
    wait::ReplicaAcks,
};
use crate::{
    command::Command,
    error::{GatewayError, error_line},
};

/// The reply to one command. Error replies of Redis are values.
pub(crate) type Reply = Result<Value, GatewayError>;

/// One Redis server or a Redis Cluster.
pub(crate) enum Backend {
    Single(Box<Node>),
    Cluster(Cluster),
}

impl Backend {
    /// Starts to connect and waits for the first attempt. Redis may still be unreachable.
    ///
    /// # Errors
    ///
    /// Returns a message if `url` is invalid.
    pub(crate) async fn open(url: &str, options: NodeOptions) -> Result<Self, String> {
        match endpoint::parse(url)? {
            Endpoint::Single(info) => {
                let node = Node::open(*info, options);
                node.first_attempt().await;
                Ok(Self::Single(Box::new(node)))
            }
            Endpoint::Cluster(seeds) => Cluster::open(seeds, options)
                .await
                .map(Self::Cluster)
                .ok_or_else(|| "REDIS_URL cannot be used: it names no cluster node".to_owned()),
        }
    }

    /// Runs each command independently and returns the replies in order. They take memory of `budget`.
    ///
    /// A single server receives all commands in one write, a cluster one write per node.
    ///
    /// # Errors
    ///
    /// Fails if no command has a reply from Redis. The error is that of the first command.
    pub(crate) async fn pipeline(
        &self,
        commands: Vec<Command>,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<Reply>, GatewayError> {
        let replies = match self {
            Self::Single(node) => node.send(packed(commands), budget).await.replies?,
            Self::Cluster(cluster) => cluster.pipeline(commands, budget).await,
        };
        match replies.first().and_then(server_error) {
            Some(error) if replies.iter().all(|reply| server_error(reply).is_some()) => {
                Err(error.clone())
            }
            _ => Ok(replies),
        }
    }

    /// Runs a transaction, which starts with MULTI and ends with EXEC, and returns the reply to each
    /// command.
    ///
    /// All commands go out in one write on one connection, so that no command of another request
    /// can run between them.
    pub(crate) async fn transaction(
        &self,
        commands: Vec<Command>,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<Value>, GatewayError> {
        match self {
            Self::Single(node) => {
                wait::transaction_replies(node.send(packed(commands), budget).await.replies?)
            }
            Self::Cluster(cluster) => cluster.transaction(commands, budget).await,
        }
    }

    /// Returns whether a server is known to reject scripts with a shebang line, as Redis before 7.0.
    pub(crate) fn rejects_shebang(&self) -> bool {
        match self {
            Self::Single(node) => node.rejects_shebang(),
            Self::Cluster(cluster) => cluster.rejects_shebang(),
        }
    }

    /// Checks that Redis replies. Every error has status 503.
    pub(crate) async fn ping(&self) -> Result<(), GatewayError> {
        match self {
            Self::Single(node) => ping(node).await,
            Self::Cluster(cluster) => cluster.ping().await,
        }
    }

    /// Opens a stream of messages on a connection of its own.
    pub(crate) async fn open_stream(
        &self,
        kind: StreamKind,
        names: Vec<Vec<u8>>,
    ) -> Result<MessageStream, GatewayError> {
        match self {
            Self::Single(node) => node.open_stream(kind, names).await,
            Self::Cluster(cluster) => cluster.open_stream(kind, names).await,
        }
    }
}

/// Returns the error of a reply if its status is 5xx.
fn server_error(reply: &Reply) -> Option<&GatewayError> {
    let error = reply.as_ref().err()?;
    error.status().is_server_error().then_some(error)
}

fn packed(commands: Vec<Command>) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    for command in commands {
        pipeline.add_command(command.into_cmd());
    }
    pipeline
}

async fn ping(node: &Node) -> Result<(), GatewayError> {
    let ping = packed(vec![Command::of([&b"PING"[..]])]);
    let ping = node.send(ping, &ReplyBudget::unlimited()).await;
    match ping.replies.as_deref() {
        Ok([Ok(Value::ServerError(error))]) => Err(GatewayError::RedisDown(error_line(error))),
        Ok(_) => Ok(()),
        Err(GatewayError::RedisDown(reason)) => Err(GatewayError::RedisDown(reason.clone())),
        Err(error) => Err(GatewayError::RedisDown(error.message().into_owned())),
    }
}
