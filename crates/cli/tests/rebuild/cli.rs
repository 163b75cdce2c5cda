//! Runs the command line against a service and its store.

use std::io;
use std::process::Command;

use test_support::{SERVICE_KEY, TOKEN};

use crate::TestResult;
use crate::journal_app::JournalApp;
use crate::run;
use crate::run::Run;

impl Run {
    /// Asserts the exit code.
    #[track_caller]
    pub fn assert_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Asserts the exit code and a part of the error.
    #[track_caller]
    pub fn assert_error(self, code: i32, error: &str) -> Self {
        assert!(self.stderr.contains(error), "{self:?}");
        self.assert_code(code)
    }

    /// Asserts the exit code and the whole standard output.
    #[track_caller]
    pub fn assert_stdout(self, code: i32, stdout: &str) -> Self {
        assert_eq!(self.stdout, stdout, "{self:?}");
        self.assert_code(code)
    }
}

/// Prepares the command; all settings but `args` come from environment variables.
pub fn command(app: &JournalApp, args: &[&str]) -> Command {
    command_at(app, &app.endpoint.store, args)
}

/// Prepares the command with another URL of the store. A replay needs no confirmation.
pub fn command_at(app: &JournalApp, store: &str, args: &[&str]) -> Command {
    let variables = [
        ("ACTIVITY_RANK_URL", app.url.as_str()),
        ("ACTIVITY_RANK_KEY", SERVICE_KEY),
        ("UPSTASH_REDIS_REST_URL", store),
        ("UPSTASH_REDIS_REST_TOKEN", TOKEN),
        ("PREFIX", &app.endpoint.prefix),
    ];
    let is_replay = matches!(args.first(), Some(&("rebuild" | "verify")));
    let yes = is_replay.then_some("--yes");
    let args: Vec<_> = args.iter().copied().chain(yes).collect();
    run::command(&args, &variables)
}

/// Runs the command. Asserts that the output has no secret.
#[track_caller]
pub fn run(app: &JournalApp, args: &[&str]) -> io::Result<Run> {
    finish(command(app, args))
}

/// Runs a prepared command. Asserts that the output has no secret.
#[track_caller]
pub fn finish(command: Command) -> io::Result<Run> {
    let run = run::finish(command, "", TOKEN)?;
    assert!(
        !run.stdout.contains(SERVICE_KEY) && !run.stderr.contains(SERVICE_KEY),
        "the output has the key: {run:?}"
    );
    Ok(run)
}

/// Runs the command and asserts success.
#[track_caller]
pub fn succeed(app: &JournalApp, args: &[&str]) -> io::Result<Run> {
    Ok(run(app, args)?.assert_code(0))
}

/// Runs the command and asserts its exit code and a part of its error.
#[track_caller]
pub fn fails(app: &JournalApp, args: &[&str], code: i32, error: &str) -> io::Result<Run> {
    Ok(run(app, args)?.assert_error(code, error))
}

/// Runs `rebuild`, asserts success, and returns its output.
#[track_caller]
pub fn rebuild(app: &JournalApp, args: &[&str]) -> io::Result<String> {
    let run = run(app, &[&["rebuild"], args].concat())?.assert_code(0);
    assert!(run.stdout.contains("\nrebuilt from "), "{run:?}");
    Ok(run.stdout)
}

/// Runs `verify` and asserts that there are no differences.
#[track_caller]
pub fn assert_verified(app: &JournalApp) -> TestResult {
    succeed(app, &["verify"])?;
    Ok(())
}
