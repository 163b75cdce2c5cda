//! `friends.lua`: a user and those whom they follow.

use super::related::{Collector, RelatedBoards};
use super::{StoredBoard, decode, read};
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, StoreError};
use crate::scripts::FRIENDS;
use activity_rank_core::board::{BoardId, BoardQuery};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Reads a user and those whom they followed latest, with their rows on a board. With several shards, one request
/// reads whom the user follows, and the next ones their rows.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_friends(
    deployment: &Deployment,
    board: &BoardId,
    user: &str,
    related: &RelatedBoards<'_>,
) -> Result<(Vec<String>, StoredBoard), Error> {
    let config = &deployment.config;
    let call = friends_call(config, &deployment.keys_of(user), board, user, related);
    let reply = deployment.run_script(call).await?;
    let users = reply.at(7)?.list()?.iter();
    let users = users.map(|user| user.text().map(str::to_owned));
    let users = users.collect::<Result<Vec<String>, StoreError>>()?;
    let query = BoardQuery::Users(&users);
    if config.shards > 1 {
        let stored = read(deployment, board, &query, related).await?;
        return Ok((users, stored));
    }
    let mut collector = Collector::new(related, config.layout);
    collector.add(0, &reply, &query)?;
    let mut stored = decode(reply, board.kind, &query)?;
    collector.finish(&mut stored);
    Ok((users, stored))
}

/// Returns the call that reads whom a user follows, with one shard with their rows.
#[must_use]
pub fn friends_call(
    config: &Config,
    keys: &Keys,
    board: &BoardId,
    user: &str,
    related: &RelatedBoards<'_>,
) -> Command {
    let mut all = vec![keys.users()];
    let has_board = config.shards == 1;
    if has_board {
        all.push(keys.board_named(&board.name()));
        related.add_keys(keys, &mut all);
    }
    all.push(keys.active_records(user));
    let call = Command::script(&FRIENDS, &all).arg(user);
    match has_board {
        // Nothing is read of the last key as of a board.
        true => related
            .add_arguments(config, &BoardQuery::Users(&[]), call)
            .arg(""),
        false => call,
    }
}
