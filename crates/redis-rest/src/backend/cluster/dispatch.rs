//! Sends commands to their nodes, one write per node, and collects those that have to be sent again.

use std::sync::Arc;

use futures_util::future::join_all;
use redis::{Cmd, Pipeline, Value, cmd};

use super::{
    plan::{NodeCommand, Target, no_reachable_node},
    rejection::Rejection,
    script_cache::ScriptCache,
    topology::Topology,
};
use crate::{
    backend::{
        Reply,
        node::{Node, Sent},
        reply_budget::ReplyBudget,
    },
    command::arguments_of,
    error::{GatewayError, error_line},
};

/// The effects of a batch besides its replies.
#[derive(Default)]
pub(super) struct Outcome {
    /// Commands that a node rejected, to be sent again.
    pub(super) retries: Vec<NodeCommand>,
    /// Slots that another primary serves now.
    pub(super) moved: Vec<(u16, Arc<Node>)>,
    /// Whether a temporary condition requires a pause before the retries.
    pub(super) pause: bool,
    /// Whether a node referred to one that the topology does not contain.
    pub(super) topology_outdated: bool,
    /// Whether a node is unreachable or a slot has no primary.
    pub(super) node_lost: bool,
}

/// The commands for one node.
struct Batch {
    node: Arc<Node>,
    pipeline: Pipeline,
    entries: Vec<Entry>,
}

/// One command of a batch.
struct Entry {
    /// The index of its reply.
    index: usize,
    target: Target,
    /// The index of the command in the pipeline of its batch.
    position: usize,
    /// Whether SCRIPT LOAD precedes the command.
    script_loaded: bool,
}

/// Sends all commands and stores their replies. Commands for the same node keep their order.
pub(super) async fn send_all(
    commands: Vec<NodeCommand>,
    topology: &Topology,
    scripts: &ScriptCache,
    turn: usize,
    budget: &Arc<ReplyBudget>,
    replies: &mut [Reply],
) -> Outcome {
    let mut outcome = Outcome::default();
    let nodes = topology.primaries().len().max(1);
    let capacity = commands.len().div_ceil(nodes);
    let mut batches: Vec<Batch> = Vec::with_capacity(nodes);
    for command in commands {
        let index = command.index;
        if let Err(error) = add_to_batch(command, topology, turn, capacity, &mut batches) {
            outcome.node_lost = true;
            set(replies, index, Err(error));
        }
    }
    let sent = join_all(batches.into_iter().map(|batch| async {
        let sent = batch.node.send(batch.pipeline, budget).await;
        (batch.node, batch.entries, sent)
    }));
    for (node, entries, sent) in sent.await {
        outcome.collect(&node, entries, sent, topology, scripts, replies);
    }
    outcome.retries.sort_by_key(|command| command.index);
    outcome
}

/// Returns the node for a target. `turn` selects it where any primary will do.
pub(super) fn node<'a>(
    target: &'a Target,
    topology: &'a Topology,
    turn: usize,
) -> Result<&'a Arc<Node>, GatewayError> {
    match target {
        Target::Slot(slot) => topology.owner(*slot).ok_or_else(|| {
            if topology.primaries().is_empty() {
                no_reachable_node()
            } else {
                GatewayError::RedisDown(format!("no primary serves slot {slot}"))
            }
        }),
        Target::Any => topology.any_primary(turn).ok_or_else(no_reachable_node),
        Target::Node(node) | Target::Importing(node) => Ok(node),
    }
}

/// Returns the commands that have to precede a command: SCRIPT LOAD and ASKING.
pub(super) fn preamble(target: &Target, script: Option<&[u8]>) -> impl Iterator<Item = Cmd> {
    let load = script.map(|text| {
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg(text);
        load
    });
    // ASKING comes last, because it applies only to the next command.
    let asking = matches!(target, Target::Importing(_)).then(|| cmd("ASKING"));
    load.into_iter().chain(asking)
}

/// Adds a command to the batch of its node. `capacity` is the expected number of commands per batch.
fn add_to_batch(
    command: NodeCommand,
    topology: &Topology,
    turn: usize,
    capacity: usize,
    batches: &mut Vec<Batch>,
) -> Result<(), GatewayError> {
    let NodeCommand {
        index,
        target,
        cmd,
        script,
    } = command;
    let node = node(&target, topology, turn)?;
    let existing = batches
        .iter()
        .position(|batch| Arc::ptr_eq(&batch.node, node));
    let batch = match existing {
        Some(existing) => batches.get_mut(existing),
        None => {
            batches.push(Batch {
                node: Arc::clone(node),
                pipeline: Pipeline::with_capacity(capacity),
                entries: Vec::with_capacity(capacity),
            });
            batches.last_mut()
        }
    };
    let batch = batch.ok_or(GatewayError::Internal)?;
    for first in preamble(&target, script.as_deref()) {
        batch.pipeline.add_command(first);
    }
    batch.entries.push(Entry {
        index,
        target,
        position: batch.pipeline.len(),
        script_loaded: script.is_some(),
    });
    batch.pipeline.add_command(cmd);
    Ok(())
}

