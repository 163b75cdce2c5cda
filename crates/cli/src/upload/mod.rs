//! Uploads a file of JSON lines: the pipeline behind `import`, `profiles` and `targets`.
//!
//! ```text
//! source ──▶ line (check, shift time) ──▶ partitions (batches by user) ──▶ sender × N ──▶ service
//!                  │ refused lines                                           │ line results
//!                  └──────────────────────────┬──────────────────────────────┘
//!                                             ▼
//!                               summary, report and progress
//! ```
//!
//! All lines of one user go to the same partition, and a partition sends one batch at a time. One
//! user's lines therefore arrive in order, whatever the concurrency and the number of retries.
//! The channels between the stages are bounded, so memory use does not grow with the file.
//!
//! In reading order:
//!
//! - [`source`] opens the file and splits it into lines; [`csv`] turns rows of CSV into such lines, [`mod@array`]
//!   elements of a JSON array.
//! - [`mod@line`] parses a line and defines its result, [`ItemCheck`] checks it as the service does; [`check`] checks all lines
//!   before the first is sent.
//! - [`time_shift`] moves the times of a file so that the latest one is now.
//! - [`partitions`] groups lines into batches, one open batch per partition.
//! - [`sender`] sends a batch and narrows a refused one down to the lines at fault.
//! - [`pipeline`] runs these stages concurrently.
//! - [`summary`] and [`progress`] print the results, [`mod@report`] writes them to a file; [`dry_run`] prints the plan
//!   instead.

pub mod array;
pub mod check;
pub mod csv;
pub mod dry_run;
pub mod line;
pub mod partitions;
pub mod pipeline;
pub mod progress;
pub mod report;
pub mod sender;
pub mod source;
pub mod summary;
pub mod time_shift;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use activity_rank_sync::item::{ItemCheck, ItemKind};
use reqwest::Method;
use tokio::time::Instant;

use crate::args::{Format, FormatArgs, ServiceArgs, UploadArgs};
use crate::client::client;
use crate::failure::{Failure, LINES_REFUSED};
use crate::screen::Screen;

use csv::{Columns, IsField};
use line::LineParser;
use pipeline::Event;
use progress::UploadProgress;
use report::Report;
use sender::BatchSender;
use source::Source;
use summary::Summary;
use time_shift::TimeShift;

/// What follows the summary of past activity.
const ARCHIVED_LATER: &str = "A service with an archive archives the past days in the next runs of cron, some every 5 minutes: calendars are complete then.";

/// A route that accepts arrays.
#[derive(Clone, Debug)]
pub struct Destination {
    /// HTTP method.
    pub method: Method,
    /// Path segments.
    pub path: &'static [&'static str],
    /// What the lines are.
    pub kind: ItemKind,
    /// Outcome of a result that has none, or `None` if every result of the route has an outcome.
    pub default_outcome: Option<&'static str>,
}

/// Opens a file in a format. Of CSV, `is_field` returns whether the command has a field.
///
/// # Errors
///
/// Returns [`Failure::Usage`] for invalid columns or columns of JSON, [`Failure::File`] if the file cannot be opened.
pub fn open(file: &str, args: &FormatArgs, is_field: IsField) -> Result<Source, Failure> {
    let columns = args.columns.as_deref().map(Columns::parse).transpose();
    let columns = columns.map_err(|what| Failure::Usage(format!("--columns: {what}")))?;
    match (args.format.unwrap_or_else(|| Format::of(file)), columns) {
        (Format::Csv, columns) => {
            Ok(Source::open(file)?.with_csv(columns.unwrap_or_default(), is_field))
        }
        (Format::Json, None) => Source::open(file),
        (Format::Json, Some(_)) => Err(Failure::Usage(
            "--columns is for CSV: add --format csv, unless the name ends in .csv".to_owned(),
        )),
    }
}

/// Uploads the lines of `source`, at most `batch` in one request, and prints the summary.
///
/// # Errors
///
/// Returns [`Failure`] if the file cannot be read, the report cannot be written or the service gives no usable response. The
/// summary of the lines sent before the failure is printed first.
pub async fn upload(
    service: &ServiceArgs,
    destination: Destination,
    source: Source,
    time_shift: Option<TimeShift>,
    batch: usize,
    args: &UploadArgs,
) -> Result<ExitCode, Failure> {
    let mut report = args.report.as_deref().map(Report::open).transpose()?;
    let client = client(service)?;
    let parser = LineParser {
        check: ItemCheck::new(destination.kind, &client).await,
        time_shift,
        any_past: Arc::default(),
    };
    let any_past = Arc::clone(&parser.any_past);
    let url = client.url(destination.path);
    if args.dry_run {
        return dry_run::run(source, &parser, report, batch, args, &url);
    }
    let mut source = source;
    if !args.skip_invalid {
        let invalid = check::invalid_lines(&mut source, &parser, args.limit_errors)?;
        if invalid > 0 {
            if let Some(report) = &mut report {
                check::write_results(source, &parser, report)?;
            }
            return Err(Failure::InvalidLines(invalid));
        }
    } else if source.size().is_some() {
        // Nothing is sent of a file that cannot be read to its end. A stream is sent as it arrives.
        source.read_ahead(|_| ())?;
    }
    let mut progress = UploadProgress::new(source.size(), args.limit_errors);
    let mut summary = Summary::new(time_shift);
    let sender = BatchSender {
        client,
        url,
        destination,
        retries: args.retries,
        any_accepted: Arc::default(),
    };

    let start = Instant::now();
    let mut pipeline = pipeline::start(source, parser, sender, args.concurrency, batch);
    let mut failure = None;
    while let Some(event) = pipeline.next().await {
        match event {
            Event::Done(results) => {
                summary.add(&results);
                progress.advance(&results.lines, &summary);
                if let Some(report) = &mut report
                    && let Err(cause) = report.add(&results.lines)
                {
                    failure = Some(cause);
                    break;
                }
            }
            Event::Retrying { cause, delay } => progress.retrying(&cause, delay),
            // Lines read before the error are still being sent.
            Event::ReadFailed(cause) => failure = Some(cause),
            Event::SendFailed(cause) => {
                failure = Some(cause);
                break;
            }
        }
    }
    drop(pipeline);
    drop(report);
    summary.seconds = start.elapsed().as_secs_f64();
    progress.finish();

    if failure.is_none() || summary.lines() > 0 || args.json {
        Screen::print(&if args.json {
            summary.json()
        } else {
            summary.to_string()
        })?;
        if any_past.load(Ordering::Relaxed) && !args.json {
            Screen::print(ARCHIVED_LATER)?;
        }
    }
    match failure {
        Some(failure) => Err(failure),
        None if summary.refused() > 0 => Ok(ExitCode::from(LINES_REFUSED)),
        None => Ok(ExitCode::SUCCESS),
    }
}
