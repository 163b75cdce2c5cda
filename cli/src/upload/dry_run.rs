//! `--dry-run`: reads and checks the whole file, says what would be sent, sends nothing.

use std::fmt;
use std::process::ExitCode;

use indicatif::HumanBytes;
use jiff::Timestamp;
use reqwest::Url;
use serde::Serialize;

use crate::count::count;
use crate::failure::{Failure, SOME_REFUSED};
use crate::screen::Screen;
use crate::upload::Job;
use crate::upload::batch::Batch;
use crate::upload::lanes::Lanes;
use crate::upload::line::{Line, Reading};
use crate::upload::progress::Progress;
use crate::upload::shift::Shift;
use crate::upload::source::Source;

/// What would be sent.
#[derive(Debug, Default, Serialize)]
struct Plan {
    url: String,
    lines: u64,
    requests: u64,
    bytes: u64,
    refused: u64,
    earliest: Option<Timestamp>,
    latest: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shifted_ms: Option<i128>,
}

/// Checks the file and prints the plan.
///
/// # Errors
///
/// [`Failure::File`] if the file can't be read.
pub fn run(
    source: Source,
    reading: &Reading,
    job: &Job<'_>,
    url: &Url,
) -> Result<ExitCode, Failure> {
    let shifted_ms = reading.shift.map(Shift::milliseconds);
    let mut plan = Plan {
        url: url.to_string(),
        shifted_ms,
        ..Plan::default()
    };
    let mut lanes = Lanes::new(job.options.concurrency, job.batch);
    let mut progress = Progress::new(None, job.options.limit_errors);
    source.read(|raw| {
        match reading.line(raw) {
            Ok(None) => {}
            Ok(Some(line)) => {
                plan.note(&line);
                if let Some((_, batch)) = lanes.push(line) {
                    plan.send(&batch);
                }
            }
            Err(refused) => {
                plan.refused += 1;
                progress.refused(&refused);
            }
        }
        true
    })?;
    lanes
        .numbers()
        .filter_map(|lane| lanes.take(lane))
        .for_each(|batch| plan.send(&batch));
    progress.finish();
    Screen::print(&if job.options.json {
        serde_json::to_string(&plan).unwrap_or_default()
    } else {
        plan.to_string()
    })?;
    Ok(if plan.refused > 0 {
        ExitCode::from(SOME_REFUSED)
    } else {
        ExitCode::SUCCESS
    })
}

impl Plan {
    fn note(&mut self, line: &Line) {
        self.lines += 1;
        self.latest = self.latest.max(line.at);
        self.earliest = match (self.earliest, line.at) {
            (Some(earliest), Some(at)) => Some(earliest.min(at)),
            (earliest, at) => earliest.or(at),
        };
    }

    fn send(&mut self, batch: &Batch) {
        self.requests += 1;
        self.bytes += batch.body().len() as u64;
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            url,
            lines,
            requests,
            bytes,
            refused,
            ..
        } = self;
        let (lines, requests) = (count(*lines, "line"), count(*requests, "request"));
        write!(
            f,
            "would send {lines} ({}) in {requests} to {url}",
            HumanBytes(*bytes)
        )?;
        if let (Some(earliest), Some(latest)) = (self.earliest, self.latest) {
            write!(f, "\ntimes from {earliest} to {latest}")?;
            if let Some(shift) = self.shifted_ms {
                write!(f, ", moved by {shift} ms")?;
            }
        }
        if *refused > 0 {
            write!(f, "\nwould not send {}", count(*refused, "line"))?;
        }
        Ok(())
    }
}
