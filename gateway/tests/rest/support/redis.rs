//! A redis-server of the tests' own.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

/// A redis-server on a free port that ends with this value, or with the process.
pub struct Redis {
    port: u16,
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
        loop {
            let port = free_port();
            if let Some(redis) = Self::try_on(port) {
                return redis;
            }
        }
    }

    /// Begins again on the port of one that was stopped.
    pub fn start_on(port: u16) -> Self {
        Self::try_on(port).expect("the port is free again")
    }

    fn try_on(port: u16) -> Option<Self> {
        let mut keeper = Command::new("sh")
            .args(["-c", r#"redis-server --port "$0" --save '' --appendonly no >/dev/null & cat; kill -9 $!; wait"#])
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh starts");
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if answers(port) {
                return Some(Self { port, keeper });
            }
            std::thread::yield_now();
        }
        drop(keeper.stdin.take());
        let _ = keeper.wait();
        None
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

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let mut reply = [0; 5];
    stream.write_all(b"PING\r\n").is_ok()
        && stream.read_exact(&mut reply).is_ok()
        && &reply == b"+PONG"
}
