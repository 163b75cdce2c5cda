//! Commands → parts for nodes, and how the replies to the parts become those to the commands.

use std::sync::Arc;

use redis::{Cmd, Value};

use super::{
    cursor::Cursor, join::Join, round::Errand, route::Route, scripts::Scripts, topology::Topology,
};
use crate::{
    backend::{Reply, node::Node},
    command::Command,
    error::Fault,
    script::sha1_hex,
};

/// Where a part goes.
#[derive(Clone)]
pub(super) enum To {
    /// To whoever serves this slot.
    Slot(u16),
    /// To any primary.
    Any,
    /// To this node.
    Node(Arc<Node>),
    /// To this node, which is just taking the slot over.
    Importing(Arc<Node>),
}

/// One command for one node.
pub(super) struct Part {
    pub(super) to: To,
    pub(super) cmd: Cmd,
}

/// What the commands of a pipeline come to.
pub(super) struct Plan {
    errands: Vec<Errand>,
    wholes: Vec<Whole>,
}

/// How the replies to the parts of one command become one.
enum Whole {
    /// There is one, and it is the reply.
    Part,
    /// So many, joined.
    Parts(usize, Join),
    /// So many, each telling which of these scripts it knows.
    Known(usize, Vec<Vec<u8>>),
    /// One, of a scan that stands here.
    Scan(Cursor),
    /// None: the command cannot be carried out.
    Fault(Fault),
}

impl Plan {
    pub(super) fn new(commands: Vec<Command>, topology: &Topology, scripts: &Scripts) -> Self {
        let mut plan = Self {
            errands: Vec::with_capacity(commands.len()),
            wholes: Vec::with_capacity(commands.len()),
        };
        for command in commands {
            let whole = plan.add(command, topology, scripts);
            plan.wholes.push(whole.unwrap_or_else(Whole::Fault));
        }
        plan
    }

    fn add(
        &mut self,
        command: Command,
        topology: &Topology,
        scripts: &Scripts,
    ) -> Result<Whole, Fault> {
        let route = {
            let name = command.name();
            remember(&name, &command, scripts);
            Route::of(&name, &command)?
        };
        match route {
            Route::Slot(slot) | Route::Near(slot) => Ok(self.part(To::Slot(slot), command)),
            Route::Any => Ok(self.part(To::Any, command)),
            Route::All(join) => {
                let nodes = topology.primaries();
                if nodes.is_empty() {
                    return Err(nobody());
                }
                let shas: Vec<Vec<u8>> = command.arguments().skip(2).map(<[u8]>::to_vec).collect();
                for node in nodes {
                    self.part(To::Node(Arc::clone(node)), command.clone());
                }
                Ok(match join {
                    Join::Every => Whole::Known(nodes.len(), shas),
                    join => Whole::Parts(nodes.len(), join),
                })
            }
            Route::Pieces(pieces, join) => {
                let count = pieces.len();
                for (slot, piece) in pieces {
                    self.part(To::Slot(slot), piece);
                }
                Ok(Whole::Parts(count, join))
            }
            Route::Scan => {
                let Some(text) = command.argument(1) else {
                    return Ok(self.part(To::Any, command));
                };
                let cursor = Cursor::read(text, topology.check())?;
                let node = topology.primaries().get(cursor.node).ok_or_else(nobody)?;
                let at = cursor.at.to_string();
                let arguments = command.arguments().enumerate();
                let own = Command::of(arguments.map(|(place, argument)| match place {
                    1 => at.as_bytes(),
                    _ => argument,
                }));
                self.part(To::Node(Arc::clone(node)), own);
                Ok(Whole::Scan(cursor))
            }
        }
    }

    fn part(&mut self, to: To, command: Command) -> Whole {
        let cmd = command.into_cmd();
        let place = self.errands.len();
        self.errands.push(Errand::first(place, Part { to, cmd }));
        Whole::Part
    }

    /// The reply to each command, from those to the parts.
    pub(super) fn join(
        wholes: Wholes,
        replies: Vec<Reply>,
        topology: &Topology,
        scripts: &Scripts,
    ) -> Vec<Reply> {
        let mut replies = replies.into_iter();
        let one = |whole| match whole {
            Whole::Part => replies.next().unwrap_or(Err(Fault::Internal)),
            Whole::Parts(count, join) => join.of(replies.by_ref().take(count)),
            Whole::Known(count, shas) => {
                let reply = Join::Every.of(replies.by_ref().take(count));
                reply.map(|reply| with_known(reply, &shas, scripts))
            }
            Whole::Scan(cursor) => {
                let reply = replies.next().unwrap_or(Err(Fault::Internal));
                reply.map(|reply| scanned(reply, cursor, topology))
            }
            Whole::Fault(fault) => Err(fault),
        };
        wholes.0.into_iter().map(one).collect()
    }

    pub(super) fn split(self) -> (Vec<Errand>, Wholes) {
        (self.errands, Wholes(self.wholes))
    }
}

/// How the replies become one for each command.
pub(super) struct Wholes(Vec<Whole>);

/// There is no primary at all, or none that is known.
pub(super) fn nobody() -> Fault {
    Fault::RedisDown("no node of the cluster answers".to_owned())
}

fn remember(name: &str, command: &Command, scripts: &Scripts) {
    let sub = |word: &[u8]| {
        command
            .argument(1)
            .is_some_and(|sub| sub.eq_ignore_ascii_case(word))
    };
    let text = match name {
        "EVAL" | "EVAL_RO" => command.argument(1),
        "SCRIPT" if sub(b"LOAD") => command.argument(2),
        "SCRIPT" if sub(b"FLUSH") => {
            scripts.forget();
            None
        }
        _ => None,
    };
    if let Some(text) = text {
        scripts.learn(sha1_hex(text), text);
    }
}

/// A script whose text is here is as good as loaded.
fn with_known(mut reply: Value, shas: &[Vec<u8>], scripts: &Scripts) -> Value {
    if let Value::Array(known) = &mut reply {
        for (known, sha) in known.iter_mut().zip(shas) {
            if scripts.text(sha).is_some() {
                *known = Value::Int(1);
            }
        }
    }
    reply
}

/// The reply to SCAN with a cursor of our own.
fn scanned(mut reply: Value, cursor: Cursor, topology: &Topology) -> Value {
    if let Value::Array(values) = &mut reply
        && let Some(Value::BulkString(next)) = values.first_mut()
        && let Some(at) = str::from_utf8(next).ok().and_then(|next| next.parse().ok())
    {
        *next = cursor
            .next(at, topology.primaries().len(), topology.check())
            .into_bytes();
    }
    reply
}
