//! A Redis Cluster as backend: sends each command to the node that serves its slot.
//!
//! The cluster connection of the client library rejects pipelines over several slots, does not keep
//! the order of commands, and repeats a whole pipeline after the redirection of one command. Here each
//! node receives one write, and only commands that a node rejected are sent again. They have not run.
//!
//! Without I/O: `keys` and `route` find the nodes of a command, `plan` and `merge` split a pipeline
//! and merge the replies, `scan` and `script_cache` adapt SCAN and scripts, `rejection` and
//! `cluster_nodes` parse replies, and `topology` assigns slots to primaries. With I/O: `discovery`
//! keeps the topology current, `dispatch` sends a pipeline, and `transaction` sends a transaction.

mod cluster_nodes;
mod discovery;
mod dispatch;
mod keys;
mod merge;
mod plan;
mod rejection;
mod route;
mod scan;
mod script_cache;
mod topology;
mod transaction;

use std::{
    future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, future::join_all, stream};
use redis::ConnectionInfo;
use tokio::time::{Instant, sleep};

use self::{
    discovery::Discovery,
    dispatch::Outcome,
    plan::{Plan, no_reachable_node},
    script_cache::ScriptCache,
    topology::Topology,
};
use super::{
    Reply,
    message_stream::{MessageStream, StreamKind},
    node::{Node, NodeOptions},
    reply_budget::ReplyBudget,
};
use crate::{command::Command, error::GatewayError};

/// Maximum total length of cached scripts, in bytes.
const MAX_SCRIPT_BYTES: usize = 8 * 1024 * 1024;
/// Time during which rejected commands are sent again.
const RETRY_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of retries without a pause.
const IMMEDIATE_RETRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// The primaries of a cluster.
pub(crate) struct Cluster {
    discovery: Arc<Discovery>,
    scripts: ScriptCache,
    /// Counts requests, for the round-robin choice of a primary.
    turn: AtomicUsize,
}

impl Cluster {
    /// Starts to connect. The cluster may still be unreachable. Returns `None` without seeds.
    pub(super) async fn open(seeds: Vec<ConnectionInfo>, options: NodeOptions) -> Option<Self> {
        Some(Self {
            discovery: Discovery::start(seeds, options).await?,
            scripts: ScriptCache::new(MAX_SCRIPT_BYTES),
            turn: AtomicUsize::new(0),
        })
    }

    /// Runs each command independently. An unreachable node fails only its own commands.
    pub(super) async fn pipeline(
        &self,
        commands: Vec<Command>,
        budget: &Arc<ReplyBudget>,
    ) -> Vec<Reply> {
        let initial_topology = self.discovery.current();
        let plan = Plan::new(commands, &initial_topology, &self.scripts);
        let mut commands = plan.commands;
        let mut replies: Vec<Reply> = vec![Err(GatewayError::Internal); commands.len()];
        let mut retries = Retries::new();
        while !commands.is_empty() {
            let topology = self.discovery.current();
            let turn = self.next_turn();
            let mut outcome = dispatch::send_all(
                commands,
                &topology,
                &self.scripts,
                turn,
                budget,
                &mut replies,
            )
            .await;
            commands = std::mem::take(&mut outcome.retries);
            if !commands.is_empty() && !self.prepare_retry(outcome, &topology, &mut retries).await {
                break;
            }
        }
        plan::merge_replies(plan.replies, replies, &initial_topology, &self.scripts)
    }

    /// Updates the topology after rejections and waits if needed. Returns false once the time for
    /// retries has elapsed.
    async fn prepare_retry(
        &self,
        outcome: Outcome,
        seen: &Arc<Topology>,
        retries: &mut Retries,
    ) -> bool {
        self.discovery.apply_moved(&outcome.moved);
        if outcome.node_lost {
            self.discovery.request_refresh();
        }
        if outcome.topology_outdated {
            self.discovery.refresh(seen).await;
        }
        retries.next(outcome.pause).await
    }

    /// Returns whether a primary is known to reject scripts with a shebang line.
    pub(super) fn rejects_shebang(&self) -> bool {
        let topology = self.discovery.current();
        topology
            .primaries()
            .iter()
            .any(|node| node.rejects_shebang())
    }

    /// Checks that every slot has a primary that replies.
    pub(super) async fn ping(&self) -> Result<(), GatewayError> {
        let topology = self.discovery.current();
        if topology.primaries().is_empty() {
            return Err(no_reachable_node());
        }
        let unavailable = topology.unavailable_slots();
        if unavailable > 0 {
            return Err(GatewayError::RedisDown(format!(
                "{unavailable} of {} slots have no reachable primary",
                keys::SLOTS
            )));
        }
        let pings = topology.primaries().iter().map(|node| super::ping(node));
        join_all(pings).await.into_iter().collect()
    }

    /// Opens a stream of messages.
    ///
    /// Published messages reach every node, so one subscription is enough. MONITOR reports only the
    /// commands of its own node, so it runs on all primaries.
    pub(super) async fn open_stream(
        &self,
        kind: StreamKind,
        names: Vec<Vec<u8>>,
    ) -> Result<MessageStream, GatewayError> {
        let topology = self.discovery.current();
        if kind == StreamKind::Monitor {
            return monitor(&topology).await;
        }
        // Subscribers of one channel share a node, so that PUBLISH there counts all of them.
        let preferred = names
            .first()
            .filter(|_| kind == StreamKind::Channels)
            .and_then(|channel| topology.owner(keys::slot(channel)))
            .filter(|node| node.is_up());
        let node = preferred
            .or_else(|| topology.any_primary(self.next_turn()))
            .ok_or_else(no_reachable_node)?;
        node.open_stream(kind, names).await
    }

    fn next_turn(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }
}

/// Merges the MONITOR streams of all primaries. The result ends with the first of them, because
/// otherwise the commands of that node would be missing without notice.
async fn monitor(topology: &Topology) -> Result<MessageStream, GatewayError> {
    let open = |node: &Arc<Node>| {
        let node = Arc::clone(node);
        async move { node.open_stream(StreamKind::Monitor, Vec::new()).await }
    };
    let opened = join_all(topology.primaries().iter().map(open)).await;
    let mut streams = Vec::with_capacity(opened.len());
    for (index, stream) in opened.into_iter().enumerate() {
        // Every stream starts with OK. Only the first one is forwarded.
        let skipped = usize::from(index > 0);
        let end = stream::iter([None]);
        streams.push(stream?.skip(skipped).map(Some).chain(end).boxed());
    }
    if streams.is_empty() {
        return Err(no_reachable_node());
    }
    let merged = stream::select_all(streams);
    Ok(merged
        .take_while(|message| future::ready(message.is_some()))
        .filter_map(future::ready)
        .boxed())
}

/// Limits the retries of one request, with exponential back-off.
struct Retries {
    started: Instant,
    count: u32,
    pause: Duration,
}

impl Retries {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            count: 0,
            pause: FIRST_PAUSE,
        }
    }

    /// Returns whether there is time for another retry. Waits before it if `pause` is set, or after
    /// several retries.
    async fn next(&mut self, pause: bool) -> bool {
        self.count += 1;
        if self.started.elapsed() > RETRY_TIMEOUT {
            return false;
        }
        if pause || self.count > IMMEDIATE_RETRIES {
            sleep(self.pause).await;
            self.pause = (self.pause * 2).min(MAX_PAUSE);
        }
        true
    }
}
