//! Something a user did.

/// By the default rules: what it is worth, and whether it counts once a day.
pub const ACTIONS: [(&str, i64, bool); 6] = [
    ("visit", 1, true),
    ("like", 2, false),
    ("bookmark", 2, false),
    ("follow", 2, false),
    ("comment", 3, false),
    ("publish", 10, false),
];

/// Something a user did, or took back.
#[derive(Clone, Debug)]
pub struct Deed {
    /// When, in Unix ms.
    pub at: i64,
    /// Who.
    pub user: String,
    /// What: a number of [`ACTIONS`].
    pub action: usize,
    /// To what.
    pub target: String,
    /// Whether it takes that back.
    pub undo: bool,
}

impl Deed {
    /// Name, points, and whether it counts once a day.
    pub fn rule(&self) -> (&'static str, i64, bool) {
        ACTIONS[self.action]
    }
}
