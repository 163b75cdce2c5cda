//! What can be set, by flag or environment, and what is refused at the start.

use std::time::Duration;

use clap::Parser;

use crate::backend::{Manner, Replicas};

const MIB: usize = 1024 * 1024;

/// The Upstash Redis REST protocol over any Redis or Valkey, one server or a cluster.
// No `Debug`: it would be the easiest way to log a token.
#[derive(Clone, Parser)]
#[command(name = "redis-rest", version, about)]
pub struct Config {
    /// Where Redis is: `redis://[user:password@]host:port[/db]`, `rediss://` for TLS, `unix:///path`,
    /// `redis+cluster://[user:password@]host:port,host:port` for a cluster
    #[arg(
        long,
        env = "REDIS_URL",
        default_value = "redis://127.0.0.1:6379",
        hide_env_values = true
    )]
    pub redis_url: String,

    /// Address and port to listen on; port 0 takes a free one, `[::]:8079` listens on IPv6 too
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:8079")]
    pub listen: String,

    /// The token every request must carry (required; prefer the environment, flags show in ps)
    #[arg(
        long,
        env = "REDIS_REST_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    pub token: String,

    /// A second token, for commands that only read
    #[arg(
        long,
        env = "REDIS_REST_READONLY_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    pub readonly_token: String,

    /// Accept `?_token=` as well as the header (it ends up in access logs)
    #[arg(long, env = "REDIS_REST_QUERY_TOKEN", default_value_t = true, action = clap::ArgAction::Set)]
    pub query_token: bool,

    /// Connections to Redis, to each primary of a cluster, shared by all requests
    #[arg(long, env = "REDIS_CONNECTIONS", default_value_t = 2)]
    pub connections: usize,

    /// Milliseconds a body may take to arrive, and then Redis to answer
    #[arg(long, env = "TIMEOUT_MS", default_value_t = 10_000)]
    pub timeout_ms: u64,

    /// Answer a write only when so many replicas have it; 0 asks none
    #[arg(long, env = "WAIT_REPLICAS", default_value_t = 0)]
    pub wait_replicas: usize,

    /// Milliseconds replicas may take to confirm a write
    #[arg(long, env = "WAIT_TIMEOUT_MS", default_value_t = 500)]
    pub wait_timeout_ms: u64,

    /// Largest command, and largest reply to one command, in bytes
    #[arg(long, env = "MAX_COMMAND_BYTES", default_value_t = 10 * MIB)]
    pub max_command_bytes: usize,

    /// Largest request body in bytes
    #[arg(long, env = "MAX_BODY_BYTES", default_value_t = 64 * MIB)]
    pub max_body_bytes: usize,

    /// Most commands in one pipeline or transaction
    #[arg(long, env = "MAX_COMMANDS", default_value_t = 10_000)]
    pub max_commands: usize,

    /// Most subscriptions and monitors open at the same time; 0 switches them off
    #[arg(long, env = "MAX_STREAMS", default_value_t = 1000)]
    pub max_streams: usize,
}

impl Config {
    /// The same configuration, or why it cannot be served.
    ///
    /// # Errors
    ///
    /// One sentence that names the variable and what to do.
    pub fn check(self) -> Result<Self, String> {
        if self.token.trim().is_empty() {
            return Err(
                "REDIS_REST_TOKEN is not set: without a token anyone could use this Redis. \
                 Set it to a long random string."
                    .into(),
            );
        }
        if self.readonly_token.trim() == self.token.trim() {
            return Err("REDIS_REST_READONLY_TOKEN must differ from REDIS_REST_TOKEN.".into());
        }
        if self.connections == 0 {
            return Err("REDIS_CONNECTIONS must be at least 1.".into());
        }
        if self.timeout_ms == 0 {
            return Err("TIMEOUT_MS must be at least 1.".into());
        }
        if self.wait_replicas > 0 && !(1..self.timeout_ms).contains(&self.wait_timeout_ms) {
            // WAIT takes 0 as for ever.
            return Err("WAIT_TIMEOUT_MS must be at least 1 and less than TIMEOUT_MS.".into());
        }
        Ok(self)
    }

    pub(crate) fn manner(&self) -> Manner {
        Manner {
            connections: self.connections,
            patience: self.timeout(),
            replicas: (self.wait_replicas > 0).then(|| Replicas {
                wanted: self.wait_replicas,
                within: Duration::from_millis(self.wait_timeout_ms),
            }),
        }
    }

    /// How long a request may wait for Redis.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}
