//! Rebuild of a deployment's data from its journal: `rebuild`, `verify` and `recount`.
//!
//! Each shard goes through these phases. Its state is stored beside the data, so an interrupted run
//! can be resumed.
//!
//! ```text
//! session   check fingerprints, take ownership of every shard
//! replay    journal ─▶ plan (calls of the service's scripts) ─▶ shadow keys {ar:0}~…
//! compare   shadow with live data; `verify` stops here and drops the shadow
//! lock      writes are rejected or queued; the rest of the journal is replayed and compared
//! swap      delete keys without a shadow, rename shadows, unlock writes
//! ```
//!
//! - [`run`], [`verify`], [`recount`]: the commands. [`session`]: what they have in common.
//! - [`rules`]: the rules of recounts. [`preview`]: who would move.
//! - [`state`]: a shard, its shadow and its phase.
//! - [`journal`]: reads the journal of the service.
//! - [`plan`]: turns entries into script calls. [`retention`], [`expiry`]: lifetimes of the data, and
//!   keys that expired between two entries.
//! - [`replay`]: applies the calls to the shadow, each entry exactly once.
//! - [`compare`]: finds differences between shadow and live data.
//! - [`swap`]: replaces the live data by the shadow.

pub mod compare;
pub mod expiry;
pub mod journal;
pub mod plan;
pub mod preview;
pub mod recount;
pub mod replay;
pub mod retention;
pub mod rules;
pub mod run;
pub mod session;
pub mod state;
pub mod swap;
pub mod verify;
