//! The errors that end a command, and their exit codes.

use std::io;
use std::process::ExitCode;

use activity_rank_store::redis::StoreError;

use crate::count::count;
use crate::printable::printable;
use crate::request_error::RequestError;

/// The end of the error of an interrupted upload.
pub const RUN_AGAIN: &str = ": run it again to go on; what has counted counts once";

/// Exit code: some lines were refused; all others were accepted.
pub const LINES_REFUSED: u8 = 1;
/// Exit code: store and journal differ.
pub const DIFFERENT: u8 = 1;
/// Exit code: the source of a sync and the boards differ.
pub const DIFFERENT_SOURCE: u8 = 4;
/// Exit code: the doctor found an error.
pub const UNHEALTHY: u8 = 1;
/// Exit code: the shell convention for a process ended by SIGINT, 128 + 2.
pub const INTERRUPTED: u8 = 130;
/// Exit code: invalid arguments, or a file that cannot be used.
const INVALID_INPUT: u8 = 2;
/// Exit code: the service or the store cannot be reached, or refused the request.
const UNAVAILABLE: u8 = 3;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(match error {
            StoreError::Unauthorized => "the store rejected the token".to_owned(),
            StoreError::Refused(cause) | StoreError::Unavailable(cause) => printable(&cause),
        })
    }
}

/// A failure of the library that has what the command line and a Worker have in common.
impl From<activity_rank_sync::Failure> for Failure {
    fn from(failure: activity_rank_sync::Failure) -> Self {
        use activity_rank_sync::Failure as Common;
        match failure {
            Common::Usage(message) => Self::Usage(message),
            Common::File { name, cause } => Self::File { name, cause },
            Common::Service(error) => Self::Service(error),
            Common::Program(error) => match error.downcast() {
                Ok(failure) => *failure,
                Err(error) => Self::Usage(error.to_string()),
            },
        }
    }
}

/// A failure of what the command line gives the library.
impl From<Failure> for activity_rank_sync::Failure {
    fn from(failure: Failure) -> Self {
        Self::Program(Box::new(failure))
    }
}

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Invalid or conflicting arguments.
    #[error("{0}")]
    Usage(String),
    /// The file cannot be opened or read.
    #[error("{name}: {cause}")]
    File {
        /// File name as given.
        name: String,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// A line of the file is invalid.
    #[error("{name}: line {line}: {what}")]
    Line {
        /// File name as given.
        name: String,
        /// Line number, from 1.
        line: u64,
        /// Reason.
        what: String,
    },
    /// Lines of the file are invalid, and none was sent.
    #[error("nothing was sent, because {} invalid: correct the file, or add --skip-invalid to send the other lines", are(*.0, "line"))]
    InvalidLines(u64),
    /// Rows of a source are invalid, and nothing was sent.
    #[error("nothing was sent, because {} invalid: correct the source, or add --skip-invalid to send the other rows", are(*.0, "row"))]
    InvalidRows(u64),
    /// Rows of a source are invalid, and nothing was compared.
    #[error("nothing was compared, because {} invalid: correct the source", are(*.0, "row"))]
    NotCompared(u64),
    /// Lines of a file of accounts are invalid, and none was sent.
    #[error("nothing was sent, because {} invalid: correct the file", are(*.0, "line"))]
    InvalidAccounts(u64),
    /// The store gave no usable response.
    #[error("{0}")]
    Store(String),
    /// The store has data of another version or program: the key, and what is unexpected of it.
    #[error("unexpected data in the store: {0}")]
    Data(String),
    /// The service gave no usable response.
    #[error("{0}")]
    Service(#[from] RequestError),
    /// Ctrl-C was pressed; with the state afterwards.
    #[error("interrupted{0}")]
    Interrupted(&'static str),
    /// The reader of stdout closed the pipe, as `head` does. Not an error.
    #[error("standard output was closed")]
    StdoutClosed,
    /// Writing to stdout failed for another reason, such as a full disk.
    #[error("standard output: {0}")]
    Output(io::Error),
}

/// `1 line is`, `3 lines are`.
#[must_use]
pub fn are(number: u64, unit: &str) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", count(number, unit))
}

/// Runs until the end or Ctrl-C. `then` ends the error of an interruption.
///
/// # Errors
///
/// [`Failure::Interrupted`] after Ctrl-C, or that of the work.
pub async fn interruptible<T>(
    then: &'static str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted(then)),
    }
}

impl Failure {
    /// Returns the exit code.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::File { .. } | Self::Line { .. } | Self::Output(_) => {
                ExitCode::from(INVALID_INPUT)
            }
            Self::InvalidLines(_)
            | Self::InvalidRows(_)
            | Self::NotCompared(_)
            | Self::InvalidAccounts(_) => ExitCode::from(LINES_REFUSED),
            Self::Service(_) | Self::Store(_) | Self::Data(_) => ExitCode::from(UNAVAILABLE),
            Self::Interrupted(_) => ExitCode::from(INTERRUPTED),
            Self::StdoutClosed => ExitCode::SUCCESS,
        }
    }
}
