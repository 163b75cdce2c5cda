//! Server-sent events: `/subscribe`, `/psubscribe` and `/monitor`.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::{MissedTickBehavior, interval},
};

use crate::{
    backend::{Backend, MessageStream, StreamKind},
    error::GatewayError,
};

/// Interval of keep-alive comments. Proxies close an idle connection, commonly after 30 to 100 seconds.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Maximum number of events buffered for a slow client. Beyond it the stream is closed, because the
/// protocol has no event for skipped messages.
const MAX_BUFFERED_EVENTS: usize = 1024;

/// Opens event streams, up to a limit, and closes them at shutdown.
pub(crate) struct Events {
    permits: Arc<Semaphore>,
    limit: usize,
    stopping: watch::Receiver<bool>,
}

impl Events {
    pub(crate) fn new(limit: usize, stopping: watch::Receiver<bool>) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(limit)),
            limit,
            stopping,
        }
    }

    /// Returns the kind of stream that a path opens, or `None` for the path of a command.
    pub(crate) fn stream_kind(segments: &[Vec<u8>]) -> Option<StreamKind> {
        let name = segments.first()?;
        [
            StreamKind::Channels,
            StreamKind::Patterns,
            StreamKind::Monitor,
        ]
        .into_iter()
        .find(|kind| name.eq_ignore_ascii_case(kind.command().as_bytes()))
    }

    /// Opens a stream and returns its response body.
    ///
    /// The body ends when the client disconnects or falls too far behind, when the connection to Redis
    /// is lost, and when the gateway shuts down.
    pub(crate) async fn open(
        &self,
        backend: &Backend,
        kind: StreamKind,
        names: Vec<Vec<u8>>,
    ) -> Result<Body, GatewayError> {
        if names.is_empty() && kind != StreamKind::Monitor {
            let name = kind.command().to_ascii_lowercase();
            let message = format!("ERR wrong number of arguments for '{name}' command");
            return Err(GatewayError::Redis(message));
        }
        let permit = Arc::clone(&self.permits)
            .try_acquire_owned()
            .map_err(|_full| GatewayError::TooManyStreams { limit: self.limit })?;
        let messages = backend.open_stream(kind, names).await?;
        let (sender, mut receiver) = mpsc::channel(MAX_BUFFERED_EVENTS);
        tokio::spawn(forward(messages, sender, self.stopping.clone(), permit));
        let events = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        Ok(Body::from_stream(events.map(Ok::<Bytes, Infallible>)))
    }
}

/// Forwards messages to the client as events until either side ends. Holds the permit of the stream.
async fn forward(
    mut messages: MessageStream,
    client: mpsc::Sender<Bytes>,
    mut stopping: watch::Receiver<bool>,
    _permit: OwnedSemaphorePermit,
) {
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    loop {
        let event = tokio::select! {
            next = messages.next() => match next {
                Some(message) => event(&message),
                None => return,
            },
            // A comment, which every client of server-sent events ignores.
            _ = heartbeat.tick() => Bytes::from_static(b": keepalive\n\n"),
            () = client.closed() => return,
            // Fails if the sender was dropped, which means that the server has stopped.
            _ = stopping.wait_for(|stopping| *stopping) => return,
        };
        if client.try_send(event).is_err() {
            return;
        }
    }
}

/// Encodes a text as one event with a `data:` field for each line.
fn event(text: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(text);
    let mut event = String::with_capacity(text.len() + 16);
    for line in text.split(['\n', '\r']) {
        event.push_str("data: ");
        event.push_str(line);
        event.push('\n');
    }
    event.push('\n');
    event.into()
}
