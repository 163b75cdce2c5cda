//! The domain of activity-rank, without I/O.
//!
//! Everything here is plain computation: the same code runs in the Worker, on the command line and
//! in tests. The modules in reading order:
//!
//! 1. [`activity`]: what a user did, parsed from a request.
//! 2. [`config`]: the deployment's settings, among them the [`rules`](config::Rules) that give
//!    each action its points; [`rules`]: the versions of them that have been published.
//! 3. [`calendar`]: instants, days and periods of one time zone.
//! 4. [`score`]: points and order of arrival packed into one exact number.
//! 5. [`board`]: requests that read boards, the data they read, and the JSON they return.
//! 6. [`profile`], [`account`], [`history`], [`streak`], [`pause`], [`card`] and [`moderation`]: what is known and
//!    shown about one user.
//! 7. [`achievement`] and [`credential`]: goals beyond a rank; [`counts`]: the numbers of targets; [`stats`] and [`digest`]: the numbers of the site, and the digests of weeks.
//! 8. [`fair_play`]: who gives points to whom, and cases for moderators.
//! 9. [`webhook`]: the messages to webhooks; [`metrics`]: the format of metrics; [`sync`]: results of sync runs.
//! 10. [`token`] and [`caller`]: who sends a request, and what that caller may do.
//! 11. [`id`], [`path`], [`text`], [`json`], [`query`] and [`object`]: parsers, checks and a serializer
//!     that the others share.
//! 12. [`shard`]: the shard of a user.
//! 13. [`error`]: every error a caller can receive, as a problem document.

pub mod account;
pub mod achievement;
pub mod activity;
pub mod actor;
pub mod board;
pub mod calendar;
pub mod caller;
pub mod card;
pub mod config;
pub mod content;
pub mod counts;
pub mod credential;
pub mod digest;
pub mod error;
pub mod event;
pub mod fair_play;
pub mod history;
pub mod id;
pub mod json;
pub mod metrics;
pub mod moderation;
pub mod object;
pub mod path;
pub mod pause;
pub mod point_changes;
pub mod profile;
pub mod query;
pub mod rules;
pub mod score;
pub mod shard;
pub mod stats;
pub mod streak;
pub mod sync;
pub mod text;
pub mod token;
pub mod webhook;

/// Maximum size of a request body in bytes.
pub const MAX_BODY_BYTES: usize = 256 * 1024;

/// Tolerated clock difference in milliseconds: an activity may be dated this far in the future.
pub const CLOCK_TOLERANCE: i64 = 60_000;
