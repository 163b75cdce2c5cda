//! `activity-rank import --rebuild`: replays the journal of a file into an empty deployment.

use std::process::ExitCode;

use tokio::time::Instant;

use super::run::{RunOptions, run_session};
use super::session::Session;
use crate::args::{ImportArgs, ServiceArgs};
use crate::failure::Failure;

/// Replays the file.
///
/// # Errors
///
/// [`Failure`] if the deployment has data, service or store do not respond, or the file is no journal.
pub async fn run(service: &ServiceArgs, args: &ImportArgs) -> Result<ExitCode, Failure> {
    let needs = |what: &str| Failure::Usage(format!("--rebuild needs {what}"));
    let store = args.store.given().ok_or_else(|| needs("--store"))?;
    if args.file == "-" {
        return Err(needs("a file that it can read twice"));
    }
    let mut session = Session::open_file(service, &store, args.upload.retries, &args.file).await?;
    let options = RunOptions {
        discard: false,
        json: args.upload.json,
    };
    run_session(&mut session, options, Instant::now()).await
}
