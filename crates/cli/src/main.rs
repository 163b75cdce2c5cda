//! The `activity-rank` binary: parses the arguments and calls the library.

use std::process::ExitCode;

use activity_rank_cli::args::grouped_command;
use activity_rank_cli::{Cli, run};
use clap::FromArgMatches;

#[tokio::main]
async fn main() -> ExitCode {
    let mut matches = grouped_command().get_matches();
    match Cli::from_arg_matches_mut(&mut matches) {
        Ok(cli) => run(cli).await,
        Err(error) => error.exit(),
    }
}
