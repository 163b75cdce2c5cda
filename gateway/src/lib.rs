#![doc = include_str!("../README.md")]
//!
//! # Reading order
//!
//! The way of a request, file by file:
//!
//! 1. [`config`]: what can be set, and what is refused at the start.
//! 2. `server`: listens, hands every request to `http`, stops gracefully.
//! 3. `http`: methods, token, which endpoint; `http/answers` alone builds HTTP responses.
//! 4. `auth`: whose token is this, and what it opens.
//! 5. `request`: body, path and headers → [`command::Command`]s.
//! 6. `rules`: commands REST cannot carry, or a read-only token may not send.
//! 7. `script`: scripts that ask for key locking, rewritten so that Redis takes them.
//! 8. `run`: commands → one batch → one answer per slot.
//! 9. `backend`: **the seam**: a batch in, its replies out in order; reconnects behind it.
//! 10. `events`: subscriptions and MONITOR as server-sent events.
//! 11. `reply`: Redis values → JSON or RESP2 bytes.
//! 12. `error`: every fault with its status and text.

mod auth;
mod backend;
pub mod command;
pub mod config;
mod error;
mod events;
mod http;
mod reply;
mod request;
mod rules;
mod run;
mod script;
mod server;
mod sync;

pub use config::Config;
#[cfg(fuzzing)]
pub use request::decoding;
pub use server::{Server, stop_signal};
