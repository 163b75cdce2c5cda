//! Limits of size, number and time. Every error is JSON.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{
    Gateway, TOKEN, busy_script, failed, ok, prefix, private_redis, scaled_ms, send, wait_for,
    within,
};

fn too_large(limit: usize, actual: usize) -> Value {
    let docs =
        "See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details";
    json!({"error": format!("ERR max request size exceeded. Limit: {limit} bytes, Actual: {actual} bytes. {docs}")})
}

/// In a pipeline, only the oversized command fails.
#[tokio::test]
async fn oversized_command_returns_413() {
    let gateway = Gateway::with(|config| config.max_command_bytes = 100).await;
    let oversized = json!(["ECHO", "x".repeat(97)]);
    let fits = json!(["ECHO", "x".repeat(96)]);
    let echoed = json!({"result": "x".repeat(96)});
    responds!(gateway.single(fits.clone()) => (200, echoed.clone()));
    responds!(gateway.single(oversized.clone()) => (413, too_large(100, 101)));
    responds!(
        gateway.pipeline(json!([fits, oversized, fits]))
            => (200, json!([echoed, too_large(100, 101), echoed]))
    );
    responds!(gateway.multi_exec(json!([fits, oversized])) => (413, too_large(100, 101)));
}

#[tokio::test]
async fn default_command_limit_is_10_mib() {
    let gateway = Gateway::start().await;
    let limit = 10 * 1024 * 1024;
    responds!(gateway.post("/strlen", vec![b'x'; limit]) => (413, too_large(limit, limit + 6)));
    responds!(gateway.post("/strlen", vec![b'x'; limit - 6]) => ok(0));
}

#[tokio::test]
async fn oversized_reply_is_an_error() {
    let gateway = Gateway::with(|config| config.max_command_bytes = 100).await;
    let long = json!(["EVAL", "return {string.rep('a',60),string.rep('b',60)}", 0]);
    responds!(gateway.single(long.clone()) => (400, too_large(100, 120)));
    let results = json!([{"result": "PONG"}, too_large(100, 120)]);
    responds!(gateway.pipeline(json!([["PING"], long])) => (200, results.clone()));
    responds!(gateway.multi_exec(json!([["PING"], long])) => (200, results));
}

/// The gateway reads the body to its end, so that the client receives the response.
#[tokio::test]
async fn oversized_body_returns_413() {
    let gateway = Gateway::with(|config| config.max_body_bytes = 1000).await;
    for path in ["/", "/pipeline", "/multi-exec", "/set/a"] {
        let response = gateway.post(path, vec![b'x'; 5_000_000]).await;
        assert_eq!(response, (413, too_large(1000, 5_000_000)), "{path}");
    }
    let chunks = |count: usize| {
        let chunks = (0..count).map(|_| std::io::Result::Ok(vec![b' '; 100]));
        reqwest::Body::wrap_stream(futures_util::stream::iter(chunks))
    };
    responds!(gateway.post("/", chunks(11)) => (413, too_large(1000, 1100)));
    responds!(gateway.post("/", chunks(10)) => failed(400, "EOF"));
}

#[tokio::test]
async fn too_many_commands_return_413() {
    let gateway = Gateway::with(|config| config.max_commands = 2).await;
    let error = json!({"error": "ERR max number of commands exceeded. Limit: 2, Actual: 3"});
    let three = json!([["PING"], ["PING"], ["PING"]]);
    responds!(gateway.pipeline(three.clone()) => (413, error.clone()));
    responds!(gateway.multi_exec(three) => (413, error));
}

/// The gateway serves the next command as soon as Redis replies again.
#[tokio::test]
async fn slow_command_returns_504() {
    // Not the shared Redis, because the script blocks it.
    let (redis, timeout) = (private_redis(), scaled_ms(50));
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.timeout_ms = timeout;
    })
    .await;
    let error = format!("ERR redis did not answer within {timeout} ms; the command may still run");
    responds!(gateway.single(json!(["EVAL", busy_script(500), 0])) => failed(504, &error));
    wait_for(&gateway, json!(["PING"]), ok("PONG")).await;
}

#[tokio::test]
async fn large_pipeline_within_limits_succeeds() {
    let gateway = Gateway::start().await;
    let key = prefix();
    let value = "x".repeat(1_000_000);
    let keys: Vec<String> = (0..20).map(|each| format!("{key}{each}")).collect();
    let sets = keys.iter().map(|key| json!(["SETEX", key, 100, value]));
    responds!(gateway.pipeline(sets.collect()) => (200, json!(vec![json!({"result": "OK"}); 20])));
    let gets: Value = keys.iter().map(|key| json!(["GETDEL", key])).collect();
    let header = ["upstash-encoding", "base64"];
    let response = gateway
        .post_with(header, "/pipeline", gets.to_string())
        .await;
    let is_whole = response.body.len() > 26_000_000;
    assert_eq!((response.status, is_whole), (200, true));
}

/// Sends the head of a request with this length of its body, and the begin of the body.
async fn begin(gateway: &Gateway, length: usize, body: &[u8]) -> TcpStream {
    let address = gateway.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\nauthorization: {TOKEN}\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    stream
}

/// Sends a request with an incomplete body and returns the response. With `close`, closes the
/// sending side of the connection.
async fn send_incomplete_body(gateway: &Gateway, close: bool) -> String {
    let mut stream = begin(gateway, 99, b"[").await;
    if close {
        stream.shutdown().await.unwrap();
    }
    let mut response = vec![0; 4096];
    let length = within("a response", stream.read(&mut response)).await;
    String::from_utf8(response[..length.unwrap()].to_vec()).unwrap()
}

