//! A primary dies, and its replica takes its place.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Cluster, Gateway, until};

const CLIENTS: usize = 8;
const SENT: usize = 20;

/// Counts an activity once, however often it is sent.
const ONCE: &str =
    "if redis.call('SADD', KEYS[2], ARGV[1]) == 1 then redis.call('INCR', KEYS[1]) end return 1";

/// A gateway that asks so many replicas for each write.
async fn gateway(cluster: &Cluster, replicas: usize) -> Gateway {
    Gateway::with(|config| {
        config.redis_url = cluster.url();
        config.wait_replicas = replicas;
        config.connections = 4;
    })
    .await
}

/// The slot 0..=5460 belongs to the first primary: a key there, and one elsewhere.
fn keys_of_first_and_others() -> (String, String) {
    // `CLUSTER KEYSLOT` says 5061 and 12182.
    ("bar".to_owned(), "foo".to_owned())
}

#[tokio::test]
async fn while_a_slot_has_no_primary_its_commands_fail_at_once_and_the_others_go_on() {
    let mut cluster = Cluster::start();
    let gateway = gateway(&cluster, 0).await;
    let (gone, there) = keys_of_first_and_others();
    let both = json!([["SET", gone, 1], ["SET", there, 1]]);
    let ok = json!({"result": "OK"});
    assert_eq!(gateway.pipeline(both.clone()).await, (200, json!([ok, ok])));
    let port = cluster.port(0);
    cluster.kill(0);
    let killed = Instant::now();
    let refused =
        format!("ERR redis is not reachable: 127.0.0.1:{port}: Connection refused (os error 111)");
    let mut told = false;
    let mut slowest = Duration::ZERO;
    loop {
        let begun = Instant::now();
        let (status, slots) = gateway.pipeline(both.clone()).await;
        slowest = slowest.max(begun.elapsed());
        assert_eq!((status, &slots[1]), (200, &ok));
        told |= slots[0] == json!({ "error": refused });
        if slots[0] == ok {
            break;
        }
        assert!(slots[0]["error"].is_string(), "{slots}");
        assert!(killed.elapsed() < Duration::from_secs(60), "{slots}");
    }
    eprintln!(
        "writes again after {:?}, slowest answer {slowest:?}",
        killed.elapsed()
    );
    assert!(told, "nobody was told that the primary is gone");
    assert!(
        slowest < Duration::from_secs(2),
        "an answer took {slowest:?}"
    );
    assert_eq!(
        gateway.get("/healthz").await,
        (200, json!({"result": "PONG"}))
    );
}

