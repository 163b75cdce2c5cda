//! Makes any store of the Upstash REST protocol look like the Redis and the gateway of the tests.
//!
//! ```text
//! test (redis client) ──RESP──► StoreProxy ──REST──► store
//! Worker ─────────────REST──► StoreProxy ──REST──► store
//! ```
//!
//! A Worker sends the token of the tests, and its requests get the token of the store. Everything else
//! passes unchanged, except commands on keys of others.

use std::convert::Infallible;
use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use redis::RedisResult;
use serde_json::Value;

use crate::cluster::{read_command, serve_clients};
use crate::forwarder::forward;
use crate::gateway::TOKEN;
use crate::rest_client::RestClient;

/// Commands without a key that change nothing.
const KEYLESS: [&str; 8] = [
    "DBSIZE", "ECHO", "INFO", "KEYS", "PING", "SCAN", "SCRIPT", "TIME",
];

/// The most commands of one request to the store.
const MAX_COMMANDS: usize = 500;

/// A running proxy; ends with the process.
#[must_use]
pub struct StoreProxy {
    redis: u16,
    gateway: SocketAddr,
}

impl StoreProxy {
    /// Starts a proxy in front of a store. It only passes commands on keys that begin with `{<prefix>`:
    /// others may use the store.
    ///
    /// # Panics
    ///
    /// Panics when no port is free.
    pub fn start(store: &RestClient, prefix: &str) -> Self {
        let target = Target {
            store: store.clone(),
            key_start: format!("{{{prefix}"),
        };
        let resp_target = target.clone();
        Self {
            redis: serve_clients(move |stream| serve_client(stream, &resp_target)),
            gateway: serve_rest(target),
        }
    }

    /// Returns the port for Redis clients.
    pub fn redis_port(&self) -> u16 {
        self.redis
    }

    /// Returns `127.0.0.1:<port>` for Workers.
    pub fn address(&self) -> String {
        self.gateway.to_string()
    }
}

/// A store, and the beginning of the keys that commands may use.
#[derive(Clone)]
struct Target {
    store: RestClient,
    key_start: String,
}

impl Target {
    /// Returns why a command must not reach the store.
    fn refusal(&self, words: &[&str]) -> Option<String> {
        let name = words.first().copied().unwrap_or_default().to_uppercase();
        if KEYLESS.contains(&name.as_str()) {
            return None;
        }
        let keys = keys(&name, words);
        if keys.is_empty() {
            return Some(format!(
                "ERR {name} is not sent to a store that others may use"
            ));
        }
        let mut foreign = keys.iter().filter(|key| !key.starts_with(&self.key_start));
        let key = foreign.next()?;
        Some(format!("ERR the key {key} does not belong to this run"))
    }
}

