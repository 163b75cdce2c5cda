//! A blocking client of a store that speaks the Upstash REST protocol.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Client;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::api::{http_client, https_client};

/// The deadline of one request.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client of one store. Its methods block, so they must not be called in an async function.
#[derive(Clone)]
pub struct RestClient {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) http: Client,
    /// The URL without a trailing slash.
    pub(crate) url: String,
    pub(crate) token: String,
    is_base64: bool,
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct RestResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl RestClient {
    /// Returns a client after a first request.
    ///
    /// # Errors
    ///
    /// Returns the cause if the store does not respond, or refuses the token.
    pub fn connect(url: &str, token: &str) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let http = match url.starts_with("https://") {
            true => https_client(),
            false => http_client(),
        };
        let mut client = Self {
            runtime: Arc::new(runtime.map_err(|error| error.to_string())?),
            http,
            url: url.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
            is_base64: true,
        };
        let response = client.post("/pipeline", &json!([["ECHO", "a"]]))?;
        match response.body[0]["result"].as_str() {
            Some("YQ==") => Ok(client),
            Some("a") => {
                client.is_base64 = false;
                Ok(client)
            }
            _ => Err(format!(
                "{}: status {} {}",
                client.url, response.status, response.body
            )),
        }
    }

    /// Returns whether the store encodes replies in base64 on request, so that no byte is lost.
    pub fn is_base64(&self) -> bool {
        self.is_base64
    }

    /// Sends a JSON body to a path.
    ///
    /// # Errors
    ///
    /// Returns the cause without a complete response.
    pub fn post(&self, path: &str, body: &Value) -> Result<RestResponse, String> {
        let mut request = self.http.post(format!("{}{path}", self.url));
        request = request.bearer_auth(&self.token).timeout(TIMEOUT);
        if self.is_base64 {
            request = request.header("upstash-encoding", "base64");
        }
        let request = request.header("content-type", "application/json");
        let request = request.body(body.to_string());
        let receive = async {
            let response = request.send().await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let body = serde_json::from_slice(&response.bytes().await?).unwrap_or_default();
            Ok(RestResponse {
                status,
                headers,
                body,
            })
        };
        let response: Result<RestResponse, reqwest::Error> =
            self.runtime.handle().block_on(receive);
        response.map_err(|error| format!("{}: {:?}", self.url, error.without_url()))
    }

    /// Runs commands in one pipeline. Returns for each the reply, or the error message of the store.
    ///
    /// # Errors
    ///
    /// Returns the cause without a response of the protocol.
    pub fn pipeline(&self, commands: &[Vec<String>]) -> Result<Vec<Result<Value, String>>, String> {
        let response = self.post("/pipeline", &json!(commands))?;
        let Some(slots) = response.body.as_array() else {
            return Err(format!("status {} {}", response.status, response.body));
        };
        let reply = |slot: &Value| match slot["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(slot["result"].clone()),
        };
        Ok(slots.iter().map(reply).collect())
    }

    /// Runs one command and returns the reply with decoded texts.
    ///
    /// # Errors
    ///
    /// Returns the error message of the store, or the cause without a response.
    pub fn run(&self, command: &[&str]) -> Result<Value, String> {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        let reply = self.pipeline(&[command])?.pop();
        Ok(self.with_texts(&reply.unwrap_or_else(|| Err("no reply".to_owned()))?))
    }

    /// Returns the bytes of a text in a reply.
    pub fn decode(&self, text: &str) -> Vec<u8> {
        // The status OK is not encoded outside of arrays, and is no valid base64.
        let decoded = self.is_base64.then(|| STANDARD.decode(text).ok()).flatten();
        decoded.unwrap_or_else(|| text.as_bytes().to_vec())
    }

    fn with_texts(&self, reply: &Value) -> Value {
        match reply {
            Value::String(text) => {
                Value::String(String::from_utf8_lossy(&self.decode(text)).into_owned())
            }
            Value::Array(values) => values.iter().map(|value| self.with_texts(value)).collect(),
            other => other.clone(),
        }
    }
}
