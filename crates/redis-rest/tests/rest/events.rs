//! Event streams: `/subscribe`, `/psubscribe` and `/monitor`.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::{Gateway, TOKEN, failed, ok, prefix, private_redis, send, within};

/// An open event stream.
struct Stream {
    response: Response,
    /// Text received after the last complete event.
    text: String,
}

impl Stream {
    async fn open(gateway: &Gateway, path: &str) -> Self {
        // Sends the body and headers of the SDK. The gateway ignores them.
        let request = gateway.request(Method::POST, path);
        let request = request.header("upstash-encoding", "base64").body("[]");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        let text = String::new();
        Self { response, text }
    }

    /// Returns the next event, or `None` after the end of the stream.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = event.to_owned();
                self.text = rest.to_owned();
                return Some(event);
            }
            let chunk = within("an event", self.response.chunk()).await;
            let chunk = chunk.ok().flatten()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn expect(&mut self, event: &str) {
        assert_eq!(self.next().await.as_deref(), Some(event));
    }
}

async fn publish(gateway: &Gateway, channel: &str, message: &str) {
    responds!(gateway.single(json!(["PUBLISH", channel, message])) => ok(1));
}

#[tokio::test]
async fn subscription_confirms_and_delivers_messages() {
    let gateway = Gateway::start().await;
    let channel = prefix();
    let mut stream = Stream::open(&gateway, &format!("/subscribe/{channel}")).await;
    stream.expect(&format!("data: subscribe,{channel},1")).await;
    publish(&gateway, &channel, "hello, world").await;
    let message = format!("data: message,{channel},");
    stream.expect(&format!("{message}hello, world")).await;
    publish(&gateway, &channel, "").await;
    stream.expect(&message).await;
    // A message of several lines has several data fields.
    publish(&gateway, &channel, "one\ntwo").await;
    stream.expect(&format!("{message}one\ndata: two")).await;
}

#[tokio::test]
async fn several_channels_share_one_stream() {
    let gateway = Gateway::start().await;
    let (first, second) = (prefix(), prefix());
    let mut stream = Stream::open(&gateway, &format!("/subscribe/{first}/{second}")).await;
    stream.expect(&format!("data: subscribe,{first},1")).await;
    stream.expect(&format!("data: subscribe,{second},2")).await;
    publish(&gateway, &second, "b").await;
    stream.expect(&format!("data: message,{second},b")).await;
}

#[tokio::test]
async fn pattern_message_names_pattern_and_channel() {
    let gateway = Gateway::start().await;
    let channel = prefix();
    let pattern = format!("{channel}:*");
    let mut stream = Stream::open(&gateway, &format!("/PSUBSCRIBE/{pattern}")).await;
    stream
        .expect(&format!("data: psubscribe,{pattern},1"))
        .await;
    publish(&gateway, &format!("{channel}:x"), "hi").await;
    let message = format!("data: pmessage,{pattern},{channel}:x,hi");
    stream.expect(&message).await;
}

#[tokio::test]
async fn monitor_reports_commands() {
    let redis = private_redis();
    let gateway = Gateway::on(&redis.url()).await;
    let mut stream = Stream::open(&gateway, "/monitor").await;
    stream.expect("data: \"OK\"").await;
    gateway.single(json!(["GET", "watched"])).await;
    let line = loop {
        let line = stream.next().await.unwrap();
        if line.contains("watched") {
            break line;
        }
    };
    let is_whole = line.starts_with("data: 1") && line.ends_with(r#"] "GET" "watched""#);
    assert!(is_whole, "{line}");
}

async fn subscribers(gateway: &Gateway, channel: &str) -> Value {
    gateway.single(json!(["PUBSUB", "NUMSUB", channel])).await.1["result"][1].clone()
}

#[tokio::test]
async fn disconnect_ends_subscription() {
    let gateway = Gateway::start().await;
    let channel = prefix();
    let mut stream = Stream::open(&gateway, &format!("/subscribe/{channel}")).await;
    stream.next().await;
    assert_eq!(subscribers(&gateway, &channel).await, json!(1));
    drop(stream);
    let unsubscribed = async { while subscribers(&gateway, &channel).await != json!(0) {} };
    within("the subscription ends", unsubscribed).await;
}

#[tokio::test]
async fn stream_ends_when_redis_stops() {
    let mut redis = private_redis();
    let gateway = Gateway::on(&redis.url()).await;
    let mut stream = Stream::open(&gateway, "/subscribe/a").await;
    stream.next().await;
    redis.kill();
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn stream_limit_returns_503() {
    let gateway = Gateway::with(|config| config.max_streams = 1).await;
    let path = format!("/subscribe/{}", prefix());
    let mut stream = Stream::open(&gateway, &path).await;
    stream.next().await;
    let error = json!({"error": "ERR max number of streams exceeded. Limit: 1"});
    assert_eq!(gateway.post(&path, "[]").await, (503, error));
    drop(stream);
    let reopened =
        async { while send(gateway.request(Method::HEAD, &path)).await.status != 200 {} };
    within("a closed stream no longer counts", reopened).await;
}

#[tokio::test]
async fn failed_stream_returns_json_error() {
    let gateway = Gateway::start().await;
    for name in ["subscribe", "psubscribe"] {
        let error = format!("ERR wrong number of arguments for '{name}' command");
        responds!(gateway.post(&format!("/{name}"), "[]") => failed(400, &error));
    }
    let mut redis = private_redis();
    let url = redis.url();
    redis.kill();
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    for path in ["/subscribe/a", "/psubscribe/a", "/monitor"] {
        let error = "ERR redis is not reachable: Connection refused (os error 111)";
        responds!(gateway.post(path, "[]") => failed(503, error));
    }
}

#[tokio::test]
async fn get_with_query_token_subscribes() {
    let gateway = Gateway::start().await;
    let channel = prefix();
    let path = format!("/subscribe/{channel}?_token={TOKEN}");
    let request = gateway.request_without_token(Method::GET, &path);
    let (response, text) = (request.send().await.unwrap(), String::new());
    let mut stream = Stream { response, text };
    stream.expect(&format!("data: subscribe,{channel},1")).await;
}
