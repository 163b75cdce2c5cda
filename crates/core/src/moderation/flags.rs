//! The flags of a user.

use crate::account::Accounts;

/// Flags that moderators and the user set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// A moderator hid the user from all boards.
    pub hidden: bool,
    /// The user opted out of all boards.
    pub self_hidden: bool,
    /// Nothing the user does counts.
    pub frozen: bool,
    /// By a case, the user gives nothing to some other users.
    pub has_exclusions: bool,
}

impl Flags {
    /// Returns whether boards hide the user.
    #[must_use]
    pub fn is_hidden(self) -> bool {
        self.hidden || self.self_hidden
    }

    /// Parses flags as the store holds them: the letters `h`, `s` and `f`, then `,` and the
    /// subject's id in the audit log, and then accounts and exclusions.
    #[must_use]
    pub fn parse(stored: &str) -> Self {
        let flags = stored.split(',').next().unwrap_or_default();
        Self {
            hidden: flags.contains('h'),
            self_hidden: flags.contains('s'),
            frozen: flags.contains('f'),
            has_exclusions: Accounts::from_flags(stored).exclusions().next().is_some(),
        }
    }
}
