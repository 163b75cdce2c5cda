//! A delivery: what someone receives on another shard than that of the activity.

use super::record::BoardTargets;
use crate::outbox::OutboxEntry;
use crate::redis::{Reply, StoreError};
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::config::Config;
use activity_rank_core::content::id_of_member;

/// An entry of the stream of deliveries of a shard, or a change of boards in a rebuild. The header of
/// `count_receive.lua` describes the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The shard that sends it; `None` in a rebuild.
    pub from: Option<u32>,
    /// The id of the entry.
    pub id: String,
    /// The verb.
    pub verb: String,
    /// The receiver: `t` and the member of a target, or `u` and a user.
    pub receiver: String,
    /// The points in smallest steps; negative to take them back.
    pub points: i64,
    /// The boards of content and of authors; `None` if no points change.
    pub targets: Option<BoardTargets>,
    /// The number of the target's registration.
    pub number: String,
    /// The author at the time of the activity.
    pub authorship: String,
    /// The author with whom an unknown target is registered, or who has been erased.
    pub author: String,
    /// The target in the author's list.
    pub listed: String,
    /// Its instant in the list.
    pub instant: String,
    /// The instant of the activity in Unix ms.
    pub at: String,
    /// The action of the activity.
    pub action: String,
}

impl Delivery {
    /// Decodes an entry of the stream of a shard.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other entry.
    pub fn decode(from: u32, entry: &Reply) -> Result<Self, StoreError> {
        let entry = OutboxEntry::decode(entry)?;
        let text = |name: &str| entry.field(name);
        let unexpected = || StoreError::Unavailable("unexpected delivery".to_owned());
        let periods = text("periods").chars().map(Period::from_letter);
        let content: Vec<Period> = periods.collect::<Option<_>>().ok_or_else(unexpected)?;
        let targets = Date::parse(text("date")).map(|date| BoardTargets::of_content(date, content));
        let owned = |name: &str| text(name).to_owned();
        Ok(Self {
            from: Some(from),
            id: entry.id.clone(),
            verb: owned("do"),
            receiver: owned("to"),
            points: text("points").parse().map_err(|_| unexpected())?,
            targets,
            number: owned("number"),
            authorship: owned("authorship"),
            author: owned("author"),
            listed: owned("listed"),
            instant: owned("instant"),
            at: owned("at"),
            action: owned("action"),
        })
    }

    /// Returns the shard of the receiver.
    #[must_use]
    pub fn shard(&self, config: &Config) -> u32 {
        config.shard_of(match self.user() {
            Some(user) => user,
            None => id_of_member(self.receiver.get(1..).unwrap_or_default()),
        })
    }

    /// Returns the receiver if it is a user.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.receiver.strip_prefix('u')
    }
}
