//! Progress on stderr: a bar on a terminal, otherwise a plain line every few seconds.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use crate::screen::Screen;

const PLAIN_LINE_INTERVAL: Duration = Duration::from_secs(5);
const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// The progress of a command.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    last_plain_line: Cell<Instant>,
}

impl Progress {
    /// Starts a bar of `total` units, or a spinner if the total is unknown.
    #[must_use]
    pub fn new(total: Option<u64>) -> Self {
        let (bar, template) = match total {
            Some(total) => (
                ProgressBar::new(total),
                "{bar:30} {percent:>3} % {msg}, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {msg}"),
        };
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        if !bar.is_hidden() {
            bar.enable_steady_tick(FRAME_INTERVAL);
        }
        Self {
            bar,
            last_plain_line: Cell::new(Instant::now()),
        }
    }

    /// Advances the bar by `units` and shows `message`.
    pub fn advance(&self, units: u64, message: String) {
        self.bar.inc(units);
        self.show(message);
    }

    /// Shows the cause of a retry and the wait before it.
    pub fn retrying(&self, cause: &str, wait: Duration) {
        self.show(format!(
            "{cause}; trying again in {:.1} s",
            wait.as_secs_f64()
        ));
    }

    /// Prints a line above the bar.
    pub fn print(&self, line: &str) {
        self.suspend(|| Screen::print_error(line));
    }

    /// Runs what prints or asks without the bar.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, message: String) {
        if self.bar.is_hidden() && self.last_plain_line.get().elapsed() >= PLAIN_LINE_INTERVAL {
            self.last_plain_line.set(Instant::now());
            Screen::print_error(&message);
        }
        self.bar.set_message(message);
    }
}

impl activity_rank_sync::Progress for Progress {
    fn advance(&self, units: u64, message: String) {
        self.advance(units, message);
    }

    fn retrying(&self, cause: &str, wait: Duration) {
        self.retrying(cause, wait);
    }

    fn print(&self, line: &str) {
        self.print(line);
    }
}
