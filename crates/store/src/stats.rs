//! `totals.lua`: the totals of boards.

use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::Command;
use crate::scripts::TOTALS;
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::error::Error;

/// Reads the number of visible users on each board, by shard; `None` for a board that the shard does
/// not have.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_totals(
    deployment: &Deployment,
    boards: &[(Period, Date)],
) -> Result<Vec<Vec<Option<u64>>>, Error> {
    let shards = 0..deployment.config.shards;
    let calls = shards.map(|shard| totals_call(&deployment.keys(shard), boards));
    let replies = deployment.run_scripts(calls.collect()).await?;
    let mut totals = Vec::new();
    for reply in replies {
        let mut shard_totals = Vec::new();
        for index in 1..=boards.len() {
            shard_totals.push(reply.at(index)?.optional_unsigned()?);
        }
        totals.push(shard_totals);
    }
    Ok(totals)
}

/// Returns the call that reads the totals of a shard.
#[must_use]
pub fn totals_call(keys: &Keys, boards: &[(Period, Date)]) -> Command {
    let boards = boards.iter();
    let boards = boards.map(|(period, date)| keys.board(*period, *date, None));
    let all: Vec<String> = [keys.users()].into_iter().chain(boards).collect();
    Command::script(&TOTALS, &all)
}
