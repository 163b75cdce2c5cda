//! The actors of the audit log.

/// Who made a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A service whose key has this name.
    Key(String),
    /// The user whom the change is about.
    User,
}

impl Actor {
    /// The stored form of [`Actor::User`]: the store does not repeat the id, which an erasure would have to remove. No
    /// key has this name.
    const USER: &str = "@";

    /// Parses the stored form; `None` if the actor is unknown.
    #[must_use]
    pub fn parse(stored: &str) -> Option<Self> {
        match stored {
            "" => None,
            Self::USER => Some(Self::User),
            name => Some(Self::Key(name.to_owned())),
        }
    }

    /// Returns the stored form; empty if the actor is unknown.
    #[must_use]
    pub fn stored(actor: Option<&Self>) -> &str {
        match actor {
            None => "",
            Some(Self::User) => Self::USER,
            Some(Self::Key(name)) => name,
        }
    }
}
