//! A gateway in the test process, and requests to it.

use clap::Parser;
use redis_rest::{Config, Server};
use reqwest::{Client, Method, RequestBuilder, header::HeaderMap};
use serde::Serialize;
use serde_json::{Value, json};
use test_support::redis;

pub const TOKEN: &str = "a-token-of-the-tests";

/// A gateway on a free port. It stops with the runtime of the test.
pub struct Gateway {
    pub url: String,
    client: Client,
}

/// A complete response.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Returns a new HTTP client.
///
/// In a build with all crates of the workspace, the client supports TLS and requires a crypto
/// provider. It has no root certificates, because parsing those of the system takes long in a debug
/// build.
pub fn client() -> Client {
    // Fails if another test has already installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().tls_certs_only([]).build();
    client.expect("these settings are valid")
}

impl Gateway {
    /// Starts a gateway with default settings and the shared Redis.
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts a gateway with changed settings.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config =
            Config::parse_from(["redis-rest", "--listen=127.0.0.1:0", "--token", TOKEN]);
        config.redis_url = redis().url();
        change(&mut config);
        let server = Server::bind(config).await.expect("the gateway starts");
        let url = format!("http://{}", server.address());
        tokio::spawn(server.run(std::future::pending()));
        Self {
            url,
            client: client(),
        }
    }

    /// Creates a request with the token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_without_token(method, path).bearer_auth(TOKEN)
    }

    /// Creates a request without a token.
    pub fn request_without_token(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        send(self.request(Method::GET, path)).await.json()
    }

    pub async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
        send(self.request(Method::POST, path).body(body))
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

/// Returns status 200 and the JSON body of a result.
pub fn ok(result: impl Serialize) -> (u16, Value) {
    (200, json!({ "result": result }))
}

/// Returns a status and the JSON body of an error.
pub fn failed(status: u16, error: &str) -> (u16, Value) {
    (status, json!({ "error": error }))
}

/// Sends a request and reads the complete response.
pub async fn send(request: RequestBuilder) -> HttpResponse {
    let response = request.send().await.expect("a response");
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let body = response.bytes().await.expect("a complete body").to_vec();
    HttpResponse {
        status,
        headers,
        body,
    }
}

impl HttpResponse {
    /// Returns the status and the JSON body. Panics if the body or its content type is not JSON.
    #[track_caller]
    pub fn json(self) -> (u16, Value) {
        assert_eq!(
            self.header("content-type"),
            "application/json; charset=utf-8"
        );
        let body = serde_json::from_slice(&self.body).expect("a JSON body");
        (self.status, body)
    }

    /// Returns the status and the body as text.
    #[track_caller]
    pub fn text(self) -> (u16, String) {
        (
            self.status,
            String::from_utf8(self.body).expect("a UTF-8 body"),
        )
    }

    /// Returns the value of a header, or an empty string.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}
