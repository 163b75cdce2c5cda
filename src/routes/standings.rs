//! `GET /v1/users/{user}/standings`.

use crate::app::RequestContext;
use crate::cache::copies;
use crate::cache::hiding;
use crate::cache::response::stale;
use crate::movement;
use crate::response::Response;
use activity_rank_core::board::{BoardId, CachedResponse, Standings, StandingsRequest};
use activity_rank_core::caller::Caller;
use activity_rank_core::error::Error;
use activity_rank_store::boards::{self, PreviousRanks};
use activity_rank_store::deployment::MAX_CALLS;
use activity_rank_store::events;

/// The standings of a user on the boards of all current periods, or those in the snapshots while the store is
/// unavailable.
pub async fn get(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let parse = || {
        let events = events::known_open(context.deployment, user, context.request.now);
        StandingsRequest::parse(user, query, config, context.today(), events)
    };
    let mut request = parse()?;
    caller.may_read(&request.user)?;
    let mut standings = read(context, &request).await;
    for _ in 1..MAX_CALLS {
        if !matches!(standings, Ok(None)) {
            break;
        }
        request = parse()?;
        standings = read(context, &request).await;
    }
    let changed = || Error::StoreUnavailable("the definitions of events keep changing".to_owned());
    let standings = standings.and_then(|standings| standings.ok_or_else(changed));
    let response = match standings {
        Ok(standings) => {
            let body = request.render(&standings, config);
            Response::text("application/json", body.unwrap_or_default())
        }
        Err(error) => stale(context.request, error, copy(context, &request)).await?,
    };
    Ok(response.with("cache-control", "no-store"))
}

/// Reads the standings from the store, unless they need the boards of other events, and the ranks on boards that it does not have any more from the archive.
async fn read(
    context: RequestContext<'_>,
    request: &StandingsRequest,
) -> Result<Option<Standings>, Error> {
    let standings = boards::read_standings(context.deployment, request).await?;
    let Some(mut standings) = standings else {
        return Ok(None);
    };
    for (index, board) in request.previous_boards() {
        let slice = standings.slices.get(index).and_then(Option::as_ref);
        if slice.is_none_or(|slice| slice.total == 0) {
            let lacking = PreviousRanks {
                ranks: vec![(request.user.clone(), None)],
                ..PreviousRanks::default()
            };
            let ranks = movement::or_archived(context, board, lacking).await?;
            if let Some((user, Some(rank))) = ranks.first() {
                standings.set_rank(index, user, *rank);
            }
        }
    }
    Ok(Some(standings))
}

/// Returns a copy of the boards that the snapshots have, as old as the oldest of them.
async fn copy(
    context: RequestContext<'_>,
    request: &StandingsRequest,
) -> Result<Option<CachedResponse>, Error> {
    let oldest = hiding::oldest_allowed(context).await?;
    let boards: Vec<&BoardId> = request.boards.iter().collect();
    let found = copies::find_snapshots(context, &boards, &request.query(), oldest).await?;
    let mut standings = Standings::default();
    let mut first_read = None;
    for found in found {
        let (made, slice) = found.unzip();
        first_read = first_read.into_iter().chain(made).min();
        let row = slice.as_ref().and_then(|slice| slice.row_of(&request.user));
        standings.profile = standings.profile.or_else(|| row?.profile.clone());
        standings.slices.push(slice);
    }
    let body = request.render(&standings, &context.deployment.config);
    let copy = |(body, made)| CachedResponse { body, made };
    Ok(body.zip(first_read).map(copy))
}
