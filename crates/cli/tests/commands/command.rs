//! Runs the command against the fake service.

use std::io;
use std::process::Command;

use crate::run;
pub use crate::run::Run;
use crate::service::{KEY, Service};

/// Prepares the command for this service. The key is passed in the environment.
pub fn command(service: &Service, args: &[&str]) -> Command {
    let variables = [
        ("ACTIVITY_RANK_URL", service.url.as_str()),
        ("ACTIVITY_RANK_KEY", KEY),
    ];
    run::command(args, &variables)
}

/// Runs the command to its end. Panics if the output contains the key.
#[track_caller]
pub fn run(service: &Service, args: &[&str], stdin: &str) -> io::Result<Run> {
    finish(command(service, args), stdin)
}

/// Runs a prepared command to its end. Panics if the output contains the key.
#[track_caller]
pub fn finish(command: Command, stdin: &str) -> io::Result<Run> {
    run::finish(command, stdin, KEY)
}

/// Returns `count` lines of `users` users. Each user's targets are 0, 1, 2 … in file order.
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

/// Returns the summary without duration and rate.
pub fn without_times(stdout: &str) -> String {
    match (stdout.split_once(" in "), stdout.split_once(" lines/s), ")) {
        (Some((lines, _)), Some((_, rest))) => format!("{lines}, {rest}"),
        _ => stdout.to_owned(),
    }
}
