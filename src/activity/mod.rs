//! An activity, from what is sent to what became of it: [`Activity`] → [`Plan`] → [`Outcome`].

mod count;
mod mark;
mod order;
mod outcome;
mod plan;
mod read;

pub use count::{Counted, Ruled, adjust, count_all, count_one};
pub use mark::Mark;
pub use order::date_in_order;
pub use outcome::{Outcome, Outcomes, Standing};
pub use plan::{Dated, Deed, Head, Lifetimes, Operations, Place, Plan, Worth};
pub use read::{Activity, MOST_GROUPS, read_at, read_groups, read_item, read_undo};
