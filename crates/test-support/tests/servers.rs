//! Tests of the harness.

use std::collections::BTreeSet;
use std::time::Duration;

use test_support::{
    Gateway, Method, RedisOptions, RedisServer, Worker, json, redis, scaled, scan, unique_prefix,
    until,
};

#[test]
fn prefix_leaves_no_key_after_its_thread() {
    let prefix = std::thread::spawn(|| {
        let prefix = unique_prefix("clean");
        for name in ["{{P}:a}:b", "{{P}-renamed:a}:b"] {
            let key = name.replace("{P}", &prefix);
            let _: () = ::redis::cmd("SET")
                .arg(key)
                .arg(1)
                .query(&mut redis().connection())
                .unwrap();
        }
        prefix
    });
    let pattern = format!("{{{}*", prefix.join().unwrap());
    let left = scan(&mut redis().connection(), &pattern).unwrap();
    assert_eq!(left, BTreeSet::new());
}

#[tokio::test]
async fn miniflare_replaces_killed_workerd_with_its_queue() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let miniflare = Worker::builder()
        .store(&gateway.url())
        .json(
            "STORE_TIMEOUT_MS",
            json!(scaled(Duration::from_secs(1)).as_millis() as u64),
        )
        .shipped_queues()
        .miniflare()
        .start();
    let like = json!({ "user": "42", "action": "like", "target": "post-7" });
    let api = miniflare.api();
    api.post("/v1/activity", &like).await.assert_status(200);

    gateway.pause();
    let queued = json!({ "outcome": "queued", "points": 0 });
    api.post("/v1/activity", &like).await.assert(202, queued);
    miniflare.kill_workerd(|| ());
    gateway.resume();

    let again = until("another Worker", async || {
        // Nothing listens until workerd runs again.
        let json = &[("content-type", "application/json")];
        let sent = api.try_send(Method::POST, "/v1/activity", like.to_string(), json);
        sent.await.ok().filter(|response| response.status == 200)
    });
    assert_eq!(again.await.body["outcome"], "duplicate");
    let log = miniflare.log();
    assert!(!miniflare.log_from(log.len()).contains("Ready"), "{log}");
}
