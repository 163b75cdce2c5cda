//! Limits and timeouts of client connections.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::support::{
    Gateway, TOKEN, busy_script, failed, ok, prefix, private_redis, scaled_ms, within,
};

/// A client connection, on which the test writes HTTP by hand.
struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    async fn open(gateway: &Gateway) -> Self {
        Self::open_from(gateway, "127.0.0.1").await
    }

    /// Connects from a loopback address.
    async fn open_from(gateway: &Gateway, address: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        let address = format!("{address}:0").parse().unwrap();
        socket.bind(address).unwrap();
        let gateway = gateway.url.strip_prefix("http://").unwrap();
        let stream = socket.connect(gateway.parse().unwrap()).await.unwrap();
        let received = Vec::new();
        Self { stream, received }
    }

    async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until the end of `text` is received, or until the end of the connection, and returns
    /// everything received since the last call.
    async fn read_until(&mut self, text: &str) -> String {
        while !self.received.ends_with(text.as_bytes()) || text.is_empty() {
            let read = self.stream.read_buf(&mut self.received);
            // A reset also ends the connection.
            if within("a response or the end", read).await.unwrap_or(0) == 0 {
                break;
            }
        }
        String::from_utf8(std::mem::take(&mut self.received)).unwrap()
    }

    /// Sends a command in the path and returns the status and the body of the response.
    async fn get(&mut self, path: &str) -> (u16, Value) {
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: {TOKEN}\r\n\r\n");
        // The gateway may have closed the connection.
        let _ = self.stream.write_all(head.as_bytes()).await;
        let response = self.read_until("}").await;
        let (head, body) = response.split_once("\r\n\r\n").expect("a response");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    async fn ping(&mut self) {
        responds!(self.get("/ping") => ok("PONG"));
    }

    /// Waits until the gateway closes the connection, and returns what it sent before.
    async fn closed(&mut self) -> String {
        self.read_until("").await
    }
}

/// Runs PING on new connections until the response is 200.
async fn wait_until_accepted(gateway: &Gateway) {
    let accepted = async { while Connection::open(gateway).await.get("/ping").await.0 != 200 {} };
    within("a closed connection no longer counts", accepted).await;
}

#[tokio::test]
async fn incomplete_and_slow_request_heads_are_closed() {
    let gateway = Gateway::with(|config| config.head_timeout_ms = 50).await;
    for head in ["", "G", "GET /ping HTTP/1.1\r\nhost: x\r\n"] {
        let mut connection = Connection::open(&gateway).await;
        connection.write(head).await;
        assert_eq!(connection.closed().await, "", "{head:?}");
    }
    let mut connection = Connection::open(&gateway).await;
    let drip = async { while connection.stream.write_all(b"G").await.is_ok() {} };
    within("the gateway closes the connection", drip).await;
}

#[tokio::test]
async fn incomplete_second_request_head_is_closed() {
    let gateway = Gateway::with(|config| config.head_timeout_ms = scaled_ms(500)).await;
    let mut connection = Connection::open(&gateway).await;
    connection.ping().await;
    connection.write("G").await;
    assert_eq!(connection.closed().await, "");
}

#[tokio::test]
async fn oversized_request_head_returns_431() {
    let gateway = Gateway::start().await;
    let mut connection = Connection::open(&gateway).await;
    let head = format!("GET / HTTP/1.1\r\nx: {}", "x".repeat(100_000));
    connection.write(&head).await;
    let response = connection.closed().await;
    let status = "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    assert!(response.starts_with(status), "{response}");
}

#[tokio::test]
async fn idle_connection_is_closed() {
    let gateway = Gateway::with(|config| config.idle_timeout_ms = 50).await;
    let mut connection = Connection::open(&gateway).await;
    connection.ping().await;
    assert_eq!(connection.closed().await, "");
}

/// Only the time of an incomplete head counts, not the time before it.
#[tokio::test]
async fn idle_time_does_not_shorten_head_timeout() {
    let gateway = Gateway::with(|config| config.head_timeout_ms = scaled_ms(500)).await;
    let mut connections = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(&gateway).await;
        connection.ping().await;
        connections.push(connection);
    }
    let mut incomplete = Connection::open(&gateway).await;
    incomplete.write("G").await;
    assert_eq!(incomplete.closed().await, "");
    for connection in &mut connections {
        connection.ping().await;
    }
}

