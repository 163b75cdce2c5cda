//! A redis-server of the tests' own.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

/// A redis-server on a free port that ends with this value, or with the process.
pub struct Redis {
    port: u16,
    options: Vec<String>,
    // A shell that waits for its standard input to close: also when the test process is killed.
    keeper: Child,
}

/// The one all tests share that do not stop it.
pub fn shared_redis() -> &'static Redis {
    static SHARED: OnceLock<Redis> = OnceLock::new();
    SHARED.get_or_init(Redis::start)
}

impl Redis {
    pub fn start() -> Self {
        Self::start_with(Vec::new)
    }

    /// With more options on its command line.
    pub fn start_with(options: impl Fn() -> Vec<String>) -> Self {
        loop {
            let port = free_port();
            if let Some(redis) = Self::try_on(port, &options()) {
                return redis;
            }
        }
    }

    /// Begins again on the port of one that was stopped.
    pub fn start_on(port: u16) -> Self {
        Self::again((port, Vec::new()))
    }

    fn try_on(port: u16, options: &[String]) -> Option<Self> {
        let mut keeper = Command::new("sh")
            .args(["-c", r#"redis-server --port "$0" --save '' --appendonly no "$@" >/dev/null & echo $!; cat >/dev/null; kill -9 $!; wait"#])
            .arg(port.to_string())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh starts");
        let mut process = String::new();
        let mut told = BufReader::new(keeper.stdout.take().expect("a pipe"));
        told.read_line(&mut process).expect("a process");
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            match answers(port) {
                // Another test may have taken the port in the meantime.
                Some(other) if other != process.trim() => break,
                Some(_) => {
                    let options = options.to_vec();
                    return Some(Self {
                        port,
                        options,
                        keeper,
                    });
                }
                None => {}
            }
            std::thread::yield_now();
        }
        drop(keeper.stdin.take());
        let _ = keeper.wait();
        None
    }

    /// Ends it at once, as a crash would; with what is returned it begins again.
    pub fn crash(mut self) -> (u16, Vec<String>) {
        (self.port, std::mem::take(&mut self.options))
    }

    /// Begins again as it was.
    pub fn again((port, options): (u16, Vec<String>)) -> Self {
        Self::try_on(port, &options).expect("the port is free again")
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Ends it at once, as a crash would, and gives its port.
    pub fn kill(self) -> u16 {
        self.port
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// The process that answers on a port.
fn answers(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"INFO server\r\n").ok()?;
    let lines = BufReader::new(stream).lines();
    lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("process_id:")?.to_owned()))
}
