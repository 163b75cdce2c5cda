//! The boards of now as they were at an instant, for while the store is away.

use super::{Which, read};
use crate::archive::{Found, Lookup};
use crate::calendar::{Date, Instant};
use crate::error::Error;
use crate::keys::Keys;
use crate::pairs::Pairs;
use crate::redis::{Failure, Reply};
use crate::site::Site;
use serde::Serialize;

/// How many of each board.
const MEMBERS: u32 = 1000;

/// What is kept of all boards.
#[derive(Debug, Serialize)]
pub struct Snapshot {
    made: i64,
    /// By name, what the script replied that reads the top of a board.
    boards: Pairs<String, Reply>,
}

impl Snapshot {
    /// Reads the boards of a day: one of each kind, for everybody.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn of(site: &Site, today: Date, made: Instant) -> Result<Self, Error> {
        let mut boards = Vec::new();
        for period in &site.config.periods {
            let which = Which {
                period: *period,
                date: today,
                group: None,
            };
            let (top, _) = read(site, &which, &Lookup::Top(0, MEMBERS)).await?;
            boards.push((which.name(), top));
        }
        Ok(Self {
            made: made.0,
            boards: Pairs(boards),
        })
    }
}

/// What a script would have replied about a board of which the top is known; `None` where that
/// does not tell.
///
/// # Errors
///
/// [`Failure::Unavailable`] where the top is no reply of its script.
pub fn from_top(top: &Reply, made: Instant, lookup: &Lookup<'_>) -> Result<Option<Reply>, Failure> {
    let total = super::total(top)?;
    let (users, scores, profiles) = (top.at(2)?.list()?, top.at(3)?.list()?, top.at(4)?);
    let Some(found) = Found::in_top(total, made, (users, scores), lookup)? else {
        return Ok(None);
    };
    let mut named = Vec::new();
    for user in lookup.users(&found) {
        let at = users.iter().position(|known| known.text() == Ok(user));
        named.push(match at {
            Some(at) => profiles.at(at)?.clone(),
            None => Reply::Nil,
        });
    }
    Ok(Some(lookup.reply(&found, &named)))
}

impl Which {
    /// What tells its board from all others of the site.
    #[must_use]
    pub fn name(&self) -> String {
        Keys::board_name(self.period, self.date, self.group.as_deref())
    }
}
