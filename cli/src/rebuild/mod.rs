//! A site made anew from its journal: the machinery under `rebuild` and `verify`.
//!
//! ```text
//! journal ─▶ entry ─▶ steps (calls of the service's own scripts) ─▶ apply ─▶ shadow
//! store, shadow ─▶ compare ─▶ findings ─▶ swap
//! ```
//!
//! - [`journal`], [`entry`]: what was done, as the service tells it.
//! - [`keep`], [`forgotten`]: how long it was kept, and what is left of that.
//! - [`steps`], [`step`], [`apply`], [`replay`]: doing it again on the shadow, each entry once.
//! - [`compare`]: what the store holds with what the journal tells.
//! - [`place`], [`state`], [`scripts`]: where it happens, and how far it is; [`people`]: whose data.
//! - [`swap`], [`mod@drop`]: what becomes of the shadow.
//! - [`begin`], [`run`], [`verify`]: the commands.

pub mod apply;
pub mod begin;
pub mod compare;
pub mod drop;
pub mod entry;
pub mod forgotten;
pub mod journal;
pub mod keep;
pub mod people;
pub mod place;
pub mod replay;
pub mod run;
pub mod scripts;
pub mod state;
pub mod step;
pub mod steps;
pub mod swap;
pub mod verify;
