//! How far it is: a bar on a terminal, now and then a plain line elsewhere.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use crate::screen::Screen;

const BETWEEN_PLAIN_LINES: Duration = Duration::from_secs(5);
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);

/// Shows progress on stderr.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    last_plain: Cell<Instant>,
}

impl Progress {
    /// Of work of so many parts, if that is known.
    #[must_use]
    pub fn new(parts: Option<u64>) -> Self {
        let (bar, template) = match parts {
            Some(parts) => (
                ProgressBar::new(parts),
                "{bar:30} {percent:>3} % {msg}, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {msg}"),
        };
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        if !bar.is_hidden() {
            bar.enable_steady_tick(BETWEEN_FRAMES);
        }
        Self {
            bar,
            last_plain: Cell::new(Instant::now()),
        }
    }

    /// So many parts are done; says what there is now.
    pub fn moved(&self, parts: u64, message: String) {
        self.bar.inc(parts);
        self.show(message);
    }

    /// Says that a request will be sent again, and why.
    pub fn waiting(&self, why: &str, wait: Duration) {
        self.show(format!(
            "{why}; trying again in {:.1} s",
            wait.as_secs_f64()
        ));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, message: String) {
        if self.bar.is_hidden() && self.last_plain.get().elapsed() >= BETWEEN_PLAIN_LINES {
            self.last_plain.set(Instant::now());
            Screen::complain(&message);
        }
        self.bar.set_message(message);
    }
}
