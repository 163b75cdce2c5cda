//! Hiding and erasing users on archived boards: there as in Redis, scores of who is hidden lie
//! below zero.

use super::Statement;
use crate::moderation::Flags;
use crate::redis::{Failure, Reply};

/// Takes a user from every board of a shard; below them ranks move up.
#[must_use]
pub fn erase(shard: &str, user: &str) -> Vec<Statement> {
    let statement = |sql: &str| Statement::new(sql, vec![shard.into(), user.into()]);
    vec![
        statement(
            "UPDATE boards SET members = members - 1, total = total - \
             (SELECT score > 0 FROM places WHERE user = ?2 AND board = boards.id) \
             WHERE site = ?1 AND id IN (SELECT board FROM places WHERE user = ?2)",
        ),
        statement(
            "DELETE FROM places WHERE user = ?2 AND board IN (SELECT id FROM boards WHERE site = ?1)",
        ),
    ]
}

const OF_SHARDS: &str = "site IN (SELECT value FROM json_each(?1))";

/// Which of some users are hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    hidden: Vec<String>,
    seen: Vec<String>,
}

impl Visibility {
    /// What the flags of these users say.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the replies are no flags.
    pub fn of(users: &[String], flags: &[Reply]) -> Result<Self, Failure> {
        let (mut hidden, mut seen) = (Vec::new(), Vec::new());
        for (user, flags) in users.iter().zip(flags) {
            let flags = Flags::stored(flags)?;
            let side = if flags.hidden || flags.self_hidden {
                &mut hidden
            } else {
                &mut seen
            };
            side.push(user.clone());
        }
        Ok(Self { hidden, seen })
    }

    /// Makes every board of the shards so.
    #[must_use]
    pub fn statements(&self, shards: &str) -> Vec<Statement> {
        let mut all = turn(shards, &self.hidden, "score > 0", '-');
        all.extend(turn(shards, &self.seen, "score < 0", '+'));
        all
    }
}

/// Turns the scores of users that are on one side.
fn turn(shards: &str, users: &[String], side: &str, sign: char) -> Vec<Statement> {
    if users.is_empty() {
        return Vec::new();
    }
    let users = serde_json::to_string(users).unwrap_or_default();
    let theirs = format!("user IN (SELECT value FROM json_each(?2)) AND {side}");
    let total = format!(
        "UPDATE boards SET total = total {sign} \
         (SELECT COUNT(*) FROM places WHERE board = boards.id AND {theirs}) \
         WHERE {OF_SHARDS} AND id IN (SELECT board FROM places WHERE {theirs})"
    );
    let scores = format!(
        "UPDATE places SET score = -score WHERE {theirs} AND \
         board IN (SELECT id FROM boards WHERE {OF_SHARDS})"
    );
    let statement = |sql: String| Statement::new(&sql, vec![shards.into(), users.clone().into()]);
    vec![statement(total), statement(scores)]
}
