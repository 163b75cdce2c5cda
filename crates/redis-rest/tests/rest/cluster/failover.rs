//! A primary fails, and its replica is promoted.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use test_support::scaled;

use crate::support::{Cluster, Gateway, failed, ok, scaled_ms, wait_until, within};

const CLIENTS: usize = 8;
const USERS_PER_CLIENT: usize = 20;

/// The rounds of all clients before and after a failover.
const ROUNDS: usize = 10 * CLIENTS;

/// The time in which a replica is promoted.
fn deadline() -> Duration {
    scaled(Duration::from_secs(60))
}

/// Counts an activity once, even if it is sent repeatedly.
const COUNT_ONCE: &str =
    "if redis.call('SADD', KEYS[2], ARGV[1]) == 1 then redis.call('INCR', KEYS[1]) end return 1";

/// Starts a gateway with `WAIT_REPLICAS` set to `replicas`.
async fn gateway(cluster: &Cluster, replicas: usize) -> Gateway {
    Gateway::with(|config| {
        config.redis_url = cluster.url();
        config.wait_replicas = replicas;
        config.connections = 4;
    })
    .await
}

/// A key on the first primary, which serves slots 0 to 5460: `CLUSTER KEYSLOT` returns 5061.
const FIRST_NODE_KEY: &str = "bar";
/// A key on another primary: `CLUSTER KEYSLOT` returns 12182.
const OTHER_NODE_KEY: &str = "foo";

#[tokio::test]
async fn failover_affects_only_slots_of_dead_primary() {
    let mut cluster = Cluster::start();
    let gateway = gateway(&cluster, 0).await;
    let both = json!([["SET", FIRST_NODE_KEY, 1], ["SET", OTHER_NODE_KEY, 1]]);
    let done = json!({"result": "OK"});
    responds!(gateway.pipeline(both.clone()) => (200, json!([done, done])));
    let port = cluster.port(0);
    cluster.kill(0);
    let killed = Instant::now();
    let refused =
        format!("ERR redis is not reachable: 127.0.0.1:{port}: Connection refused (os error 111)");
    let mut refusal_seen = false;
    let mut slowest = Duration::ZERO;
    loop {
        let started = Instant::now();
        let (status, results) = gateway.pipeline(both.clone()).await;
        slowest = slowest.max(started.elapsed());
        assert_eq!((status, &results[1]), (200, &done));
        refusal_seen |= results[0] == json!({ "error": refused });
        if results[0] == done {
            break;
        }
        assert!(results[0]["error"].is_string(), "{results}");
        assert!(killed.elapsed() < deadline(), "{results}");
    }
    let recovery_time = killed.elapsed();
    eprintln!("writes succeeded again after {recovery_time:?}, slowest response {slowest:?}");
    assert!(refusal_seen, "no response reported the unreachable primary");
    assert!(slowest < scaled(Duration::from_secs(2)), "{slowest:?}");
    responds!(gateway.get("/healthz") => ok("PONG"));
}

