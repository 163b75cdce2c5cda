//! An independent model of counting to compare the service with: activities applied in plain
//! memory, periods of a calendar, and a decoder of the same state as stored in Redis.

mod activity;
mod calendar;
mod content;
mod event;
mod model;
mod store;

pub use activity::{Activity, DedupKey, InstantRange, Rule, Version};
pub use calendar::{Calendar, PERIODS, bounds, noon_zone, now, period_id, rfc3339};
pub use content::{
    Content, ContentBoard, ContentBoardId, Received, Subject, Target, content_board_key,
};
pub use event::Event;
pub use model::{
    ActiveRecord, Board, BoardId, DayHistory, Model, Outcome, Pair, board_key, event_board,
};
pub use store::{Store, StoredRecord, history_key, receiver_hash, record_name, span_of, waiting};
