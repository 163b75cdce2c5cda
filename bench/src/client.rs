//! A closed loop over kept connections: each sends its next request when the last is answered.
//!
//! Bytes go straight to the socket and are looked at no more than needed, because what this costs
//! is taken from whom it measures.

use crate::load::Requests;
use crate::stats::Sample;
use futures::future::try_join_all;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How many connections there are.
pub const CONNECTIONS: usize = 16;

/// Sends requests for a while; what is under way then is waited for.
pub async fn drive(
    url: &str,
    requests: &mut Requests<'_>,
    time: Duration,
) -> Result<Sample, String> {
    let began = Instant::now();
    send_while(url, requests, CONNECTIONS, || began.elapsed() < time).await
}

/// Sends so many requests over so many connections.
pub async fn send(
    url: &str,
    requests: &mut Requests<'_>,
    connections: usize,
    count: usize,
) -> Result<(), String> {
    let left = Cell::new(count);
    let more = || left.get() > 0 && left.replace(left.get() - 1) > 0;
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
            let ticket = requests.borrow_mut().next(&mut bytes);
            let sent = Instant::now();
            let length = connection.exchange(&bytes).await?;
            sample.borrow_mut().add(sent.elapsed(), length);
            requests.borrow_mut().answered(ticket);
        }
        Ok::<(), String>(())
    });
    try_join_all(connections).await?;
    let mut sample = sample.into_inner();
    sample.time = began.elapsed();
    Ok(sample)
}

/// One, kept open.
pub struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    /// Opens one to a URL.
    pub async fn open(url: &str) -> Result<Self, String> {
        let address = url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).await;
        let stream = stream.map_err(|error| format!("{url}: {error}"))?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            stream,
            answer: Vec::with_capacity(16 * 1024),
        })
    }

    /// The last answer, its head included.
    pub fn answer(&self) -> &[u8] {
        &self.answer
    }

    /// Sends a request and reads the whole answer; returns its length.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<usize, String> {
        let broken = |error: std::io::Error| format!("the connection broke: {error}");
        self.stream.write_all(request).await.map_err(broken)?;
        self.answer.clear();
        let mut whole = None;
        loop {
            if self
                .stream
                .read_buf(&mut self.answer)
                .await
                .map_err(broken)?
                == 0
            {
                return Err("the connection was closed".to_owned());
            }
            if whole.is_none() {
                whole = length(&self.answer)?;
            }
            match whole {
                Some(Length::Bytes(bytes)) if self.answer.len() >= bytes => return Ok(bytes),
                Some(Length::Chunked) if self.answer.ends_with(b"0\r\n\r\n") => {
                    return Ok(self.answer.len());
                }
                Some(_) | None => {}
            }
        }
    }
}

/// How long an answer will be.
enum Length {
    Bytes(usize),
    Chunked,
}

/// Once its head is there, and an error unless it is 2xx.
fn length(answer: &[u8]) -> Result<Option<Length>, String> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = || String::from_utf8_lossy(answer).into_owned();
    let head = str::from_utf8(&answer[..end]).map_err(|_| text())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    if !status.is_some_and(|status| status.len() == 3 && status.starts_with('2')) {
        return Err(format!("answered\n{}", text()));
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
    Err(format!("an answer of unknown length\n{}", text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &str) -> Result<Option<usize>, String> {
        let known = length(answer.as_bytes())?;
        Ok(known.map(|length| match length {
            Length::Bytes(bytes) => bytes,
            Length::Chunked => usize::MAX,
        }))
    }

    #[test]
    fn an_answer_is_as_long_as_its_head_says() {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(read(head), Ok(Some(head.len() + 3)));
        let chunked = "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n1\r\n";
        assert_eq!(read(chunked), Ok(Some(usize::MAX)));
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Le"), Ok(None));
    }

    #[test]
    fn anything_but_2xx_voids_the_run() {
        for status in [
            "503 Service Unavailable",
            "304 Not Modified",
            "20",
            "2000 Odd",
        ] {
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            assert!(read(&answer).is_err(), "{status}");
        }
    }
}
