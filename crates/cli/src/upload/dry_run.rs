//! `--dry-run`: reads and checks the whole file and prints what would be sent.

use std::fmt;
use std::process::ExitCode;

use activity_rank_core::calendar::Instant;
use activity_rank_core::history;
use activity_rank_sync::report::activities;
use indicatif::HumanBytes;
use reqwest::Url;
use serde::{Serialize, Serializer};

use crate::args::UploadArgs;
use crate::count::count;
use crate::failure::{Failure, LINES_REFUSED, are};
use crate::screen::Screen;
use crate::upload::line::{Line, LineParser, LineResult, Outcome};
use crate::upload::partitions::{Batch, Partitions};
use crate::upload::progress::UploadProgress;
use crate::upload::report::Report;
use crate::upload::source::Source;
use crate::upload::time_shift::TimeShift;

/// The requests an upload would send.
#[derive(Debug, Default, Serialize)]
struct Plan {
    url: String,
    lines: u64,
    requests: u64,
    bytes: u64,
    refused: u64,
    /// Lines that will be `stale`, because they count once a day and are too old.
    #[serde(skip_serializing_if = "is_zero")]
    stale: u64,
    #[serde(skip)]
    skips_invalid: bool,
    #[serde(serialize_with = "text")]
    earliest: Option<Instant>,
    #[serde(serialize_with = "text")]
    latest: Option<Instant>,
    /// What a run may refuse in spite of the check.
    unchecked: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shifted_ms: Option<i64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns a line about activity that counts once a day and is too old; empty for none.
#[must_use]
pub fn forgotten_note(number: u64) -> String {
    match number {
        0 => String::new(),
        number => format!(
            "\n{} would be stale: what counts once a day counts for up to {} days",
            activities(number),
            history::DAYS - 1
        ),
    }
}

/// Writes an instant as RFC 3339.
fn text<S: Serializer>(at: &Option<Instant>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(serializer)
}

/// Checks the file and prints the plan.
///
/// # Errors
///
/// Returns [`Failure::File`] if the file cannot be read, or the report cannot be written.
pub fn run(
    source: Source,
    parser: &LineParser,
    report: Option<Report>,
    batch: usize,
    args: &UploadArgs,
    url: &Url,
) -> Result<ExitCode, Failure> {
    let mut plan = Plan {
        url: url.to_string(),
        skips_invalid: args.skip_invalid,
        shifted_ms: parser.time_shift.map(TimeShift::milliseconds),
        unchecked: parser.check.unchecked(),
        ..Plan::default()
    };
    let mut partitions = Partitions::new(args.concurrency, batch);
    let mut progress = UploadProgress::new(None, args.limit_errors);
    let mut report = report;
    let mut reported = Ok(());
    source.read(|raw| {
        let result = match parser.parse(raw, plan.lines + plan.refused) {
            Ok(None) => return true,
            Ok(Some(line)) => {
                let result = LineResult::new(&line, Ok(Outcome::valid()));
                plan.add_line(&line);
                for (_, batch) in partitions.push(line) {
                    plan.add_request(&batch);
                }
                result
            }
            Err(refused) => {
                plan.refused += 1;
                progress.refused(&refused);
                *refused
            }
        };
        if let Some(report) = &mut report {
            reported = report.add(&[result]);
        }
        reported.is_ok()
    })?;
    reported?;
    partitions
        .indexes()
        .filter_map(|partition| partitions.take(partition))
        .for_each(|batch| plan.add_request(&batch));
    progress.finish();
    Screen::print(&if args.json {
        serde_json::to_string(&plan).unwrap_or_default()
    } else {
        plan.to_string()
    })?;
    Ok(if plan.refused > 0 {
        ExitCode::from(LINES_REFUSED)
    } else {
        ExitCode::SUCCESS
    })
}

impl Plan {
    fn add_line(&mut self, line: &Line) {
        self.lines += 1;
        self.stale += u64::from(line.is_forgotten);
        self.latest = self.latest.max(line.at);
        self.earliest = match (self.earliest, line.at) {
            (Some(earliest), Some(at)) => Some(earliest.min(at)),
            (earliest, at) => earliest.or(at),
        };
    }

    fn add_request(&mut self, batch: &Batch) {
        self.requests += 1;
        self.bytes += batch.body().len() as u64;
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = count(self.lines, "line");
        let requests = count(self.requests, "request");
        let (bytes, url) = (HumanBytes(self.bytes), &self.url);
        write!(f, "would send {lines} ({bytes}) in {requests} to {url}")?;
        if let (Some(earliest), Some(latest)) = (self.earliest, self.latest) {
            write!(f, "\ntimes from {earliest} to {latest}")?;
            if let Some(shift) = self.shifted_ms {
                write!(f, ", shifted by {shift} ms")?;
            }
        }
        if self.refused > 0 {
            write!(f, "\n{} invalid", are(self.refused, "line"))?;
            if !self.skips_invalid {
                write!(f, ": nothing would be sent without --skip-invalid")?;
            }
        }
        f.write_str(&forgotten_note(self.stale))?;
        write!(f, "\nnot checked: {}", self.unchecked.join(", "))
    }
}