impl Outcome {
    /// Stores the replies of one node, and schedules rejected commands for a retry.
    fn collect(
        &mut self,
        node: &Arc<Node>,
        entries: Vec<Entry>,
        sent: Sent,
        topology: &Topology,
        scripts: &ScriptCache,
        replies: &mut [Reply],
    ) {
        let node_replies = match sent.replies {
            Ok(node_replies) => node_replies,
            Err(error) => {
                self.node_lost = true;
                let error = with_node_address(error, node);
                for entry in entries {
                    set(replies, entry.index, Err(error.clone()));
                }
                return;
            }
        };
        let mut entries = entries.into_iter().peekable();
        let node_replies = node_replies.into_iter().zip(sent.pipeline.cmd_iter());
        for (position, (reply, cmd)) in node_replies.enumerate() {
            let Some(entry) = entries.next_if(|entry| entry.position == position) else {
                // ASKING or SCRIPT LOAD. If it failed, the next command fails too.
                continue;
            };
            let rejection = reply.as_ref().ok().and_then(Rejection::of);
            let retry = rejection
                .and_then(|rejection| self.retry(&rejection, &entry, cmd, node, topology, scripts));
            self.retries.extend(retry);
            // A retry overwrites this reply. It is the result if there is no time for the retry.
            set(replies, entry.index, final_reply(reply, node));
        }
    }

    /// Returns the retry of a rejected command, or `None` if the rejection is final.
    fn retry(
        &mut self,
        rejection: &Rejection,
        entry: &Entry,
        cmd: &Cmd,
        node: &Arc<Node>,
        topology: &Topology,
        scripts: &ScriptCache,
    ) -> Option<NodeCommand> {
        let (target, script) = match rejection {
            Rejection::NoScript if !entry.script_loaded => {
                let text = scripts.get(arguments_of(cmd).nth(1)?)?;
                let target = match &entry.target {
                    Target::Importing(node) => Target::Importing(Arc::clone(node)),
                    Target::Slot(_) | Target::Any | Target::Node(_) => {
                        Target::Node(Arc::clone(node))
                    }
                };
                (target, Some(text))
            }
            Rejection::NoScript => return None,
            Rejection::ClusterDown => {
                self.node_lost = true;
                return None;
            }
            Rejection::Moved(_) | Rejection::Ask(_) | Rejection::TryAgain | Rejection::ReadOnly => {
                let target = self.redirect(rejection, &entry.target, node, topology);
                (target, None)
            }
        };
        Some(NodeCommand {
            index: entry.index,
            target,
            cmd: cmd.clone(),
            script,
        })
    }

    /// Returns the next target of a rejected command, and records what the rejection reveals about
    /// the topology.
    pub(super) fn redirect(
        &mut self,
        rejection: &Rejection,
        target: &Target,
        node: &Node,
        topology: &Topology,
    ) -> Target {
        let (destination, importing) = match rejection {
            Rejection::Moved(address) => (topology.resolve(address, node), false),
            Rejection::Ask(address) => (topology.resolve(address, node), true),
            Rejection::ReadOnly => (None, false),
            Rejection::TryAgain | Rejection::NoScript | Rejection::ClusterDown => {
                self.pause = true;
                return target.clone();
            }
        };
        let Some(destination) = destination else {
            self.topology_outdated = true;
            self.pause = true;
            return target.clone();
        };
        let destination = Arc::clone(destination);
        if importing {
            return Target::Importing(destination);
        }
        if let Target::Slot(slot) = target {
            self.moved.push((*slot, destination));
            return Target::Slot(*slot);
        }
        Target::Node(destination)
    }
}

/// Adds the address of the node to the reason why Redis is unreachable.
pub(super) fn with_node_address(error: GatewayError, node: &Node) -> GatewayError {
    match error {
        GatewayError::RedisDown(reason) => {
            GatewayError::RedisDown(format!("{}: {reason}", node.info().addr()))
        }
        other => other,
    }
}

/// Turns CLUSTERDOWN into the error for an unreachable Redis, because the command did not run.
fn final_reply(reply: Reply, node: &Node) -> Reply {
    match &reply {
        Ok(value @ Value::ServerError(error))
            if Rejection::of(value) == Some(Rejection::ClusterDown) =>
        {
            let error = GatewayError::RedisDown(error_line(error));
            Err(with_node_address(error, node))
        }
        _ => reply,
    }
}

fn set(replies: &mut [Reply], index: usize, reply: Reply) {
    if let Some(entry) = replies.get_mut(index) {
        *entry = reply;
    }
}