#[tokio::test]
async fn a_single_command_to_a_slot_without_a_primary_is_503_and_so_is_healthz() {
    let mut cluster = Cluster::start();
    let gateway = gateway(&cluster, 0).await;
    let (gone, _) = keys_of_first_and_others();
    // Nobody takes the place of the first.
    cluster.kill(3);
    let port = cluster.port(0);
    cluster.kill(0);
    let refused =
        format!("ERR redis is not reachable: 127.0.0.1:{port}: Connection refused (os error 111)");
    let deadline = Instant::now() + Duration::from_secs(20);
    while gateway.single(json!(["GET", gone])).await != (503, json!({ "error": refused })) {
        assert!(Instant::now() < deadline, "the reason never became clear");
    }
    assert_eq!(
        gateway.multi_exec(json!([["GET", gone]])).await,
        (503, json!({ "error": refused }))
    );
    let unhealthy = "ERR redis is not reachable: 5461 of 16384 slots have no primary that answers";
    assert_eq!(
        gateway.get("/healthz").await,
        (503, json!({ "error": unhealthy }))
    );
    assert_eq!(
        gateway.single(json!(["DBSIZE"])).await,
        (503, json!({ "error": refused }))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_replica_for_each_write_a_dead_primary_loses_nothing() {
    let lost = lost_when_a_primary_dies(1).await;
    assert_eq!(lost, 0, "acknowledged and lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_replicas_what_a_dead_primary_loses_is_little_and_nothing_counts_twice() {
    let lost = lost_when_a_primary_dies(0).await;
    assert!(lost < 1000, "{lost} acknowledged and lost");
}

/// Kills a primary under load, sends again what was not answered, and counts what was answered and
/// is gone. Fails where anything counted twice.
async fn lost_when_a_primary_dies(replicas: usize) -> usize {
    let mut cluster = Cluster::start();
    let gateway = Arc::new(gateway(&cluster, replicas).await);
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| tokio::spawn(send(Arc::clone(&gateway), Arc::clone(&stop), client)))
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    cluster.kill(0);
    let killed = Instant::now();
    if replicas > 0 {
        // The replica that takes over has none of its own until another node follows it.
        until("a replica takes over", || cluster.leads(3));
        cluster.revive(0);
    }
    let (slot, _) = keys_of_first_and_others();
    while gateway.single(json!(["SET", slot, 1])).await.0 != 200 {
        assert!(
            killed.elapsed() < Duration::from_secs(60),
            "no replica took over"
        );
    }
    let again = killed.elapsed();
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged: HashMap<String, usize> = HashMap::new();
    for client in clients {
        acknowledged.extend(client.await.unwrap());
    }
    let mut lost = 0;
    for (tag, acknowledged) in &acknowledged {
        let both = json!([["GET", tag], ["SCARD", format!("{tag}:seen")]]);
        let (status, slots) = gateway.pipeline(both).await;
        assert_eq!(status, 200, "{slots}");
        let total: usize = slots[0]["result"]
            .as_str()
            .map_or(0, |total| total.parse().unwrap());
        assert_eq!(
            json!({ "result": total }),
            slots[1],
            "{tag}: counted twice, or half"
        );
        assert!(total <= *acknowledged, "{tag}: more than was sent");
        lost += acknowledged - total;
    }
    let sent: usize = acknowledged.values().sum();
    eprintln!(
        "WAIT_REPLICAS={replicas}: {lost} of {sent} acknowledged activities lost, writes again after {again:?}"
    );
    assert!(sent > 100, "hardly any load: {sent}");
    lost
}

/// Sends until told to stop, what has no answer again and again; the activities of each user.
async fn send(gateway: Arc<Gateway>, stop: Arc<AtomicBool>, client: usize) -> Vec<(String, usize)> {
    let mut round = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut open: Vec<usize> = (0..SENT).collect();
        let begun = Instant::now();
        while !open.is_empty() {
            let commands: Vec<Value> = open
                .iter()
                .map(|user| {
                    let tag = format!("{{{client}:{user}}}");
                    json!(["EVAL", ONCE, 2, tag, format!("{tag}:seen"), round])
                })
                .collect();
            let (status, slots) = gateway.pipeline(json!(commands)).await;
            if status == 200 {
                let slots = slots.as_array().unwrap();
                let mut done = slots.iter().map(|slot| *slot == json!({"result": 1}));
                open.retain(|_| !done.next().unwrap());
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{slots}");
        }
        round += 1;
    }
    (0..SENT)
        .map(|user| (format!("{{{client}:{user}}}"), round))
        .collect()
}

#[tokio::test]
async fn a_write_without_its_replica_says_that_it_may_be_lost() {
    let mut cluster = Cluster::start();
    let gateway = Gateway::with(|config| {
        config.redis_url = cluster.url();
        config.wait_replicas = 1;
        config.wait_timeout_ms = 100;
    })
    .await;
    let (alone, followed) = keys_of_first_and_others();
    cluster.kill(3);
    until("the replica is missed", || {
        let told: String = cluster.run(0, &["INFO", "replication"]);
        told.contains("connected_slaves:0")
    });
    let unconfirmed = json!({"error": "ERR 0 of 1 replicas confirmed the write within 100 ms; it may have happened and may yet be lost"});
    assert_eq!(
        gateway
            .pipeline(json!([
                ["SET", followed, 1],
                ["SET", alone, 1],
                ["GET", followed],
                ["INCR", alone]
            ]))
            .await,
        (
            200,
            json!([{"result": "OK"}, unconfirmed, {"result": "1"}, unconfirmed])
        )
    );
    assert_eq!(
        gateway.single(json!(["SET", alone, 5])).await,
        (503, unconfirmed.clone())
    );
    assert_eq!(
        gateway.multi_exec(json!([["INCR", alone]])).await,
        (503, unconfirmed)
    );
    // Reading needs nobody, and what was written is there.
    assert_eq!(
        gateway.single(json!(["GET", alone])).await,
        (200, json!({"result": "6"}))
    );
    let error = "ERR unknown command 'NOSUCH', with args beginning with: ";
    assert_eq!(
        gateway
            .multi_exec(json!([["INCR", alone], ["NOSUCH"]]))
            .await,
        (400, json!({ "error": error }))
    );
}
