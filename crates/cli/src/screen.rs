//! Output to stdout and stderr that does not panic when the reader has closed the pipe.

use std::io::{self, ErrorKind, Write};

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

    /// Prints a line to stderr. Errors are ignored, because there is no other place to report them.
    pub fn print_error(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
