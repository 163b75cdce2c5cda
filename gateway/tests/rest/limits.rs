//! Sizes, counts and deadlines; every refusal is JSON.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Gateway, Redis, TOKEN, ask, prefix};

fn too_large(limit: usize, actual: usize) -> serde_json::Value {
    let see =
        "See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details";
    json!({"error": format!("ERR max request size exceeded. Limit: {limit} bytes, Actual: {actual} bytes. {see}")})
}

#[tokio::test]
async fn a_command_over_the_limit_is_413_and_its_neighbours_run() {
    let gateway = Gateway::with(|config| config.max_command_bytes = 100).await;
    let big = json!(["ECHO", "x".repeat(97)]);
    let fits = json!(["ECHO", "x".repeat(96)]);
    let echoed = json!({"result": "x".repeat(96)});
    assert_eq!(gateway.single(fits.clone()).await, (200, echoed.clone()));
    assert_eq!(
        gateway.single(big.clone()).await,
        (413, too_large(100, 101))
    );
    assert_eq!(
        gateway.pipeline(json!([fits, big, fits])).await,
        (200, json!([echoed, too_large(100, 101), echoed]))
    );
    assert_eq!(
        gateway.multi_exec(json!([fits, big])).await,
        (413, too_large(100, 101))
    );
}

#[tokio::test]
async fn the_default_limit_is_ten_mebibytes_a_command() {
    let gateway = Gateway::start().await;
    let limit = 10 * 1024 * 1024;
    assert_eq!(
        gateway.post("/strlen", vec![b'x'; limit]).await,
        (413, too_large(limit, limit + 6))
    );
    assert_eq!(
        gateway.post("/strlen", vec![b'x'; limit - 6]).await,
        (200, json!({"result": 0}))
    );
}

#[tokio::test]
async fn a_reply_over_the_limit_is_that_commands_error() {
    let gateway = Gateway::with(|config| config.max_command_bytes = 100).await;
    let long = json!(["EVAL", "return {string.rep('a',60),string.rep('b',60)}", 0]);
    assert_eq!(
        gateway.single(long.clone()).await,
        (400, too_large(100, 120))
    );
    let slots = json!([{"result": "PONG"}, too_large(100, 120)]);
    assert_eq!(
        gateway.pipeline(json!([["PING"], long])).await,
        (200, slots.clone())
    );
    assert_eq!(
        gateway.multi_exec(json!([["PING"], long])).await,
        (200, slots)
    );
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_the_client_sees_it() {
    let gateway = Gateway::with(|config| config.max_body_bytes = 1000).await;
    for path in ["/", "/pipeline", "/multi-exec", "/set/a"] {
        assert_eq!(
            gateway.post(path, vec![b'x'; 5_000_000]).await,
            (413, too_large(1000, 5_000_000)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_body_without_a_length_is_measured_as_it_arrives() {
    let gateway = Gateway::with(|config| config.max_body_bytes = 1000).await;
    let chunks = |count: usize| {
        let chunk: Result<Vec<u8>, std::io::Error> = Ok(vec![b' '; 100]);
        reqwest::Body::wrap_stream(futures_util::stream::iter((0..count).map(move |_| {
            chunk
                .as_ref()
                .map(Clone::clone)
                .map_err(|_| std::io::Error::other("never"))
        })))
    };
    assert_eq!(
        gateway.post("/", chunks(11)).await,
        (413, too_large(1000, 1100))
    );
    assert_eq!(
        gateway.post("/", chunks(10)).await,
        (400, json!({"error": "EOF"}))
    );
}

#[tokio::test]
async fn more_commands_than_allowed_are_refused_whole() {
    let gateway = Gateway::with(|config| config.max_commands = 2).await;
    let error = json!({"error": "ERR max number of commands exceeded. Limit: 2, Actual: 3"});
    let three = json!([["PING"], ["PING"], ["PING"]]);
    assert_eq!(gateway.pipeline(three.clone()).await, (413, error.clone()));
    assert_eq!(gateway.multi_exec(three).await, (413, error));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_504_and_the_next_one_is_answered() {
    // Its own Redis: this one does nothing else for a while.
    let redis = Redis::start();
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.timeout_ms = 50;
    })
    .await;
    let busy = "local t = redis.call('TIME') local from = t[1] * 1000000 + t[2] \
        repeat t = redis.call('TIME') until t[1] * 1000000 + t[2] - from > 300000 return 1";
    let error = "ERR redis did not answer within 50 ms; the command may still run";
    assert_eq!(
        gateway.single(json!(["EVAL", busy, 0])).await,
        (504, json!({ "error": error }))
    );
    let next = async {
        while gateway.single(json!(["PING"])).await != (200, json!({"result": "PONG"})) {}
    };
    tokio::time::timeout(Duration::from_secs(10), next)
        .await
        .expect("Redis is served again");
}

#[tokio::test]
async fn a_large_pipeline_of_ordinary_commands_passes_both_ways() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let value = "x".repeat(1_000_000);
    let sets: Vec<_> = (0..20)
        .map(|each| json!(["SETEX", format!("{key}{each}"), 100, value]))
        .collect();
    assert_eq!(
        gateway.pipeline(json!(sets)).await,
        (200, json!(vec![json!({"result": "OK"}); 20]))
    );
    let gets: Vec<_> = (0..20)
        .map(|each| json!(["GETDEL", format!("{key}{each}")]))
        .collect();
    let request = gateway
        .request(Method::POST, "/pipeline")
        .header("upstash-encoding", "base64");
    let answer = ask(request.body(json!(gets).to_string())).await;
    assert_eq!((answer.status, answer.body.len() > 26_000_000), (200, true));
}

/// Sends a request whose body never comes to its end, and reads whatever is answered.
async fn unfinished(gateway: &Gateway, hang_up: bool) -> String {
    let address = gateway.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\nauthorization: {TOKEN}\r\ncontent-length: 99\r\n\r\n["
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    if hang_up {
        stream.shutdown().await.unwrap();
    }
    let mut answer = vec![0; 4096];
    let length = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut answer))
        .await
        .expect("an answer");
    String::from_utf8(answer[..length.unwrap()].to_vec()).unwrap()
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_408_in_json() {
    let gateway = Gateway::with(|config| config.timeout_ms = 50).await;
    let answer = unfinished(&gateway, false).await;
    assert!(
        answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"),
        "{answer}"
    );
    assert!(
        answer.ends_with("\r\n\r\n{\"error\":\"ERR the request body did not arrive in time\"}"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_caller_that_hangs_up_disturbs_nobody() {
    let gateway = Gateway::start().await;
    unfinished(&gateway, true).await;
    assert_eq!(
        gateway.single(json!(["PING"])).await,
        (200, json!({"result": "PONG"}))
    );
}
