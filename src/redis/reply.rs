//! Replies as the protocol's JSON carries them, and how to take them apart.

use super::Failure;
use serde::{Deserialize, Serialize};

/// One value of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// Nothing there.
    Nil,
    /// An integer.
    Integer(i64),
    /// A status or a string.
    Text(String),
    /// An array, nested to any depth.
    List(Vec<Reply>),
}

impl Reply {
    /// The integer, also one written as text.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is anything else; so with all that follow.
    pub fn integer(&self) -> Result<i64, Failure> {
        match self {
            Self::Integer(number) => Ok(*number),
            Self::Text(text) => text.parse().map_err(|_| unexpected(self)),
            Self::Nil | Self::List(_) => Err(unexpected(self)),
        }
    }

    /// The integer where it cannot be negative.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn unsigned(&self) -> Result<u64, Failure> {
        u64::try_from(self.integer()?).map_err(|_| unexpected(self))
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn text(&self) -> Result<&str, Failure> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Nil | Self::Integer(_) | Self::List(_) => Err(unexpected(self)),
        }
    }

    /// The values of an array.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn list(&self) -> Result<&[Self], Failure> {
        match self {
            Self::List(values) => Ok(values),
            Self::Nil | Self::Integer(_) | Self::Text(_) => Err(unexpected(self)),
        }
    }

    /// The value at a place of an array; nothing where the array is shorter.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn at(&self, place: usize) -> Result<&Self, Failure> {
        Ok(self.list()?.get(place).unwrap_or(&Self::Nil))
    }

    /// The reply, unless nothing is there.
    #[must_use]
    pub fn some(&self) -> Option<&Self> {
        (*self != Self::Nil).then_some(self)
    }
}

/// A reply that a command of ours cannot have; what it holds is not for the log.
fn unexpected(reply: &Reply) -> Failure {
    let kind = match reply {
        Reply::Nil => "nothing",
        Reply::Integer(_) => "an integer",
        Reply::Text(_) => "a text",
        Reply::List(_) => "a list",
    };
    Failure::Unavailable(format!("unexpected reply: {kind}"))
}

/// What the protocol sends for one command.
#[derive(Deserialize)]
pub(super) struct Slot {
    #[serde(default)]
    pub(super) error: Option<String>,
    #[serde(default = "nil")]
    pub(super) result: Reply,
}

fn nil() -> Reply {
    Reply::Nil
}