#[tokio::test]
async fn stalled_body_returns_408() {
    let gateway = Gateway::with(|config| config.timeout_ms = 50).await;
    let response = send_incomplete_body(&gateway, false).await;
    let status = "HTTP/1.1 408 Request Timeout\r\n";
    assert!(response.starts_with(status), "{response}");
    let body = "\r\n\r\n{\"error\":\"ERR the request body did not arrive in time\"}";
    assert!(response.ends_with(body), "{response}");
}

#[tokio::test]
async fn aborted_request_does_not_affect_others() {
    let gateway = Gateway::start().await;
    send_incomplete_body(&gateway, true).await;
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
}

fn replies_too_large(limit: usize) -> Value {
    json!({"error": format!("ERR max size of the replies to a request exceeded. Limit: {limit} bytes. The command has run")})
}

/// Replies that do not fit fail, and the others arrive. The next request has the whole limit.
#[tokio::test]
async fn pipeline_replies_share_a_limit() {
    let gateway = Gateway::with(|config| config.max_reply_bytes = 1200).await;
    let long = json!(["ECHO", "x".repeat(600)]);
    let short = json!(["ECHO", "y"]);
    let results = json!([
        {"result": "x".repeat(600)}, replies_too_large(1200), {"result": "y"}
    ]);
    let commands = json!([long, long, short]);
    for _ in 0..3 {
        responds!(gateway.pipeline(commands.clone()) => (200, results.clone()));
        responds!(gateway.multi_exec(commands.clone()) => (200, results.clone()));
    }
    let many = "return {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19}";
    let many = json!(["EVAL", many, 0]);
    responds!(gateway.single(many) => (400, replies_too_large(1200)));
}

/// Control characters take six bytes of JSON.
#[tokio::test]
async fn encoded_replies_share_the_limit() {
    let gateway = Gateway::with(|config| config.max_reply_bytes = 1000).await;
    let control = json!(["ECHO", "\u{1}".repeat(200)]);
    responds!(gateway.single(control.clone()) => (400, replies_too_large(1000)));
    let results = json!([{"result": "a"}, replies_too_large(1000), {"result": "a"}]);
    let commands = json!([["ECHO", "a"], control, ["ECHO", "a"]]);
    responds!(gateway.pipeline(commands) => (200, results));
}

/// The limit of all requests includes responses that their clients have not read yet.
#[tokio::test]
async fn unread_responses_count_for_all_requests() {
    let gateway = Gateway::with(|config| config.max_total_reply_bytes = 9_000_000).await;
    let key = prefix();
    let value = "x".repeat(8_000_000);
    let set = json!(["SETEX", key, 100, value]);
    responds!(gateway.single(set) => ok("OK"));
    let get = json!(["GET", key]);
    let body = get.to_string();
    let mut unread = begin(&gateway, body.len(), body.as_bytes()).await;
    let mut first = [0];
    unread.read_exact(&mut first).await.unwrap();
    let error = "ERR max size of the replies to all requests exceeded. Limit: 9000000 bytes. The command has run";
    let response = send(gateway.request(Method::POST, "/").body(body)).await;
    assert_eq!(response.header("retry-after"), "1");
    assert_eq!(response.json(), failed(503, error));
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
    drop(unread);
    wait_for(&gateway, get, ok(value)).await;
}

fn too_many_bodies(limit: usize) -> Value {
    json!({"error": format!("ERR max size of the bodies of all requests exceeded. Limit: {limit} bytes. Nothing has run")})
}

/// A body that is still arriving leaves no memory for another one. Small ones pass.
#[tokio::test]
async fn bodies_of_all_requests_share_a_limit() {
    let gateway = Gateway::with(|config| config.max_total_body_bytes = 9_000_000).await;
    let slow = begin(&gateway, 8_000_001, &vec![b' '; 8_000_000]).await;
    let set = json!(["SETEX", prefix(), 100, "x".repeat(4_000_000)]).to_string();
    let request = || gateway.request(Method::POST, "/").body(set.clone());
    let refused = async {
        loop {
            let response = send(request()).await;
            if response.status == 503 {
                return response;
            }
        }
    };
    // The gateway has received the first body.
    let refused = within("a refusal", refused).await;
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.json(), (503, too_many_bodies(9_000_000)));
    responds!(gateway.single(json!(["PING"])) => ok("PONG"));
    drop(slow);
    let accepted = async { while send(request()).await.json() != ok("OK") {} };
    within("the memory is free again", accepted).await;
}

/// A body of short arguments takes many times its size.
#[tokio::test]
async fn short_arguments_count_for_the_limit() {
    let gateway = Gateway::with(|config| config.max_total_body_bytes = 1_000_000).await;
    let many = json!(vec![""; 20_000]);
    responds!(gateway.single(many) => (503, too_many_bodies(1_000_000)));
    let command = json!(vec!["DEL"; 10_000]);
    responds!(gateway.single(command) => ok(0));
}

/// Each request frees the memory of its body, also when it fails.
#[tokio::test]
async fn bodies_leave_the_limit_with_their_requests() {
    let gateway = Gateway::with(|config| {
        config.max_total_body_bytes = 1_000_000;
        config.max_body_bytes = 900_000;
    })
    .await;
    for _ in 0..5 {
        let long = "x".repeat(800_000);
        responds!(gateway.single(json!(["ECHO", long])) => ok(long.as_str()));
        responds!(gateway.pipeline(json!([["ECHO", long]])) => (200, json!([{"result": long}])));
        responds!(gateway.post("/echo", long.clone()) => ok(long.as_str()));
        assert_eq!(gateway.post("/", long.clone()).await.0, 400);
        assert_eq!(gateway.post("/", "x".repeat(950_000)).await.0, 413);
    }
}
