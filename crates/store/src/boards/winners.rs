//! `winners.lua`: the first users of past boards.

use super::ranked;
use super::rows::{merge, take_rows};
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Reply};
use crate::scripts::WINNERS as SCRIPT;
use activity_rank_core::board::{BoardKind, BoardSlice, PastBoard, WINNERS, WinnersRequest};
use activity_rank_core::error::Error;

/// Reads the past boards that the store still holds, newest first.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_winners(
    deployment: &Deployment,
    request: &WinnersRequest,
) -> Result<Vec<PastBoard>, Error> {
    let (shards, kind) = (0..deployment.config.shards, BoardKind::Members);
    let calls = shards.map(|shard| winners_call(&deployment.keys(shard), request));
    let replies = deployment.run_scripts(calls.collect()).await?;
    // Per shard: index of the board, total and columns, of the boards it has.
    let mut shards = Vec::new();
    for reply in replies {
        shards.push(reply.into_list()?);
    }
    let mut past = Vec::new();
    for (index, first_day) in (0..).zip(request.first_days()) {
        let (mut total, mut rows) = (None, Vec::new());
        for boards in &mut shards {
            let mut boards = boards.iter_mut().skip(1);
            let found = boards.find(|board| board.at(0) == Ok(&Reply::Integer(index)));
            let Some(board) = found.map(std::mem::take) else {
                continue;
            };
            total = Some(total.unwrap_or(0) + board.at(1)?.unsigned()?);
            rows.push(take_rows(board, 2)?);
        }
        let Some(total) = total else { continue };
        past.push(PastBoard {
            first_day,
            slice: BoardSlice {
                total,
                rows: ranked(merge(rows, kind, 0, WINNERS as usize), 0, kind),
                ..BoardSlice::default()
            },
            needs_profiles: false,
        });
    }
    Ok(past)
}

/// Returns the call that reads the past boards of a shard.
#[must_use]
pub fn winners_call(keys: &Keys, request: &WinnersRequest) -> Command {
    let (period, group) = (request.before.period, request.before.group.as_deref());
    let first_days = request.first_days().into_iter();
    let boards = first_days.map(|day| keys.board(period, day, group));
    let all: Vec<String> = [keys.users()].into_iter().chain(boards).collect();
    Command::script(&SCRIPT, &all).number(WINNERS)
}
