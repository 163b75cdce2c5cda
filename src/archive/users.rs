//! Hides and erases users on archived boards.

use super::{shard_id, shard_ids};
use crate::platform::d1::{Database, Statement};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Erases a user from every board; the users below move up.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn erase(archive: &Database, config: &Config, user: &str) -> Result<(), Error> {
    let shard = shard_id(config, config.shard_of(user));
    let statement = |sql: &str| Statement::new(sql, vec![shard.as_str().into(), user.into()]);
    let statements = [
        statement(
            "UPDATE boards SET members = members - 1, total = total - \
             (SELECT score > 0 FROM places WHERE user = ?2 AND board = boards.id) \
             WHERE site = ?1 AND id IN (SELECT board FROM places WHERE user = ?2)",
        ),
        statement(
            "DELETE FROM places WHERE user = ?2 AND board IN (SELECT id FROM boards WHERE site = ?1)",
        ),
    ];
    archive.run(&statements).await.map(|_| ())
}

/// Hides or shows users on every board; each user is paired with whether they are hidden.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn set_visibility(
    archive: &Database,
    config: &Config,
    users: &[(&str, bool)],
) -> Result<(), Error> {
    let with = |hidden: bool| -> Vec<&str> {
        let users = users.iter().filter(|(_, is_hidden)| *is_hidden == hidden);
        users.map(|(user, _)| *user).collect()
    };
    let shards = shard_ids(config);
    let mut statements = negate(&shards, &with(true), "score > 0", '-');
    statements.extend(negate(&shards, &with(false), "score < 0", '+'));
    archive.run(&statements).await.map(|_| ())
}

/// Negates the scores of users that are on one side of zero.
fn negate(shards: &str, users: &[&str], side: &str, sign: char) -> Vec<Statement> {
    if users.is_empty() {
        return Vec::new();
    }
    let users = serde_json::to_string(users).unwrap_or_default();
    let affected = format!("user IN (SELECT value FROM json_each(?2)) AND {side}");
    let of_shards = "site IN (SELECT value FROM json_each(?1))";
    let totals = format!(
        "UPDATE boards SET total = total {sign} \
         (SELECT COUNT(*) FROM places WHERE board = boards.id AND {affected}) \
         WHERE {of_shards} AND id IN (SELECT board FROM places WHERE {affected})"
    );
    let scores = format!(
        "UPDATE places SET score = -score WHERE {affected} AND \
         board IN (SELECT id FROM boards WHERE {of_shards})"
    );
    let statement = |sql: String| Statement::new(&sql, vec![shards.into(), users.clone().into()]);
    vec![statement(totals), statement(scores)]
}
