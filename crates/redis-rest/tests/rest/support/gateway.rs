//! A gateway in the test process, and requests to it.

use clap::Parser;
use redis_rest::{Config, Server};
use reqwest::{Client, Method, RequestBuilder, header::HeaderMap};
use serde::Serialize;
use serde_json::{Value, json};
use test_support::redis;

pub const TOKEN: &str = "a-token-of-the-tests";
pub const READ_ONLY_TOKEN: &str = "a-second-token";

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

    /// Starts a gateway for another Redis.
    pub async fn on(redis_url: &str) -> Self {
        Self::with(|config| redis_url.clone_into(&mut config.redis_url)).await
    }

    /// Starts a gateway that accepts the read-only token.
    pub async fn with_read_only() -> Self {
        Self::with(|config| READ_ONLY_TOKEN.clone_into(&mut config.readonly_token)).await
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
        let client = client();
        Self { url, client }
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
        let request = self.request(Method::POST, path).body(body);
        send(request).await.json()
    }

    /// Sends a body with the read-only token of [`Self::with_read_only`].
    pub async fn post_read_only(&self, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
        let request = self.request_without_token(Method::POST, path);
        let request = request.bearer_auth(READ_ONLY_TOKEN);
        send(request.body(body)).await.json()
    }

    /// Sends a body with a further header.
    pub async fn post_with(
        &self,
        header: [&str; 2],
        path: &str,
        body: impl Into<reqwest::Body>,
    ) -> HttpResponse {
        let request = self.request(Method::POST, path);
        send(request.header(header[0], header[1]).body(body)).await
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

/// Returns status 200 and the JSON body of a pipeline or transaction of one PING.
pub fn pong() -> (u16, Value) {
    (200, json!([{"result": "PONG"}]))
}

/// Returns a status and the JSON body of an error.
pub fn failed(status: u16, error: &str) -> (u16, Value) {
    (status, json!({ "error": error }))
}

/// Returns status 400 and the error of a command that REST does not allow.
pub fn not_allowed(name: &str) -> (u16, Value) {
    let reason = "is not allowed in REST or it has a special context path";
    failed(400, &format!("ERR Command \"{name}\" {reason}"))
}

/// Returns status 400 and the error of a command that the read-only token does not allow.
pub fn no_permission(name: &str) -> (u16, Value) {
    let reason = "this user has no permissions to run";
    failed(
        400,
        &format!("NOPERM {reason} the '{name}' command or its subcommand"),
    )
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
        let json = "application/json; charset=utf-8";
        assert_eq!(self.header("content-type"), json);
        let body = serde_json::from_slice(&self.body).expect("a JSON body");
        (self.status, body)
    }

    /// Returns the status and the body as text.
    #[track_caller]
    pub fn text(self) -> (u16, String) {
        let text = String::from_utf8(self.body).expect("a UTF-8 body");
        (self.status, text)
    }

    /// Returns the value of a header, or an empty string.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }
}
