//! `DELETE /v1/users/{user}`: a user goes from everywhere.

use crate::calendar::Instant;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::Command;
use crate::scripts;

/// Who is to be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    user: String,
    now: Instant,
}

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

    /// Erases the user from all that the index names, and what is theirs alone.
    #[must_use]
    pub fn command(&self, names: &[String], config: &Config) -> Command {
        let keys = config.keys_of(&self.user);
        // Boards are indexed by key, spans of histories by number.
        let (boards, spans): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| name.starts_with('{'));
        let mut all = keys.of_everywhere();
        all.push(keys.tombstones());
        all.extend(boards.iter().map(|board| (*board).clone()));
        for span in &spans {
            all.push(keys.history(span, &self.user));
            all.push(keys.day_marks(span, &self.user));
        }
        all.push(keys.marks(&self.user));
        all.extend(keys.all_undo_memories(&self.user, self.now));
        let command = Command::script(&scripts::ERASE, &all)
            .arg(&config.stamp())
            .arg(&self.now.0.to_string())
            .arg(&self.user)
            .arg(config.bound.journals())
            .arg(config.bound.buries())
            .arg(&boards.len().to_string());
        spans
            .into_iter()
            .fold(command, |command, span| command.arg(span))
    }
}
