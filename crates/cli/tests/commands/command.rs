//! Runs the command against the fake service.

use std::io;
use std::process::Command;

use tokio::net::TcpSocket;

use crate::run;
pub use crate::run::Run;
use crate::service::{KEY, Service};

impl Run {
    /// Asserts the exit code and the whole error.
    #[track_caller]
    pub fn assert_error(self, code: i32, stderr: &str) -> Self {
        assert_eq!((self.code, &*self.stderr), (Some(code), stderr), "{self:?}");
        self
    }

    /// Asserts success with the whole output and without an error.
    #[track_caller]
    pub fn assert_output(self, stdout: &str) {
        assert_eq!(self.assert_error(0, "").stdout, stdout);
    }
}

/// Prepares the command for this service, with arguments that are separated by spaces. The key is passed in the environment.
pub fn command(service: &Service, args: &str) -> Command {
    let variables = [
        ("ACTIVITY_RANK_URL", service.url.as_str()),
        ("ACTIVITY_RANK_KEY", KEY),
    ];
    run::command(&args.split(' ').collect::<Vec<_>>(), &variables)
}

/// Runs the command to its end. Panics if the output contains the key.
#[track_caller]
pub fn run(service: &Service, args: &str, stdin: &str) -> io::Result<Run> {
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
        let (user, target) = (n % users, n / users);
        format!("{{\"user\":\"u{user}\",\"action\":\"like\",\"target\":\"{target}\"}}\n")
    };
    (0..count).map(line).collect()
}

/// Returns a URL at which nothing listens, while the socket is bound: no other process gets the port.
pub fn unreachable_url() -> io::Result<(TcpSocket, String)> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let url = format!("http://{}", socket.local_addr()?);
    Ok((socket, url))
}

/// Returns the summary without duration and rate.
pub fn without_times(stdout: &str) -> String {
    match (stdout.split_once(" in "), stdout.split_once(" lines/s), ")) {
        (Some((lines, _)), Some((_, rest))) => format!("{lines}, {rest}"),
        _ => stdout.to_owned(),
    }
}
