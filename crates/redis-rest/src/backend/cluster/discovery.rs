//! Topology discovery: reads the topology from the nodes at an interval, and after a reply that
//! contradicts it.

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
    cluster_nodes::ClusterNodes,
    topology::{Topology, host},
};
use crate::log;
use crate::{
    backend::{
        node::{Node, NodeOptions},
        reply_budget::ReplyBudget,
    },
    error::error_line,
};

/// Interval between refreshes while every slot is available.
const INTERVAL: Duration = Duration::from_secs(5);
/// Interval between refreshes while a slot is unavailable.
const OUTAGE_INTERVAL: Duration = Duration::from_millis(100);
/// Delay of a requested refresh, which then serves all requests made in the meantime.
const REQUEST_DELAY: Duration = Duration::from_millis(50);
/// Timeout of a node's reply, and of connecting to new nodes.
const NODE_TIMEOUT: Duration = Duration::from_secs(1);

/// The current topology, shared by all requests.
pub(super) struct Discovery {
    /// The configured nodes, which are queried while no primary is reachable.
    seeds: Vec<Arc<Node>>,
    /// The first seed, whose credentials and transport apply to all nodes.
    seed_info: ConnectionInfo,
    options: NodeOptions,
    current: RwLock<Arc<Topology>>,
    /// Held during a refresh, so that concurrent callers share its result.
    refreshing: Mutex<()>,
    refresh_requested: Arc<Notify>,
}

impl Discovery {
    /// Reads the topology and starts a task that refreshes it until this value is dropped.
    ///
    /// Returns `None` without seeds.
    pub(super) async fn start(
        seeds: Vec<ConnectionInfo>,
        options: NodeOptions,
    ) -> Option<Arc<Self>> {
        let seed_info = seeds.first()?.clone();
        let seed_options = NodeOptions {
            connections: 1,
            replica_acks: None,
            ..options.clone()
        };
        let seeds: Vec<_> = seeds
            .into_iter()
            .map(|seed| Arc::new(Node::open(seed, seed_options.clone())))
            .collect();
        join_all(seeds.iter().map(|seed| seed.first_attempt())).await;
        let discovery = Arc::new(Self {
            seeds,
            seed_info,
            options,
            current: RwLock::new(Arc::new(Topology::empty())),
            refreshing: Mutex::new(()),
            refresh_requested: Arc::new(Notify::new()),
        });
        discovery.refresh(&discovery.current()).await;
        let requested = Arc::clone(&discovery.refresh_requested);
        tokio::spawn(refresh_periodically(Arc::downgrade(&discovery), requested));
        Some(discovery)
    }

    /// Returns the current topology.
    pub(super) fn current(&self) -> Arc<Topology> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    fn replace(&self, topology: Topology) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(topology);
    }

    /// Requests a refresh in the background.
    pub(super) fn request_refresh(&self) {
        self.refresh_requested.notify_one();
    }

    /// Assigns slots to the primaries that MOVED replies named, and requests a refresh.
    pub(super) fn apply_moved(&self, slots: &[(u16, Arc<Node>)]) {
        if !slots.is_empty() {
            self.replace(self.current().with_moved(slots));
            self.request_refresh();
        }
    }

    /// Reads the topology from the nodes, unless it has already changed since `seen`.
    pub(super) async fn refresh(&self, seen: &Arc<Topology>) {
        let _refreshing = self.refreshing.lock().await;
        let current = self.current();
        if !Arc::ptr_eq(seen, &current) {
            return;
        }
        let reachable = |nodes: &[Arc<Node>]| -> Vec<Arc<Node>> {
            nodes.iter().filter(|node| node.is_up()).cloned().collect()
        };
        let mut nodes = reachable(current.primaries());
        if nodes.is_empty() {
            nodes = reachable(&self.seeds);
        }
        let reports = join_all(nodes.iter().map(|node| cluster_nodes(node))).await;
        let newest = reports
            .into_iter()
            .flatten()
            .max_by_key(|report| report.epoch);
        let Some(newest) = newest else {
            return;
        };
        let topology = Topology::new(newest, &current, &self.seed_info, &self.options);
        let attempts = topology.primaries().iter().map(|node| node.first_attempt());
        // A node that takes longer is used as soon as it is connected.
        let _ = timeout(NODE_TIMEOUT, join_all(attempts)).await;
        self.replace(topology);
    }
}

async fn refresh_periodically(discovery: Weak<Discovery>, requested: Arc<Notify>) {
    let mut interval = INTERVAL;
    loop {
        tokio::select! {
            () = requested.notified() => sleep(REQUEST_DELAY).await,
            () = sleep(interval) => {}
        }
        let Some(discovery) = discovery.upgrade() else {
            return;
        };
        discovery.refresh(&discovery.current()).await;
        interval = if discovery.current().unavailable_slots() == 0 {
            INTERVAL
        } else {
            OUTAGE_INTERVAL
        };
    }
}

/// Returns the reply of a node to CLUSTER NODES, or `None` if it fails or times out.
async fn cluster_nodes(node: &Node) -> Option<ClusterNodes> {
    let mut command = cmd("CLUSTER");
    command.arg("NODES");
    let mut pipeline = Pipeline::new();
    pipeline.add_command(command);
    let sent = timeout(NODE_TIMEOUT, node.send(pipeline, &ReplyBudget::unlimited()))
        .await
        .ok()?;
    match sent.replies.ok()?.pop()? {
        Ok(Value::BulkString(text)) => {
            ClusterNodes::parse(str::from_utf8(&text).ok()?, host(node.info().addr())?)
        }
        Ok(Value::ServerError(error)) => {
            log::line(&format!(
                "CLUSTER NODES failed at {}: {}",
                node.info().addr(),
                error_line(&error)
            ));
            None
        }
        Ok(_) | Err(_) => None,
    }
}
