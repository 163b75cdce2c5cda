//! Tests of the protocol against a Redis Cluster.

mod commands;
mod failover;
mod pipeline_order;
mod resharding;
mod scripts;
mod transactions;

use std::sync::OnceLock;

use crate::support::{Cluster, Gateway};

/// Returns the cluster that all tests share, except those that stop nodes or move slots.
fn shared_cluster() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(Cluster::start_without_failover)
}

/// Starts a gateway for the shared cluster.
async fn gateway() -> Gateway {
    gateway_for(shared_cluster()).await
}

/// Starts a gateway for `cluster`.
async fn gateway_for(cluster: &Cluster) -> Gateway {
    Gateway::with(|config| config.redis_url = cluster.url()).await
}
