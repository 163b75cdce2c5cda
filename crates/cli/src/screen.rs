//! Output to stdout and stderr that does not panic when the reader has closed the pipe.

use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};

use crate::failure::Failure;

/// The two output streams.
#[derive(Debug)]
pub struct Screen;

impl Screen {
    /// Prints a result to stdout, followed by a newline.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::StdoutClosed`] if the pipe is closed, [`Failure::Output`] on other errors.
    pub fn print(text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", text.trim_end())
            .and_then(|()| stdout.flush())
            .map_err(|cause| match cause.kind() {
                ErrorKind::BrokenPipe => Failure::StdoutClosed,
                _ => Failure::Output(cause),
            })
    }

    /// Asks on stderr and reads the answer; `None` if stdin is no terminal.
    #[must_use]
    pub fn ask(question: &str) -> Option<String> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{question} ");
        let _ = stderr.flush();
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        Some(read.map_or_else(|_| String::new(), |_| answer.trim().to_owned()))
    }

    /// Prints a cost to stderr. Without `yes` it needs a confirmation.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Usage`] for any other answer, or if stdin is no terminal.
    pub fn confirm(cost: &str, yes: bool) -> Result<(), Failure> {
        if yes {
            Self::print_error(cost);
            return Ok(());
        }
        match Self::ask(&format!("{cost} Continue? [y/N]")) {
            Some(answer) if ["y", "yes"].contains(&answer.to_lowercase().as_str()) => Ok(()),
            Some(_) => Err(Failure::Usage("nothing was changed".to_owned())),
            None => Err(Failure::Usage(format!(
                "{cost} Use --yes to continue without asking."
            ))),
        }
    }

    /// Prints a line to stderr. Errors are ignored, because there is no other place to report them.
    pub fn print_error(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
