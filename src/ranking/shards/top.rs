//! A stretch from the top: near it what each shard has, further down the part of each that is in it.

use super::order::merged;
use super::page::{Stretch, parts_of};
use super::{Asked, Step, Then, columns, stretch};
use crate::archive::Lookup;
use crate::redis::{Failure, Reply};
use crate::scripts;

/// The most rows that all shards together are asked for to show some of them: with their profiles
/// about as large as a page of 100.
const NEAR: u32 = 2_400;

/// The most rows that are asked for in any case: the largest page is one request.
const PAGE: u32 = 100;

impl<'a> Asked<'_> {
    pub(super) fn top(&self, offset: u32, limit: u32) -> Step<'a> {
        let end = offset + limit;
        if end <= PAGE.max(NEAR / self.config.shards) {
            let all = Lookup::Top(0, end);
            let commands = self.each(&|shard| self.command(&all, shard));
            return Step::Ask(commands, Then::Rows(offset, limit));
        }
        // Some standard deviations of where it lies, for hashed users are spread evenly.
        let spread = 4 * (offset / self.config.shards).isqrt() + 16;
        self.scores(spread, offset, limit)
    }

    /// Asks for the scores within so many of where the page lies if each shard has as much of it.
    fn scores(&self, spread: u32, offset: u32, limit: u32) -> Step<'a> {
        let first = self.first_of(spread, offset);
        let middle = offset / self.config.shards;
        let most = middle.saturating_add(spread).saturating_add(limit) - first;
        let scores = |shard| stretch(self.on_board(shard, &scripts::SCORES), first, most);
        Step::Ask(self.each(&scores), Then::Scores(spread, offset, limit))
    }

    fn first_of(&self, spread: u32, offset: u32) -> u32 {
        (offset / self.config.shards).saturating_sub(spread)
    }

    /// Asks for the rows of the page, or where the scores do not tell which for more scores.
    pub(super) fn page(
        &self,
        replies: &[Reply],
        spread: u32,
        offset: u32,
        limit: u32,
    ) -> Result<Step<'a>, Failure> {
        let mut stretches = Vec::new();
        for reply in replies {
            stretches.push(Stretch::read(reply, self.first_of(spread, offset))?);
        }
        let Some(parts) = parts_of(&stretches, offset as usize, limit as usize)? else {
            return Ok(self.scores(spread.saturating_mul(4), offset, limit));
        };
        let part = |shard: u32| {
            let (first, count) = parts.get(shard as usize).copied().unwrap_or_default();
            let [first, count] = [first, count].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
            self.command(&Lookup::Top(first, count), shard)
        };
        Ok(Step::Ask(self.each(&part), Then::Rows(0, limit)))
    }
}

pub fn rows<'a>(replies: &[Reply], skip: u32, limit: u32) -> Result<Step<'a>, Failure> {
    let rows = merged(&columns(replies, 2)?, skip as usize, limit as usize)?;
    Ok(Step::Told(rows.into()))
}
