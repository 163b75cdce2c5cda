//! What was done, in the order the store did it: kept in a database, from which the store can be
//! made anew.
//!
//! The scripts write each step that changed something to an *outbox* beside the data, in the same
//! atomic step: see `scripts/journal.lua`. It is brought to the table [`Batch`] by [`Batch`], and
//! read there [`Page`] by page. All of it is statements and how replies are read; the migrations in
//! `migrations/journal` say what the table holds.
//!
//! An entry has fields by name, all of them texts. Those of a kind have the same fields in the same
//! order, because a stream then keeps their names once.
//!
//! | field | of what counts (`count`, `undo`, `adjust`) |
//! |---|---|
//! | `did` | one of these; an undo that found nothing is there too, because it is remembered |
//! | `now` | when it was processed, Unix ms |
//! | `user`, `action` | who, and what |
//! | `once` | `d` per day, `s` standing |
//! | `points` | of the rule, or asked of an adjustment, in smallest steps |
//! | `cooldown` | `1` where the rule has one, or `0` |
//! | `mark`, `at` | the mark, and when it happened, Unix ms |
//! | `dated` | `0` now, `1` by the caller, `2` held back until now |
//! | `date`, `kinds`, `groups` | the boards: the day, letters of periods, groups between commas; of an undo those of its mark |
//! | `skipped` | which of these were left out because archived and gone: numbers from 1, between commas |
//! | `reason` | why, of an adjustment |
//!
//! | `did` | fields |
//! |---|---|
//! | `moderate` | `now`, `user`, `hidden` (`1` or `0`), `frozen`, `reason` |
//! | `profile` | `now`, `user`, `json`, `hidden` (`1` or `0` where that changed, else nothing) |
//! | `erase` | `now`, `user` (not in the table), `hash`: SHA-1 of the user |

mod outbox;
mod page;

pub use outbox::{Batch, read};
pub use page::Page;
