//! Raw HTTP requests that no client library sends: chunked bodies, unencoded paths.

use std::io::{Read, Write};
use std::net::TcpStream;

use test_support::{SERVICE_KEY, Value};

/// A response to a raw request.
pub struct RawResponse {
    pub status: u16,
    pub head: String,
    pub body: Value,
}

/// Sends a `POST` with a chunked body, without `Content-Length`.
pub fn post_chunked(url: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> RawResponse {
    let host = url.trim_start_matches("http://");
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut request = (head + "transfer-encoding: chunked\r\n\r\n").into_bytes();
    for chunk in body.chunks(16 * 1024) {
        request.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        request.extend(chunk);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    read(&exchange(host, &request))
}

/// Sends a request with a service key without encoding any byte of it.
///
/// Returns the status, or `None` if the server closes the connection without a response.
pub fn send_unencoded(
    url: &str,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<u16> {
    let host = url.trim_start_matches("http://");
    let mut head = format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    head += &format!("authorization: Bearer {SERVICE_KEY}\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut request = (head + &format!("content-length: {}\r\n\r\n", body.len())).into_bytes();
    request.extend(body);
    status(&exchange(host, &request))
}

fn exchange(host: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(host).expect("a connection");
    // The server may respond and close the connection before it has read everything.
    let _ = stream.write_all(request);
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

fn status(response: &str) -> Option<u16> {
    response.split(' ').nth(1)?.parse().ok()
}

fn read(response: &str) -> RawResponse {
    let (head, body) = response
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no response: {response:?}"));
    let status = status(head).expect("a status");
    // A problem is one JSON object, possibly between chunk headers.
    let json = body
        .find('{')
        .zip(body.rfind('}'))
        .map_or("null", |(start, end)| &body[start..=end]);
    let body = serde_json::from_str(json).unwrap_or(Value::Null);
    RawResponse {
        status,
        head: head.to_lowercase(),
        body,
    }
}
