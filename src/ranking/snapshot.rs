//! The boards of now as they were at an instant, for while the store is away.

use super::Which;
use crate::archive::{Found, Lookup};
use crate::calendar::{Date, Instant};
use crate::config::Config;
use crate::keys::Keys;
use crate::pairs::Pairs;
use crate::redis::{Failure, Pipeline, Reply};
use crate::scripts;
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
    /// The commands that read the boards of a day: one of each kind, for everybody.
    #[must_use]
    pub fn pipeline(config: &Config, today: Date) -> Pipeline {
        let command = |which: Which| {
            let command = which.command(&scripts::TOP, config);
            command.arg("0").arg(&MEMBERS.to_string())
        };
        Pipeline::new(boards(config, today).map(command).collect())
    }

    /// What they replied.
    #[must_use]
    pub fn of(config: &Config, today: Date, made: Instant, replies: Vec<Reply>) -> Self {
        let names = boards(config, today).map(|which| which.name());
        Self {
            made: made.0,
            boards: Pairs(names.zip(replies).collect()),
        }
    }
}

fn boards(config: &Config, date: Date) -> impl Iterator<Item = Which> {
    config.periods.iter().map(move |period| Which {
        period: *period,
        date,
        group: None,
    })
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
