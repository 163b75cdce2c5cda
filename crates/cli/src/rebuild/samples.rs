//! Entries and lifetimes for tests.

use activity_rank_sync::journal::JsonEntry;
use serde_json::{Value, json};

use super::journal::Entry;
use super::retention::Retention;

/// Returns a like by user 42 with these fields replaced.
pub fn entry(number: u64, fields: Value) -> Result<Entry, String> {
    let mut entry = json!({"n": number, "shard": 0, "id": "1-0", "did": "count",
        "now": "1795132800000", "user": "42", "action": "like", "once": "s", "points": "2",
        "cooldown": "0", "mark": "like:post-7", "at": "1795132800000", "dated": "0",
        "date": "2026-11-20", "kinds": "dwmya", "groups": "", "skipped": "", "reason": ""});
    let (Value::Object(entry_fields), Value::Object(fields)) = (&mut entry, fields) else {
        return Err("not an object".to_owned());
    };
    entry_fields.extend(fields);
    let entry: JsonEntry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    entry.decode(1)
}

/// Returns the default lifetimes.
pub fn default_retention() -> Retention {
    let days = |days: u64| days * 86_400;
    let boards = json!({"day": days(31), "week": days(91), "month": days(366), "year": days(731)});
    let lifetimes = json!({"boards": boards, "histories": days(62), "marks": days(401)});
    serde_json::from_value(lifetimes).expect("lifetimes")
}
