//! Server-sent events, parsed as a browser does.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::HeaderName;
use serde_json::Value;

/// The time an event has to arrive. Generous, because CI machines are slow.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A streaming response.
pub struct Stream {
    response: Response,
    /// Bytes received and not yet parsed.
    buffer: Vec<u8>,
}

/// One event: the lines up to an empty line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The field `event`.
    pub name: String,
    /// The field `id`.
    pub id: String,
    /// The field `data`.
    pub data: String,
    /// The field `retry`, in milliseconds.
    pub retry: Option<u64>,
    /// Whether the event contains a comment.
    pub comment: bool,
}

impl Event {
    /// Returns the data as JSON, or null when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or(Value::Null)
    }

    fn parse(text: &str) -> Self {
        let mut event = Self::default();
        for line in text.lines() {
            match line.split_once(':').unwrap_or((line, "")) {
                ("", _) => event.comment = true,
                (field, value) => event.set(field, value.strip_prefix(' ').unwrap_or(value)),
            }
        }
        event
    }

    fn set(&mut self, field: &str, value: &str) {
        let value = value.to_owned();
        match field {
            "event" => self.name = value,
            "id" => self.id = value,
            "data" => self.data = value,
            "retry" => self.retry = Some(value.parse().expect("milliseconds")),
            _ => panic!("unknown event field {field}: {value}"),
        }
    }
}

impl Stream {
    pub(crate) fn new(response: Response) -> Self {
        Self {
            response,
            buffer: Vec::new(),
        }
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns a header's value.
    pub fn header(&self, name: impl TryInto<HeaderName>) -> Option<&str> {
        let name = name.try_into().ok()?;
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Returns the next event, including bare comments; `None` at the end of the stream.
    ///
    /// # Panics
    ///
    /// Panics when no data arrives for a minute.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let text: Vec<u8> = self.buffer.drain(..end + 2).collect();
                return Some(Event::parse(&String::from_utf8_lossy(&text)));
            }
            let chunk = tokio::time::timeout(TIMEOUT, self.response.chunk()).await;
            // An error is a closed connection.
            let chunk = chunk.expect("data within a minute").ok().flatten()?;
            self.buffer.extend_from_slice(&chunk);
        }
    }

    /// Returns the next event with a name, skipping bare comments and `retry`.
    ///
    /// # Panics
    ///
    /// Panics as [`next`](Self::next) does, and when the stream ends.
    pub async fn event(&mut self) -> Event {
        loop {
            let event = self.next().await.expect("the stream is still open");
            if !event.name.is_empty() {
                return event;
            }
        }
    }
}
