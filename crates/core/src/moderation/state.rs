//! `/v1/users/{user}/moderation`: whether a user is hidden or frozen.

use super::{Flags, read_public, read_reason};
use crate::board::UserView;
use crate::error::{Error, FieldErrors};
use crate::id;
use crate::profile::Profile;
use serde::Serialize;
use serde_json::Value;

/// The state that a moderator sets for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModerationState {
    /// The user.
    pub user: String,
    /// Whether the user is hidden from all boards.
    pub hidden: bool,
    /// Whether nothing the user does counts.
    pub frozen: bool,
    /// The reason, for the audit log.
    pub reason: String,
    /// Whether the user may read the reason.
    pub has_public_reason: bool,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    user: UserView<'a>,
    hidden: bool,
    frozen: bool,
}

impl ModerationState {
    /// Parses a request body; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(user: &str, body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("A moderation state is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(
            fields.keys(),
            &["hidden", "frozen", "reason", "public_reason"],
        );
        let user = errors.check("/user", id::checked(user));
        let flag = |name: &str| {
            let flag = fields.get(name).and_then(Value::as_bool);
            flag.ok_or_else(|| "must be true or false".to_owned())
        };
        let hidden = errors.check("/hidden", flag("hidden"));
        let frozen = errors.check("/frozen", flag("frozen"));
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let is_public = errors.check("/public_reason", read_public(fields));
        let state = || {
            Some(Self {
                user: user?,
                hidden: hidden?,
                frozen: frozen?,
                reason: reason?,
                has_public_reason: is_public?,
            })
        };
        errors.finish(state())
    }

    /// Returns whether the state hides or freezes the user.
    #[must_use]
    pub fn restricts(&self) -> bool {
        self.hidden || self.frozen
    }
}

/// Renders the response about a user's flags.
#[must_use]
pub fn render_flags(user: &str, profile: Option<&Profile>, flags: Flags) -> String {
    let view = View {
        user: UserView::new(user, profile).with_hidden(flags.self_hidden),
        hidden: flags.hidden,
        frozen: flags.frozen,
    };
    serde_json::to_string(&view).unwrap_or_default()
}