#[tokio::test]
async fn slot_without_primary_returns_503() {
    let mut cluster = Cluster::start();
    let gateway = gateway(&cluster, 0).await;
    // Kills the replica first, so that no node is promoted.
    cluster.kill(3);
    let port = cluster.port(0);
    cluster.kill(0);
    let refused =
        format!("ERR redis is not reachable: 127.0.0.1:{port}: Connection refused (os error 111)");
    // Each of the two connections notices it on its own. Consecutive requests use both.
    let both_refused = async {
        while gateway.single(json!(["GET", FIRST_NODE_KEY])).await != failed(503, &refused)
            || gateway.multi_exec(json!([["GET", FIRST_NODE_KEY]])).await != failed(503, &refused)
        {
        }
    };
    within("the responses contain the reason", both_refused).await;
    let unhealthy = "ERR redis is not reachable: 5461 of 16384 slots have no reachable primary";
    responds!(gateway.get("/healthz") => failed(503, unhealthy));
    responds!(gateway.single(json!(["DBSIZE"])) => failed(503, &refused));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_with_wait_loses_no_write() {
    assert_eq!(writes_lost_in_failover(1).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_without_wait_counts_nothing_twice() {
    let lost = writes_lost_in_failover(0).await;
    assert!(lost < 1000, "{lost} acknowledged writes were lost");
}

/// Kills a primary under load, with clients that retry failed writes, and returns the number of
/// acknowledged writes that were lost. Panics if a write was applied twice.
async fn writes_lost_in_failover(replicas: usize) -> usize {
    let mut cluster = Cluster::start();
    let gateway = Arc::new(gateway(&cluster, replicas).await);
    let (stop, rounds) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let run = |client| {
        let (gateway, stop, rounds) = (gateway.clone(), stop.clone(), rounds.clone());
        tokio::spawn(run_client(gateway, stop, rounds, client))
    };
    let clients: Vec<_> = (0..CLIENTS).map(run).collect();
    let load = async || {
        let before = rounds.load(Ordering::Relaxed);
        while rounds.load(Ordering::Relaxed) < before + ROUNDS {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within("activities are acknowledged", load()).await;
    cluster.kill(0);
    let killed = Instant::now();
    if replicas > 0 {
        // The promoted replica has no replica of its own until the killed node returns as one.
        wait_until("the replica is promoted", || cluster.is_primary(3));
        cluster.restart(0);
    }
    while gateway.single(json!(["SET", FIRST_NODE_KEY, 1])).await.0 != 200 {
        assert!(killed.elapsed() < deadline(), "no replica was promoted");
    }
    let recovery_time = killed.elapsed();
    within("activities are acknowledged again", load()).await;
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged: HashMap<String, usize> = HashMap::new();
    for client in clients {
        acknowledged.extend(client.await.unwrap());
    }
    let mut lost = 0;
    for (tag, acknowledged) in &acknowledged {
        let both = json!([["GET", tag], ["SCARD", format!("{tag}:seen")]]);
        let (status, results) = gateway.pipeline(both).await;
        assert_eq!(status, 200, "{results}");
        let total = results[0]["result"].as_str();
        let total: usize = total.map_or(0, |total| total.parse().unwrap());
        let seen = json!({ "result": total });
        assert_eq!(seen, results[1], "{tag}: applied twice or partially");
        assert!(total <= *acknowledged, "{tag}: counted more than was sent");
        lost += acknowledged - total;
    }
    let sent: usize = acknowledged.values().sum();
    eprintln!(
        "WAIT_REPLICAS={replicas}: {lost} of {sent} acknowledged activities lost, writes succeeded again after {recovery_time:?}"
    );
    assert!(sent > 100, "too little load: {sent} activities");
    lost
}

/// Sends activities until `stop` is set, and retries until each of them is acknowledged. Returns the
/// number of activities of each user.
async fn run_client(
    gateway: Arc<Gateway>,
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicUsize>,
    client: usize,
) -> Vec<(String, usize)> {
    let mut round = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut unacknowledged: Vec<usize> = (0..USERS_PER_CLIENT).collect();
        let started = Instant::now();
        while !unacknowledged.is_empty() {
            let commands = unacknowledged.iter().map(|user| {
                let tag = format!("{{{client}:{user}}}");
                json!(["EVAL", COUNT_ONCE, 2, tag, format!("{tag}:seen"), round])
            });
            let (status, results) = gateway.pipeline(commands.collect()).await;
            if status == 200 {
                let results = results.as_array().unwrap();
                let mut acknowledged = results.iter().map(|result| *result == json!({"result": 1}));
                unacknowledged.retain(|_| !acknowledged.next().unwrap());
            }
            assert!(started.elapsed() < deadline(), "{results}");
        }
        round += 1;
        rounds.fetch_add(1, Ordering::Relaxed);
    }
    (0..USERS_PER_CLIENT)
        .map(|user| (format!("{{{client}:{user}}}"), round))
        .collect()
}

#[tokio::test]
async fn unconfirmed_write_returns_error() {
    let (mut cluster, timeout) = (Cluster::start(), scaled_ms(100));
    let gateway = Gateway::with(|config| {
        config.redis_url = cluster.url();
        config.wait_replicas = 1;
        config.wait_timeout_ms = timeout;
    })
    .await;
    cluster.kill(3);
    wait_until("the primary has no replica", || {
        let info: String = cluster.run(0, &["INFO", "replication"]);
        info.contains("connected_slaves:0")
    });
    let unconfirmed = format!(
        "ERR 0 of 1 replicas confirmed the write within {timeout} ms; the write may have been applied and may still be lost"
    );
    let unconfirmed = json!({ "error": unconfirmed });
    let commands = json!([
        ["SET", OTHER_NODE_KEY, 1],
        ["SET", FIRST_NODE_KEY, 1],
        ["GET", OTHER_NODE_KEY],
        ["INCR", FIRST_NODE_KEY]
    ]);
    let results = json!([{"result": "OK"}, unconfirmed, {"result": "1"}, unconfirmed]);
    responds!(gateway.pipeline(commands) => (200, results));
    responds!(gateway.single(json!(["SET", FIRST_NODE_KEY, 5])) => (503, unconfirmed.clone()));
    responds!(gateway.multi_exec(json!([["INCR", FIRST_NODE_KEY]])) => (503, unconfirmed));
    // Reads do not wait for replicas, and the writes were applied.
    responds!(gateway.single(json!(["GET", FIRST_NODE_KEY])) => ok("6"));
    let error = "ERR wrong number of arguments for 'get' command";
    responds!(gateway.multi_exec(json!([["INCR", FIRST_NODE_KEY], ["GET"]])) => failed(400, error));
}
