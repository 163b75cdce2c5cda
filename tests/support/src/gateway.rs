//! The gateway, as built from this checkout.

use std::process::Command;
use std::sync::OnceLock;

use crate::child::Child;
use crate::process::{self, Signal};
use crate::redis_server::redis;
use crate::repository;

/// The bearer token of every gateway a test starts.
pub const TOKEN: &str = "test-store-token";

/// The gateway that all tests of this process share, in front of the shared [`redis()`].
pub fn gateway() -> &'static Gateway {
    static SHARED: OnceLock<Gateway> = OnceLock::new();
    SHARED.get_or_init(|| Gateway::spawn(&redis().url()))
}

/// A running gateway; ends on drop.
pub struct Gateway {
    child: Child,
    redis: String,
    address: String,
}

impl Gateway {
    /// Starts one that nobody else uses, in front of the Redis at `redis`.
    ///
    /// # Panics
    ///
    /// When the binary has not been built, or does not start.
    #[must_use]
    pub fn spawn(redis: &str) -> Self {
        let (child, address) = start(redis, "127.0.0.1:0");
        Self {
            child,
            redis: redis.to_owned(),
            address,
        }
    }

    /// `http://127.0.0.1:<port>`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Kills it (`kill -9`) and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Stops it where it is (`kill -STOP`): it takes connections and answers nobody.
    pub fn pause(&self) {
        process::signal(Signal::STOP, self.child.pid());
    }

    /// Lets a paused one go on.
    pub fn resume(&self) {
        process::signal(Signal::CONT, self.child.pid());
    }

    /// Starts a killed one again on the same port.
    ///
    /// # Panics
    ///
    /// When it does not come back.
    pub fn restart(&mut self) {
        self.kill();
        (self.child, self.address) = start(&self.redis, &self.address);
    }

    /// What the gateway has written since its (last) start.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }
}

fn start(redis: &str, listen: &str) -> (Child, String) {
    let mut command = Command::new(repository::binary("redis-rest"));
    command.env("REDIS_URL", redis).env("LISTEN", listen);
    command.env("REDIS_REST_TOKEN", TOKEN);
    let ready = |line: &str| {
        line.strip_prefix("redis-rest listening on http://")
            .map(str::to_owned)
    };
    Child::start("redis-rest", "KILL", &command, ready).unwrap_or_else(|reason| panic!("{reason}"))
}
