//! Computes the part of each shard's board that belongs to a page of the merged board.

use super::rows::first_of;
use crate::redis::{Reply, StoreError};

/// Consecutive scores of one shard's board, best first, on plain boards with their members.
#[derive(Clone, Debug)]
pub struct ScoreRange {
    /// Number of users above the range on its shard.
    first: usize,
    scores: Vec<(u64, String)>,
    /// Number of users on the shard's board.
    total: usize,
}

impl ScoreRange {
    /// Decodes the reply of `scores.lua`, which was called for the scores from an offset on.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn decode(reply: &Reply, offset: u32) -> Result<Self, StoreError> {
        let total = reply.at(1)?.optional_unsigned()?.unwrap_or(0);
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let members = reply.at(3)?;
        let mut scores = Vec::new();
        for (index, score) in reply.at(2)?.list()?.iter().enumerate() {
            let member = members.at(index)?.optional_text()?.unwrap_or_default();
            scores.push((score.unsigned()?, member.to_owned()));
        }
        Ok(Self {
            first: total.min(offset as usize),
            scores,
            total,
        })
    }

    /// Returns whether the next user of this shard may be outside the range, after `taken` of its
    /// scores: a user above it while none was taken, or below it when all were.
    fn ends_before_next(&self, taken: usize) -> bool {
        let all = taken == self.scores.len();
        (self.first > 0 && taken == 0) || (all && self.first + taken < self.total)
    }
}

/// A part of a shard's board: the number of users above it, and its length.
pub type Part = (usize, usize);

/// Returns the part of each shard that belongs to a page; `None` if the ranges are too short.
///
/// Walks through the ranges in the order of the merged board. The rank of a row is known if every
/// other shard shows which of its users come before: those above its range and those taken from it.
#[must_use]
pub fn page_parts(ranges: &[ScoreRange], offset: usize, limit: usize) -> Option<Vec<Part>> {
    let mut rank: usize = ranges.iter().map(|range| range.first).sum();
    let total: usize = ranges.iter().map(|range| range.total).sum();
    let mut parts: Vec<Part> = ranges.iter().map(|range| (range.first, 0)).collect();
    if total <= offset {
        return Some(parts);
    }
    let end = total.min(offset + limit);
    if rank > offset {
        return None;
    }
    while rank < end {
        let heads = ranges.iter().zip(&parts).enumerate();
        let heads = heads.filter_map(|(shard, (range, (first, count)))| {
            let (score, member) = range.scores.get(first + count - range.first)?;
            Some((shard, (*score, member.as_str())))
        });
        let next = first_of(heads)?;
        for (shard, (range, (first, count))) in ranges.iter().zip(&parts).enumerate() {
            let taken = first + count - range.first;
            if rank >= offset && shard != next && range.ends_before_next(taken) {
                return None;
            }
        }
        if let Some((first, count)) = parts.get_mut(next) {
            *(if rank < offset { first } else { count }) += 1;
        }
        rank += 1;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    /// The scores of a shard's board with their members; without, where the shard orders equal scores.
    type Board = Vec<(u64, String)>;

    fn parts(
        boards: &[Board],
        (first, count): (usize, usize),
        offset: usize,
        limit: usize,
    ) -> Option<Vec<Part>> {
        let range = |board: &Board| ScoreRange {
            first: board.len().min(first),
            scores: board.iter().skip(first).take(count).cloned().collect(),
            total: board.len(),
        };
        let ranges: Vec<ScoreRange> = boards.iter().map(range).collect();
        page_parts(&ranges, offset, limit)
    }

    fn check(
        mut boards: Vec<Board>,
        range: (usize, usize),
        (offset, limit): (usize, usize),
    ) -> Result<(), TestCaseError> {
        for board in &mut boards {
            board.sort_by(|a, b| b.cmp(a));
        }
        let mut all = Vec::new();
        for (shard, board) in boards.iter().enumerate() {
            all.extend(
                board
                    .iter()
                    .enumerate()
                    .map(|(index, key)| (key, shard, index)),
            );
        }
        all.sort_by_key(|(key, shard, index)| (Reverse(*key), *shard, *index));
        let page: Vec<_> = all.iter().skip(offset).take(limit).collect();
        let check = |parts: Vec<Part>| {
            for (shard, (first, count)) in parts.iter().enumerate() {
                let indexes = page.iter().filter(|(_, of, _)| *of == shard);
                let indexes: Vec<usize> = indexes.map(|(_, _, index)| *index).collect();
                prop_assert_eq!(indexes.len(), *count);
                if *count > 0 {
                    prop_assert_eq!(indexes, (*first..first + count).collect::<Vec<_>>());
                }
            }
            Ok(())
        };
        if let Some(parts) = parts(&boards, range, offset, limit) {
            check(parts)?;
        }
        check(parts(&boards, (0, 99), offset, limit).unwrap())
    }

    proptest! {
        #[test]
        fn parts_are_exact_and_complete_ranges_suffice(
            boards in prop::collection::vec(prop::collection::vec(1..60u64, 0..40), 1..5),
            range in (0..20usize, 0..30usize), page in (0..80usize, 1..20usize),
        ) {
            let without_members = |board: Vec<u64>| {
                board.into_iter().map(|score| (score, String::new())).collect()
            };
            check(boards.into_iter().map(without_members).collect(), range, page)?;
        }

        #[test]
        fn parts_of_plain_boards_are_exact(
            members in prop::collection::btree_map("[a-z#]{1,3}", (1..6u64, 0..4usize), 0..99),
            range in (0..20usize, 0..30usize), page in (0..80usize, 1..20usize),
        ) {
            let mut boards = vec![Vec::new(); 4];
            for (member, (score, shard)) in members {
                boards[shard].push((score, member));
            }
            check(boards, range, page)?;
        }
    }
}
