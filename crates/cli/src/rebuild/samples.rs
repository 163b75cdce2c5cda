//! Entries and lifetimes for tests.

use activity_rank_sync::journal::JsonEntry;
use serde_json::{Value, json};
use test_support::journal_entry;

use super::journal::Entry;
use super::retention::Retention;

/// Returns a like by user 42 with these fields replaced.
pub fn entry(number: u64, fields: Value) -> Result<Entry, String> {
    let entry = serde_json::from_value(journal_entry(number, &fields));
    let entry: JsonEntry = entry.map_err(|error| error.to_string())?;
    entry.decode(1)
}

/// Returns the default lifetimes.
pub fn default_retention() -> Retention {
    let days = |days: u64| days * 86_400;
    let boards = json!({"day": days(31), "week": days(91), "month": days(366), "year": days(731)});
    let lifetimes = json!({"boards": boards, "histories": days(62), "marks": days(401)});
    serde_json::from_value(lifetimes).expect("lifetimes")
}
