//! Why a command ended early, and with which exit code.

use std::io;
use std::process::ExitCode;

use crate::call_error::CallError;

/// Some lines were refused; all others are counted.
pub const SOME_REFUSED: u8 = 1;
/// The store and the journal differ.
pub const DIFFERENT: u8 = 1;
/// Wrong usage, or a file that can't be read.
pub const UNUSABLE: u8 = 2;
/// The service or the store could not be reached or refused to answer.
pub const NO_SERVICE: u8 = 3;

/// What ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Arguments that don't go together or can't be used.
    #[error("{0}")]
    Usage(String),
    /// The file to send can't be opened or read.
    #[error("{name}: {cause}")]
    File {
        /// The file as it was named.
        name: String,
        /// What the system said.
        cause: io::Error,
    },
    /// A line of the file is not what it should be.
    #[error("{name}: line {line}: {what}")]
    Line {
        /// The file as it was named.
        name: String,
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The store gave no usable answer.
    #[error("{0}")]
    Store(String),
    /// The service gave no usable answer.
    #[error("{0}")]
    Service(#[from] CallError),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// Stdout was closed by its reader, as `head` does.
    #[error("nobody reads the output")]
    ReaderLeft,
    /// Stdout can't be written to for another reason, such as a full disk.
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// The exit code that says so.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::File { .. } | Self::Line { .. } | Self::Output(_) => {
                ExitCode::from(UNUSABLE)
            }
            Self::Service(_) | Self::Store(_) => ExitCode::from(NO_SERVICE),
            // As shells have it of a process that SIGINT ended.
            Self::Interrupted => ExitCode::from(130),
            Self::ReaderLeft => ExitCode::SUCCESS,
        }
    }
}
