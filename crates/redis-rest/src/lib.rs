#![doc = include_str!("../README.md")]
//!
//! # A tour of the code
//!
//! The modules in reading order, which is the path of a request:
//!
//! 1. [`config`]: command-line flags and environment variables, and their validation.
//! 2. `server`: binds the listening socket, limits and serves connections, and shuts down gracefully.
//! 3. `http`: routes a request by method and path, and builds every HTTP response.
//! 4. `auth`: checks the token and returns the access it grants.
//! 5. `request`: parses body, path and query into [`command::Command`]s.
//! 6. `policy`: decides which commands are available, and which ones a read-only token may run.
//! 7. `script`: rewrites scripts that carry the `allow-key-locking` flag.
//! 8. `runner`: turns commands into one batch and returns one result per command.
//! 9. `backend`: sends a batch to one Redis server or to a Redis Cluster, and reconnects.
//! 10. `events`: streams subscriptions and MONITOR as server-sent events.
//! 11. `reply`: encodes Redis values as JSON or RESP2.
//! 12. `sync_token`: generates the `Upstash-Sync-Token` header.
//! 13. `memory`: limits the memory that all requests take together.
//! 14. `error`: lists every error with its HTTP status and its message.

mod auth;
mod backend;
pub mod command;
pub mod config;
mod error;
mod events;
mod http;
mod log;
mod memory;
mod policy;
mod reply;
mod request;
mod runner;
mod script;
mod server;
mod sync_token;

pub use config::Config;
#[cfg(fuzzing)]
pub use request::decoding;
pub use server::{Server, raise_open_file_limit, stop_signal};
