//! The command, for a service.

use std::io;
use std::process::Command;

use crate::run;
pub use crate::run::Run;
use crate::service::{KEY, Service};

/// The command with these arguments for this service; the key comes by the environment.
pub fn command(service: &Service, args: &[&str]) -> Command {
    let place = [
        ("ACTIVITY_RANK_URL", service.url.as_str()),
        ("ACTIVITY_RANK_KEY", KEY),
    ];
    run::command(args, &place)
}

/// Runs the command to its end. Nowhere does the key show.
#[track_caller]
pub fn run(service: &Service, args: &[&str], stdin: &str) -> io::Result<Run> {
    finish(command(service, args), stdin)
}

/// Runs a prepared command to its end.
#[track_caller]
pub fn finish(command: Command, stdin: &str) -> io::Result<Run> {
    run::finish(command, stdin, KEY)
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
