//! Makes any store of the Upstash REST protocol look like the Redis and the gateway of the tests.
//!
//! ```text
//! test (redis client) ──RESP──► StoreProxy ──REST──► store
//! Worker ─────────────REST──► StoreProxy ──REST──► store
//! ```
//!
//! A Worker sends the token of the tests, and its requests get the token of the store. Everything else
//! passes unchanged.

use std::convert::Infallible;
use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use redis::RedisResult;
use serde_json::Value;

use crate::cluster::read_command;
use crate::forwarder::forward;
use crate::gateway::TOKEN;
use crate::rest_client::RestClient;

/// Commands that would change more than the keys of a test, in a store that others may use.
const REFUSED: [&str; 9] = [
    "ACL", "CONFIG", "DEBUG", "FLUSHALL", "FLUSHDB", "FUNCTION", "SHUTDOWN", "SWAPDB", "MONITOR",
];

/// The most commands of one request to the store.
const MAX_COMMANDS: usize = 500;

/// A running proxy; ends with the process.
pub struct StoreProxy {
    redis: u16,
    gateway: SocketAddr,
}

impl StoreProxy {
    /// Starts a proxy in front of a store.
    ///
    /// # Panics
    ///
    /// Panics when no port is free.
    #[must_use]
    pub fn start(store: &RestClient) -> Self {
        Self {
            redis: serve_resp(store.clone()),
            gateway: serve_rest(store.clone()),
        }
    }

    /// Returns the port for Redis clients.
    #[must_use]
    pub fn redis_port(&self) -> u16 {
        self.redis
    }

    /// Returns `127.0.0.1:<port>` for Workers.
    #[must_use]
    pub fn address(&self) -> String {
        self.gateway.to_string()
    }
}

/// Starts a thread for each Redis client, because such a client blocks.
fn serve_resp(store: RestClient) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let store = store.clone();
            // The error is a client that disconnected.
            thread::spawn(move || serve_client(stream, &store));
        }
    });
    port
}

fn serve_client(stream: TcpStream, store: &RestClient) -> RedisResult<()> {
    stream.set_nodelay(true)?;
    let mut output = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    while let Some(command) = read_command(&mut input)? {
        let mut commands = vec![command];
        // A pipeline of the client is one request to the store.
        while !input.buffer().is_empty() && commands.len() < MAX_COMMANDS {
            commands.extend(read_command(&mut input)?);
        }
        output.write_all(&respond(store, &commands))?;
    }
    Ok(())
}

/// Runs commands and returns their replies as RESP2.
fn respond(store: &RestClient, commands: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let local: Vec<Result<Vec<String>, String>> = commands.iter().map(|one| accept(one)).collect();
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
fn accept(command: &[Vec<u8>]) -> Result<Vec<String>, String> {
    let words = command.iter().map(|word| String::from_utf8(word.clone()));
    let Ok(words) = words.collect::<Result<Vec<_>, _>>() else {
        return Err(error_line("ERR a JSON request cannot carry these bytes"));
    };
    let name = words.first().map(|name| name.to_uppercase());
    match name.as_deref().unwrap_or_default() {
        // The client's name and version.
        "CLIENT" => Err("+OK\r\n".to_owned()),
        name if REFUSED.contains(&name) => {
            let text = format!("ERR {name} is not sent to a store that others may use");
            Err(error_line(&text))
        }
        _ => Ok(words),
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
fn serve_rest(store: RestClient) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("an address");
    store.runtime.clone().spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let store = store.clone();
            let service = service_fn(move |request| pass(store.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            // The error is a Worker that closed the connection.
            tokio::spawn(async move { connection.await.ok() });
        }
    });
    address
}

async fn pass(
    store: RestClient,
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
    let is_ours = |value: &HeaderValue| value.as_bytes() == format!("Bearer {TOKEN}").as_bytes();
    if head.headers.get(AUTHORIZATION).is_some_and(is_ours) {
        let token = HeaderValue::from_str(&format!("Bearer {}", store.token));
        head.headers.insert(AUTHORIZATION, token.expect("a token"));
    }
    let Ok((mut response, body)) = forward(store.http, &store.url, head, body.to_bytes()).await
    else {
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
