//! The harness can be trusted: each server starts, answers, dies and comes back.

use test_support::{
    Gateway, Method, RedisOptions, RedisServer, Worker, gateway, json, redis, until,
};

#[test]
fn all_tests_of_a_process_share_one_redis() {
    let (here, there) = std::thread::scope(|scope| {
        let there = scope.spawn(|| redis().url());
        (redis().url(), there.join().unwrap())
    });
    assert_eq!(here, there);
    let pong: String = ::redis::cmd("PING")
        .query(&mut redis().connection())
        .unwrap();
    assert_eq!(pong, "PONG");
}

#[test]
fn an_append_only_redis_comes_back_from_a_kill_with_all_it_knew() {
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
fn an_acl_holds_for_its_user_only() {
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
async fn the_worker_runs_in_workerd_and_in_wrangler() {
    let workerd = Worker::start();
    workerd.api().get("/").await.assert_status(200);
    let wrangler = Worker::builder().start_wrangler();
    wrangler.api().get("/").await.assert_status(200);
    assert_ne!(workerd.prefix(), wrangler.prefix());
}

#[tokio::test]
async fn a_killed_worker_answers_no_more() {
    let mut worker = Worker::start();
    let api = worker.api();
    worker.kill();
    let answer = api.try_send(Method::GET, "/", "", &[]).await;
    assert!(answer.unwrap_err().is_connect());
}

#[tokio::test]
async fn wrangler_starts_another_worker_for_one_that_was_killed_with_its_queue() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let worker = Worker::builder().store(&gateway.url()).shipped_queues();
    let wrangler = worker.start_wrangler();
    let like = json!({ "user": "42", "action": "like", "target": "post-7" });
    let api = wrangler.api();
    api.post("/v1/activity", &like).await.assert_status(200);

    gateway.pause();
    let held = json!({ "outcome": "queued", "points": 0 });
    api.post("/v1/activity", &like).await.assert(202, held);
    wrangler.kill_workerd(|| ());
    gateway.resume();

    let again = until("another Worker", async || {
        let answer = api.post("/v1/activity", &like).await;
        (answer.status == 200).then_some(answer)
    });
    assert_eq!(again.await.body["outcome"], "duplicate");
    let log = wrangler.log();
    assert!(!wrangler.log_from(log.len()).contains("Ready"), "{log}");
}

#[test]
fn the_shared_gateway_reaches_the_shared_redis() {
    assert!(gateway().url().starts_with("http://127.0.0.1:"));
}
