//! The same protocol over a Redis Cluster.

mod commands;
mod failover;
mod order;
mod resharding;
mod scripts;
mod transactions;

use std::sync::OnceLock;

use crate::support::{Cluster, Gateway};

/// The one all tests share that neither stop nodes nor move slots.
fn shared_cluster() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(Cluster::start)
}

/// A gateway before the shared cluster.
async fn gateway() -> Gateway {
    before(shared_cluster()).await
}

async fn before(cluster: &Cluster) -> Gateway {
    Gateway::with(|config| config.redis_url = cluster.url()).await
}
