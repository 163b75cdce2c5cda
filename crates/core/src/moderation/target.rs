//! `/v1/targets/{target}/moderation`: whether a target is hidden.

use super::read_reason;
use crate::content::{Target, TargetView, checked_id};
use crate::error::{Error, FieldErrors};
use serde::Serialize;
use serde_json::Value;

/// The state that a moderator sets for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetState {
    /// The id of the target.
    pub target: String,
    /// Whether the target is hidden from all boards.
    pub hidden: bool,
    /// The reason, for the audit log.
    pub reason: String,
}

/// The response about the state of a target.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TargetStateView<'a> {
    target: TargetView<'a>,
    hidden: bool,
}

impl TargetState {
    /// Parses a request body; the target comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(target: &str, body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("A moderation state is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &["hidden", "reason"]);
        let target = errors.check("/target", checked_id(target));
        let hidden = fields.get("hidden").and_then(Value::as_bool);
        let hidden = hidden.ok_or_else(|| "must be true or false".to_owned());
        let hidden = errors.check("/hidden", hidden);
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let state = || {
            Some(Self {
                target: target?,
                hidden: hidden?,
                reason: reason?,
            })
        };
        errors.finish(state())
    }
}

impl<'a> TargetStateView<'a> {
    /// Returns the view of a target's state.
    #[must_use]
    pub fn new(id: &'a str, target: &'a Target, hidden: bool) -> Self {
        Self {
            target: TargetView::new(id, target),
            hidden,
        }
    }
}
