//! A closed-loop HTTP client: each connection sends its next request after the previous response.
//!
//! It works on raw sockets with minimal parsing, because the client shares the processors with the
//! system under test.

use crate::load::Requests;
use crate::stats::Sample;
use futures::future::try_join_all;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends requests over the connections of their load for a duration, then waits for the open ones.
pub async fn drive(
    url: &str,
    requests: &mut Requests<'_>,
    time: Duration,
) -> Result<Sample, String> {
    let (began, connections) = (Instant::now(), requests.load().connections());
    send_while(url, requests, connections, || began.elapsed() < time).await
}

/// Sends a number of requests over a number of connections.
pub async fn send(
    url: &str,
    requests: &mut Requests<'_>,
    connections: usize,
    count: usize,
) -> Result<(), String> {
    let remaining = Cell::new(count);
    let more = || remaining.get() > 0 && remaining.replace(remaining.get() - 1) > 0;
    send_while(url, requests, connections, more).await?;
    Ok(())
}

async fn send_while(
    url: &str,
    requests: &mut Requests<'_>,
    connections: usize,
    more: impl Fn() -> bool,
) -> Result<Sample, String> {
    let began = Instant::now();
    let (requests, sample) = (RefCell::new(requests), RefCell::new(Sample::default()));
    let connections = (0..connections).map(async |_| {
        let mut connection = Connection::open(url).await?;
        let mut bytes = Vec::new();
        while more() {
            let activity = requests.borrow_mut().next(&mut bytes);
            let sent = Instant::now();
            let length = connection.exchange(&bytes).await?;
            sample.borrow_mut().add(sent.elapsed(), length);
            requests.borrow_mut().succeeded(activity);
        }
        Ok::<(), String>(())
    });
    try_join_all(connections).await?;
    let mut sample = sample.into_inner();
    sample.time = began.elapsed();
    Ok(sample)
}

/// A keep-alive connection.
pub struct Connection {
    stream: TcpStream,
    response: Vec<u8>,
}

impl Connection {
    /// Connects to a URL.
    pub async fn open(url: &str) -> Result<Self, String> {
        let address = url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).await;
        let stream = stream.map_err(|error| format!("{url}: {error}"))?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            stream,
            response: Vec::with_capacity(16 * 1024),
        })
    }

    /// Returns the last response, including its head.
    pub fn response(&self) -> &[u8] {
        &self.response
    }

    /// Sends a request, reads the complete response and returns its length.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<usize, String> {
        let failed = |error: std::io::Error| format!("the connection failed: {error}");
        self.stream.write_all(request).await.map_err(failed)?;
        self.response.clear();
        let mut expected = None;
        loop {
            let read = self.stream.read_buf(&mut self.response).await;
            if read.map_err(failed)? == 0 {
                return Err("the connection was closed".to_owned());
            }
            if expected.is_none() {
                expected = expected_length(&self.response)?;
            }
            match expected {
                Some(Length::Bytes(bytes)) if self.response.len() >= bytes => return Ok(bytes),
                Some(Length::Chunked) if self.response.ends_with(b"0\r\n\r\n") => {
                    return Ok(self.response.len());
                }
                Some(_) | None => {}
            }
        }
    }
}

/// The length of a response.
enum Length {
    Bytes(usize),
    Chunked,
}

/// Returns the length of a response once its head is complete. Any status except 2xx is an error.
fn expected_length(response: &[u8]) -> Result<Option<Length>, String> {
    let Some(end) = response.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = || String::from_utf8_lossy(response).into_owned();
    let head = str::from_utf8(&response[..end]).map_err(|_| text())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    if !status.is_some_and(|status| status.len() == 3 && status.starts_with('2')) {
        return Err(format!("unexpected response\n{}", text()));
    }
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            let bytes: usize = value.trim().parse().map_err(|_| text())?;
            return Ok(Some(Length::Bytes(end + 4 + bytes)));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Ok(Some(Length::Chunked));
        }
    }
    Err(format!("a response of unknown length\n{}", text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(response: &str) -> Result<Option<usize>, String> {
        let known = expected_length(response.as_bytes())?;
        Ok(known.map(|length| match length {
            Length::Bytes(bytes) => bytes,
            Length::Chunked => usize::MAX,
        }))
    }

    #[test]
    fn response_length_comes_from_the_head() {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(parse(head), Ok(Some(head.len() + 3)));
        let chunked = "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n1\r\n";
        assert_eq!(parse(chunked), Ok(Some(usize::MAX)));
        assert_eq!(parse("HTTP/1.1 200 OK\r\nContent-Le"), Ok(None));
    }

    #[test]
    fn status_other_than_2xx_is_an_error() {
        for status in [
            "503 Service Unavailable",
            "304 Not Modified",
            "20",
            "2000 Odd",
        ] {
            let response = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            assert!(parse(&response).is_err(), "{status}");
        }
    }
}
