//! The redis-server and the gateway that all tests of a process share.

use std::sync::OnceLock;

use crate::cluster;
use crate::gateway::Gateway;
use crate::redis_server::{RedisOptions, RedisServer};

/// Returns the redis-server that all tests of this process share; with `CLUSTER=1` it is a cluster
/// of six nodes. Never flush it: it also holds the keys of other tests, each under its own prefix.
pub fn redis() -> &'static RedisServer {
    static SHARED: OnceLock<RedisServer> = OnceLock::new();
    SHARED.get_or_init(|| {
        if std::env::var("CLUSTER").is_ok_and(|value| value == "1") {
            // The smallest recommended cluster: three primaries with a replica each.
            cluster::spawn(3, 1)
        } else {
            RedisServer::spawn(RedisOptions::default())
        }
    })
}

/// Returns the gateway that all tests of this process share, in front of the shared [`redis()`].
pub fn gateway() -> &'static Gateway {
    static SHARED: OnceLock<Gateway> = OnceLock::new();
    SHARED.get_or_init(|| Gateway::spawn(&redis().url()))
}
