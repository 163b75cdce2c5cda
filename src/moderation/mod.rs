//! What moderators do, so that it can be taken back: hide and freeze users ([`Verdict`]), adjust
//! points ([`Adjustment`]), and read what was done ([`AuditQuery`]).

mod adjustment;
mod audit;
mod entry_id;
mod flags;
mod verdict;

pub use adjustment::Adjustment;
pub use audit::AuditQuery;
pub use entry_id::EntryId;
pub use flags::Flags;
pub use verdict::{Verdict, View};

use serde_json::Value;

/// The name of adjustments among a day's actions. No rule has it.
pub const ADJUST: &str = "adjust";

const MOST_REASON_CHARACTERS: usize = 500;

/// Why something is done.
fn read_reason(value: Option<&Value>) -> Result<String, String> {
    let reason = value.and_then(Value::as_str).unwrap_or_default();
    let characters = reason.chars().count();
    if characters > MOST_REASON_CHARACTERS || reason.trim().is_empty() {
        return Err(format!(
            "must say why, in 1 to {MOST_REASON_CHARACTERS} characters"
        ));
    }
    if reason.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(reason.to_owned())
}
