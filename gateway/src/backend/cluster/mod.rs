//! A Redis Cluster behind the seam: commands go to the nodes that serve their slots.
//!
//! The client library's own cluster connection refuses pipelines over several slots, loses the
//! order of commands and sends a whole pipeline again where one command was redirected. Here one
//! write goes to each node, and only what a node refused, and so did not run, goes again.
//!
//! Pure: `keys` and `route` (where a command goes), `plan` and `join` (commands to parts, replies
//! to one), `cursor`, `refusal`, `listing`. With the network: `watch` and `topology` (who serves
//! what), `round` (one write to each node).

mod cursor;
mod join;
mod keys;
mod listing;
mod plan;
mod refusal;
mod round;
mod route;
mod scripts;
mod topology;
mod transaction;
mod watch;

use std::{
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
    plan::{Plan, nobody},
    round::Outcome,
    scripts::Scripts,
    topology::Topology,
    watch::Map,
};
use super::{
    Reply,
    feed::{Feed, Kind},
    node::{Manner, Node},
};
use crate::{command::Command, error::Fault};

/// Bytes of scripts kept for nodes that do not have them.
const SCRIPTS: usize = 8 * 1024 * 1024;
/// How long a command is sent again while its slot is moved.
const PERSISTENCE: Duration = Duration::from_secs(2);
/// Redirections followed without a pause.
const HASTE: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// All primaries of a cluster.
pub(crate) struct Cluster {
    map: Arc<Map>,
    scripts: Scripts,
    turn: AtomicUsize,
}

impl Cluster {
    /// Connects, or begins to try: the cluster need not be there yet.
    pub(super) async fn open(seeds: Vec<ConnectionInfo>, manner: Manner) -> Option<Self> {
        Some(Self {
            map: Map::open(seeds, manner).await?,
            scripts: Scripts::new(SCRIPTS),
            turn: AtomicUsize::new(0),
        })
    }

    /// Each command for itself: a node that is gone fails only what had to go there.
    pub(super) async fn pipeline(&self, commands: Vec<Command>) -> Vec<Reply> {
        let topology = self.map.current();
        let (mut errands, wholes) = Plan::new(commands, &topology, &self.scripts).split();
        let mut replies: Vec<Reply> = vec![Err(Fault::Internal); errands.len()];
        let mut trials = Trials::begin();
        while !errands.is_empty() {
            let topology = self.map.current();
            let turn = self.turn();
            let mut outcome =
                round::run(errands, &topology, &self.scripts, turn, &mut replies).await;
            errands = std::mem::take(&mut outcome.again);
            if !errands.is_empty() && !self.learn(outcome, &topology, &mut trials).await {
                break;
            }
        }
        Plan::join(wholes, replies, &topology, &self.scripts)
    }

    /// Draws the conclusions of a round; false when it was the last.
    async fn learn(&self, outcome: Outcome, seen: &Arc<Topology>, trials: &mut Trials) -> bool {
        self.map.moved(&outcome.moved);
        if outcome.lost {
            self.map.doubt();
        }
        if outcome.stale {
            self.map.read_again(seen).await;
        }
        trials.another(outcome.pause).await
    }

    /// Whether every slot has a primary that answers.
    pub(super) async fn ping(&self) -> Result<(), Fault> {
        let topology = self.map.current();
        if topology.primaries().is_empty() {
            return Err(nobody());
        }
        let unserved = topology.unserved();
        if unserved > 0 {
            return Err(Fault::RedisDown(format!(
                "{unserved} of {} slots have no primary that answers",
                keys::SLOTS
            )));
        }
        let pings = topology.primaries().iter().map(|node| super::ping(node));
        join_all(pings).await.into_iter().collect()
    }

    /// A feed of what the cluster sends by itself: messages reach every node, what MONITOR tells
    /// of is each node's own.
    pub(super) async fn listen(&self, kind: Kind, names: Vec<Vec<u8>>) -> Result<Feed, Fault> {
        let topology = self.map.current();
        if kind == Kind::Monitor {
            return monitor(&topology).await;
        }
        let near = names
            .first()
            .filter(|_| kind == Kind::Channels)
            .and_then(|name| topology.owner(keys::slot(name)))
            .filter(|node| node.is_up());
        let turn = self.turn();
        let node = near.or_else(|| topology.any(turn)).ok_or_else(nobody)?;
        node.listen(kind, names).await
    }

    fn turn(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }
}

/// The feeds of all primaries as one, which begins but once and ends when the first of them does.
async fn monitor(topology: &Topology) -> Result<Feed, Fault> {
    let open = |node: &Arc<Node>| {
        let node = Arc::clone(node);
        async move { node.listen(Kind::Monitor, Vec::new()).await }
    };
    let feeds = join_all(topology.primaries().iter().map(open)).await;
    let mut all = Vec::with_capacity(feeds.len());
    for (place, feed) in feeds.into_iter().enumerate() {
        let greeting = usize::from(place > 0);
        // Without the others its share of the commands would be missing unnoticed.
        let end = stream::iter([None]);
        all.push(feed?.skip(greeting).map(Some).chain(end).boxed());
    }
    if all.is_empty() {
        return Err(nobody());
    }
    let merged = stream::select_all(all);
    Ok(merged
        .take_while(|line| std::future::ready(line.is_some()))
        .filter_map(std::future::ready)
        .boxed())
}

/// How often and how long one request is sent again.
struct Trials {
    begun: Instant,
    made: u32,
    pause: Duration,
}

impl Trials {
    fn begin() -> Self {
        Self {
            begun: Instant::now(),
            made: 0,
            pause: FIRST_PAUSE,
        }
    }

    /// Whether there is another, waiting for it if that helps.
    async fn another(&mut self, pause: bool) -> bool {
        self.made += 1;
        if self.begun.elapsed() > PERSISTENCE {
            return false;
        }
        if pause || self.made > HASTE {
            sleep(self.pause).await;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
        true
    }
}
