//! The gateway binary of this checkout.

use std::process::Command;

use crate::repository;
use crate::server_process::{ServerProcess, Signal, send_signal};

/// The bearer token of every gateway in tests.
pub const TOKEN: &str = "test-store-token";

/// A running gateway; ends on drop.
pub struct Gateway {
    child: ServerProcess,
    redis: String,
    address: String,
}

impl Gateway {
    /// Starts a private gateway in front of the Redis at `redis`.
    ///
    /// # Panics
    ///
    /// Panics when the binary has not been built or does not start.
    #[must_use]
    pub fn spawn(redis: &str) -> Self {
        let (child, address) = start(redis, "127.0.0.1:0");
        Self {
            child,
            redis: redis.to_owned(),
            address,
        }
    }

    /// Returns `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Kills it (`kill -9`) and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Stops it (`kill -STOP`): the kernel accepts connections, but no request gets a response.
    pub fn pause(&self) {
        send_signal(Signal::STOP, self.child.pid());
    }

    /// Continues a paused gateway.
    pub fn resume(&self) {
        send_signal(Signal::CONT, self.child.pid());
    }

    /// Restarts it on the same port.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn restart(&mut self) {
        self.kill();
        (self.child, self.address) = start(&self.redis, &self.address);
    }

    /// Returns the log since the last start.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }
}

fn start(redis: &str, listen: &str) -> (ServerProcess, String) {
    let mut command = Command::new(repository::binary("redis-rest"));
    command.env("REDIS_URL", redis).env("LISTEN", listen);
    command.env("REDIS_REST_TOKEN", TOKEN);
    let ready = |line: &str| {
        line.strip_prefix("redis-rest listening on http://")
            .map(str::to_owned)
    };
    ServerProcess::start("redis-rest", "KILL", &command, ready)
        .unwrap_or_else(|reason| panic!("{reason}"))
}
