//! activity-rank: counts what members of a site do, exactly once, and ranks the most active.
//!
//! A tour in the order of a request:
//!
//! 1. [`http`] finds the route, the caller and the content, and writes every answer. [`token`]
//!    reads what a user shows, [`caller`] says who may do what.
//! 2. [`activity`] makes of what was sent a plan, and of the reply an outcome; [`config`] holds
//!    the rules it counts by, [`calendar`] the days and periods it counts on.
//! 3. [`redis`] carries the plan to the store in one request; there one of the [`scripts`]
//!    applies it in one atomic step. [`keys`] names what it touches, [`score`] explains the
//!    number that a board holds.
//! 4. [`ranking`] and [`users`] read boards, standings, profiles and histories; [`moderation`]
//!    hides, freezes and adjusts; [`json`], [`query`] and [`id`] say what may be sent and asked
//!    for, [`pairs`] writes what has no fixed names.
//! 5. [`archive`] keeps boards that have closed, when Redis has forgotten them.
//!    What the store does not take in time waits in a queue: [`held`] writes it down and counts
//!    it later, the same way. [`journal`] keeps what was done.
//! 6. [`error`] is everything that can go wrong, as the caller sees it; [`site`] ties a
//!    deployment's parts together.
//!
//! The platform calls `src/entry.js`, and that calls [`http`]; all else builds and runs on the host
//! too.

pub mod activity;
pub mod archive;
pub mod calendar;
pub mod caller;
pub mod config;
pub mod error;
pub mod held;
pub mod http;
pub mod id;
pub mod journal;
pub mod json;
pub mod keys;
pub mod moderation;
pub mod pairs;
pub mod query;
pub mod ranking;
pub mod redis;
pub mod score;
pub mod scripts;
pub mod shard;
pub mod site;
pub mod token;
pub mod users;

/// How far clocks may disagree, in milliseconds: an activity may be dated this far ahead.
pub const CLOCK_TOLERANCE: i64 = 60_000;
