//! One round: every part to its node, one write for each node, and what has to go again.

use std::sync::Arc;

use futures_util::future::join_all;
use redis::{Cmd, Pipeline, Value, cmd};

use super::{
    plan::{Part, To, nobody},
    refusal::Refusal,
    scripts::Scripts,
    topology::Topology,
};
use crate::{
    backend::{
        Reply,
        node::{Node, Sent},
    },
    command::arguments_of,
    error::Fault,
};

/// One part on its way, and where its reply belongs.
pub(super) struct Errand {
    pub(super) place: usize,
    part: Part,
    /// The script it needs, and that its node did not have.
    script: Option<Arc<[u8]>>,
}

impl Errand {
    pub(super) fn first(place: usize, part: Part) -> Self {
        Self {
            place,
            part,
            script: None,
        }
    }
}

/// What one round came to, apart from the replies.
#[derive(Default)]
pub(super) struct Outcome {
    /// What did not run where it was sent.
    pub(super) again: Vec<Errand>,
    /// Slots that other primaries serve now.
    pub(super) moved: Vec<(u16, Arc<Node>)>,
    /// Something passes by itself: the next round has to wait a little.
    pub(super) pause: bool,
    /// Nodes speak of others that the map does not have.
    pub(super) stale: bool,
    /// A node is gone.
    pub(super) lost: bool,
}

/// All for one node.
struct Parcel {
    node: Arc<Node>,
    pipeline: Pipeline,
    items: Vec<Item>,
}

/// One part in the pipeline of its parcel.
struct Item {
    place: usize,
    to: To,
    /// Where in the pipeline it stands.
    at: usize,
    /// Its script went before it.
    loaded: bool,
}

/// Sends every errand, in their order as far as they go to the same node.
pub(super) async fn run(
    errands: Vec<Errand>,
    topology: &Topology,
    scripts: &Scripts,
    turn: usize,
    replies: &mut [Reply],
) -> Outcome {
    let mut outcome = Outcome::default();
    let nodes = topology.primaries().len().max(1);
    let share = errands.len().div_ceil(nodes);
    let mut parcels: Vec<Parcel> = Vec::with_capacity(nodes);
    for errand in errands {
        match pack(errand, topology, turn, share, &mut parcels) {
            Ok(()) => {}
            Err((place, fault)) => {
                outcome.lost = true;
                set(replies, place, Err(fault));
            }
        }
    }
    let sent = join_all(parcels.into_iter().map(|parcel| async {
        let sent = parcel.node.send(parcel.pipeline).await;
        (parcel.node, parcel.items, sent)
    }));
    for (node, items, sent) in sent.await {
        outcome.sort(&node, items, sent, topology, scripts, replies);
    }
    outcome.again.sort_by_key(|errand| errand.place);
    outcome
}

/// The node a part goes to.
pub(super) fn node<'a>(
    to: &'a To,
    topology: &'a Topology,
    turn: usize,
) -> Result<&'a Arc<Node>, Fault> {
    match to {
        To::Slot(slot) => topology.owner(*slot).ok_or_else(|| {
            if topology.primaries().is_empty() {
                nobody()
            } else {
                Fault::RedisDown(format!("no primary serves slot {slot}"))
            }
        }),
        To::Any => topology.any(turn).ok_or_else(nobody),
        To::Node(node) | To::Importing(node) => Ok(node),
    }
}

/// What goes before a command: leave from a node that is taking its slot over, or its script.
pub(super) fn before(to: &To, script: Option<&[u8]>) -> impl Iterator<Item = Cmd> {
    let load = script.map(|text| {
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg(text);
        load
    });
    let asking = matches!(to, To::Importing(_)).then(|| cmd("ASKING"));
    // ASKING holds for the very next command.
    load.into_iter().chain(asking)
}

/// Puts an errand to the others for its node, of which there will be about `share`.
fn pack(
    errand: Errand,
    topology: &Topology,
    turn: usize,
    share: usize,
    parcels: &mut Vec<Parcel>,
) -> Result<(), (usize, Fault)> {
    let Errand {
        place,
        part: Part { to, cmd },
        script,
    } = errand;
    let node = node(&to, topology, turn).map_err(|fault| (place, fault))?;
    let known = parcels
        .iter()
        .position(|parcel| Arc::ptr_eq(&parcel.node, node));
    let parcel = match known {
        Some(known) => parcels.get_mut(known),
        None => {
            parcels.push(Parcel {
                node: Arc::clone(node),
                pipeline: Pipeline::with_capacity(share),
                items: Vec::with_capacity(share),
            });
            parcels.last_mut()
        }
    };
    let parcel = parcel.ok_or((place, Fault::Internal))?;
    for first in before(&to, script.as_deref()) {
        parcel.pipeline.add_command(first);
    }
    parcel.items.push(Item {
        place,
        to,
        at: parcel.pipeline.len(),
        loaded: script.is_some(),
    });
    parcel.pipeline.add_command(cmd);
    Ok(())
}

