//! The progress of an upload, and its refused lines.

use std::time::Duration;

use indicatif::HumanCount;
use tokio::time::Instant;

use crate::count::count;
use crate::progress::Progress;
use crate::upload::line::LineResult;
use crate::upload::summary::Summary;

/// Prints progress and refused lines to stderr.
#[derive(Debug)]
pub struct UploadProgress {
    progress: Progress,
    start: Instant,
    refused: u64,
    max_refused: u64,
}

impl UploadProgress {
    /// Starts the progress of a file of `bytes` bytes, or of unknown size if `None`. At most
    /// `max_refused` refused lines are printed.
    #[must_use]
    pub fn new(bytes: Option<u64>, max_refused: u64) -> Self {
        let progress = Progress::new(bytes);
        progress.advance(0, "0 lines".to_owned());
        Self {
            progress,
            start: Instant::now(),
            refused: 0,
            max_refused,
        }
    }

    /// Advances by the bytes of the lines and prints the refused ones among them.
    pub fn advance(&mut self, lines: &[LineResult], summary: &Summary) {
        for refused in lines.iter().filter(|line| line.result.is_err()) {
            self.refused(refused);
        }
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        let rate = (summary.lines() as f64 / seconds) as u64;
        let message = format!("{}, {}/s", count(summary.lines(), "line"), HumanCount(rate));
        let bytes = lines.iter().map(|line| line.bytes).sum();
        self.progress.advance(bytes, message);
    }

    /// Shows the cause of a retry and the wait before it.
    pub fn retrying(&self, cause: &str, wait: Duration) {
        self.progress.retrying(cause, wait);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.progress.finish();
    }

    /// Prints a refused line, up to the limit.
    pub fn refused(&mut self, line: &LineResult) {
        self.refused += 1;
        if self.refused <= self.max_refused {
            self.progress.print(&line.to_string());
        } else if self.refused == self.max_refused + 1 && self.max_refused > 0 {
            self.progress
                .print("further refused lines are counted but not shown");
        }
    }
}
