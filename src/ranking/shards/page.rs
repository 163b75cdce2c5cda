//! Which part of each shard's board a page of all is made of.

use super::count;
use super::order::order;
use crate::redis::{Failure, Reply};

/// Scores of a part of a shard's board, best first.
pub struct Stretch<'a> {
    /// How many rank above it on its shard.
    first: usize,
    scores: &'a Reply,
    /// How many scores there are.
    length: usize,
    /// How many are on the shard's board.
    total: usize,
}

impl<'a> Stretch<'a> {
    /// The stretch that the script replied which was asked for it from a rank on.
    pub fn read(reply: &'a Reply, first: u32) -> Result<Self, Failure> {
        let (total, scores) = (count(reply.at(1)?)?, reply.at(2)?);
        Ok(Self {
            first: total.min(first as usize),
            scores,
            length: scores.list()?.len(),
            total,
        })
    }

    /// Whether something of it may rank above what comes next, without being in sight: rows
    /// above while none of it was taken, rows below when all was.
    fn hides(&self, taken: usize) -> bool {
        (self.first > 0 && taken == 0) || (taken == self.length && self.first + taken < self.total)
    }
}

/// A part of a shard's board: its first rank, from 0, and how many it has.
pub type Part = (usize, usize);

/// What of each shard is on a page; `None` where the stretches do not tell.
///
/// They are walked through in the order of all. A row's rank is known when every other shard shows
/// which of its rows come before: those above its stretch, and those taken from it.
pub fn parts_of(
    stretches: &[Stretch<'_>],
    offset: usize,
    limit: usize,
) -> Result<Option<Vec<Part>>, Failure> {
    let (mut rank, mut total) = (0, 0);
    let (mut parts, mut scores) = (Vec::new(), Vec::new());
    for stretch in stretches {
        rank += stretch.first;
        total += stretch.total;
        parts.push((stretch.first, 0));
        scores.push(stretch.scores);
    }
    if total <= offset {
        return Ok(Some(parts));
    }
    let end = total.min(offset + limit);
    let order = order(&scores, end.saturating_sub(rank))?;
    if rank > offset || rank + order.len() < end {
        return Ok(None);
    }
    for best in order {
        for (shard, (stretch, (first, count))) in stretches.iter().zip(&parts).enumerate() {
            if rank >= offset && shard != best && stretch.hides(first + count - stretch.first) {
                return Ok(None);
            }
        }
        if let Some((first, count)) = parts.get_mut(best) {
            *(if rank < offset { first } else { count }) += 1;
        }
        rank += 1;
    }
    Ok(Some(parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the script replies of a board.
    fn reply(board: &[u64], first: u32, most: u32) -> Reply {
        let scores = board.iter().skip(first as usize).take(most as usize);
        let scores = scores.map(|score| Reply::Integer(score.cast_signed()));
        let total = Reply::Integer(i64::try_from(board.len()).unwrap());
        Reply::List(vec![Reply::Nil, total, Reply::List(scores.collect())])
    }

    fn parts(
        boards: &[Vec<u64>],
        (first, most): (u32, u32),
        offset: usize,
        limit: usize,
    ) -> Option<Vec<Part>> {
        let replies: Vec<Reply> = boards
            .iter()
            .map(|board| reply(board, first, most))
            .collect();
        let stretches: Vec<_> = replies
            .iter()
            .map(|reply| Stretch::read(reply, first).unwrap())
            .collect();
        parts_of(&stretches, offset, limit).unwrap()
    }

    proptest! {
        #[test]
        fn stretches_tell_the_page_or_nothing_and_whole_boards_always_do(
            mut boards in prop::collection::vec(prop::collection::vec(1..60u64, 0..40), 1..5),
            first in 0..20u32, most in 0..30u32, offset in 0..80usize, limit in 1..20usize,
        ) {
            for board in &mut boards {
                board.sort_by(|a, b| b.cmp(a));
            }
            let mut all: Vec<(u64, usize, usize)> = Vec::new();
            for (shard, board) in boards.iter().enumerate() {
                all.extend(board.iter().enumerate().map(|(place, score)| (*score, shard, place)));
            }
            all.sort_by_key(|(score, shard, place)| (u64::MAX - score, *shard, *place));
            let page: Vec<_> = all.iter().skip(offset).take(limit).collect();
            let check = |parts: Vec<Part>| {
                for (shard, (first, count)) in parts.iter().enumerate() {
                    let places = page.iter().filter(|(_, of, _)| *of == shard);
                    let places: Vec<usize> = places.map(|(_, _, place)| *place).collect();
                    prop_assert_eq!(places.len(), *count);
                    if *count > 0 {
                        prop_assert_eq!(places, (*first..first + count).collect::<Vec<_>>());
                    }
                }
                Ok(())
            };
            if let Some(parts) = parts(&boards, (first, most), offset, limit) {
                check(parts)?;
            }
            check(parts(&boards, (0, 99), offset, limit).unwrap())?;
        }
    }
}
