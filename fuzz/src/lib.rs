//! What holds of everything the service is sent: one module for each fuzz target of the Worker's.
//! `tests/corpus.rs` holds the kept inputs against the same functions, on any toolchain.

pub mod activity;
pub mod path;

mod ids;
mod keys;
