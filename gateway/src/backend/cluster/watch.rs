//! Keeps the map of slots true: on a timer, and whenever a reply shows that it is not.

use std::{
    sync::{Arc, PoisonError, RwLock, Weak},
    time::Duration,
};

use futures_util::future::join_all;
use redis::{ConnectionInfo, Pipeline, Value, cmd};
use tokio::{
    sync::{Mutex, Notify},
    time::{sleep, timeout},
};

use super::{
    listing::Listing,
    topology::{Topology, host_and_port},
};
use crate::backend::node::{Manner, Node};

/// How often the map is read again while all is well.
const CALM: Duration = Duration::from_secs(5);
/// And while a slot has no primary.
const ALERT: Duration = Duration::from_millis(100);
/// How long one node may take to tell.
const TELL: Duration = Duration::from_secs(1);

/// The map of slots as everyone shares it.
pub(super) struct Map {
    /// The nodes configured, of which one has to be there to begin with.
    seeds: Vec<Arc<Node>>,
    info: ConnectionInfo,
    manner: Manner,
    current: RwLock<Arc<Topology>>,
    /// One reads the map at a time; others who want it wait for that one.
    reading: Mutex<()>,
    wanted: Arc<Notify>,
}

impl Map {
    /// Reads the map, and goes on doing so for as long as this value lives.
    pub(super) async fn open(seeds: Vec<ConnectionInfo>, manner: Manner) -> Option<Arc<Self>> {
        let info = seeds.first()?.clone();
        let for_asking = Manner {
            connections: 1,
            replicas: None,
            ..manner
        };
        let seeds: Vec<_> = seeds
            .into_iter()
            .map(|seed| Arc::new(Node::open(seed, for_asking)))
            .collect();
        join_all(seeds.iter().map(|seed| seed.first_attempt())).await;
        let map = Arc::new(Self {
            seeds,
            info,
            manner,
            current: RwLock::new(Arc::new(Topology::unknown())),
            reading: Mutex::new(()),
            wanted: Arc::new(Notify::new()),
        });
        map.read_again(&map.current()).await;
        tokio::spawn(keep(Arc::downgrade(&map), Arc::clone(&map.wanted)));
        Some(map)
    }

    pub(super) fn current(&self) -> Arc<Topology> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    fn replace(&self, topology: Topology) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(topology);
    }

    /// Something does not fit the map: it will be read soon.
    pub(super) fn doubt(&self) {
        self.wanted.notify_one();
    }

    /// Slots have moved, as the nodes said that had them.
    pub(super) fn moved(&self, slots: &[(u16, Arc<Node>)]) {
        if !slots.is_empty() {
            self.replace(self.current().moved(slots));
            self.doubt();
        }
    }

    /// Reads the map, unless it is another than `seen` already.
    pub(super) async fn read_again(&self, seen: &Arc<Topology>) {
        let _reading = self.reading.lock().await;
        let known = self.current();
        if !Arc::ptr_eq(seen, &known) {
            return;
        }
        let mut asked: Vec<_> = known
            .primaries()
            .iter()
            .filter(|node| node.is_up())
            .collect();
        if asked.is_empty() {
            asked = self.seeds.iter().filter(|node| node.is_up()).collect();
        }
        let told = join_all(asked.into_iter().map(|node| listing(node))).await;
        let Some(newest) = told.into_iter().flatten().max_by_key(|told| told.epoch) else {
            return;
        };
        let topology = Topology::of(newest, &known, &self.info, self.manner);
        let attempts = topology.primaries().iter().map(|node| node.first_attempt());
        // One that takes long is used when it is there.
        let _ = timeout(TELL, join_all(attempts)).await;
        self.replace(topology);
    }
}

async fn keep(map: Weak<Map>, wanted: Arc<Notify>) {
    let mut pause = CALM;
    loop {
        tokio::select! {
            // Where one reply is in doubt more are, and reading once is enough for all.
            () = wanted.notified() => sleep(ALERT / 2).await,
            () = sleep(pause) => {}
        }
        let Some(map) = map.upgrade() else {
            return;
        };
        map.read_again(&map.current()).await;
        pause = if map.current().unserved() == 0 {
            CALM
        } else {
            ALERT
        };
    }
}

/// How the cluster looks to one node, if it says so in time.
async fn listing(node: &Node) -> Option<Listing> {
    let mut pipeline = Pipeline::new();
    let mut nodes = cmd("CLUSTER");
    nodes.arg("NODES");
    pipeline.add_command(nodes);
    let sent = timeout(TELL, node.send(pipeline)).await.ok()?;
    let reply = sent.replies.ok()?.pop()?;
    let (host, _) = host_and_port(node.info().addr())?;
    match reply {
        Ok(Value::BulkString(text)) => Listing::parse(str::from_utf8(&text).ok()?, host),
        Ok(Value::ServerError(error)) => {
            eprintln!(
                "redis-rest: {} does not tell of its cluster: {}",
                node.info().addr(),
                crate::reply::error_line(&error)
            );
            None
        }
        Ok(_) | Err(_) => None,
    }
}
