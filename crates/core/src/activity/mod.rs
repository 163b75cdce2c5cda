//! An activity: one thing a user did, parsed from JSON together with the rule it counts by.

mod done;
mod order;
mod outcome;
mod read;

pub use done::DoneRequest;
pub(crate) use done::target_list;
pub use order::date_in_order;
pub use outcome::{Counted, EventStandingView, Outcome, StandingView};
pub use read::{Activity, ActivityReader, read_at, read_fields, read_groups, read_undo};

use crate::config::Rule;

/// A parsed activity with the rule it counts by.
pub type RuledActivity = (Activity, Rule);
