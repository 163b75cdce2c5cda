//! Reads the software of a community, compares it with the boards, and mends differences. The command line and the scheduled
//! Worker have it in common.
//!
//! ```text
//! source ──▶ adapter ──▶ facts ──▶ check ──┬──▶ send: what the journal lacks, or everything
//!                                          └──▶ compare with the journal ──▶ heal ──▶ compare
//! ```
//!
//! In reading order:
//!
//! - [`sources`]: the adapters, one file for each software. [`facts`]: what they fill. [`instant`]: instants as databases
//!   write them.
//! - [`mod@check`]: finds rows that the service would refuse, by its own parsers ([`item`]).
//! - [`session`]: a run.
//! - [`board`]: the activities that count, by the [`journal`]. [`compare`]: finds differences. [`report`]: prints them.
//! - [`heal`]: mends differences by counting and undoing.
//! - [`platform`]: what a host or a Worker gives: requests, waiting, progress. [`client`]: requests to the service.
//!   [`retry`] repeats requests that failed transiently; [`request_error`] and [`problem`] define how a request fails.
//! - [`printable`], [`mod@count`]: texts for display. [`token`]: signed tokens. [`failure`]: the errors that end a run.

pub mod board;
pub mod check;
pub mod client;
pub mod compare;
pub mod count;
pub mod facts;
pub mod failure;
pub mod heal;
pub mod instant;
pub mod item;
pub mod journal;
pub mod platform;
pub mod printable;
pub mod problem;
pub mod report;
pub mod request_error;
pub mod retry;
pub mod session;
pub mod sources;
pub mod token;

pub use failure::Failure;
pub use platform::{Platform, Progress};

use sha1::{Digest, Sha1};

/// Returns the SHA-1 of a text in lower-case hex.
#[must_use]
pub fn sha1_hex(text: &str) -> String {
    let digest = Sha1::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
