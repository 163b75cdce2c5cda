//! What the gateway stands before.

use test_support::{Gateway, RedisOptions, RedisServer};

/// One Redis or a cluster, with a gateway of its own.
pub struct Store {
    /// So many, where it is a cluster.
    pub primaries: Option<usize>,
    /// The Redis, or the cluster.
    pub redis: RedisServer,
    /// How it is reached.
    pub gateway: Gateway,
}

impl Store {
    /// Starts both.
    pub fn start(primaries: Option<usize>) -> Self {
        let redis = match primaries {
            None => RedisServer::spawn(RedisOptions::default()),
            Some(primaries) => RedisServer::spawn_cluster(primaries),
        };
        let gateway = Gateway::spawn(&redis.url());
        Self {
            primaries,
            redis,
            gateway,
        }
    }

    /// What it is, for people.
    pub fn title(&self) -> String {
        title(self.primaries)
    }
}

/// The same, of a store that need not run.
pub fn title(primaries: Option<usize>) -> String {
    match primaries {
        None => "one Redis".to_owned(),
        Some(1) => "cluster, 1 primary".to_owned(),
        Some(primaries) => format!("cluster, {primaries} primaries"),
    }
}
