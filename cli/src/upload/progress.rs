//! How far it is: a bar on a terminal, now and then a plain line elsewhere.

use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use tokio::time::Instant;

use crate::count::count;
use crate::screen::Screen;
use crate::upload::summary::Summary;
use crate::upload::verdict::Verdict;

const BETWEEN_PLAIN_LINES: Duration = Duration::from_secs(5);
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);

/// Shows progress and refused lines on stderr.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    last_plain: Instant,
    shown: u64,
    limit: u64,
}

impl Progress {
    /// For a file of so many bytes, if that is known; shows at most `limit` refused lines.
    #[must_use]
    pub fn new(bytes: Option<u64>, limit: u64) -> Self {
        let (bar, template) = match bytes {
            Some(bytes) => (
                ProgressBar::new(bytes),
                "{bar:30} {percent:>3} % {msg}, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {msg}"),
        };
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        bar.set_message("0 lines");
        if !bar.is_hidden() {
            bar.enable_steady_tick(BETWEEN_FRAMES);
        }
        let now = Instant::now();
        Self {
            bar,
            start: now,
            last_plain: now,
            shown: 0,
            limit,
        }
    }

    /// Moves on by settled lines and shows the refused ones among them.
    pub fn settled(&mut self, verdicts: &[Verdict], summary: &Summary) {
        for refused in verdicts.iter().filter(|verdict| verdict.result.is_err()) {
            self.refused(refused);
        }
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        let rate = (summary.lines() as f64 / seconds) as u64;
        let message = format!("{}, {}/s", count(summary.lines(), "line"), HumanCount(rate));
        self.bar
            .inc(verdicts.iter().map(|verdict| verdict.bytes).sum());
        self.plainly(&message);
        self.bar.set_message(message);
    }

    /// Says that a request will be sent again, and why.
    pub fn waiting(&mut self, why: &str, wait: Duration) {
        let message = format!("{why}; trying again in {:.1} s", wait.as_secs_f64());
        self.plainly(&message);
        self.bar.set_message(message);
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// Shows a refused line, up to the limit.
    pub fn refused(&mut self, verdict: &Verdict) {
        self.shown += 1;
        if self.shown <= self.limit {
            self.say(&verdict.to_string());
        } else if self.shown == self.limit + 1 && self.limit > 0 {
            self.say("further refused lines are only counted");
        }
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| Screen::complain(text));
    }

    fn plainly(&mut self, message: &str) {
        if self.bar.is_hidden() && self.last_plain.elapsed() >= BETWEEN_PLAIN_LINES {
            self.last_plain = Instant::now();
            Screen::complain(message);
        }
    }
}
