//! The Redis store of activity-rank.
//!
//! Knows every key, every Lua script and what each of them replies; the rest of the code calls
//! functions with typed arguments and results. The modules in reading order:
//!
//! 1. [`redis`]: the client of the Upstash REST protocol, its transports and circuit breaker.
//! 2. [`keys`]: every key, with its content and lifetime.
//! 3. [`fingerprint`]: the settings that stored data depends on.
//! 4. [`scripts`]: the Lua scripts and their digests.
//! 5. [`deployment`]: runs scripts and commands for one deployment, on one or several shards.
//! 6. [`deployment::pending`]: changes of visibility and erasures that take several steps.
//! 7. [`count`]: counts and undoes activities.
//! 8. [`stream`] and [`receive`]: changes, and what targets and authors receive by them.
//! 9. [`boards`] and [`stats`]: read boards, standings, and the totals of boards.
//! 10. [`profiles`], [`history`], [`pauses`], [`moderation`], [`accounts`] and [`erasure`]: one user.
//! 11. [`targets`]: the register of targets; [`events`] and [`rules`]: events, and versions of the rules;
//!     [`rules_preview`]: what other rules would change.
//! 12. [`visitors`]: their number by address, and the numbers of activities of targets.
//! 13. [`watch`]: boards that someone watches.
//! 14. [`outbox`] and [`archive_source`]: what the Worker copies to its databases.
//! 15. [`progress`]: progress of the scheduled jobs.
//! 16. [`health`] and [`status`]: the condition of the store, and the state of the jobs.

pub mod accounts;
pub mod archive_source;
pub mod boards;
pub mod count;
pub mod daily;
pub mod deployment;
pub mod erasure;
pub mod events;
pub mod fingerprint;
pub mod health;
pub mod history;
pub mod keys;
pub mod moderation;
pub mod outbox;
pub mod pauses;
pub mod point_changes;
pub mod profiles;
pub mod progress;
pub mod receive;
pub mod redis;
pub mod rules;
pub mod rules_preview;
pub mod scripts;
pub mod stats;
pub mod status;
pub mod stream;
pub mod targets;
pub mod visitors;
pub mod watch;
