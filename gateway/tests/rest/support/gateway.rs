//! The gateway, inside the test, and requests to it.

use clap::Parser;
use redis_rest::{Config, Server};
use reqwest::{Client, Method, RequestBuilder, header::HeaderMap};
use serde_json::Value;

use super::shared_redis;

pub const TOKEN: &str = "a-token-of-the-tests";

/// A gateway on a free port; it ends with the test's runtime.
pub struct Gateway {
    pub url: String,
    client: Client,
}

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A client of its own. Built together with a crate whose client has TLS, it wants a provider of
/// cryptography, used or not.
pub fn client() -> Client {
    // Another test may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}

impl Gateway {
    /// With the defaults, on the Redis all tests share.
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// With other settings.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config =
            Config::parse_from(["redis-rest", "--listen=127.0.0.1:0", "--token", TOKEN]);
        config.redis_url = shared_redis().url();
        change(&mut config);
        let server = Server::bind(config).await.expect("the gateway starts");
        let url = format!("http://{}", server.address());
        tokio::spawn(server.run(std::future::pending()));
        Self {
            url,
            client: client(),
        }
    }

    /// A request with the token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.anonymous(method, path).bearer_auth(TOKEN)
    }

    /// A request without one.
    pub fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        ask(self.request(Method::GET, path)).await.json()
    }

    pub async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
        ask(self.request(Method::POST, path).body(body))
            .await
            .json()
    }

    pub async fn single(&self, command: Value) -> (u16, Value) {
        self.post("/", command.to_string()).await
    }

    pub async fn pipeline(&self, commands: Value) -> (u16, Value) {
        self.post("/pipeline", commands.to_string()).await
    }

    pub async fn multi_exec(&self, commands: Value) -> (u16, Value) {
        self.post("/multi-exec", commands.to_string()).await
    }
}

/// Sends a request and reads the answer.
pub async fn ask(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let body = response.bytes().await.expect("a whole body").to_vec();
    Answer {
        status,
        headers,
        body,
    }
}

impl Answer {
    /// Status and body; the body must be JSON and say so.
    #[track_caller]
    pub fn json(self) -> (u16, Value) {
        assert_eq!(
            self.header("content-type"),
            "application/json; charset=utf-8"
        );
        let body = serde_json::from_slice(&self.body).expect("a body of JSON");
        (self.status, body)
    }

    #[track_caller]
    pub fn text(self) -> (u16, String) {
        (
            self.status,
            String::from_utf8(self.body).expect("a body of UTF-8"),
        )
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}
