//! The `activity-rank` binary: parses the arguments and calls the library.

use std::process::ExitCode;

use activity_rank_cli::{Cli, run};
use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    run(Cli::parse()).await
}
