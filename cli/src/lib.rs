#![doc = include_str!("../README.md")]
//!
//! # The parts, in reading order
//!
//! - [`args`]: what can be asked for.
//! - [`import`], [`profiles`]: the commands that send files, by way of [`upload`].
//! - [`top`], [`standing`]: the commands that show boards, by way of [`board`] and [`mod@table`].
//! - [`token`]: the command that makes user tokens.
//! - [`archive`]: the commands that write a site into a file and back.
//! - [`rebuild`]: the commands that make a site anew from its journal, or compare it.
//! - [`client`], [`call_error`], [`problem`], [`retry`]: the service, and how it fails.
//! - [`key`], [`printable`], [`screen`], [`mod@count`]: what is shown, and what never is.
//! - [`failure`]: how a command ends early.

pub mod archive;
pub mod args;
pub mod board;
pub mod call_error;
pub mod client;
pub mod count;
pub mod failure;
pub mod import;
pub mod key;
pub mod printable;
pub mod problem;
pub mod profiles;
pub mod rebuild;
pub mod retry;
pub mod screen;
pub mod standing;
pub mod table;
pub mod token;
pub mod top;
pub mod upload;

use std::process::ExitCode;

pub use args::Cli;

use args::Command;
use failure::Failure;
use screen::Screen;

/// Runs one command. What it found goes to stdout, what went wrong to stderr and into the exit code.
pub async fn run(cli: Cli) -> ExitCode {
    let service = &cli.service;
    let done = match &cli.command {
        Command::Import(import) => import::run(service, import).await,
        Command::Profiles(profiles) => profiles::run(service, profiles).await,
        Command::Top(top) => top::run(service, top).await,
        Command::Standing(standing) => standing::run(service, standing).await,
        Command::Token(token) => token::run(token),
        Command::Export(export) => archive::export::run(export).await,
        Command::Restore(restore) => archive::restore::run(restore).await,
        Command::Rebuild(args) => rebuild::run::run(service, args).await,
        Command::Verify(args) => rebuild::verify::run(service, args).await,
    };
    match done {
        Ok(code) => code,
        // Whoever read the output has seen enough: that is no error.
        Err(Failure::ReaderLeft) => ExitCode::SUCCESS,
        Err(failure) => {
            Screen::complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
