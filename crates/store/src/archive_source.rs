//! `archive_states.lua` and `archive_page.lua`: reads boards to archive them.

use crate::deployment::Deployment;
use crate::events::read_definitions_and;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{ARCHIVE_PAGE, ARCHIVE_STATES};
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;

/// Members read by one request at most.
pub const PAGE: u32 = 2000;

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

impl ArchivePage {
    /// Returns whether a page that begins at the first rank has every member of the board.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.rows.len() as u64 + 1 == self.state.members
    }
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
) -> Result<Vec<Option<BoardState>>, Error> {
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
            Some(state) => Some(decode_state(state, 0)?),
        });
    }
    Ok(states)
}

/// Reads members of each of some boards from a rank on: visible users, best first, up to `kept` of them, then
/// hidden users; [`PAGE`] of all boards. Returns `None` for a board that does not exist.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_pages(
    deployment: &Deployment,
    shard: u32,
    names: &[&str],
    start: u32,
    kept: u32,
) -> Result<Vec<Option<ArchivePage>>, Error> {
    let keys = deployment.keys(shard);
    let size = PAGE / names.len().max(1) as u32;
    let call = |name: &&str| {
        let all = [keys.users(), keys.audit_log(), keys.board_named(name)];
        let call = Command::script(&ARCHIVE_PAGE, &all);
        call.number(start).number(size).number(kept)
    };
    let replies = deployment
        .run_scripts(names.iter().map(call).collect())
        .await?;
    replies.iter().map(decode_page).collect()
}

fn decode_page(reply: &Reply) -> Result<Option<ArchivePage>, Error> {
    if reply.at(2)?.some().is_none() {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for (user, score) in reply.at(5)?.list()?.iter().zip(reply.at(6)?.list()?) {
        rows.push((user.text()?.to_owned(), score.integer()?));
    }
    Ok(Some(ArchivePage {
        audit: reply.at(1)?.text()?.to_owned(),
        state: decode_state(reply, 2)?,
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

/// Deletes what a recount has made of a board, once the archive has it. Its name stays in the index until it expires.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn delete_corrected(
    deployment: &Deployment,
    shard: u32,
    name: &str,
) -> Result<(), Error> {
    let key = deployment.keys(shard).corrected_board(name);
    let command = Command::new("UNLINK").arg(&key);
    deployment.run_command(command).await.map(|_| ())
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
    let exists = Command::new("EXISTS").arg(&deployment.keys(shard).archived());
    let (definitions, exists) = read_definitions_and(deployment, shard, exists).await?;
    Ok((definitions, exists == Reply::Integer(1)))
}

/// Adds boards to the set of archived ones, and returns the last entry of the audit log before that.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_archived(
    deployment: &Deployment,
    shard: u32,
    names: &[&str],
) -> Result<String, Error> {
    let keys = deployment.keys(shard);
    let last = Command::new("XREVRANGE").arg(&keys.audit_log());
    let mut commands = vec![last.arg("+").arg("-").arg("COUNT").number(1)];
    if !names.is_empty() {
        commands.push(Command::new("SADD").arg(&keys.archived()).args(names));
    }
    let replies = deployment.run_commands(commands).await?;
    let last = replies.first().unwrap_or(&Reply::Nil).at(0)?;
    Ok(match last.some() {
        Some(entry) => entry.at(0)?.text()?.to_owned(),
        None => String::new(),
    })
}

/// Where a page of the index begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPage {
    /// At the name that expires first.
    FirstToExpire,
    /// At this distance from the name that expires last; those that never expire are left out. Names that expire
    /// meanwhile do not move the others, and new ones move them to later pages.
    FromEnd(u32),
}

/// Reads a page of at most `count` names of the shard's index, with the Unix seconds at which they expire.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_index(
    deployment: &Deployment,
    shard: u32,
    page: IndexPage,
    count: u32,
) -> Result<Vec<(String, i64)>, Error> {
    let keys = deployment.keys(shard);
    let (name, from, to, start) = match page {
        IndexPage::FirstToExpire => ("ZRANGEBYSCORE", "-inf", "+inf", 0),
        IndexPage::FromEnd(start) => ("ZREVRANGEBYSCORE", "(+inf", "-inf", start),
    };
    let range = Command::new(name).arg(&keys.index()).arg(from).arg(to);
    let range = range.arg("WITHSCORES").arg("LIMIT");
    let range = range.number(start).number(count);
    let reply = deployment.run_command(range).await?;
    let mut entries = Vec::new();
    for entry in reply.list()?.chunks_exact(2) {
        if let [name, expiry] = entry {
            // That of a name without an expiry is `inf`.
            let expiry = expiry.integer().unwrap_or(i64::MAX);
            entries.push((name.text()?.to_owned(), expiry));
        }
    }
    Ok(entries)
}
