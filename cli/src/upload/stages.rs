//! The stages a line passes, running at the same time: a thread reads, a task fills batches, a
//! task for each lane sends.

use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::call_error::CallError;
use crate::failure::Failure;
use crate::upload::batch::Batch;
use crate::upload::courier::{Courier, Settled};
use crate::upload::lanes::Lanes;
use crate::upload::line::{Line, Reading};
use crate::upload::source::Source;

/// Lines read ahead of the batches.
const LINES_AHEAD: usize = 64;
/// Batches that wait for their lane, beside the one it sends and the one being filled.
const BATCHES_AHEAD: usize = 1;
/// News that wait to be shown.
const EVENTS_AHEAD: usize = 64;
/// A pipe that is silent for so long has its lines sent in batches that are not full.
const IDLE: Duration = Duration::from_millis(250);

/// News from the stages.
#[derive(Debug)]
pub enum Event {
    /// Lines are done with.
    Settled(Settled),
    /// A request will be sent again.
    Waiting {
        /// What went wrong.
        why: String,
        /// Until then.
        wait: Duration,
    },
    /// The file ends early; what was read of it goes on.
    Unreadable(Failure),
    /// It is pointless to go on.
    Stopped(CallError),
}

/// The running stages. Dropping them ends them.
#[derive(Debug)]
pub struct Stages {
    /// What happens; closed when all is done.
    pub events: Receiver<Event>,
    _tasks: JoinSet<()>,
}

/// Starts them all.
#[must_use]
pub fn start(
    source: Source,
    reading: Reading,
    courier: Courier,
    lanes: usize,
    most_lines: usize,
) -> Stages {
    let (events, news) = channel(EVENTS_AHEAD);
    let (lines, checked) = channel(LINES_AHEAD);
    let mut tasks = JoinSet::new();
    let mut ways = Vec::new();
    for _ in 0..lanes {
        let (way, batches) = channel(BATCHES_AHEAD);
        ways.push(way);
        tasks.spawn(deliver(courier.clone(), batches, events.clone()));
    }
    tasks.spawn(fill(checked, Lanes::new(lanes, most_lines), ways));
    // A thread of its own and not the runtime's: a read from a terminal or a pipe can't be
    // cancelled, and the runtime would wait for it at the end.
    thread::spawn(move || read(source, reading, &lines, &events));
    Stages {
        events: news,
        _tasks: tasks,
    }
}

fn read(source: Source, reading: Reading, lines: &Sender<Line>, events: &Sender<Event>) {
    let outcome = source.read(|raw| match reading.line(raw) {
        Ok(None) => true,
        Ok(Some(line)) => lines.blocking_send(line).is_ok(),
        Err(refused) => {
            let settled = Settled {
                verdicts: vec![refused],
                ..Settled::default()
            };
            events.blocking_send(Event::Settled(settled)).is_ok()
        }
    });
    if let Err(failure) = outcome {
        // Nobody listens any more: then it has ended for another reason.
        let _ = events.blocking_send(Event::Unreadable(failure));
    }
}

async fn fill(mut lines: Receiver<Line>, mut lanes: Lanes, ways: Vec<Sender<Batch>>) {
    loop {
        match timeout(IDLE, lines.recv()).await {
            Ok(Some(line)) => {
                let Some((lane, batch)) = lanes.push(line) else {
                    continue;
                };
                let Some(way) = ways.get(lane) else { return };
                if way.send(batch).await.is_err() {
                    return;
                }
            }
            Ok(None) => {
                for (lane, way) in lanes.numbers().zip(&ways) {
                    if let Some(batch) = lanes.take(lane)
                        && way.send(batch).await.is_err()
                    {
                        return;
                    }
                }
                return;
            }
            Err(_idle) => {
                for (lane, way) in lanes.numbers().zip(&ways) {
                    // A lane that is busy goes on filling its batch.
                    if let Ok(place) = way.try_reserve()
                        && let Some(batch) = lanes.take(lane)
                    {
                        place.send(batch);
                    }
                }
            }
        }
    }
}

async fn deliver(courier: Courier, mut batches: Receiver<Batch>, events: Sender<Event>) {
    while let Some(batch) = batches.recv().await {
        let told = |failure: &CallError, wait| {
            // Only to be shown: where there is no room for it, it is not missed.
            let _ = events.try_send(Event::Waiting {
                why: failure.to_string(),
                wait,
            });
        };
        let event = match courier.deliver(batch, told).await {
            Ok(settled) => Event::Settled(settled),
            Err(failure) => Event::Stopped(failure),
        };
        let stopped = matches!(event, Event::Stopped(_));
        if events.send(event).await.is_err() || stopped {
            return;
        }
    }
}