/// Returns the keys of a command; none if they are unknown.
fn keys<'a>(name: &str, words: &'a [&'a str]) -> &'a [&'a str] {
    let range = match name {
        "EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" => {
            let count = words.get(2).and_then(|count| count.parse::<usize>().ok());
            3..3 + count.unwrap_or(0)
        }
        "DEL" | "UNLINK" | "EXISTS" | "MGET" => 1..words.len(),
        "RENAME" | "RENAMENX" | "COPY" => 1..3,
        "OBJECT" | "XINFO" => 2..3,
        "DUMP" | "EXPIRE" | "EXPIREAT" | "EXPIRETIME" | "GET" | "INCR" | "INCRBY" | "LRANGE"
        | "PEXPIRE" | "PEXPIREAT" | "PEXPIRETIME" | "PERSIST" | "PTTL" | "RESTORE" | "RPUSH"
        | "SET" | "STRLEN" | "TTL" | "TYPE" => 1..2,
        name if name.starts_with(['H', 'S', 'X', 'Z']) => 1..2,
        _ => 0..0,
    };
    words.get(range).unwrap_or_default()
}

/// Serves a Redis client, which blocks.
fn serve_client(stream: TcpStream, target: &Target) -> RedisResult<()> {
    stream.set_nodelay(true)?;
    let mut output = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    while let Some(command) = read_command(&mut input)? {
        let mut commands = vec![command];
        // A pipeline of the client is one request to the store.
        while !input.buffer().is_empty() && commands.len() < MAX_COMMANDS {
            commands.extend(read_command(&mut input)?);
        }
        output.write_all(&respond(target, &commands))?;
    }
    Ok(())
}

/// Runs commands and returns their replies as RESP2.
fn respond(target: &Target, commands: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let local: Vec<Result<Vec<String>, String>> = commands
        .iter()
        .map(|command| accept(target, command))
        .collect();
    let store = &target.store;
    let sent: Vec<Vec<String>> = local.iter().flatten().cloned().collect();
    let mut replies = match sent.is_empty() {
        true => Vec::new(),
        false => store
            .pipeline(&sent)
            .unwrap_or_else(|cause| vec![Err(format!("ERR {cause}")); sent.len()]),
    }
    .into_iter();
    let mut output = Vec::new();
    for command in local {
        match command {
            Err(reply) => output.extend_from_slice(reply.as_bytes()),
            Ok(_) => match replies.next() {
                Some(Ok(value)) => encode(&mut output, store, &value),
                Some(Err(error)) => output.extend_from_slice(error_line(&error).as_bytes()),
                None => output.extend_from_slice(error_line("ERR no reply").as_bytes()),
            },
        }
    }
    output
}

/// Returns the words of a command that the store may run, else its reply.
fn accept(target: &Target, command: &[Vec<u8>]) -> Result<Vec<String>, String> {
    let words = command.iter().map(|word| String::from_utf8(word.clone()));
    let Ok(words) = words.collect::<Result<Vec<_>, _>>() else {
        return Err(error_line("ERR a JSON request cannot carry these bytes"));
    };
    let name = words.first().map(|name| name.to_uppercase());
    match name.as_deref().unwrap_or_default() {
        // The client's name and version.
        "CLIENT" => Err("+OK\r\n".to_owned()),
        _ => {
            let texts: Vec<&str> = words.iter().map(String::as_str).collect();
            match target.refusal(&texts) {
                Some(refusal) => Err(error_line(&refusal)),
                None => Ok(words),
            }
        }
    }
}

fn error_line(text: &str) -> String {
    format!("-{}\r\n", text.replace(['\r', '\n'], " "))
}

fn encode(output: &mut Vec<u8>, store: &RestClient, value: &Value) {
    match value {
        Value::Null => output.extend_from_slice(b"$-1\r\n"),
        Value::String(text) if text == "OK" => output.extend_from_slice(b"+OK\r\n"),
        Value::String(text) => {
            let bytes = store.decode(text);
            output.extend_from_slice(format!("${}\r\n", bytes.len()).as_bytes());
            output.extend_from_slice(&bytes);
            output.extend_from_slice(b"\r\n");
        }
        Value::Array(values) => {
            output.extend_from_slice(format!("*{}\r\n", values.len()).as_bytes());
            values.iter().for_each(|value| encode(output, store, value));
        }
        Value::Number(number) => output.extend_from_slice(format!(":{number}\r\n").as_bytes()),
        Value::Bool(flag) => {
            output.extend_from_slice(format!(":{}\r\n", u8::from(*flag)).as_bytes());
        }
        Value::Object(_) => output.extend_from_slice(error_line("ERR a JSON object").as_bytes()),
    }
}

/// Serves Workers on the runtime of the client.
fn serve_rest(target: Target) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("an address");
    target.store.runtime.clone().spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let target = target.clone();
            let service = service_fn(move |request| pass(target.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            // The error is a Worker that closed the connection.
            tokio::spawn(async move { connection.await.ok() });
        }
    });
    address
}

async fn pass(
    target: Target,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let failed = |cause: String| {
        let body = serde_json::json!({ "error": cause }).to_string();
        let mut response = Response::new(Full::new(body.into()));
        *response.status_mut() = hyper::StatusCode::BAD_GATEWAY;
        response
    };
    let (mut head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(failed("incomplete request".to_owned()));
    };
    let body = body.to_bytes();
    if let Some(refusal) = refusal(&target, &body) {
        return Ok(failed(refusal));
    }
    let store = target.store;
    let is_ours = |value: &HeaderValue| value.as_bytes() == format!("Bearer {TOKEN}").as_bytes();
    if head.headers.get(AUTHORIZATION).is_some_and(is_ours) {
        let token = HeaderValue::from_str(&format!("Bearer {}", store.token));
        head.headers.insert(AUTHORIZATION, token.expect("a token"));
    }
    let Ok((mut response, body)) = forward(store.http, &store.url, head, body).await else {
        return Ok(failed("the store did not respond".to_owned()));
    };
    if let Some(headers) = response.headers_mut() {
        // They describe the connection to the store.
        for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
            headers.remove(name);
        }
    }
    let response = response.body(Full::new(body));
    Ok(response.unwrap_or_else(|error| failed(error.to_string())))
}

/// Returns why a body must not reach the store: one of its commands, or another form than a pipeline.
fn refusal(target: &Target, body: &[u8]) -> Option<String> {
    let Ok(commands) = serde_json::from_slice::<Vec<Vec<Value>>>(body) else {
        return Some("ERR a Worker sends pipelines only".to_owned());
    };
    commands.iter().find_map(|command| {
        let words = command.iter().map(|word| match word {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let words: Vec<String> = words.collect();
        target.refusal(&words.iter().map(String::as_str).collect::<Vec<_>>())
    })
}
