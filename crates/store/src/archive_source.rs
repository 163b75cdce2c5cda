//! `archive_states.lua` and `archive_page.lua`: reads boards to archive them.

use crate::deployment::Deployment;
use crate::events::read_definitions_and;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{ARCHIVE_PAGE, ARCHIVE_STATES};
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;

/// Members read by one call.
const PAGE: u32 = 2000;

/// The state of a board, from which a change can be detected.
///
/// Its order counter grows with every change of a score, except when a score returns to zero; then
/// the number of members shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardState {
    /// The order counter.
    pub orders: u64,
    /// All members, including the counter and hidden users.
    pub members: u64,
    /// Visible users.
    pub total: u64,
}

/// The current state of a board in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredState {
    /// The state.
    pub state: BoardState,
    /// Seconds until the board expires; negative if it does not.
    pub expires_in: i64,
}

/// Consecutive members of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePage {
    /// The last entry of the audit log at that instant: no user of this page was hidden since.
    pub audit: String,
    /// The state of the whole board at that instant.
    pub state: BoardState,
    /// Where the next page begins.
    pub next: u32,
    /// Users and packed scores; the scores of hidden users are negative.
    pub rows: Vec<(String, i64)>,
}

/// Reads the states of boards by name; `None` for a board that does not exist.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_states(
    deployment: &Deployment,
    shard: u32,
    names: &[&str],
) -> Result<Vec<Option<StoredState>>, Error> {
    let keys = deployment.keys(shard);
    let boards = names.iter().map(|name| keys.board_named(name));
    let all: Vec<String> = [keys.users()].into_iter().chain(boards).collect();
    let reply = deployment
        .run_script(Command::script(&ARCHIVE_STATES, &all))
        .await?;
    let mut states = Vec::new();
    for index in 1..=names.len() {
        let state = reply.at(index)?;
        states.push(match state.some() {
            None => None,
            Some(state) => Some(StoredState {
                expires_in: state.at(3)?.integer()?,
                state: decode_state(state, 0)?,
            }),
        });
    }
    Ok(states)
}

/// Reads members of a board from a rank on: visible users, best first, up to `kept` of them, then
/// hidden users. Returns `None` if the board does not exist.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_page(
    deployment: &Deployment,
    shard: u32,
    name: &str,
    start: u32,
    kept: u32,
) -> Result<Option<ArchivePage>, Error> {
    let keys = deployment.keys(shard);
    let all = [keys.users(), keys.audit_log(), keys.board_named(name)];
    let call = Command::script(&ARCHIVE_PAGE, &all);
    let call = call.number(start).number(PAGE).number(kept);
    let reply = deployment.run_script(call).await?;
    if reply.at(2)?.some().is_none() {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for (user, score) in reply.at(5)?.list()?.iter().zip(reply.at(6)?.list()?) {
        rows.push((user.text()?.to_owned(), score.integer()?));
    }
    Ok(Some(ArchivePage {
        audit: reply.at(1)?.text()?.to_owned(),
        state: decode_state(&reply, 2)?,
        next: u32::try_from(reply.at(7)?.unsigned()?).unwrap_or(u32::MAX),
        rows,
    }))
}

/// Decodes the three numbers from an index on.
fn decode_state(reply: &Reply, first: usize) -> Result<BoardState, StoreError> {
    Ok(BoardState {
        orders: reply.at(first)?.unsigned()?,
        members: reply.at(first + 1)?.unsigned()?,
        total: reply.at(first + 2)?.unsigned()?,
    })
}

/// Reads the definitions of events, and whether the set of archived boards exists: Redis may have lost it.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_definitions(
    deployment: &Deployment,
    shard: u32,
) -> Result<(Definitions, bool), Error> {
    let keys = deployment.keys(shard);
    let exists = Command::new("EXISTS").arg(&keys.archived());
    let (definitions, exists) = read_definitions_and(deployment, &keys, exists).await?;
    Ok((definitions, exists == Reply::Integer(1)))
}

/// Adds boards to the set of archived ones.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_archived(
    deployment: &Deployment,
    shard: u32,
    names: &[String],
) -> Result<(), Error> {
    let keys = deployment.keys(shard);
    let boards = names.iter().map(|name| keys.board_named(name));
    let add = Command::new("SADD").arg(&keys.archived()).args(boards);
    deployment.run_command(&keys, add).await.map(|_| ())
}

/// Where a page of the index begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPage {
    /// At the name that expires first.
    FirstToExpire,
    /// At this distance from the name that expires last. Names that expire meanwhile do not move the
    /// others, and new ones move them to later pages.
    FromEnd(u32),
}

/// Reads a page of at most `count` names of the shard's index.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_index(
    deployment: &Deployment,
    shard: u32,
    page: IndexPage,
    count: u32,
) -> Result<Vec<String>, Error> {
    let keys = deployment.keys(shard);
    let (name, start) = match page {
        IndexPage::FirstToExpire => ("ZRANGE", 0),
        IndexPage::FromEnd(start) => ("ZREVRANGE", start),
    };
    let range = Command::new(name).arg(&keys.index());
    let range = range.number(start).number(start + count - 1);
    let reply = deployment.run_command(&keys, range).await?;
    let entries = reply.into_list()?.into_iter();
    let entries = entries.map(|entry| Ok(entry.into_text()?.unwrap_or_default()));
    Ok(entries.collect::<Result<_, StoreError>>()?)
}
