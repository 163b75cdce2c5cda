//! The redis-server and the gateway that all tests of a process share.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use redis::{Connection, RedisResult, cmd, pipe};

use crate::cluster;
use crate::gateway::Gateway;
use crate::redis_server::{RedisOptions, RedisServer};
use crate::rest_client::RestClient;
use crate::store_proxy::StoreProxy;

static REDIS: OnceLock<RedisServer> = OnceLock::new();

/// Returns the redis-server that all tests of this process share; with `CLUSTER=1` it is a cluster
/// of six nodes, with `CONFORMANCE_URL` a store elsewhere. Never flush it: it also holds the keys of
/// other tests, each under its own prefix.
pub fn redis() -> &'static RedisServer {
    REDIS.get_or_init(|| {
        if let Some(proxy) = proxy() {
            RedisServer::elsewhere(proxy.redis_port())
        } else if is_cluster() {
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
    SHARED.get_or_init(|| match proxy() {
        Some(proxy) => Gateway::elsewhere(proxy.address()),
        None => Gateway::spawn(&redis().url()),
    })
}

fn is_cluster() -> bool {
    env::var("CLUSTER").is_ok_and(|value| value == "1")
}

/// Returns a key prefix that nothing else uses. It begins with `CONFORMANCE_PREFIX`, so that a conformance
/// run can remove its keys. Those in the shared [`redis()`] are removed when the calling thread, thus its test, ends.
pub fn unique_prefix(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let run = env::var("CONFORMANCE_PREFIX").unwrap_or_default();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let prefix = format!("{run}{name}{}-{number}", std::process::id());
    PREFIXES.with_borrow_mut(|prefixes| prefixes.0.push(prefix.clone()));
    prefix
}

thread_local! {
    static PREFIXES: RefCell<Prefixes> = RefCell::default();
}

/// The prefixes of a test. Finding the keys of one reads all keys of the store, so each test leaves none to the next.
#[derive(Default)]
struct Prefixes(Vec<String>);

impl Prefixes {
    fn remove(&self, redis: &RedisServer) -> RedisResult<()> {
        let mut connection = redis.connection();
        let mut pipeline = pipe();
        for prefix in &self.0 {
            // Some tests append a name to their prefix.
            for key in scan(&mut connection, &format!("{{{prefix}[-:]*"))? {
                pipeline.unlink(key).ignore();
            }
        }
        pipeline.exec(&mut connection)
    }
}

impl Drop for Prefixes {
    fn drop(&mut self) {
        // A conformance run removes its keys at its end.
        if let (Some(redis), None) = (REDIS.get(), proxy()) {
            // The tests after this one would only take longer.
            let _ = self.remove(redis);
        }
    }
}

/// Returns the keys that match a pattern.
///
/// # Errors
///
/// Returns the error of Redis, or that a key is not UTF-8.
pub fn scan(connection: &mut Connection, pattern: &str) -> RedisResult<BTreeSet<String>> {
    let mut scan = cmd("SCAN");
    scan.cursor_arg(0)
        .arg("MATCH")
        .arg(pattern)
        .arg("COUNT")
        .arg(1000);
    scan.iter(connection)?.collect()
}

/// Returns the proxy in front of the store of a conformance run: the one at `CONFORMANCE_URL`, with
/// the token `CONFORMANCE_TOKEN`.
fn proxy() -> Option<&'static StoreProxy> {
    static SHARED: OnceLock<Option<StoreProxy>> = OnceLock::new();
    let start = || {
        let url = env::var("CONFORMANCE_URL").ok()?;
        let token = env::var("CONFORMANCE_TOKEN").expect("CONFORMANCE_TOKEN is set");
        // A thread of its own: tests call this in async functions, and the client blocks.
        let connect = std::thread::spawn(move || RestClient::connect(&url, &token));
        let store = connect.join().expect("no panic");
        let prefix = env::var("CONFORMANCE_PREFIX").expect("CONFORMANCE_PREFIX is set");
        Some(StoreProxy::start(
            &store.expect("the store responds"),
            &prefix,
        ))
    };
    SHARED.get_or_init(start).as_ref()
}
