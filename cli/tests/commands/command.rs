//! Starts the built binary, with nothing of the caller's environment.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::service::{KEY, Service};

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

/// The command with these arguments for this service; the key comes by the environment.
pub fn command(service: &Service, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_activity-rank"));
    command.args(args).env_clear();
    command
        .env("ACTIVITY_RANK_URL", &service.url)
        .env("ACTIVITY_RANK_KEY", KEY);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the command to its end. Nowhere does the key show.
#[track_caller]
pub fn run(service: &Service, args: &[&str], stdin: &str) -> io::Result<Run> {
    finish(command(service, args), stdin)
}

/// Runs a prepared command to its end.
#[track_caller]
pub fn finish(mut command: Command, stdin: &str) -> io::Result<Run> {
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
        !run.stdout.contains(KEY) && !run.stderr.contains(KEY),
        "the key shows: {run:?}"
    );
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    Ok(run)
}

/// So many lines of so many users: the first of each user has target 0, the next 1 and so on.
pub fn lines(count: u64, users: u64) -> String {
    let line = |n| {
        format!(
            "{{\"user\":\"u{}\",\"action\":\"like\",\"target\":\"{}\"}}\n",
            n % users,
            n / users
        )
    };
    (0..count).map(line).collect()
}

/// The summary without what a clock says.
pub fn without_times(stdout: &str) -> String {
    match (stdout.split_once(" in "), stdout.split_once(" lines/s), ")) {
        (Some((lines, _)), Some((_, rest))) => format!("{lines}, {rest}"),
        _ => stdout.to_owned(),
    }
}
