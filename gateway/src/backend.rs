//! The seam to Redis: a batch of commands in, one reply to each out, in order.
//!
//! Everything above this file is indifferent to what is behind it. Another kind of backend needs
//! `pipeline`, `transaction`, `ping` and `listen`, and nothing else.

mod cluster;
mod feed;
mod link;
mod node;
mod replicas;
mod socket;
mod text_lines;
mod url;

use redis::{Pipeline, Value};

use self::{cluster::Cluster, node::Node, url::Place};
pub(crate) use self::{
    feed::{Feed, Kind},
    node::Manner,
    replicas::Replicas,
};
use crate::{command::Command, error::Fault};

/// What one command came to; errors Redis answers are values.
pub(crate) type Reply = Result<Value, Fault>;

/// What is behind the gateway.
pub(crate) enum Backend {
    /// One redis-server.
    One(Node),
    /// A cluster of them.
    Cluster(Cluster),
}

impl Backend {
    /// Connects, or begins to try: Redis need not be there yet.
    pub(crate) async fn open(url: &str, manner: Manner) -> Result<Self, String> {
        match url::parse(url)? {
            Place::One(info) => {
                let node = Node::open(*info, manner);
                node.first_attempt().await;
                Ok(Self::One(node))
            }
            Place::Cluster(seeds) => Cluster::open(seeds, manner)
                .await
                .map(Self::Cluster)
                .ok_or_else(|| "REDIS_URL cannot be used: it names no node".to_owned()),
        }
    }

    /// Runs each command for itself and returns the reply to each. On one Redis they go in one
    /// write on one connection, in a cluster in one for each node.
    pub(crate) async fn pipeline(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Fault> {
        let replies = match self {
            Self::One(node) => node.send(packed(commands)).await.replies?,
            Self::Cluster(cluster) => cluster.pipeline(commands).await,
        };
        // Where nothing has a reply, that is the answer to the request.
        match replies.first().and_then(silent) {
            Some(fault) if replies.iter().all(|reply| silent(reply).is_some()) => {
                Err(fault.clone())
            }
            _ => Ok(replies),
        }
    }

    /// Runs all commands, MULTI first and EXEC last, in one write on one connection, so that none
    /// of another request comes between them, and returns the reply to each.
    pub(crate) async fn transaction(&self, commands: Vec<Command>) -> Result<Vec<Value>, Fault> {
        match self {
            Self::One(node) => replicas::settled(node.send(packed(commands)).await.replies?),
            Self::Cluster(cluster) => cluster.transaction(commands).await,
        }
    }

    /// Whether Redis answers; if not, the fault is one of 503.
    pub(crate) async fn ping(&self) -> Result<(), Fault> {
        match self {
            Self::One(node) => ping(node).await,
            Self::Cluster(cluster) => cluster.ping().await,
        }
    }

    /// A feed of what Redis sends by itself, on a connection of its own.
    pub(crate) async fn listen(&self, kind: Kind, names: Vec<Vec<u8>>) -> Result<Feed, Fault> {
        match self {
            Self::One(node) => node.listen(kind, names).await,
            Self::Cluster(cluster) => cluster.listen(kind, names).await,
        }
    }
}

/// Why there is no reply, if it is not for the caller to mend.
fn silent(reply: &Reply) -> Option<&Fault> {
    let fault = reply.as_ref().err()?;
    fault.status().is_server_error().then_some(fault)
}

fn packed(commands: Vec<Command>) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    for command in commands {
        pipeline.add_command(command.into_cmd());
    }
    pipeline
}

async fn ping(node: &Node) -> Result<(), Fault> {
    let ping = node.send(packed(vec![Command::of([&b"PING"[..]])])).await;
    match ping.replies.as_deref() {
        Ok([Ok(Value::ServerError(error))]) => {
            Err(Fault::RedisDown(crate::reply::error_line(error)))
        }
        Ok(_) => Ok(()),
        Err(Fault::RedisDown(why)) => Err(Fault::RedisDown(why.clone())),
        Err(fault) => Err(Fault::RedisDown(fault.text().into_owned())),
    }
}
