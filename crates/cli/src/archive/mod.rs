//! Export of a deployment's data to a file, and restore from it: `export` and `restore`.
//!
//! ```text
//! export    Redis ─▶ SCAN, read pages ─▶ codec (values to records) ─▶ output
//! restore   file ─▶ check every line ─▶ claim prefix ─▶ codec (records to commands) ─▶ Redis
//! ```
//!
//! - [`mod@export`], [`restore`]: the commands. [`output`]: the exported file.
//! - [`record`]: the file format. [`codec`]: conversion between records and Redis values.
//! - [`key`], [`fingerprint`]: the keys of a deployment and the settings that its data depends on.
//! - [`store`]: the commands of Redis, with retries.

pub mod codec;
pub mod export;
pub mod fingerprint;
pub mod key;
pub mod output;
pub mod record;
pub mod restore;
pub mod store;
