//! The copies of boards in the snapshots and in the archive.

use crate::app::RequestContext;
use crate::archive;
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery, BoardSlice, Row};
use activity_rank_core::calendar::{Instant, Period};
use activity_rank_core::error::Error;
use activity_rank_core::event::Event;

/// Returns a copy of a board and when it was read: from its snapshot, or for a closed board from the
/// archive, which has no profiles. `closed` is `None` for an open board, else what [`archive::read`] takes. A snapshot that does not reach a user says so, if there is no archived board.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if a source fails.
pub async fn find(
    context: RequestContext<'_>,
    (board, closed): (&BoardId, Option<&str>),
    query: &BoardQuery<'_>,
    oldest: Instant,
) -> Result<Option<(BoardSlice, Instant)>, Error> {
    let config = &context.deployment.config;
    let found = find_snapshots(context, &[board], query, oldest)
        .await?
        .pop();
    let found = found.flatten().map(|(made, slice)| (slice, made));
    let is_complete = matches!(&found, Some((slice, _)) if slice.unknown.is_empty());
    match (&context.app.bindings.archive, closed) {
        (Some(archive), Some(final_at)) if !is_complete => {
            let archived = archive::read(archive, config, (board, final_at), query).await?;
            Ok(archived.or(found))
        }
        (Some(_) | None, _) => Ok(found),
    }
}

/// Returns the definition of an event whose board is in the snapshots.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the snapshots fail.
pub async fn find_event(context: RequestContext<'_>, id: &str) -> Result<Option<Event>, Error> {
    match &context.app.bindings.snapshots {
        Some(snapshots) => {
            let deployment = archive::deployment_id(&context.deployment.config);
            snapshots.find_event(&deployment, id).await
        }
        None => Ok(None),
    }
}

/// Returns the points of all time of the users on the rows of a copy, as far as the snapshots have them. A user
/// without a row may be hidden since.
pub async fn all_time(context: RequestContext<'_>, slice: &BoardSlice) -> Vec<(String, u64)> {
    let board = BoardId {
        kind: BoardKind::Members,
        period: Period::All,
        date: context.today(),
        group: None,
    };
    let users: Vec<String> = slice.rows.iter().map(|row| row.user.clone()).collect();
    let query = BoardQuery::Users(&users);
    let found = find_snapshots(context, &[&board], &query, Instant(0)).await;
    let rows = match found.ok().and_then(|mut found| found.pop()?) {
        Some((_, all)) => all.rows,
        None => Vec::new(),
    };
    let layout = context.deployment.config.layout;
    let points = |row: Row| (row.user, layout.points(row.score));
    rows.into_iter().map(points).collect()
}

/// Answers a query from each of some boards in the snapshots, and returns when they were read; `None` for a board that
/// the snapshots lack, or have from before `oldest`, and for a page that their rows do not reach.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the snapshots fail.
pub async fn find_snapshots(
    context: RequestContext<'_>,
    boards: &[&BoardId],
    query: &BoardQuery<'_>,
    oldest: Instant,
) -> Result<Vec<Option<(Instant, BoardSlice)>>, Error> {
    let Some(snapshots) = &context.app.bindings.snapshots else {
        return Ok(vec![None; boards.len()]);
    };
    let config = &context.deployment.config;
    let id = archive::deployment_id(config);
    let mut found = snapshots
        .find((&id, config), context.today(), boards, query)
        .await?;
    for board in &mut found {
        board.take_if(|(made, _)| *made < oldest);
    }
    Ok(found)
}
