//! Server processes that cannot outlive the test process.
//!
//! Statics are never dropped and a test process may be killed, so destructors are not enough.
//! A small supervising shell ends the server when the shell's stdin closes, which happens whenever
//! and however this process ends. It is plain `sh`, so that it also works on macOS.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use crate::slowness::scaled;

/// `$1` is the signal that ends the server, `$2` its folder or empty, the rest its command line.
/// The first line of output is the server's process id. The shell's stdin is a pipe from this
/// process, which writes a line to it before a regular end. If the pipe closes without a line, this
/// process was killed and the shell removes the folder.
const SHELL: &str = r#"
signal=$1; folder=$2; shift 2
sh -c 'echo $$; exec "$@"' sh "$@" </dev/null 2>&1 & server=$!
exec >/dev/null 2>&1
read -r _ && folder=
kill -"$signal" "$server"
wait "$server"
[ -z "$folder" ] || { cd / && rm -rf "$folder"; }
"#;

/// The time a server has to become ready or to end, [`scaled`]. Miniflare takes two seconds of a free processor; on a machine
/// that compiles or runs other tests meanwhile, a minute did not suffice.
const TIMEOUT: Duration = Duration::from_secs(240);

/// A running server; ends on drop.
pub(crate) struct ServerProcess {
    name: &'static str,
    shell: std::process::Child,
    server: u32,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl ServerProcess {
    /// Starts `command` and waits for the first line of output for which `ready` returns a value.
    /// `signal` ("KILL", "TERM") ends the server later.
    ///
    /// # Errors
    ///
    /// Returns the server's output when it ends early or is not ready in time.
    pub(crate) fn start<T>(
        name: &'static str,
        signal: &str,
        command: &Command,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<(Self, T), String> {
        let mut shell = supervised(signal, command);
        let mut shell = shell
            .spawn()
            .map_err(|error| format!("cannot start a shell for {name}: {error}"))?;
        let output = shell.stdout.take().ok_or("the shell has no stdout")?;
        let log = Arc::new(Mutex::new(String::new()));
        let (sender, lines) = channel();
        let written = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let mut log = written.lock().expect("the log lock is never poisoned");
                log.push_str(&line);
                log.push('\n');
                // The receiver is dropped once the server is ready.
                let _ = sender.send(line);
            }
        });
        let mut child = Self {
            name,
            shell,
            server: 0,
            log,
            reader: Some(reader),
        };
        let value = child.wait_for(&lines, ready);
        value
            .map(|value| (child, value))
            .map_err(|reason| format!("{name}: {reason}"))
    }

    fn wait_for<T>(
        &mut self,
        lines: &Receiver<String>,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let deadline = Instant::now() + scaled(TIMEOUT);
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let line = lines.recv_timeout(remaining).map_err(|error| {
                let happened = match error {
                    RecvTimeoutError::Timeout => "was not ready in time",
                    RecvTimeoutError::Disconnected => "ended before it was ready",
                };
                format!("{happened}:\n{}", self.log())
            })?;
            if self.server == 0 {
                self.server = line
                    .parse()
                    .map_err(|_| format!("expected a process id, found {line}"))?;
            } else if let Some(value) = ready(&line) {
                return Ok(value);
            }
        }
    }

    /// Returns everything the server has written so far to stdout and stderr.
    pub(crate) fn log(&self) -> String {
        self.log
            .lock()
            .expect("the log lock is never poisoned")
            .clone()
    }

    /// Returns the log from a byte offset on.
    pub(crate) fn log_from(&self, offset: usize) -> String {
        let log = self.log.lock().expect("the log lock is never poisoned");
        log.get(offset..).unwrap_or_default().to_owned()
    }

    /// Returns the server's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.server
    }

    /// Returns whether the server, or a process it started, is still running.
    pub(crate) fn is_running(&self) -> bool {
        self.reader
            .as_ref()
            .is_some_and(|reader| !reader.is_finished())
    }

    /// Kills the server (`kill -9`) and waits for its end.
    pub(crate) fn kill(&mut self) {
        if self.is_running() {
            send_signal(Signal::KILL, self.server);
        }
        self.join();
    }

    /// Waits for the end of the server's output, which is the end of the server.
    fn join(&mut self) {
        let deadline = Instant::now() + scaled(TIMEOUT);
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        if self.is_running() {
            eprintln!("{} did not end:\n{}", self.name, self.log());
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.shell.stdin.take() {
            let _ = stdin.write_all(b"\n");
        }
        self.join();
        let _ = self.shell.wait();
    }
}

/// Returns the supervising shell for `command`. The server's working directory, if any, is a
/// temporary folder that belongs to it alone.
fn supervised(signal: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", SHELL, "sh", signal]);
    shell.arg(command.get_current_dir().unwrap_or(Path::new("")));
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    // Ctrl-C in a terminal signals the whole process group: in a group of its own, the server
    // outlives the test's last requests and then ends as usual.
    shell.process_group(0);
    shell
}

/// Sends a signal to a process, if it still exists.
pub(crate) fn send_signal(signal: Signal, id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, signal);
    }
}

/// Returns the ids and command lines of all descendants of a process.
///
/// # Panics
///
/// Panics without a `ps` command.
pub(crate) fn descendants(id: u32) -> Vec<(u32, String)> {
    let mut ps = Command::new("ps");
    ps.args(["-A", "-o", "pid=", "-o", "ppid=", "-o", "args="]);
    let output = ps.output().expect("ps lists processes");
    let all = String::from_utf8_lossy(&output.stdout);
    let mut remaining: Vec<_> = all.lines().filter_map(parse_ps_line).collect();
    let (mut parents, mut found) = (BTreeSet::from([id]), Vec::new());
    loop {
        let (children, left): (Vec<_>, _) = remaining
            .into_iter()
            .partition(|(_, parent, _)| parents.contains(parent));
        if children.is_empty() {
            return found;
        }
        parents.extend(children.iter().map(|(id, ..)| *id));
        found.extend(children.into_iter().map(|(id, _, command)| (id, command)));
        remaining = left;
    }
}

fn parse_ps_line(line: &str) -> Option<(u32, u32, String)> {
    let (id, rest) = line.trim_start().split_once(' ')?;
    let (parent, command) = rest.trim_start().split_once(' ')?;
    Some((id.parse().ok()?, parent.parse().ok()?, command.to_owned()))
}

/// Ports below the ephemeral range: an outgoing connection could otherwise take the port of a
/// killed server before its restart.
const PORTS: std::ops::Range<u64> = 10_000..32_000;

/// Returns a port of the loopback address that is currently unused, for servers that cannot choose
/// one themselves. Another process may take it meanwhile, so callers retry with another port.
pub(crate) fn free_port() -> u16 {
    loop {
        // Each RandomState has random keys, which saves a dependency.
        let random = RandomState::new().hash_one(std::process::id());
        let port = PORTS.start + random % (PORTS.end - PORTS.start);
        let port = u16::try_from(port).expect("the range consists of ports");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
