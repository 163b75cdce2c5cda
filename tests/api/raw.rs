//! Requests as no client library sends them: bodies of unknown length, paths as they come.

use std::io::{Read, Write};
use std::net::TcpStream;

use test_support::{SERVICE_KEY, Value};

/// An answer to a raw request.
pub struct RawAnswer {
    pub status: u16,
    pub head: String,
    pub body: Value,
}

/// `POST`s a body in chunks, without `Content-Length`.
pub fn post_chunked(url: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> RawAnswer {
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

/// Sends a request with a service key, not a byte of it encoded; the status, if it is answered.
pub fn send_as_it_is(
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
    // The answer may come, and the connection end, before all of it is sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> Option<u16> {
    answer.split(' ').nth(1)?.parse().ok()
}

fn read(answer: &str) -> RawAnswer {
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = status(head).expect("a status");
    // Problems are one JSON object, whether it comes in chunks or not.
    let json = body
        .find('{')
        .zip(body.rfind('}'))
        .map_or("null", |(start, end)| &body[start..=end]);
    let body = serde_json::from_str(json).unwrap_or(Value::Null);
    RawAnswer {
        status,
        head: head.to_lowercase(),
        body,
    }
}
