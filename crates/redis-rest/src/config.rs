//! Configuration: command-line flags, environment variables and their validation.

use std::{sync::Arc, time::Duration};

use clap::Parser;

use crate::{
    backend::{NodeOptions, ReplicaAcks, Restriction},
    policy::Policy,
};

const MIB: usize = 1024 * 1024;

/// The Upstash Redis REST protocol over any Redis or Valkey, one server or a cluster.
// No `Debug` implementation: it would make it easy to log a token.
#[derive(Clone, Parser)]
#[command(name = "redis-rest", version, about)]
pub struct Config {
    /// Address of Redis: `redis://[user:password@]host:port[/db]`, `rediss://` for TLS,
    /// `unix:///path`, `redis+cluster://[user:password@]host:port,host:port` for a cluster
    #[arg(
        long,
        env = "REDIS_URL",
        default_value = "redis://127.0.0.1:6379",
        hide_env_values = true
    )]
    pub redis_url: String,

    /// Address and port to listen on; port 0 selects a free port, `[::]:8079` also listens on IPv6
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:8079")]
    pub listen: String,

    /// Token that every request must carry (required; prefer the environment: flags are visible in ps)
    #[arg(
        long,
        env = "REDIS_REST_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    pub token: String,

    /// Second token, which grants read-only access
    #[arg(
        long,
        env = "REDIS_REST_READONLY_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    pub readonly_token: String,

    /// Allow the read-only token to run scripts that only read; they can block Redis and list keys
    #[arg(long, env = "REDIS_REST_READONLY_SCRIPTS", default_value_t = false, action = clap::ArgAction::Set)]
    pub readonly_scripts: bool,

    /// Accept the token in `?_token=` as well as in the header (query strings end up in access logs)
    #[arg(long, env = "REDIS_REST_QUERY_TOKEN", default_value_t = true, action = clap::ArgAction::Set)]
    pub query_token: bool,

    /// Commands that are available besides the default ones, such as `CONFIG|GET,SLOWLOG`
    #[arg(long, env = "ALLOW_COMMANDS", default_value = "")]
    pub allow_commands: String,

    /// Connections to Redis, or to each primary of a cluster, shared by all requests
    #[arg(long, env = "REDIS_CONNECTIONS", default_value_t = 2)]
    pub connections: usize,

    /// Timeout in milliseconds, first for the request body to arrive, then for Redis to answer
    #[arg(long, env = "TIMEOUT_MS", default_value_t = 10_000)]
    pub timeout_ms: u64,

    /// Number of replicas that must confirm a write before the gateway responds; 0 disables waiting
    #[arg(long, env = "WAIT_REPLICAS", default_value_t = 0)]
    pub wait_replicas: usize,

    /// Timeout in milliseconds for replicas to confirm a write
    #[arg(long, env = "WAIT_TIMEOUT_MS", default_value_t = 500)]
    pub wait_timeout_ms: u64,

    /// Maximum size of a command, and of the reply to a command, in bytes
    #[arg(long, env = "MAX_COMMAND_BYTES", default_value_t = 10 * MIB)]
    pub max_command_bytes: usize,

    /// Maximum memory in bytes that the replies to one request take
    #[arg(long, env = "MAX_REPLY_BYTES", default_value_t = 64 * MIB)]
    pub max_reply_bytes: usize,

    /// Maximum memory in bytes that the replies to all requests take at a time
    #[arg(long, env = "MAX_TOTAL_REPLY_BYTES", default_value_t = 256 * MIB)]
    pub max_total_reply_bytes: usize,

    /// Maximum size of a request body in bytes
    #[arg(long, env = "MAX_BODY_BYTES", default_value_t = 64 * MIB)]
    pub max_body_bytes: usize,

    /// Maximum memory in bytes that the bodies of all requests take at a time
    #[arg(long, env = "MAX_TOTAL_BODY_BYTES", default_value_t = 256 * MIB)]
    pub max_total_body_bytes: usize,

    /// Maximum number of commands in a pipeline or transaction
    #[arg(long, env = "MAX_COMMANDS", default_value_t = 10_000)]
    pub max_commands: usize,

    /// Maximum number of concurrent subscriptions and monitors; 0 disables them
    #[arg(long, env = "MAX_STREAMS", default_value_t = 1000)]
    pub max_streams: usize,

    /// Maximum number of open client connections; further ones get status 503
    #[arg(long, env = "MAX_CONNECTIONS", default_value_t = 5000)]
    pub max_connections: usize,

    /// Maximum number of open connections of one client address; 0 disables this limit
    /// [default: half of MAX_CONNECTIONS]
    #[arg(long, env = "MAX_CONNECTIONS_PER_ADDRESS")]
    pub max_connections_per_address: Option<usize>,

    /// Timeout in milliseconds for the request line and headers of a request to arrive
    #[arg(long, env = "HEAD_TIMEOUT_MS", default_value_t = 10_000)]
    pub head_timeout_ms: u64,

    /// Timeout in milliseconds after which a connection without a request is closed
    #[arg(long, env = "IDLE_TIMEOUT_MS", default_value_t = 120_000)]
    pub idle_timeout_ms: u64,
}

impl Config {
    /// Validates the configuration and returns it unchanged.
    ///
    /// # Errors
    ///
    /// Returns a message that names the invalid variable and its valid values.
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
        for (name, is_zero) in [
            ("REDIS_CONNECTIONS", self.connections == 0),
            ("TIMEOUT_MS", self.timeout_ms == 0),
            ("HEAD_TIMEOUT_MS", self.head_timeout_ms == 0),
            ("IDLE_TIMEOUT_MS", self.idle_timeout_ms == 0),
            ("MAX_CONNECTIONS", self.max_connections == 0),
        ] {
            if is_zero {
                return Err(format!("{name} must be at least 1."));
            }
        }
        if self.max_total_body_bytes < self.max_body_bytes {
            return Err("MAX_TOTAL_BODY_BYTES must be at least MAX_BODY_BYTES.".into());
        }
        if self.wait_replicas > 0 && !(1..self.timeout_ms).contains(&self.wait_timeout_ms) {
            // WAIT blocks without limit for a timeout of 0.
            return Err("WAIT_TIMEOUT_MS must be at least 1 and less than TIMEOUT_MS.".into());
        }
        Ok(self)
    }

    /// Returns the options for connections to each Redis node. `policy` decides which commands are
    /// available.
    pub(crate) fn node_options(&self, policy: &Arc<Policy>) -> NodeOptions {
        NodeOptions {
            restriction: Restriction::new(Arc::clone(policy), self.token.trim()),
            connections: self.connections,
            timeout: self.timeout(),
            replica_acks: (self.wait_replicas > 0).then(|| ReplicaAcks {
                required: self.wait_replicas,
                timeout: Duration::from_millis(self.wait_timeout_ms),
            }),
        }
    }

    /// Returns the timeout of a request body, and of the reply of Redis.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}
