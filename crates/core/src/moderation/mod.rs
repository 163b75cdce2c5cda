//! Moderation of users, and its audit log.
//!
//! Moderators hide and freeze users ([`ModerationState`]) and adjust points ([`Adjustment`]); each
//! of these can be undone. [`AuditRequest`] reads the log.

mod adjustment;
mod audit;
mod entry_id;
mod flags;
mod state;

pub use adjustment::Adjustment;
pub use audit::{AdjustmentEntry, AuditEntry, AuditRequest, ErasureEntry};
pub use entry_id::EntryId;
pub use flags::Flags;
pub use state::{ModerationState, render_flags};

use serde_json::Value;

const MAX_REASON_CHARACTERS: usize = 500;

/// Parses the required reason of a moderation request.
fn read_reason(value: Option<&Value>) -> Result<String, String> {
    let reason = value.and_then(Value::as_str).unwrap_or_default();
    let characters = reason.chars().count();
    if characters > MAX_REASON_CHARACTERS || reason.trim().is_empty() {
        return Err(format!(
            "must be a reason of 1 to {MAX_REASON_CHARACTERS} characters"
        ));
    }
    if reason.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(reason.to_owned())
}
