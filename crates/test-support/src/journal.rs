//! Entries of the journal for tests.

use serde_json::{Value, json};

/// Returns a like by user 42, as the journal gives it, with these fields replaced.
pub fn journal_entry(number: u64, fields: &Value) -> Value {
    let mut entry = json!({"n": number, "shard": 0, "id": "1-0", "did": "count",
        "now": "1795132800000", "user": "42", "action": "like", "once": "s", "points": "2",
        "cooldown": "0", "mark": "like:post-7", "at": "1795132800000", "dated": "0",
        "date": "2026-11-20", "kinds": "dwmya", "groups": "", "skipped": "", "reason": ""});
    for (name, value) in fields.as_object().into_iter().flatten() {
        entry[name] = value.clone();
    }
    entry
}
