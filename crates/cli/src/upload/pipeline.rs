//! Runs the stages concurrently: a thread reads the file, one task fills batches, and one task per
//! partition sends them.

use std::io;
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::failure::{Failure, RUN_AGAIN};
use crate::request_error::RequestError;
use crate::upload::line::{Line, LineParser};
use crate::upload::partitions::{Batch, Partitions};
use crate::upload::sender::{BatchReport, BatchSender};
use crate::upload::source::Source;

/// Capacity of the channel between reader and batches.
const QUEUED_LINES: usize = 64;
/// Capacity of a partition's channel, besides the batch being sent and the one being filled.
const QUEUED_BATCHES: usize = 1;
/// Capacity of the event channel.
const QUEUED_EVENTS: usize = 64;
/// When no line has arrived for this long, batches are sent although they are not full.
const IDLE: Duration = Duration::from_millis(250);

/// An event of a running pipeline.
#[derive(Debug)]
pub enum Event {
    /// Results of lines.
    Done(BatchReport),
    /// A request failed and will be retried.
    Retrying {
        /// Text of the error.
        cause: String,
        /// Delay before the retry.
        delay: Duration,
    },
    /// The file cannot be read further. Lines already read are still sent.
    ReadFailed(Failure),
    /// A batch failed in a way that makes sending further ones pointless, or Ctrl-C was pressed.
    SendFailed(Failure),
}

/// A running pipeline. Dropping it cancels all tasks.
pub struct Pipeline {
    /// Events; the channel closes when all work is done.
    events: Receiver<Event>,
    interrupted: Pin<Box<dyn Future<Output = io::Result<()>>>>,
    _tasks: JoinSet<()>,
}

impl Pipeline {
    /// Returns the next event; `None` when all work is done.
    pub async fn next(&mut self) -> Option<Event> {
        tokio::select! {
            event = self.events.recv() => event,
            _ = &mut self.interrupted => Some(Event::SendFailed(Failure::Interrupted(RUN_AGAIN))),
        }
    }
}

/// Starts a pipeline with `concurrency` partitions and at most `max_lines` lines per request.
#[must_use]
pub fn start(
    source: Source,
    parser: LineParser,
    sender: BatchSender,
    concurrency: usize,
    max_lines: usize,
) -> Pipeline {
    let (event_tx, events) = channel(QUEUED_EVENTS);
    let (line_tx, lines) = channel(QUEUED_LINES);
    let mut tasks = JoinSet::new();
    let mut batch_txs = Vec::new();
    for _ in 0..concurrency {
        let (batch_tx, batches) = channel(QUEUED_BATCHES);
        batch_txs.push(batch_tx);
        tasks.spawn(send(sender.clone(), batches, event_tx.clone()));
    }
    tasks.spawn(fill(
        lines,
        Partitions::new(concurrency, max_lines),
        batch_txs,
    ));
    // Not a thread of the runtime: a read from a terminal or a pipe cannot be cancelled, and the
    // runtime would wait for it on shutdown.
    thread::spawn(move || read(source, parser, &line_tx, &event_tx));
    Pipeline {
        events,
        interrupted: Box::pin(tokio::signal::ctrl_c()),
        _tasks: tasks,
    }
}

fn read(source: Source, parser: LineParser, lines: &Sender<Line>, events: &Sender<Event>) {
    let mut index = 0;
    let outcome = source.read(|raw| {
        let is_sent = match parser.parse(raw, index) {
            Ok(None) => return true,
            Ok(Some(line)) => lines.blocking_send(line).is_ok(),
            Err(refused) => {
                let report = BatchReport {
                    lines: vec![*refused],
                    ..BatchReport::default()
                };
                events.blocking_send(Event::Done(report)).is_ok()
            }
        };
        index += 1;
        is_sent
    });
    if let Err(failure) = outcome {
        // The receiver is gone if the upload has already ended for another reason.
        let _ = events.blocking_send(Event::ReadFailed(failure));
    }
}

async fn fill(
    mut lines: Receiver<Line>,
    mut partitions: Partitions,
    batch_txs: Vec<Sender<Batch>>,
) {
    loop {
        match timeout(IDLE, lines.recv()).await {
            Ok(Some(line)) => {
                for (partition, batch) in partitions.push(line) {
                    let Some(batch_tx) = batch_txs.get(partition) else {
                        return;
                    };
                    if batch_tx.send(batch).await.is_err() {
                        return;
                    }
                }
            }
            Ok(None) => {
                for (partition, batch_tx) in partitions.indexes().zip(&batch_txs) {
                    if let Some(batch) = partitions.take(partition)
                        && batch_tx.send(batch).await.is_err()
                    {
                        return;
                    }
                }
                return;
            }
            Err(_idle) => {
                for (partition, batch_tx) in partitions.indexes().zip(&batch_txs) {
                    // A busy partition continues to fill its batch.
                    if let Ok(permit) = batch_tx.try_reserve()
                        && let Some(batch) = partitions.take(partition)
                    {
                        permit.send(batch);
                    }
                }
            }
        }
    }
}

async fn send(sender: BatchSender, mut batches: Receiver<Batch>, events: Sender<Event>) {
    while let Some(batch) = batches.recv().await {
        let on_retry = |error: &RequestError, delay| {
            // Informational only: dropped if the channel is full.
            let _ = events.try_send(Event::Retrying {
                cause: error.to_string(),
                delay,
            });
        };
        let event = match sender.send(batch, on_retry).await {
            Ok(report) => Event::Done(report),
            Err(error) => Event::SendFailed(error.into()),
        };
        let failed = matches!(event, Event::SendFailed(_));
        if events.send(event).await.is_err() || failed {
            return;
        }
    }
}
