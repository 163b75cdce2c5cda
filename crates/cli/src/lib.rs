//! The library behind `activity-rank`, the command line of the service. The README next to this
//! crate documents its use.
//!
//! A command parses its arguments, talks to the service over its HTTP API or to the store over the
//! Upstash REST protocol, prints its result to stdout and ends with an exit code. In reading order:
//!
//! - [`args`] declares the commands, their options and help texts.
//! - [`import`], [`profiles`] and [`targets`] upload files of JSON lines.
//! - [`sync`] brings the history of a community from its software, compares it with the boards and mends differences.
//! - [`upload`] is the pipeline behind them: it checks, batches, sends and summarises lines.
//! - [`top`], [`standing`], [`me`] and [`friends`] print boards.
//! - [`why`] prints what gave a user points.
//! - [`stats`] prints the numbers of the site.
//! - [`moderation`] hides, freezes and erases users and adjusts their points.
//! - [`accounts`] makes users accounts of a member.
//! - [`rules`] prints, publishes and takes back versions of the rules; [`rules_preview`] replays activity by changed ones.
//! - [`board`] reads board responses and formats them as tables.
//! - [`doctor`] checks a deployment.
//! - [`manual`] prints completions and the man page.
//! - [`token`] signs user tokens for development.
//! - [`export`] writes the journal, or a board, to a file.
//! - [`rebuild`] rebuilds a deployment's data from its journal, or verifies it.
//! - [`client`] sends requests to the service.
//! - [`request_error`] and [`problem`] define how a request fails.
//! - [`key`] holds the service key and keeps it out of all output.
//! - [`progress`] shows the progress of a command.
//! - [`printable`] removes terminal control characters from untrusted text.
//! - [`screen`] writes to stdout and stderr.
//! - [`mod@count`] formats counts with their unit.
//! - [`failure`] lists the errors that end a command, with their exit codes.

pub mod args;

pub mod import;
pub mod profiles;
pub mod sync;
pub mod targets;
pub mod upload;

pub mod accounts;
pub mod board;
pub mod friends;
pub mod me;
pub mod moderation;
pub mod rules;
pub mod rules_preview;
pub mod standing;
pub mod stats;
pub mod top;
pub mod why;

pub mod doctor;
pub mod manual;
pub mod token;

pub mod export;
pub mod rebuild;

pub mod client;

pub mod failure;
pub mod key;
pub mod progress;
pub mod screen;

use std::process::ExitCode;
use std::time::Duration;

use activity_rank_sync::{count, printable, problem, request_error};

pub use args::Cli;

use args::Command;
use failure::{Failure, INTERRUPTED, RUN_AGAIN, interruptible};
use screen::Screen;

/// The time in which an interrupted upload prints what it has done.
const GRACE: Duration = Duration::from_millis(500);

/// Runs one command. Results go to stdout; errors go to stderr and determine the exit code.
pub async fn run(cli: Cli) -> ExitCode {
    let service = &cli.service;
    if let Command::Import(_)
    | Command::Profiles(_)
    | Command::Targets(_)
    | Command::Sync(_)
    | Command::Accounts(_) = &cli.command
    {
        exit_when_interrupted();
    }
    let result = match &cli.command {
        Command::Import(args) => import::run(service, args).await,
        Command::Profiles(args) => profiles::run(service, args).await,
        Command::Targets(args) => targets::run(service, args).await,
        Command::Sync(args) => sync::run(service, args).await,
        Command::Top(args) => top::run(service, args).await,
        Command::Standing(args) => standing::run(service, args).await,
        Command::Me(args) => me::run(service, args).await,
        Command::Friends(args) => friends::run(service, args).await,
        Command::Why(args) => why::run(service, args).await,
        Command::Stats(args) => stats::run(service, args).await,
        Command::Moderate(args) => moderation::moderate(service, args).await,
        Command::Adjust(args) => moderation::adjust(service, args).await,
        Command::Accounts(args) => accounts::run(service, args).await,
        Command::Rules(args) => rules::run(service, args).await,
        Command::Erase(args) => moderation::erase(service, args).await,
        Command::Doctor(args) => doctor::run(service, args).await,
        Command::Completions(args) => manual::completions(args),
        Command::Man => manual::man(),
        Command::Token(args) => token::run(args),
        Command::Export(args) => {
            interruptible(": no file was written", export::run(service, args)).await
        }
        Command::Rebuild(args) => rebuild::run::run(service, args).await,
        Command::Verify(args) => rebuild::verify::run(service, args).await,
        Command::Recount(args) => rebuild::recount::run(service, args).await,
    };
    match result {
        Ok(code) => code,
        // The reader of a pipe closed it because it needs no more output: not an error.
        Err(Failure::StdoutClosed) => ExitCode::SUCCESS,
        Err(failure) => {
            Screen::print_error(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

/// Ends the program a moment after Ctrl-C. An upload ends by itself until then, except while it reads a file.
fn exit_when_interrupted() {
    tokio::spawn(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            tokio::time::sleep(GRACE).await;
            let failure = Failure::Interrupted(RUN_AGAIN);
            Screen::print_error(&format!("error: {failure}"));
            std::process::exit(INTERRUPTED.into());
        }
    });
}
