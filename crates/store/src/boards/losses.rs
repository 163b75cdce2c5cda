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
    let mut read_rank = || -> Result<u64, StoreError> {
        let counts = above.next().unwrap_or_default().iter();
        let counts: Result<Vec<u64>, StoreError> = counts.map(Reply::unsigned).collect();
        Ok(counts?.iter().sum::<u64>() + 1)
    };
    let decimals = layout.decimals;
    let found = losses.iter().map(|(taken, scores, is_visible)| {
        let [before, after] = [read_rank()?, read_rank()?];
        // The board still has the points that go.
        let falls = |other: &&Fall| {
            let (fallen, [high, low], is_counted) = other;
            let is_same = (fallen.kind, fallen.period) == (taken.kind, taken.period);
            is_same && *is_counted && (*low..*high).contains(&scores[1])
        };
        let after = after.saturating_sub(losses.iter().filter(falls).count() as u64);
        let has_rank = scores.map(|steps| *is_visible && steps > 0);
        let ranks = [has_rank[0].then_some(before), has_rank[1].then_some(after)];
        Ok(Loss::new(taken, *scores, ranks, decimals))
    });
    found.collect()
}

/// Points that go, the scores before and after, and whether the board lists the member.
type Fall<'a> = (&'a Taken, [u64; 2], bool);

/// Returns a stored score; 0 for none. That of a hidden member is negative.
fn read_score(reply: &Reply) -> Result<i64, StoreError> {
    reply.some().map_or(Ok(0), Reply::integer)
}
