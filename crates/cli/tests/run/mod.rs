//! Runs the built binary with an empty environment.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// Exit code, or `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Prepares the command with these arguments and variables.
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

/// Runs a prepared command to its end. Panics if the output contains the secret.
#[track_caller]
pub fn finish(mut command: Command, stdin: &str, secret: &str) -> io::Result<Run> {
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // Fails if the command ends without reading its input.
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
        "the output contains the secret: {run:?}"
    );
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    Ok(run)
}
