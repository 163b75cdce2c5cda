//! The ranks of users in the period before, on a board that has closed.
//!
//! An isolate remembers the ranks for as long as caches serve closed boards: a late undo may still change them.
//! Responses show a remembered rank only beside a rank on the current board, so a user who has been hidden since
//! has none.

use crate::app::RequestContext;
use crate::archive;
use activity_rank_core::board::{BoardId, BoardQuery, BoardSlice, CLOSED_MAX_AGE};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_store::boards::{self, PreviousRanks, RelatedBoards, UserRank};
use std::cell::RefCell;

/// Ranks remembered by an isolate, about 50 bytes each. A script call names the users of its board among them.
const MAX_REMEMBERED: usize = 500;

/// A rank as it was last read.
struct Remembered {
    board: String,
    rank: UserRank,
    made: Instant,
}

thread_local! {
    /// The ranks that were last read, newest last.
    static REMEMBERED: RefCell<Vec<Remembered>> = const { RefCell::new(Vec::new()) };
}

/// Returns the ranks on a board that this isolate has read lately.
#[must_use]
pub fn known(board: &BoardId, now: Instant) -> Vec<UserRank> {
    let (name, oldest) = (board.name(), now.0 - i64::from(CLOSED_MAX_AGE) * 1000);
    REMEMBERED.with_borrow_mut(|all| {
        all.retain(|known| known.made.0 > oldest);
        let on_board = all.iter().filter(|known| known.board == name);
        on_board.map(|known| known.rank.clone()).collect()
    })
}

fn remember(board: &BoardId, ranks: &[UserRank], made: Instant) {
    let board = board.name();
    REMEMBERED.with_borrow_mut(|all| {
        let is_read = |user: &str| ranks.iter().any(|(read, _)| read == user);
        all.retain(|known| known.board != board || !is_read(&known.rank.0));
        all.extend(ranks.iter().map(|rank| Remembered {
            board: board.clone(),
            rank: rank.clone(),
            made,
        }));
        let excess = all.len().saturating_sub(MAX_REMEMBERED);
        all.drain(..excess);
    });
}

/// Forgets all ranks: a user was hidden or erased.
pub fn forget() {
    REMEMBERED.take();
}

/// Reads the ranks of at most 100 users on a board that has closed, from the store, or from the archive if the store
/// does not have it completely.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if a source fails, [`Error::Misconfigured`] as the store.
pub async fn read_ranks(
    context: RequestContext<'_>,
    board: &BoardId,
    users: &[String],
) -> Result<Vec<UserRank>, Error> {
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let query = BoardQuery::Users(users);
    let stored = boards::read(context.deployment, board, &query, &RelatedBoards::default()).await?;
    let found = PreviousRanks {
        ranks: ranks_of(users, &stored.slice),
        total: stored.slice.total,
        exists: stored.exists,
        complete: stored.complete,
    };
    or_archived(context, board, found).await
}

/// Returns ranks of the store, or of the archive if the store does not have the board completely.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the archive fails.
pub async fn or_archived(
    context: RequestContext<'_>,
    board: &BoardId,
    found: PreviousRanks,
) -> Result<Vec<UserRank>, Error> {
    let mut ranks = found.ranks;
    if let Some(archive) = &context.app.bindings.archive
        && !found.complete
        && !ranks.is_empty()
    {
        let users: Vec<String> = ranks.iter().map(|(user, _)| user.clone()).collect();
        let (config, query) = (&context.deployment.config, BoardQuery::Users(&users));
        let archived = archive::read(archive, config, (board, ""), &query).await?;
        // As for the board itself, the source with more users is complete.
        if let Some((slice, _)) = archived
            && (!found.exists || found.total < slice.total)
        {
            ranks = ranks_of(&users, &slice);
        }
    }
    remember(board, &ranks, context.request.now);
    Ok(ranks)
}

/// Returns the ranks of the users of a slice without the store; `None` if they cannot be known.
pub async fn without_store(
    context: RequestContext<'_>,
    board: &BoardId,
    slice: &BoardSlice,
) -> Option<Vec<(String, u64)>> {
    let known = known(board, context.request.now);
    let is_known = |user: &String| {
        slice.row_of(user).is_some() && known.iter().any(|(known, _)| known == user)
    };
    let users: Vec<String> = slice
        .users()
        .filter(|user| !is_known(user))
        .cloned()
        .collect();
    let mut read = Vec::new();
    if !users.is_empty() {
        let archive = context.app.bindings.archive.as_ref()?;
        let (config, query) = (&context.deployment.config, BoardQuery::Users(&users));
        let archived = archive::read(archive, config, (board, ""), &query).await;
        read = ranks_of(&users, &archived.ok()??.0);
    }
    Some(merge(slice, read, &known))
}

/// Returns the users of a slice who have a rank among those read, or on its rows among the known ones.
#[must_use]
pub fn merge(slice: &BoardSlice, read: Vec<UserRank>, known: &[UserRank]) -> Vec<(String, u64)> {
    let is_read = |user: &str| read.iter().any(|(read, _)| read == user);
    let known = known
        .iter()
        .filter(|(user, _)| !is_read(user) && slice.row_of(user).is_some());
    let known: Vec<UserRank> = known.cloned().collect();
    let all = read.into_iter().chain(known);
    all.filter_map(|(user, rank)| Some((user, rank?))).collect()
}

fn ranks_of(users: &[String], slice: &BoardSlice) -> Vec<UserRank> {
    let rank = |user: &String| (user.clone(), slice.row_of(user).map(|row| row.rank));
    users.iter().map(rank).collect()
}
