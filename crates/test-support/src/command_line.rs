//! The command line of this checkout.

use std::io::Write;
use std::process::Command;

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::api::SERVICE_KEY;
use crate::gateway::TOKEN;
use crate::repository;
use crate::shared::gateway;
use crate::worker::Worker;

/// Prepares the command line for a service with this prefix, and its store.
///
/// # Panics
///
/// Panics when it has not been built.
pub fn command_line(service: &Worker, store: &str) -> Command {
    let mut command = Command::new(repository::binary("activity-rank"));
    command.env_clear().envs([
        ("ACTIVITY_RANK_URL", service.url()),
        ("ACTIVITY_RANK_KEY", SERVICE_KEY),
        ("UPSTASH_REDIS_REST_URL", store),
        ("UPSTASH_REDIS_REST_TOKEN", TOKEN),
        ("PREFIX", service.prefix()),
    ]);
    command
}

/// Counts an event again by a definition, with further arguments; the store is that of the shared gateway.
///
/// # Errors
///
/// What the command prints if it fails; else it is the value.
///
/// # Panics
///
/// As [`command_line`], or when the temporary folder is full.
pub fn recount_event(
    service: &Worker,
    event: &str,
    definition: &Value,
    arguments: &[&str],
) -> Result<String, String> {
    let mut file = NamedTempFile::new().expect("a temporary file");
    write!(file, "{definition}").expect("a temporary file");
    let mut command = command_line(service, &gateway().url());
    command.args(["recount", "--event", event, "--definition"]);
    command.arg(file.path()).args(arguments);
    let output = command.output().expect("the command line");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}
