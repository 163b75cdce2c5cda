//! Runs redis-server.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

/// A redis-server on a free port. It is killed on drop, and when the test process ends.
pub struct Redis {
    config: RedisConfig,
    /// A shell that kills redis-server when its standard input is closed, which also happens when the
    /// test process is killed.
    shell: Child,
}

/// The port and the extra command-line options of a redis-server.
#[derive(Clone)]
pub struct RedisConfig {
    pub port: u16,
    options: Vec<String>,
}

/// Returns the server that all tests share, except those that stop or block it.
pub fn shared_redis() -> &'static Redis {
    static SHARED: OnceLock<Redis> = OnceLock::new();
    SHARED.get_or_init(Redis::start)
}

impl Redis {
    pub fn start() -> Self {
        Self::start_with(Vec::new)
    }

    /// Starts a server with extra command-line options.
    pub fn start_with(options: impl Fn() -> Vec<String>) -> Self {
        loop {
            let config = RedisConfig {
                port: free_port(),
                options: options(),
            };
            if let Some(redis) = Self::try_start(config) {
                return redis;
            }
        }
    }

    /// Starts a server on the port of one that was killed.
    pub fn start_on(port: u16) -> Self {
        Self::restart(RedisConfig {
            port,
            options: Vec::new(),
        })
    }

    /// Returns `None` if the port is in use.
    fn try_start(config: RedisConfig) -> Option<Self> {
        let mut shell = Command::new("sh")
            .args(["-c", r#"redis-server --port "$0" --save '' --appendonly no "$@" >/dev/null & echo $!; cat >/dev/null; kill -9 $!; wait"#])
            .arg(config.port.to_string())
            .args(&config.options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh starts");
        let mut pid = String::new();
        BufReader::new(shell.stdout.take().expect("a pipe"))
            .read_line(&mut pid)
            .expect("a process id");
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            match process_on(config.port) {
                // Another server took the port in the meantime.
                Some(other) if other != pid.trim() => break,
                Some(_) => return Some(Self { config, shell }),
                None => {}
            }
            std::thread::yield_now();
        }
        drop(shell.stdin.take());
        let _ = shell.wait();
        None
    }

    /// Returns the configuration, for [`Redis::restart`].
    pub fn config(&self) -> &RedisConfig {
        &self.config
    }

    /// Starts a server again, without its data.
    pub fn restart(config: RedisConfig) -> Self {
        Self::try_start(config).expect("the port is free again")
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.config.port)
    }

    /// Kills the server and returns its port.
    pub fn kill(self) -> u16 {
        self.config.port
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// Returns a free port.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Returns the process id of the server on a port.
fn process_on(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"INFO server\r\n").ok()?;
    let lines = BufReader::new(stream).lines();
    lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("process_id:")?.to_owned()))
}
