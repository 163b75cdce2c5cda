//! The errors that end a run.

use std::io;

use crate::request_error::RequestError;

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Invalid or conflicting options.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be opened or read.
    #[error("{name}: {cause}")]
    File {
        /// File name as given.
        name: String,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The service or the source gave no usable response.
    #[error("{0}")]
    Service(#[from] RequestError),
    /// The results could not be printed or sent, for a reason of the program that runs it.
    #[error("{0}")]
    Program(Box<dyn std::error::Error + Send + Sync>),
}
