//! Scores and ranks of members with fewer points than they have.

use crate::deployment::Deployment;
use crate::redis::{Command, Reply, StoreError};
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::Date;
use activity_rank_core::error::Error;
use activity_rank_core::fair_play::{Loss, Taken};

/// Reads the losses of points that would go from the boards of a day. With equal points a member ranks first among them.
/// Hidden members and those without points have no rank.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_losses<'a>(
    deployment: &Deployment,
    taken: &'a [Taken],
    date: Date,
) -> Result<Vec<Loss<'a>>, Error> {
    let layout = deployment.config.layout;
    let key = |shard: u32, taken: &Taken| {
        let keys = deployment.keys(shard);
        match taken.kind {
            BoardKind::Authors => keys.received_board(taken.kind, taken.period, date),
            _ => keys.board(taken.period, date, None),
        }
    };
    let orders = |taken: &Taken| match taken.kind.is_plain() {
        true => 1,
        false => layout.orders(),
    };
    let score = |taken: &Taken| {
        let shard = deployment.config.shard_of(&taken.user);
        let command = Command::new("ZSCORE").arg(&key(shard, taken));
        command.arg(&taken.user)
    };
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let scores = deployment.run_commands(taken.iter().map(score).collect());
    let (mut losses, mut counts) = (Vec::new(), Vec::new());
    for (taken, score) in taken.iter().zip(scores.await?) {
        let stored = read_score(&score)?;
        let before = stored.unsigned_abs() / orders(taken);
        let scores = [before, before.saturating_sub(taken.steps)];
        for steps in scores {
            // The lowest score with more points.
            let least = ((steps + 1) * orders(taken)).to_string();
            for shard in 0..deployment.config.shards {
                let command = Command::new("ZCOUNT").arg(&key(shard, taken));
                counts.push(command.arg(&least).arg("+inf"));
            }
        }
        losses.push((taken, scores, stored > 0));
    }
    let counts = deployment.run_commands(counts).await?;
    let shards = deployment.config.shards as usize;
    let mut above = counts.chunks(shards);
    let mut rank = |has_rank: bool| -> Result<Option<u64>, StoreError> {
        let counts = above.next().unwrap_or_default().iter();
        let counts: Result<Vec<u64>, StoreError> = counts.map(Reply::unsigned).collect();
        let rank = counts?.iter().sum::<u64>() + 1;
        Ok(has_rank.then_some(rank))
    };
    let decimals = layout.decimals;
    let losses = losses.into_iter().map(|(taken, scores, is_visible)| {
        let [before, after] = scores.map(|steps| is_visible && steps > 0);
        let ranks = [rank(before)?, rank(after)?];
        Ok(Loss::new(taken, scores, ranks, decimals))
    });
    losses.collect()
}

/// Returns a stored score; 0 for none. That of a hidden member is negative.
fn read_score(reply: &Reply) -> Result<i64, StoreError> {
    reply.some().map_or(Ok(0), Reply::integer)
}
