//! Starts the built binary, with nothing of the caller's environment.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

/// The command with these arguments and variables.
pub fn command(args: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_activity-rank"));
    command
        .env_clear()
        .args(args)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a prepared command to its end. Nowhere does the secret show.
#[track_caller]
pub fn finish(mut command: Command, stdin: &str, secret: &str) -> io::Result<Run> {
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A command that ends without reading has closed it.
        let _ = input.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let run = Run {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    assert!(
        !run.stdout.contains(secret) && !run.stderr.contains(secret),
        "the secret shows: {run:?}"
    );
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    Ok(run)
}
