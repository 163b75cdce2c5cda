//! Plans a pipeline: splits its commands by node, and merges the replies of the nodes.

use std::sync::Arc;

use redis::Cmd;

use super::{
    merge::Merge, route::Route, scan::ScanCursor, script_cache::ScriptCache, topology::Topology,
};
use crate::{
    backend::{Reply, node::Node},
    command::Command,
    error::GatewayError,
};

/// The destination of a command.
#[derive(Clone)]
pub(super) enum Target {
    /// The primary that serves this slot.
    Slot(u16),
    /// Any primary.
    Any,
    /// This node.
    Node(Arc<Node>),
    /// This node, which is importing the slot: ASKING has to precede the command.
    Importing(Arc<Node>),
}

/// A command for one node.
pub(super) struct NodeCommand {
    /// The index of its reply.
    pub(super) index: usize,
    pub(super) target: Target,
    pub(super) cmd: Cmd,
    /// A script to load before the command, because the node lacks it.
    pub(super) script: Option<Arc<[u8]>>,
}

/// The commands for nodes, and how to build the replies of the pipeline from those of the nodes.
pub(super) struct Plan {
    pub(super) commands: Vec<NodeCommand>,
    pub(super) replies: Vec<ReplyPlan>,
}

/// How to build the reply to one command of the pipeline from the next replies of the nodes.
pub(super) enum ReplyPlan {
    /// Uses one reply.
    Single,
    /// Merges the replies of `count` nodes.
    Merge { count: usize, merge: Merge },
    /// Merges the replies of `count` nodes to `SCRIPT EXISTS`.
    ScriptExists { count: usize, shas: Vec<Vec<u8>> },
    /// Uses one reply to SCAN and replaces its cursor.
    Scan(ScanCursor),
    /// Uses no reply: the command cannot be sent.
    Error(GatewayError),
}

impl Plan {
    /// Plans a pipeline. Adds the scripts in it to `scripts`.
    pub(super) fn new(commands: Vec<Command>, topology: &Topology, scripts: &ScriptCache) -> Self {
        let mut plan = Self {
            commands: Vec::with_capacity(commands.len()),
            replies: Vec::with_capacity(commands.len()),
        };
        for command in commands {
            let reply = plan.add(command, topology, scripts);
            plan.replies.push(reply.unwrap_or_else(ReplyPlan::Error));
        }
        plan
    }

    fn add(
        &mut self,
        command: Command,
        topology: &Topology,
        scripts: &ScriptCache,
    ) -> Result<ReplyPlan, GatewayError> {
        let route = {
            let name = command.name();
            scripts.observe(&name, &command);
            Route::of(&name, &command)?
        };
        match route {
            Route::Slot(slot) | Route::PreferSlot(slot) => {
                self.push(Target::Slot(slot), command);
                Ok(ReplyPlan::Single)
            }
            Route::Any => {
                self.push(Target::Any, command);
                Ok(ReplyPlan::Single)
            }
            Route::AllPrimaries(merge) => {
                let nodes = topology.primaries();
                if nodes.is_empty() {
                    return Err(no_reachable_node());
                }
                for node in nodes {
                    self.push(Target::Node(Arc::clone(node)), command.clone());
                }
                let count = nodes.len();
                if command.is("SCRIPT") && command.argument_is(1, "EXISTS") {
                    let shas = command.arguments().skip(2).map(<[u8]>::to_vec).collect();
                    return Ok(ReplyPlan::ScriptExists { count, shas });
                }
                Ok(ReplyPlan::Merge { count, merge })
            }
            Route::Split(parts, merge) => {
                let count = parts.len();
                for (slot, part) in parts {
                    self.push(Target::Slot(slot), part);
                }
                Ok(ReplyPlan::Merge { count, merge })
            }
            Route::Scan => {
                let Some(text) = command.argument(1) else {
                    // Redis replies with the error for the missing cursor.
                    self.push(Target::Any, command);
                    return Ok(ReplyPlan::Single);
                };
                let cursor = ScanCursor::parse(text, topology.checksum())?;
                let node = topology
                    .primaries()
                    .get(cursor.node)
                    .ok_or_else(no_reachable_node)?;
                self.push(
                    Target::Node(Arc::clone(node)),
                    cursor.node_command(&command),
                );
                Ok(ReplyPlan::Scan(cursor))
            }
        }
    }

    fn push(&mut self, target: Target, command: Command) {
        self.commands.push(NodeCommand {
            index: self.commands.len(),
            target,
            cmd: command.into_cmd(),
            script: None,
        });
    }
}

/// Builds the replies of the pipeline from the replies to the node commands.
pub(super) fn merge_replies(
    plans: Vec<ReplyPlan>,
    replies: Vec<Reply>,
    topology: &Topology,
    scripts: &ScriptCache,
) -> Vec<Reply> {
    let mut replies = replies.into_iter();
    let merged = plans.into_iter().map(|plan| match plan {
        ReplyPlan::Single => replies.next().unwrap_or(Err(GatewayError::Internal)),
        ReplyPlan::Merge { count, merge } => merge.replies(replies.by_ref().take(count)),
        ReplyPlan::ScriptExists { count, shas } => {
            let reply = Merge::Min.replies(replies.by_ref().take(count))?;
            Ok(scripts.mark_existing(reply, &shas))
        }
        ReplyPlan::Scan(cursor) => {
            let reply = replies.next().unwrap_or(Err(GatewayError::Internal))?;
            let nodes = topology.primaries().len();
            Ok(cursor.client_reply(reply, nodes, topology.checksum()))
        }
        ReplyPlan::Error(error) => Err(error),
    });
    merged.collect()
}

/// Returns the error for a cluster without a known or reachable primary.
pub(super) fn no_reachable_node() -> GatewayError {
    GatewayError::RedisDown("no node of the cluster is reachable".to_owned())
}
