//! Runs the command line against a store.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::{TOKEN, gateway, unique_prefix};

use crate::app::Endpoint;
use crate::run;
use crate::run::Run;

impl Endpoint {
    /// Returns an unused prefix of the shared store.
    pub fn unused(name: &str) -> Self {
        Self {
            store: gateway().url(),
            prefix: format!("{}-{name}", unique_prefix("x")),
        }
    }
}

/// Prepares the command; all settings but `args` come from environment variables.
pub fn command(endpoint: &Endpoint, args: &[&str]) -> Command {
    let variables = [
        ("UPSTASH_REDIS_REST_URL", endpoint.store.as_str()),
        ("UPSTASH_REDIS_REST_TOKEN", TOKEN),
        ("PREFIX", &endpoint.prefix),
    ];
    run::command(args, &variables)
}

/// Runs the command. Asserts that the output has no token.
#[track_caller]
pub fn run(endpoint: &Endpoint, args: &[&str]) -> io::Result<Run> {
    finish(command(endpoint, args))
}

/// Runs a prepared command. Asserts that the output has no token.
#[track_caller]
pub fn finish(command: Command) -> io::Result<Run> {
    run::finish(command, "", TOKEN)
}

/// Exports to a new file in `folder`. Asserts success.
#[track_caller]
pub fn export(endpoint: &Endpoint, folder: &Path) -> io::Result<PathBuf> {
    let file = folder.join("site.jsonl");
    let run = run(endpoint, &["export", "--output", &file.to_string_lossy()])?;
    assert_success(&run, "exported ");
    Ok(file)
}

/// Restores a file. Asserts success.
#[track_caller]
pub fn restore(endpoint: &Endpoint, file: &Path) -> io::Result<()> {
    let run = run(endpoint, &["restore", &file.to_string_lossy()])?;
    assert_success(&run, "restored ");
    Ok(())
}

/// Asserts exit code 0, no errors on stderr, and the start of stdout.
#[track_caller]
fn assert_success(run: &Run, stdout: &str) {
    let is_error = |line: &&str| !line.contains(" lines") && !line.contains("; trying again in ");
    let errors: String = run.stderr.lines().filter(is_error).collect();
    assert_eq!((run.code, errors.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.stdout.starts_with(stdout), "{run:?}");
}
