//! The gateway binary of this checkout.

use std::env;
use std::process::Command;

use url::Url;

use crate::repository;
use crate::server_process::{ServerProcess, Signal, send_signal};

/// The bearer token that every Worker in tests sends.
pub const TOKEN: &str = "test-store-token";

/// A running gateway; ends on drop.
#[must_use]
pub struct Gateway {
    /// `None` for a store elsewhere.
    child: Option<ServerProcess>,
    /// The engine of scripts between gateway and Redis: see [`start_engine`].
    _engine: Option<ServerProcess>,
    redis: String,
    token: String,
    address: String,
}

impl Gateway {
    /// Starts a private gateway in front of the Redis at `redis`. With `LUA_ENGINE`, the path of the program in
    /// `tests/engine`, scripts run there.
    ///
    /// # Panics
    ///
    /// Panics when the binary has not been built or does not start.
    pub fn spawn(redis: &str) -> Self {
        Self::spawn_with_token(redis, TOKEN)
    }

    /// Starts a private gateway that accepts this token instead of [`TOKEN`].
    ///
    /// # Panics
    ///
    /// Panics as [`spawn`](Self::spawn) does.
    pub fn spawn_with_token(redis: &str, token: &str) -> Self {
        let (engine, redis) = match env::var("LUA_ENGINE") {
            Ok(program) => start_engine(&program, redis),
            Err(_) => (None, redis.to_owned()),
        };
        let (child, address) = start(&redis, token, "127.0.0.1:0");
        Self {
            child: Some(child),
            _engine: engine,
            redis,
            token: token.to_owned(),
            address,
        }
    }

    /// Returns the gateway of a store elsewhere, which a proxy at this address passes requests to.
    pub(crate) fn elsewhere(address: String) -> Self {
        Self {
            child: None,
            _engine: None,
            redis: String::new(),
            token: TOKEN.to_owned(),
            address,
        }
    }

    fn child(&self) -> &ServerProcess {
        self.child.as_ref().expect(ELSEWHERE)
    }

    /// Returns `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the process id.
    ///
    /// # Panics
    ///
    /// Panics, as all methods that follow, for a store elsewhere.
    pub fn pid(&self) -> u32 {
        self.child().pid()
    }

    /// Kills it (`kill -9`) and waits for its end.
    pub fn kill(&mut self) {
        self.child.as_mut().expect(ELSEWHERE).kill();
    }

    /// Stops it (`kill -STOP`): the kernel accepts connections, but no request gets a response.
    pub fn pause(&self) {
        send_signal(Signal::STOP, self.child().pid());
    }

    /// Continues a paused gateway.
    pub fn resume(&self) {
        send_signal(Signal::CONT, self.child().pid());
    }

    /// Restarts it on the same port.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn restart(&mut self) {
        self.kill();
        let (child, address) = start(&self.redis, &self.token, &self.address);
        (self.child, self.address) = (Some(child), address);
    }

    /// Returns the log since the last start.
    pub fn log(&self) -> String {
        self.child().log()
    }
}

/// The message of a test that controls a store which the tests did not start.
const ELSEWHERE: &str = "a gateway of the tests, not a store elsewhere";

/// Starts an engine of scripts in front of one Redis. Returns it with the URL for the gateway; a cluster has none.
fn start_engine(program: &str, redis: &str) -> (Option<ServerProcess>, String) {
    let mut url = Url::parse(redis).expect("a URL");
    if url.scheme() != "redis" {
        return (None, redis.to_owned());
    }
    let port = url.port().expect("a port");
    let mut command = Command::new(program);
    command.arg(format!("127.0.0.1:{port}"));
    let ready = |line: &str| {
        let port = line.strip_prefix("engine listening on 127.0.0.1:")?;
        port.parse().ok()
    };
    let (engine, port) = ServerProcess::start("engine", "KILL", &command, ready)
        .unwrap_or_else(|reason| panic!("{reason}"));
    url.set_port(Some(port)).expect("a URL with a host");
    (Some(engine), url.into())
}

fn start(redis: &str, token: &str, listen: &str) -> (ServerProcess, String) {
    let mut command = Command::new(repository::binary("redis-rest"));
    command.env("REDIS_URL", redis).env("LISTEN", listen);
    command.env("REDIS_REST_TOKEN", token);
    let ready = |line: &str| {
        line.strip_prefix("redis-rest listening on http://")
            .map(str::to_owned)
    };
    ServerProcess::start("redis-rest", "KILL", &command, ready)
        .unwrap_or_else(|reason| panic!("{reason}"))
}
