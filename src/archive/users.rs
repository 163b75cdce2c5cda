//! Hides and erases users and targets on archived boards.

use super::{shard_id, shard_ids};
use crate::platform::d1::{Database, Statement};
use activity_rank_core::config::Config;
use activity_rank_core::content::id_of_member;
use activity_rank_core::error::Error;
use activity_rank_store::fingerprint::Participant;

/// The boards that rank users.
const OF_USERS: &str = "kind NOT LIKE 'T%'";
/// The boards that rank targets.
const OF_TARGETS: &str = "kind LIKE 'T%'";

/// Erases a user or a target from every board; those below move up.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn erase(
    archive: &Database,
    config: &Config,
    participant: Participant<'_>,
) -> Result<(), Error> {
    let (shard, id, kind) = match participant {
        Participant::User(user) => (config.shard_of(user), user, OF_USERS),
        Participant::Target(member) => (config.shard_of(id_of_member(member)), member, OF_TARGETS),
    };
    let shard = shard_id(config, shard);
    let statement = |sql: String| Statement::new(&sql, vec![shard.as_str().into(), id.into()]);
    let statements = [
        statement(format!(
            "UPDATE boards SET members = members - 1, total = total - \
             (SELECT score > 0 FROM places WHERE user = ?2 AND board = boards.id) \
             WHERE +site = ?1 AND {kind} AND id IN (SELECT board FROM places WHERE user = ?2)",
        )),
        statement(format!(
            "DELETE FROM places WHERE user = ?2 AND \
             EXISTS (SELECT 1 FROM boards WHERE id = board AND site = ?1 AND {kind})"
        )),
    ];
    archive.run(&statements).await.map(|_| ())
}

/// Hides or shows a target on every board, by its member.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn set_target_visibility(
    archive: &Database,
    config: &Config,
    member: &str,
    is_hidden: bool,
) -> Result<(), Error> {
    let (side, sign) = match is_hidden {
        true => ("score > 0", '-'),
        false => ("score < 0", '+'),
    };
    let statements = negate(&shard_ids(config), &[member], OF_TARGETS, (side, sign));
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
    let mut statements = negate(&shards, &with(true), OF_USERS, ("score > 0", '-'));
    statements.extend(negate(&shards, &with(false), OF_USERS, ("score < 0", '+')));
    archive.run(&statements).await.map(|_| ())
}

/// Negates the scores that are on one side of zero, of users or of targets on boards of this kind.
fn negate(shards: &str, users: &[&str], kind: &str, (side, sign): (&str, char)) -> Vec<Statement> {
    if users.is_empty() {
        return Vec::new();
    }
    let users = serde_json::to_string(users).unwrap_or_default();
    // `+` keeps the database from the index of scores, by which it would read all places of each board.
    let affected = format!("user IN (SELECT value FROM json_each(?2)) AND +{side}");
    let board_filter = format!("+site IN (SELECT value FROM json_each(?1)) AND {kind}");
    let totals = format!(
        "UPDATE boards SET total = total {sign} \
         (SELECT COUNT(*) FROM places WHERE board = boards.id AND {affected}) \
         WHERE {board_filter} AND id IN (SELECT board FROM places WHERE {affected})"
    );
    let scores = format!(
        "UPDATE places SET score = -score WHERE {affected} AND \
         EXISTS (SELECT 1 FROM boards WHERE id = board AND {board_filter})"
    );
    let statement = |sql: String| Statement::new(&sql, vec![shards.into(), users.clone().into()]);
    vec![statement(totals), statement(scores)]
}
