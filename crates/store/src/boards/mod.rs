//! Reads boards: one page, one standing or several users, from one shard or from all of them.
//!
//! `top.lua`, `standing.lua` and `compare.lua` answer a [`BoardQuery`] on one shard. With several
//! shards, `shards.rs` merges their replies. `standings.rs` reads one user's standings on many boards.

mod friends;
mod groups;
mod hot;
mod losses;
mod page;
mod ranks;
mod related;
mod rows;
mod shards;
mod standings;
mod tops;
mod winners;

pub use friends::{friends_call, read_friends};
pub use groups::{LARGEST_GROUPS_REQUESTS, largest_group_boards};
pub use hot::{hot_call, read_hot};
pub use losses::read_losses;
pub use ranks::{Ranked, rank_among_all};
pub use related::{PreviousRanks, RelatedBoards, UserRank};
pub use standings::{read_card, read_standings, standings_call};
pub use tops::{read_tops, tops_requests};
pub use winners::{read_winners, winners_call};

use crate::accounts;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::profiles::{complete_authors, decode_profile};
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{COMPARE, STANDING, Script, TOP};
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery, BoardSlice, Row};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::score::Score;
use related::Collector;
use rows::{ShardRow, content, take_rows};

/// The answer of the store to a [`BoardQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredBoard {
    /// The data; empty if no shard holds the board.
    pub slice: BoardSlice,
    /// Whether any shard holds the board. A board does not exist before its first write and after
    /// it has expired.
    pub exists: bool,
    /// Whether every shard holds the board.
    pub complete: bool,
    /// The ranks in the period before, if they were asked for.
    pub previous: Option<PreviousRanks>,
}

/// Reads a board, and what other boards know of its users.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(
    deployment: &Deployment,
    board: &BoardId,
    query: &BoardQuery<'_>,
    related: &RelatedBoards<'_>,
) -> Result<StoredBoard, Error> {
    if deployment.config.shards > 1 {
        let mut stored = shards::read(deployment, board, query, related).await?;
        complete_authors(deployment, stored.slice.contents().collect()).await?;
        return Ok(stored);
    }
    let call = call(
        &deployment.config,
        &deployment.keys(0),
        board,
        query,
        related,
    );
    let reply = deployment.run_script(call).await?;
    check_account(&reply, board.kind, query)?;
    let mut collector = Collector::new(related, deployment.config.layout);
    collector.add(0, &reply, query)?;
    let mut stored = decode(reply, board.kind, query)?;
    collector.finish(&mut stored);
    Ok(stored)
}

/// Returns the script call that answers a query on one shard.
#[must_use]
pub fn call(
    config: &Config,
    keys: &Keys,
    board: &BoardId,
    query: &BoardQuery<'_>,
    related: &RelatedBoards<'_>,
) -> Command {
    let on_board = |script| board_call(keys, board, related, script);
    let call = match *query {
        BoardQuery::Page { offset, limit } => on_board(&TOP).number(offset).number(limit),
        BoardQuery::Standing { user, neighbors } => {
            let standing = on_board(&STANDING).arg(&board.kind.member(user));
            standing.number(neighbors)
        }
        BoardQuery::Users(users) => on_board(&COMPARE).args(users),
    };
    related.add_arguments(config, query, call)
}

/// Returns the call of a script that reads the board of a shard, without its own arguments.
fn board_call(
    keys: &Keys,
    board: &BoardId,
    related: &RelatedBoards<'_>,
    script: &'static Script,
) -> Command {
    let mut all = vec![keys.users(), keys.board_named(&board.name())];
    if board.kind == BoardKind::Content {
        all.push(keys.register());
    }
    related.add_keys(keys, &mut all);
    Command::script(script, &all)
}

/// Checks that the user of a standing is not an account of another member.
///
/// # Errors
///
/// [`Error::AccountOf`].
fn check_account(reply: &Reply, kind: BoardKind, query: &BoardQuery<'_>) -> Result<(), Error> {
    if kind == BoardKind::Content || !matches!(query, BoardQuery::Standing { .. }) {
        return Ok(());
    }
    let last = if reply.at(3)?.some().is_some() { 10 } else { 5 };
    accounts::check(reply.at(last)?.text()?)
}

/// Decodes the reply to [`call`].
fn decode(
    reply: Reply,
    kind: BoardKind,
    query: &BoardQuery<'_>,
) -> Result<StoredBoard, StoreError> {
    let total = reply.at(1)?.optional_unsigned()?;
    let mut slice = BoardSlice {
        total: total.unwrap_or(0),
        ..BoardSlice::default()
    };
    match *query {
        BoardQuery::Page { offset, .. } => {
            slice.rows = ranked(take_rows(reply, 2)?, u64::from(offset), kind);
        }
        BoardQuery::Standing { user, .. } => match reply.at(3)?.some() {
            None if kind == BoardKind::Content => {
                let texts = (reply.at(2)?.optional_text()?, reply.list()?.get(4));
                let author = texts.1.map(Reply::optional_text).transpose()?.flatten();
                slice.target = Some(Box::new(content(texts.0, author)));
            }
            None => {
                let profile = decode_profile(reply.at(2)?)?;
                slice.unranked.push((user.to_owned(), profile));
            }
            Some(_) => {
                let first = reply.at(4)?.unsigned()?;
                slice.rows = ranked(take_rows(reply, 5)?, first, kind);
            }
        },
        BoardQuery::Users(users) => {
            for (index, user) in users.iter().enumerate() {
                let column = |column: usize| reply.at(column)?.at(index);
                let profile = decode_profile(column(4)?)?;
                match (
                    column(2)?.optional_unsigned()?,
                    column(3)?.optional_unsigned()?,
                ) {
                    (Some(score), Some(rank)) => slice.rows.push(Row {
                        rank: rank + 1,
                        score: Score(score),
                        user: user.clone(),
                        profile,
                        content: None,
                    }),
                    _ => slice.unranked.push((user.clone(), profile)),
                }
            }
            for pair in reply
                .at(6)?
                .some()
                .map_or(Ok(&[][..]), Reply::list)?
                .chunks(2)
            {
                if let [account, member] = pair {
                    let pair = (account.text()?.to_owned(), member.text()?.to_owned());
                    slice.accounts.push(pair);
                }
            }
        }
    }
    Ok(StoredBoard {
        slice,
        exists: total.is_some(),
        complete: total.is_some(),
        previous: None,
    })
}

/// Numbers consecutive rows: the first one follows `above` others.
fn ranked(rows: Vec<ShardRow>, above: u64, kind: BoardKind) -> Vec<Row> {
    let rows = rows.into_iter().zip(above + 1..);
    rows.map(|(row, rank)| row.ranked(rank, kind)).collect()
}
