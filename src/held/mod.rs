//! What the store did not take in time is held back in a queue, and counted later.
//!
//! A [`messages`] text is what was read of a request, the instant of each activity with it, so that
//! a [`replay`] of what had been counted after all changes nothing.

mod message;
mod replay;

pub use message::{messages, read};
pub use replay::{Fate, backoff, replay};
