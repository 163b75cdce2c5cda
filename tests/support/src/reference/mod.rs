//! What counting promises, to hold the service against: a model in plain memory, the days and
//! periods it counts on, and the same as it lies in Redis.

mod activity;
mod board;
mod calendar;
mod model;
mod moderation;
mod moment;
mod rule;
mod store;
mod stored;

pub use activity::{Activity, Mark};
pub use board::{Board, BoardName, board_key};
pub use calendar::{Calendar, KINDS, id, noon_zone, now, written};
pub use model::{Day, Model, Outcome, Standing};
pub use moment::Moment;
pub use rule::Rule;
pub use store::Store;
pub use stored::{Stands, day_marks_key, history_key, mark_of, span_of};
