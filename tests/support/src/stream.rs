//! Server-sent events as a browser reads them.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::HeaderName;
use serde_json::Value;

/// How long an event may take to come; generous, since CI machines are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer that goes on.
pub struct Stream {
    response: Response,
    /// What was read and not taken yet.
    held: Vec<u8>,
}

/// What lies between two empty lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// `event`
    pub name: String,
    /// `id`
    pub id: String,
    /// `data`
    pub data: String,
    /// `retry`, in milliseconds.
    pub retry: Option<u64>,
    /// Whether it has a comment.
    pub comment: bool,
}

impl Event {
    /// The data as JSON, or null when it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or(Value::Null)
    }

    fn read(text: &str) -> Self {
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
            _ => panic!("no field of an event: {field}: {value}"),
        }
    }
}

impl Stream {
    pub(crate) fn of(response: Response) -> Self {
        Self {
            response,
            held: Vec::new(),
        }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// A header's value, or nothing.
    #[must_use]
    pub fn header(&self, name: impl TryInto<HeaderName>) -> Option<&str> {
        let name = name.try_into().ok()?;
        self.response.headers().get(name)?.to_str().ok()
    }

    /// What comes next, a comment too; nothing where the stream has ended.
    ///
    /// # Panics
    ///
    /// When nothing comes for a minute.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.held.windows(2).position(|two| two == b"\n\n") {
                let text: Vec<u8> = self.held.drain(..end + 2).collect();
                return Some(Event::read(&String::from_utf8_lossy(&text)));
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            // An error is a connection that was cut.
            let chunk = chunk.expect("something within a minute").ok().flatten()?;
            self.held.extend_from_slice(&chunk);
        }
    }

    /// The next event that is no comment and not `retry` alone.
    ///
    /// # Panics
    ///
    /// As [`next`](Self::next), and where the stream ends.
    pub async fn event(&mut self) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if !event.name.is_empty() {
                return event;
            }
        }
    }
}
