//! Tests of the harness: each server starts, responds, ends and restarts.

use std::collections::BTreeSet;

use test_support::{
    Gateway, Method, RedisOptions, RedisServer, Worker, gateway, json, redis, scan, unique_prefix,
    until,
};

#[test]
fn redis_is_shared_within_a_process() {
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| redis().url());
        (redis().url(), second.join().unwrap())
    });
    assert_eq!(first, second);
    let pong: String = ::redis::cmd("PING")
        .query(&mut redis().connection())
        .unwrap();
    assert_eq!(pong, "PONG");
}

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

#[test]
fn append_only_redis_keeps_data_after_kill() {
    let mut server = RedisServer::spawn(RedisOptions::default().append_only());
    let url = server.url();
    let _: () = ::redis::cmd("SET")
        .arg("kept")
        .arg(7)
        .query(&mut server.connection())
        .unwrap();

    server.kill();
    assert!(
        ::redis::Client::open(url.clone())
            .unwrap()
            .get_connection()
            .is_err()
    );
    server.restart();

    assert_eq!(server.url(), url);
    let kept: u32 = ::redis::cmd("GET")
        .arg("kept")
        .query(&mut server.connection())
        .unwrap();
    assert_eq!(kept, 7);
}

#[test]
fn acl_restricts_only_its_user() {
    let options = RedisOptions::default().acl("user ours on >secret ~ours:* +@all");
    let server = RedisServer::spawn(options);
    let client = ::redis::Client::open(server.url_as("ours", "secret")).unwrap();
    let mut ours = client.get_connection().unwrap();
    let set = |key: &str| ::redis::cmd("SET").arg(key).arg(1).to_owned();

    assert_eq!(set("ours:1").query(&mut ours), Ok(()));
    let refused = set("theirs:1").query::<()>(&mut ours).unwrap_err();
    assert_eq!(refused.code(), Some("NOPERM"));
    assert_eq!(set("theirs:1").query(&mut server.connection()), Ok(()));
}

#[tokio::test]
async fn worker_runs_in_workerd_and_miniflare() {
    let workerd = Worker::start();
    workerd.api().get("/").await.assert_status(200);
    let miniflare = Worker::builder().miniflare().start();
    miniflare.api().get("/").await.assert_status(200);
    assert_ne!(workerd.prefix(), miniflare.prefix());
}

#[tokio::test]
async fn killed_worker_refuses_connections() {
    let mut worker = Worker::start();
    let api = worker.api();
    worker.kill();
    let response = api.try_send(Method::GET, "/", "", &[]).await;
    assert!(response.unwrap_err().is_connect());
}

#[tokio::test]
async fn miniflare_replaces_killed_workerd_with_its_queue() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let miniflare = Worker::builder()
        .store(&gateway.url())
        .json("STORE_TIMEOUT_MS", json!(1000))
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

#[test]
fn shared_gateway_listens_on_loopback() {
    assert!(gateway().url().starts_with("http://127.0.0.1:"));
}
