//! `DELETE /v1/users/{user}`: a user goes from everywhere.

use crate::calendar::Instant;
use crate::config::Config;
use crate::error::Error;
use crate::keys::Keys;
use crate::query::Query;
use crate::redis::{Command, Failure, Pipeline, Reply};
use crate::scripts;

/// Who is to be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    user: String,
    now: Instant,
}

/// Names of the index that one call of the script takes, each up to two keys.
const NAMES_PER_CALL: usize = 2000;

impl Erasure {
    /// Reads the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for faults of path and query.
    pub fn read(user: &str, query: &str, now: Instant) -> Result<Self, Error> {
        let mut query = Query::parse(query, &[]);
        let user = query.user(user);
        query.finish()?;
        Ok(Self { user, now })
    }

    /// The first commands: which boards and history days exist.
    #[must_use]
    pub fn look(&self, config: &Config) -> Pipeline {
        let keys = config.keys();
        let stamp = Command::new("GET").arg(&keys.stamp());
        Pipeline::new(vec![
            stamp,
            Command::new("ZRANGE").arg(&keys.index()).arg("0").arg("-1"),
        ])
    }

    /// The second: erases the user from all that the index names, and what is theirs alone.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is not an index.
    pub fn erase(&self, index: &Reply, config: &Config) -> Result<Pipeline, Failure> {
        let keys = config.keys();
        let names = index
            .list()?
            .iter()
            .map(Reply::text)
            .collect::<Result<Vec<_>, _>>()?;
        let mut own: Vec<String> = keys.all_undo_memories(&self.user, self.now).collect();
        own.push(keys.marks(&self.user));
        let mut calls = vec![self.call(&keys, config, &[], own)];
        for names in names.chunks(NAMES_PER_CALL) {
            // Boards are indexed by key, history days by date.
            let (boards, dates): (Vec<&str>, Vec<&str>) =
                names.iter().partition(|name| name.starts_with('{'));
            let of_day = |date: &&str| {
                [
                    keys.history(date, &self.user),
                    keys.day_marks(date, &self.user),
                ]
            };
            let own = dates.iter().flat_map(of_day).collect();
            calls.push(self.call(&keys, config, &boards, own));
        }
        Ok(Pipeline::new(calls))
    }

    fn call(&self, keys: &Keys, config: &Config, boards: &[&str], own: Vec<String>) -> Command {
        let mut all = vec![keys.stamp(), keys.profiles()];
        all.extend(boards.iter().map(|board| (*board).to_owned()));
        all.extend(own);
        let command = Command::script(&scripts::ERASE, &all).arg(&config.stamp());
        command.arg(&self.user).arg(&boards.len().to_string())
    }
}
