//! Sends a file of JSON lines: the machinery under `import` and `profiles`.
//!
//! ```text
//! source ─ lines ─▶ line (check, shift) ─▶ lanes (by user, into batches) ─▶ courier × lanes ─▶ service
//!                        └─ refused ────────────────┬─ settled ─────────────────┘
//!                                                   ▼
//!                                          summary and progress
//! ```
//!
//! One user's lines all take the same lane, and a lane sends one batch after the other: so they
//! arrive in order, however many lanes there are and however often one of them has to try again.
//! Every stage waits for the next one, so that memory does not grow with the file.

pub mod batch;
pub mod courier;
pub mod dry_run;
pub mod lanes;
pub mod line;
pub mod progress;
pub mod shift;
pub mod source;
pub mod stages;
pub mod summary;
pub mod verdict;

use std::process::ExitCode;
use std::sync::Arc;

use reqwest::Method;
use tokio::time::Instant;

use crate::args::{ServiceArgs, UploadArgs};
use crate::client::Client;
use crate::failure::{Failure, SOME_REFUSED};
use crate::screen::Screen;

use courier::Courier;
use line::Reading;
use progress::Progress;
use shift::Shift;
use source::Source;
use stages::Event;
use summary::Summary;

/// A route that takes arrays.
#[derive(Clone, Debug)]
pub struct Destination {
    /// How it is called.
    pub method: Method,
    /// Its path segments.
    pub path: &'static [&'static str],
    /// The member of a line that says whose it is. Lines of one owner stay in order.
    pub owner: &'static str,
    /// The outcome of an item that is answered without one; none if every item has its own.
    pub done: Option<&'static str>,
}

/// A file on its way to a route.
#[derive(Debug)]
pub struct Job<'a> {
    /// Where it goes.
    pub destination: Destination,
    /// The file, or `-`.
    pub file: &'a str,
    /// Most lines in one request.
    pub batch: usize,
    /// Whether times move so that the latest is now.
    pub shift_to_now: bool,
    /// How it is sent.
    pub options: &'a UploadArgs,
}

/// Sends the file and prints the summary.
///
/// # Errors
///
/// [`Failure`] if the file can't be read or the service gives no usable answer; the summary of
/// what was answered until then is printed before.
pub async fn upload(service: &ServiceArgs, job: &Job<'_>) -> Result<ExitCode, Failure> {
    let client = Client::new(service)?;
    let mut source = Source::open(job.file)?;
    let shift = if job.shift_to_now {
        Some(Shift::to_now(&mut source)?)
    } else {
        None
    };
    let reading = Reading {
        owner: job.destination.owner,
        shift,
    };
    let url = client.url(job.destination.path);
    if job.options.dry_run {
        return dry_run::run(source, &reading, job, &url);
    }
    let mut progress = Progress::new(source.size(), job.options.limit_errors);
    let mut summary = Summary::new(shift);
    let courier = Courier {
        client,
        url,
        destination: job.destination.clone(),
        retries: job.options.retries,
        understood: Arc::default(),
    };

    let start = Instant::now();
    let mut stages = stages::start(source, reading, courier, job.options.concurrency, job.batch);
    let mut failure = None;
    while let Some(event) = stages.events.recv().await {
        match event {
            Event::Settled(settled) => {
                summary.add(&settled);
                progress.settled(&settled.verdicts, &summary);
            }
            Event::Waiting { why, wait } => progress.waiting(&why, wait),
            // What was read before still gets its answers.
            Event::Unreadable(cause) => failure = Some(cause),
            Event::Stopped(cause) => {
                failure = Some(cause.into());
                break;
            }
        }
    }
    drop(stages);
    summary.seconds = start.elapsed().as_secs_f64();
    progress.finish();

    if failure.is_none() || summary.lines() > 0 || job.options.json {
        Screen::print(&if job.options.json {
            summary.json()
        } else {
            summary.to_string()
        })?;
    }
    match failure {
        Some(failure) => Err(failure),
        None if summary.refused() > 0 => Ok(ExitCode::from(SOME_REFUSED)),
        None => Ok(ExitCode::SUCCESS),
    }
}