#[tokio::test]
async fn slow_response_outlasts_timeouts() {
    // Not the shared Redis, because the script blocks it.
    let redis = private_redis();
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.head_timeout_ms = scaled_ms(200);
        config.idle_timeout_ms = 20;
    })
    .await;
    responds!(gateway.single(json!(["EVAL", busy_script(300), 0])) => ok(1));
}

/// The heartbeats of a stream are not necessary to keep it open.
#[tokio::test]
async fn idle_stream_outlasts_timeouts() {
    let gateway = Gateway::with(|config| {
        config.head_timeout_ms = scaled_ms(500);
        config.idle_timeout_ms = 50;
    })
    .await;
    let channel = prefix();
    let mut stream = Connection::open(&gateway).await;
    let head = format!("POST /subscribe/{channel} HTTP/1.1\r\nhost: x\r\n");
    let rest = format!("authorization: {TOKEN}\r\ncontent-length: 2\r\n\r\n[]");
    stream.write(&(head + &rest)).await;
    let confirmation = format!("data: subscribe,{channel},1\n\n\r\n");
    let response = stream.read_until(&confirmation).await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    // Both timeouts elapse.
    for _ in 0..12 {
        let mut idle = Connection::open(&gateway).await;
        idle.ping().await;
        assert_eq!(idle.closed().await, "");
    }
    let publish = json!(["PUBLISH", channel, "late"]);
    responds!(gateway.single(publish) => ok(1));
    let message = format!("data: message,{channel},late\n\n\r\n");
    assert!(stream.read_until(&message).await.ends_with(&message));
}

#[tokio::test]
async fn client_that_stops_reading_is_disconnected() {
    let gateway = Gateway::with(|config| {
        config.idle_timeout_ms = 100;
        config.max_connections = 1;
    })
    .await;
    let mut connection = Connection::open(&gateway).await;
    // Longer than the buffers of both sockets.
    let script = "return%20string.rep('x',10000000)";
    let head = format!("GET /eval/{script}/0?_token={TOKEN} HTTP/1.1\r\nhost: x\r\n\r\n");
    connection.write(&head).await;
    wait_until_accepted(&gateway).await;
    assert!(connection.closed().await.len() < 10_000_000);
}

/// Established connections, also half-open ones, keep their places.
#[tokio::test]
async fn connection_limit_returns_503() {
    let gateway = Gateway::with(|config| {
        config.max_connections = 2;
        config.max_connections_per_address = Some(0);
    })
    .await;
    let mut established = Connection::open(&gateway).await;
    established.ping().await;
    let mut half_open = Connection::open(&gateway).await;
    half_open.write("G").await;
    for path in ["/ping", "/healthz"] {
        let mut refused = Connection::open(&gateway).await;
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        refused.write(&head).await;
        let response = refused.closed().await;
        let (head, body) = response.split_once("\r\n\r\n").expect("a response");
        for line in [
            "HTTP/1.1 503 Service Unavailable\r\n",
            "\r\nretry-after: 1\r\n",
            "\r\nconnection: close\r\n",
        ] {
            assert!(head.contains(line), "{head}");
        }
        let error = r#"{"error":"ERR max number of connections exceeded. Limit: 2"}"#;
        assert_eq!(body, error);
        established.ping().await;
    }
    drop(half_open);
    wait_until_accepted(&gateway).await;
    established.ping().await;
}

/// A client over the limit sends nothing and gets no response.
#[tokio::test]
async fn silent_connection_over_limit_is_closed() {
    let gateway = Gateway::with(|config| config.max_connections = 1).await;
    let _established = Connection::open(&gateway).await;
    assert_eq!(Connection::open(&gateway).await.closed().await, "");
}

#[tokio::test]
async fn address_limit_leaves_room_for_others() {
    let gateway = Gateway::with(|config| config.max_connections_per_address = Some(1)).await;
    let mut established = Connection::open(&gateway).await;
    established.ping().await;
    let error = "ERR max number of connections per address exceeded. Limit: 1";
    let mut refused = Connection::open(&gateway).await;
    assert_eq!(refused.get("/ping").await, failed(503, error));
    let mut other = Connection::open_from(&gateway, "127.0.0.2").await;
    other.ping().await;
    established.ping().await;
}
