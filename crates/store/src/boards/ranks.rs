//! `above.lua`: ranks among the users of all shards.

use crate::deployment::Deployment;
use crate::redis::{Command, StoreError};
use crate::scripts::ABOVE;
use activity_rank_core::error::Error;
use activity_rank_core::score::Score;

/// A score and its rank.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Index of its board among those passed to [`rank_among_all`].
    pub board: usize,
    /// The shard of its user.
    pub shard: u32,
    /// The packed score.
    pub score: Score,
    /// The rank from 1: on its own shard before [`rank_among_all`], on all shards after it.
    pub rank: u64,
}

/// Adds to each rank the number of users that rank above on the other shards.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn rank_among_all(
    deployment: &Deployment,
    ranks: &mut [Ranked],
    boards: &[String],
) -> Result<(), Error> {
    // The shards that must count: those with a score of another shard.
    let shards = (0..deployment.config.shards)
        .filter(|shard| ranks.iter().any(|ranked| ranked.shard != *shard));
    let shards: Vec<u32> = shards.collect();
    if shards.is_empty() {
        return Ok(());
    }
    let call = |shard: &u32| count_call(deployment, *shard, ranks, boards);
    let replies = deployment
        .run_scripts(shards.iter().map(call).collect())
        .await?;
    for (shard, reply) in shards.iter().zip(&replies) {
        let counts = reply.at(1)?;
        let other_shards = ranks.iter_mut().filter(|ranked| ranked.shard != *shard);
        for (index, ranked) in other_shards.enumerate() {
            let above: Result<u64, StoreError> = counts.at(index)?.unsigned();
            ranked.rank += above?;
        }
    }
    Ok(())
}

fn count_call(deployment: &Deployment, shard: u32, ranks: &[Ranked], boards: &[String]) -> Command {
    let keys = deployment.keys(shard);
    let mut all = vec![keys.users()];
    all.extend(boards.iter().map(|name| keys.board_named(name)));
    let mut call = Command::script(&ABOVE, &all);
    for ranked in ranks.iter().filter(|ranked| ranked.shard != shard) {
        let Score(score) = ranked.score;
        call =
            call.arg(&(ranked.board + 1).to_string())
                .arg(&least_above(shard, ranked.shard, score));
    }
    call
}

/// Returns the lowest score of a shard that ranks above a score of the shard `of`, as an argument
/// of `ZCOUNT`: equal scores are ordered by shard.
pub fn least_above(shard: u32, of: u32, score: u64) -> String {
    if shard < of {
        score.to_string()
    } else {
        format!("({score}")
    }
}
