//! Server-sent events: `/subscribe`, `/psubscribe` and `/monitor`.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::{MissedTickBehavior, interval},
};

use crate::{
    backend::{Backend, Feed, Kind},
    error::Fault,
};

/// Proxies cut a silent connection, commonly after 30 to 100 seconds.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Events a reader may lag behind. One that lags further is cut off: it would have to be told that
/// it missed something, and nothing in the protocol says so.
const LAG: usize = 1024;

/// The open streams, and what ends them all.
pub(crate) struct Events {
    places: Arc<Semaphore>,
    limit: usize,
    stopping: watch::Receiver<bool>,
}

impl Events {
    pub(crate) fn new(limit: usize, stopping: watch::Receiver<bool>) -> Self {
        Self {
            places: Arc::new(Semaphore::new(limit)),
            limit,
            stopping,
        }
    }

    /// What a path asks to listen to, if it is one of the three.
    pub(crate) fn asked(segments: &[Vec<u8>]) -> Option<Kind> {
        let name = segments.first()?;
        [Kind::Channels, Kind::Patterns, Kind::Monitor]
            .into_iter()
            .find(|kind| name.eq_ignore_ascii_case(kind.command().as_bytes()))
    }

    /// A body that goes on until the reader leaves, lags too far behind, or Redis or the gateway
    /// stops.
    pub(crate) async fn open(
        &self,
        backend: &Backend,
        kind: Kind,
        names: Vec<Vec<u8>>,
    ) -> Result<Body, Fault> {
        if names.is_empty() && kind != Kind::Monitor {
            let name = kind.command().to_ascii_lowercase();
            let error = format!("ERR wrong number of arguments for '{name}' command");
            return Err(Fault::Redis(error));
        }
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_full| Fault::TooManyStreams { limit: self.limit })?;
        let feed = backend.listen(kind, names).await?;
        let (sender, mut receiver) = mpsc::channel(LAG);
        tokio::spawn(forward(feed, sender, self.stopping.clone(), place));
        let events = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        Ok(Body::from_stream(events.map(Ok::<Bytes, Infallible>)))
    }
}

async fn forward(
    mut feed: Feed,
    reader: mpsc::Sender<Bytes>,
    mut stopping: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    loop {
        let event = tokio::select! {
            next = feed.next() => match next {
                Some(line) => event(&line),
                None => return,
            },
            // A comment, which every reader of events skips.
            _ = heartbeat.tick() => Bytes::from_static(b": keepalive\n\n"),
            () = reader.closed() => return,
            // Also when the sender is gone: then the gateway is.
            _ = stopping.wait_for(|stopping| *stopping) => return,
        };
        if reader.try_send(event).is_err() {
            return;
        }
    }
}

/// `data: …`, one for each line of the text.
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
