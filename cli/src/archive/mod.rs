//! Everything a site keeps, as a file: the machinery under `export` and `restore`.
//!
//! ```text
//! export    store ─▶ walk (SCAN, pages) ─▶ reading (values into records) ─▶ output
//! restore   file ─▶ check (all lines) ─▶ writing (records into commands) ─▶ store
//! ```
//!
//! - [`stamp`], [`key`], [`span`]: the keys of a site; [`record`], [`pairs`]: the lines of a file.
//! - [`walk`], [`reading`], [`output`]: from the store into a file.
//! - [`check`], [`claim`], [`writing`]: from a file into the store.
//! - [`store`]: the store over HTTP; [`progress`]: how far it is.

pub mod check;
pub mod claim;
pub mod export;
pub mod key;
pub mod output;
pub mod pairs;
pub mod progress;
pub mod reading;
pub mod record;
pub mod restore;
pub mod span;
pub mod stamp;
pub mod store;
pub mod walk;
pub mod writing;
