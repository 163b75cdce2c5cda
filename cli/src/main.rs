//! `activity-rank`: reads its arguments and hands over to the library.

use std::process::ExitCode;

use activity_rank_cli::{Cli, run};
use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    run(Cli::parse()).await
}
