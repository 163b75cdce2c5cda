//! Rows of several shards in one order.

use crate::redis::{Failure, Reply};

/// Columns of what one shard replied, the scores second; rows are in its order.
pub type Columns<'a> = [&'a Reply; 3];

/// A stretch of the rows of all shards: the best first, equals by shard.
///
/// # Errors
///
/// [`Failure::Unavailable`] where these are no columns.
pub fn merged(shards: &[Columns<'_>], skip: usize, take: usize) -> Result<[Reply; 3], Failure> {
    let scores: Vec<&Reply> = shards.iter().map(|[_, scores, _]| *scores).collect();
    let order = order(&scores, skip + take)?;
    in_order(shards, &order, skip)
}

/// Of which shard the first rows of all are, so many at most.
pub fn order(scores: &[&Reply], most: usize) -> Result<Vec<usize>, Failure> {
    let mut next = vec![0; scores.len()];
    let mut order = Vec::new();
    while order.len() < most {
        // The first of equals: shards are in their order. There are few of them.
        let mut best = None;
        for (shard, (scores, next)) in scores.iter().zip(&next).enumerate() {
            if let Some(score) = scores.at(*next)?.some() {
                let score = score.unsigned()?;
                if best.is_none_or(|(_, best)| score > best) {
                    best = Some((shard, score));
                }
            }
        }
        let Some((best, _)) = best else {
            break;
        };
        if let Some(next) = next.get_mut(best) {
            *next += 1;
        }
        order.push(best);
    }
    Ok(order)
}

/// Columns of rows whose shards are in this order, but for the first of them.
pub fn in_order(
    shards: &[Columns<'_>],
    order: &[usize],
    skip: usize,
) -> Result<[Reply; 3], Failure> {
    let mut next = vec![0; shards.len()];
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for (row, shard) in order.iter().enumerate() {
        let (Some(columns), Some(next)) = (shards.get(*shard), next.get_mut(*shard)) else {
            continue;
        };
        if row >= skip {
            for (all, column) in all.iter_mut().zip(columns) {
                all.push(column.at(*next)?.clone());
            }
        }
        *next += 1;
    }
    Ok(all.map(Reply::List))
}
