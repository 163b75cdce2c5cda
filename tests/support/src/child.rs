//! A server as a child process that can't outlive this one.
//!
//! Statics are never dropped and a test process may be killed, so no destructor can be trusted.
//! A small shell stands between: it ends the server when its own stdin does, which is when this
//! process has gone, for whatever reason. Plain `sh`, so that it holds on macOS as well.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::process::{self, Signal};

/// `$1` is the signal that ends the server, `$2` its folder or nothing, the rest its command line.
/// The first line of output is the server's process id; stdin of the shell is a pipe held by this
/// process, which writes a line to it if it lives to end the server. If not, nobody else will
/// remove the folder.
const SHELL: &str = r#"
signal=$1; folder=$2; shift 2
sh -c 'echo $$; exec "$@"' sh "$@" </dev/null 2>&1 & server=$!
exec >/dev/null 2>&1
read -r _ && folder=
kill -"$signal" "$server"
wait "$server"
[ -z "$folder" ] || { cd / && rm -rf "$folder"; }
"#;

/// How long a server may take to be ready, or to end; generous, since CI machines are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; ends on drop.
pub(crate) struct Child {
    name: &'static str,
    shell: std::process::Child,
    server: u32,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts `command` and waits for the first line in which `ready` finds what it looks for.
    /// `signal` ("KILL", "TERM") is how the server is ended later.
    ///
    /// # Errors
    ///
    /// The server's output when it ended, or said nothing of the kind in time.
    pub(crate) fn start<T>(
        name: &'static str,
        signal: &str,
        command: &Command,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<(Self, T), String> {
        let mut shell = tied(signal, command);
        let mut shell = shell
            .spawn()
            .map_err(|error| format!("no shell to start {name}: {error}"))?;
        let output = shell.stdout.take().ok_or("the shell has no stdout")?;
        let log = Arc::new(Mutex::new(String::new()));
        let (sender, lines) = channel();
        let written = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let mut log = written.lock().expect("no holder of the log panics");
                log.push_str(&line);
                log.push('\n');
                // Nobody listens any more once the server is ready.
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
        let found = child.wait_for(&lines, ready);
        found
            .map(|found| (child, found))
            .map_err(|reason| format!("{name}: {reason}"))
    }

    fn wait_for<T>(
        &mut self,
        lines: &Receiver<String>,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = lines.recv_timeout(left) else {
                return Err(format!("ended, or was not ready in time:\n{}", self.log()));
            };
            if self.server == 0 {
                self.server = line
                    .parse()
                    .map_err(|_| format!("no process id but {line}"))?;
            } else if let Some(found) = ready(&line) {
                return Ok(found);
            }
        }
    }

    /// Everything the server has written so far, stdout and stderr.
    pub(crate) fn log(&self) -> String {
        self.log
            .lock()
            .expect("no holder of the log panics")
            .clone()
    }

    /// What it has written behind so many bytes.
    pub(crate) fn log_from(&self, bytes: usize) -> String {
        let log = self.log.lock().expect("no holder of the log panics");
        log.get(bytes..).unwrap_or_default().to_owned()
    }

    /// The server's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.server
    }

    /// Whether the server (or a process it started) still runs.
    pub(crate) fn is_running(&self) -> bool {
        self.reader
            .as_ref()
            .is_some_and(|reader| !reader.is_finished())
    }

    /// Ends the server at once, as `kill -9` does, and waits until it has.
    pub(crate) fn kill(&mut self) {
        if self.is_running() {
            process::signal(Signal::KILL, self.server);
        }
        self.join();
    }

    /// Waits for the end of the server's output, which is the end of the server.
    fn join(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        if self.is_running() {
            eprintln!("{} did not end:\n{}", self.name, self.log());
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.shell.stdin.take() {
            let _ = stdin.write_all(b"\n");
        }
        self.join();
        let _ = self.shell.wait();
    }
}

/// The shell that runs `command` and ends it with our end of its stdin. The folder a server runs in
/// is a temporary one of its own.
fn tied(signal: &str, command: &Command) -> Command {
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
    // Ctrl-C in a terminal goes to the whole group: the server should outlive the test's last
    // requests and then end in its own way.
    shell.process_group(0);
    shell
}
