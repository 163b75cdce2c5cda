//! Stdout and stderr, without a panic when nobody reads them any more.

use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

/// Where results and complaints go.
#[derive(Debug)]
pub struct Screen;

impl Screen {
    /// Prints a result, with a newline at its end, to stdout.
    ///
    /// # Errors
    ///
    /// [`Failure::ReaderLeft`] if the pipe is closed, [`Failure::Output`] for all else.
    pub fn print(text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", text.trim_end())
            .and_then(|()| stdout.flush())
            .map_err(|cause| match cause.kind() {
                ErrorKind::BrokenPipe => Failure::ReaderLeft,
                _ => Failure::Output(cause),
            })
    }

    /// Prints a line to stderr. Where that fails there is nobody left to tell.
    pub fn complain(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
