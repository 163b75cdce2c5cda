//! Moderation of users, and its audit log.
//!
//! Moderators hide and freeze users ([`ModerationState`]) and adjust points ([`Adjustment`]); each
//! of these can be undone. [`AuditRequest`] reads the log.

mod adjustment;
mod audit;
mod entry_id;
mod flags;
mod state;
mod target;

pub use adjustment::Adjustment;
pub use audit::{AdjustmentEntry, AuditEntry, AuditRequest, AwardEntry, ErasureEntry};
pub use entry_id::EntryId;
pub use flags::Flags;
pub use state::{ModerationState, render_flags};
pub use target::{TargetState, TargetStateView};

use crate::text;
use serde_json::{Map, Value};

const MAX_REASON_CHARACTERS: usize = 500;

/// Parses the required reason of a moderation request.
pub(crate) fn read_reason(value: Option<&Value>) -> Result<String, String> {
    let reason = value.and_then(Value::as_str);
    let reason = reason
        .ok_or_else(|| format!("must be a text of 1 to {MAX_REASON_CHARACTERS} characters"))?;
    text::check(reason, MAX_REASON_CHARACTERS)
}

/// Parses whether the user may read the reason; `false` if the field is absent.
pub(crate) fn read_public(fields: &Map<String, Value>) -> Result<bool, String> {
    let flag = fields.get("public_reason");
    let flag = flag.map_or(Some(false), Value::as_bool);
    flag.ok_or_else(|| "must be true or false".to_owned())
}