impl Outcome {
    /// Takes the replies of one node apart: final ones, and refusals that send a part elsewhere.
    fn sort(
        &mut self,
        node: &Arc<Node>,
        items: Vec<Item>,
        sent: Sent,
        topology: &Topology,
        scripts: &Scripts,
        replies: &mut [Reply],
    ) {
        let answered = match sent.replies {
            Ok(answered) => answered,
            Err(fault) => {
                self.lost = true;
                let fault = named(fault, node);
                for item in items {
                    set(replies, item.place, Err(fault.clone()));
                }
                return;
            }
        };
        let mut items = items.into_iter().peekable();
        let all = answered.into_iter().zip(sent.pipeline.cmd_iter());
        for (at, (reply, cmd)) in all.enumerate() {
            let Some(item) = items.next_if(|item| item.at == at) else {
                // Leave, or a script: what followed it tells whether that worked.
                continue;
            };
            let place = item.place;
            let elsewhere = match &reply {
                Ok(value) => Refusal::of(value).and_then(|refusal| {
                    self.elsewhere(&refusal, &item, cmd, node, topology, scripts)
                }),
                Err(_) => None,
            };
            if let Some((to, script)) = elsewhere {
                let cmd = cmd.clone();
                self.again.push(Errand {
                    place,
                    part: Part { to, cmd },
                    script,
                });
            }
            set(replies, place, final_reply(reply, node));
        }
    }

    /// Where a refused part goes next; nowhere if the refusal is the reply.
    fn elsewhere(
        &mut self,
        refusal: &Refusal,
        item: &Item,
        cmd: &Cmd,
        node: &Arc<Node>,
        topology: &Topology,
        scripts: &Scripts,
    ) -> Option<(To, Option<Arc<[u8]>>)> {
        match refusal {
            Refusal::NoScript if !item.loaded => {
                let text = scripts.text(arguments_of(cmd).nth(1)?)?;
                let to = match &item.to {
                    To::Importing(node) => To::Importing(Arc::clone(node)),
                    To::Slot(_) | To::Any | To::Node(_) => To::Node(Arc::clone(node)),
                };
                Some((to, Some(text)))
            }
            Refusal::NoScript => None,
            Refusal::Down => {
                self.lost = true;
                None
            }
            other => Some((self.redirected(other, &item.to, node, topology), None)),
        }
    }

    /// Where a redirection leads, and what it says about the map.
    pub(super) fn redirected(
        &mut self,
        refusal: &Refusal,
        to: &To,
        node: &Node,
        topology: &Topology,
    ) -> To {
        let (meant, asked) = match refusal {
            Refusal::Moved(address) => (topology.meant(address, node), false),
            Refusal::Ask(address) => (topology.meant(address, node), true),
            Refusal::ReadOnly => (None, false),
            Refusal::TryAgain | Refusal::NoScript | Refusal::Down => {
                self.pause = true;
                return to.clone();
            }
        };
        let Some(meant) = meant else {
            self.stale = true;
            self.pause = true;
            return to.clone();
        };
        let meant = Arc::clone(meant);
        if asked {
            return To::Importing(meant);
        }
        if let To::Slot(slot) = to {
            self.moved.push((*slot, meant));
            return To::Slot(*slot);
        }
        To::Node(meant)
    }
}

/// A fault with the node it happened at.
pub(super) fn named(fault: Fault, node: &Node) -> Fault {
    match fault {
        Fault::RedisDown(why) => Fault::RedisDown(format!("{}: {why}", node.info().addr())),
        other => other,
    }
}

/// A slot without a primary is as good as a Redis that is not there: nothing ran.
fn final_reply(reply: Reply, node: &Node) -> Reply {
    match &reply {
        Ok(value @ Value::ServerError(error)) if Refusal::of(value) == Some(Refusal::Down) => Err(
            named(Fault::RedisDown(crate::reply::error_line(error)), node),
        ),
        _ => reply,
    }
}

fn set(replies: &mut [Reply], place: usize, reply: Reply) {
    if let Some(own) = replies.get_mut(place) {
        *own = reply;
    }
}
