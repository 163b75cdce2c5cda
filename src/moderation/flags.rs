//! What is held about a user beside points.

use crate::redis::{Failure, Reply};

/// The flags of a user, as the store holds them: `flags,subject`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Hidden from boards by a moderator.
    pub hidden: bool,
    /// Hidden from boards by themself.
    pub self_hidden: bool,
    /// Nothing they do counts.
    pub frozen: bool,
}

impl Flags {
    /// The flags of a user; none where the store holds nothing.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is no text.
    pub fn stored(reply: &Reply) -> Result<Self, Failure> {
        let Some(held) = reply.some() else {
            return Ok(Self::default());
        };
        let flags = held.text()?.split(',').next().unwrap_or_default();
        Ok(Self {
            hidden: flags.contains('h'),
            self_hidden: flags.contains('s'),
            frozen: flags.contains('f'),
        })
    }
}
