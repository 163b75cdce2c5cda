//! Sends the requests of all callers over one connection, in order, and gives each its replies.
//!
//! The multiplexed connection of the client library has no limit for replies, and drops the connection
//! when an error message of Redis is not valid UTF-8, so that one request could fail all others.

use std::{io, sync::Arc};

use redis::Pipeline;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
    time::{Duration, Instant, sleep_until},
};

use super::{Reply, decoder::Decoder, reply_budget::ReplyBudget, transport::Transport};
use crate::{command::name_of, policy};

/// Number of requests that can queue for the socket.
const QUEUE_LENGTH: usize = 1024;
/// Length up to which queued requests share a write, in bytes.
const MAX_WRITE: usize = 65_536;
/// Length of the read buffer, in bytes.
const READ_BUFFER: usize = 65_536;
/// Interval of the notifications that a script is overdue.
const OVERDUE_INTERVAL: Duration = Duration::from_secs(1);

/// Sends requests over the connection. Clones share it.
#[derive(Clone)]
pub(super) struct Multiplexer {
    requests: mpsc::Sender<Request>,
}

struct Request {
    /// The commands as RESP.
    packed: Vec<u8>,
    in_flight: InFlight,
}

/// A request that waits for its replies.
struct InFlight {
    decoder: Decoder,
    /// Dropped by a caller that no longer waits.
    caller: oneshot::Sender<Vec<Reply>>,
    /// When a script of the request is overdue. `None` for a request that runs none.
    script_deadline: Option<Instant>,
}

/// The connection was lost before all replies had arrived.
pub(super) struct ConnectionLost;

impl Multiplexer {
    /// Starts a task that owns the connection. It ends with the connection.
    ///
    /// `overdue_script` is notified once a second while a request that runs a script is not complete
    /// after its timeout, also if its caller no longer waits.
    pub(super) fn start(
        transport: Box<dyn Transport>,
        overdue_script: Arc<Notify>,
    ) -> (Self, JoinHandle<()>) {
        let (requests, receiver) = mpsc::channel(QUEUE_LENGTH);
        let driver = tokio::spawn(async move {
            let (read_half, write_half) = tokio::io::split(transport);
            let (sent, in_flight) = mpsc::unbounded_channel();
            // Either side ends with the connection, and drops the requests of both.
            tokio::select! {
                _ = write(write_half, receiver, sent) => {}
                _ = read(read_half, in_flight, overdue_script) => {}
            }
        });
        (Self { requests }, driver)
    }

    /// Sends all commands in one piece and returns their replies.
    pub(super) async fn send(
        &self,
        pipeline: &Pipeline,
        budget: Arc<ReplyBudget>,
        script_timeout: Duration,
    ) -> Result<Vec<Reply>, ConnectionLost> {
        let (caller, replies) = oneshot::channel();
        let mut runs_script = false;
        let mut exec = None;
        for (index, command) in pipeline.cmd_iter().enumerate() {
            let name = name_of(command);
            runs_script |= policy::runs_script(&name);
            if name == "EXEC" {
                exec = Some(pipeline.len() - index);
            }
        }
        let request = Request {
            packed: pipeline.get_packed_pipeline(),
            in_flight: InFlight {
                decoder: Decoder::new(pipeline.len(), exec, budget),
                caller,
                script_deadline: runs_script
                    .then(|| Instant::now().checked_add(script_timeout))
                    .flatten(),
            },
        };
        self.requests
            .send(request)
            .await
            .map_err(|_closed| ConnectionLost)?;
        replies.await.map_err(|_dropped| ConnectionLost)
    }
}

/// Writes requests until the connection is lost or no caller is left.
async fn write(
    mut socket: impl AsyncWrite + Unpin,
    mut requests: mpsc::Receiver<Request>,
    sent: mpsc::UnboundedSender<InFlight>,
) -> io::Result<()> {
    let mut queued = Vec::new();
    let mut buffer = Vec::new();
    while requests.recv_many(&mut queued, QUEUE_LENGTH).await > 0 {
        for request in queued.drain(..) {
            if request.in_flight.caller.is_closed() {
                continue;
            }
            // Before its bytes, so that the reader knows the request when the first reply arrives.
            if sent.send(request.in_flight).is_err() {
                return Ok(());
            }
            if buffer.len() + request.packed.len() > MAX_WRITE {
                socket.write_all(&buffer).await?;
                buffer.clear();
            }
            if request.packed.len() > MAX_WRITE {
                socket.write_all(&request.packed).await?;
            } else {
                buffer.extend_from_slice(&request.packed);
            }
        }
        socket.write_all(&buffer).await?;
        buffer.clear();
        socket.flush().await?;
    }
    Ok(())
}

/// Reads replies until the connection is lost.
async fn read(
    socket: impl AsyncRead + Unpin,
    mut in_flight: mpsc::UnboundedReceiver<InFlight>,
    overdue_script: Arc<Notify>,
) -> io::Result<()> {
    let mut socket = BufReader::with_capacity(READ_BUFFER, socket);
    loop {
        let request = tokio::select! {
            biased;
            request = in_flight.recv() => match request {
                Some(request) => request,
                None => return Ok(()),
            },
            // Without a request, Redis only closes the connection.
            _ = socket.fill_buf() => return Ok(()),
        };
        read_replies(&mut socket, request, &overdue_script).await?;
    }
}

async fn read_replies(
    socket: &mut (impl AsyncBufReadExt + Unpin),
    mut request: InFlight,
    overdue_script: &Notify,
) -> io::Result<()> {
    let mut replies = Vec::new();
    while !request.decoder.is_complete() {
        let bytes = match request.script_deadline {
            None => socket.fill_buf().await?,
            Some(deadline) => tokio::select! {
                biased;
                bytes = socket.fill_buf() => bytes?,
                () = sleep_until(deadline) => {
                    overdue_script.notify_one();
                    request.script_deadline = Some(Instant::now() + OVERDUE_INTERVAL);
                    continue;
                }
            },
        };
        if bytes.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if request.caller.is_closed() {
            request.decoder.discard();
            replies = Vec::new();
        }
        let (used, reply) = request.decoder.decode(bytes)?;
        socket.consume(used);
        replies.extend(reply);
    }
    // An error means that the caller no longer waits.
    let _ = request.caller.send(replies);
    Ok(())
}
