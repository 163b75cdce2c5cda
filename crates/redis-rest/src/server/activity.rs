//! Observes a client connection, to close it when its client lets the gateway wait too long.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};

/// The timeouts of a client connection.
#[derive(Clone, Copy)]
pub(super) struct Timeouts {
    /// From the first byte of a request head to its end. For the first head, from the connection.
    pub(super) head: Duration,
    /// From the last byte read or written, while the gateway waits for the client.
    pub(super) idle: Duration,
}

/// What happens on one client connection. Clones share the state.
#[derive(Clone)]
pub(super) struct Activity {
    timeouts: Timeouts,
    state: Arc<Mutex<State>>,
}

struct State {
    phase: Phase,
    /// When a byte was last read or written.
    last_progress: Instant,
    /// Whether the client does not read what the gateway writes.
    write_blocked: bool,
}

#[derive(Clone, Copy)]
enum Phase {
    /// A request head is arriving since this time.
    Head(Instant),
    /// A request is being served: its body arrives, Redis runs its commands, or its response is not
    /// complete. All of them have timeouts of their own, and a stream may be silent for long.
    Busy,
    /// Between requests.
    Idle,
}

impl Activity {
    pub(super) fn new(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        let state = State {
            phase: Phase::Head(now),
            last_progress: now,
            write_blocked: false,
        };
        Self {
            timeouts,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Returns when the connection has to be closed, if nothing happens until then.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        let idle = state.last_progress + self.timeouts.idle;
        match state.phase {
            Phase::Head(since) => Some(since + self.timeouts.head),
            Phase::Idle => Some(idle),
            Phase::Busy => state.write_blocked.then_some(idle),
        }
    }

    /// Returns whether a request is being served, or its response is not sent completely.
    pub(super) fn is_busy(&self) -> bool {
        let state = self.state();
        matches!(state.phase, Phase::Busy) || state.write_blocked
    }

    /// Starts to serve a request, until the returned value is dropped.
    pub(super) fn begin_request(&self) -> BusyGuard {
        self.state().phase = Phase::Busy;
        BusyGuard(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record_read(&self) {
        let mut state = self.state();
        state.last_progress = Instant::now();
        if matches!(state.phase, Phase::Idle) {
            state.phase = Phase::Head(state.last_progress);
        }
    }

    fn record_write<T>(&self, result: &Poll<T>) {
        let mut state = self.state();
        state.write_blocked = result.is_pending();
        if result.is_ready() {
            state.last_progress = Instant::now();
        }
    }
}

/// Marks a connection as busy.
pub(super) struct BusyGuard(Activity);

impl BusyGuard {
    /// Returns a response body that keeps the connection busy until its end.
    pub(super) fn wrap(self, body: Body) -> BusyBody {
        BusyBody { body, _busy: self }
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.phase = Phase::Idle;
        state.last_progress = Instant::now();
    }
}

/// A response body that keeps its connection busy.
pub(super) struct BusyBody {
    body: Body,
    _busy: BusyGuard,
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A byte stream whose reads and writes are observed.
pub(super) struct ObservedStream<S> {
    pub(super) stream: S,
    pub(super) activity: Activity,
}

impl<S: AsyncRead + Unpin> AsyncRead for ObservedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.activity.record_read();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ObservedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.activity.record_write(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.activity.record_write(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
