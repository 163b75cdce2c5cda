//! Rebuild of a deployment's data from its journal: `rebuild`, `verify` and `recount`.
//!
//! Each shard goes through these phases. Its state is stored beside the data, so an interrupted run
//! can be resumed.
//!
//! ```text
//! session   check fingerprints, take ownership of every shard
//! replay    journal ─▶ plan (calls of the service's scripts) ─▶ next generation {ar:0}2…
//! compare   next generation with the present one; `verify` stops here and drops it
//! swap      the fingerprint names the next generation, if the journal has had everything; else it is read again, after
//!           three attempts while the writers wait; several shards in one request, while the writers of all wait
//! delete    the former generation, in steps
//! ```
//!
//! - [`run`], [`verify`], [`recount`]: the commands. [`session`]: what they have in common.
//! - [`rules`]: the rules of recounts. [`event`]: the definition of a recounted event. [`account`],
//!   [`past`]: what accounts did before they were joined. [`preview`]: who would move.
//! - [`state`]: a shard, its generations and its phase. [`purpose`]: what the run is for.
//! - [`settings`], [`store`], [`key`]: settings, access and keys of the data.
//! - [`journal`]: reads the journal of the service. [`mod@file`]: that of a file, for [`import`]. [`source`]: either.
//! - [`plan`]: turns entries into script calls. [`retention`], [`expiry`]: lifetimes of the data, and
//!   keys that expired between two entries.
//! - [`replay`]: applies the calls, each entry exactly once.
//! - [`compare`]: finds differences between both generations.
//! - [`swap`]: lets the next generation count. [`accounts`]: restores lists of accounts. [`corrections`]: what a recount
//!   of accounts makes of boards that only the archive has.

pub mod accounts;
pub mod compare;
pub mod corrections;
pub mod event;
pub mod expiry;
pub mod file;
pub mod import;
pub mod key;
pub mod past;
pub mod plan;
pub mod preview;
pub mod purpose;
pub mod recount;
pub mod replay;
pub mod rules;
pub mod run;
#[cfg(test)]
mod samples;
pub mod session;
pub mod source;
pub mod state;
pub mod store;
pub mod swap;
pub mod verify;

pub use activity_rank_sync::journal::{self, account, retention, settings};
