//! Reads a board whose users are spread over several shards, as exactly as from one.
//!
//! Higher scores come first. Equal ones are ordered by shard (points and order number alike), on plain
//! boards by member. Each shard counts its users that rank above a score, so every rank is exact. Each
//! request sees one instant on each shard; a second request may see a later one.

use super::page::{ScoreRange, page_parts};
use super::ranks::{Ranked, least_above};
use super::related::{Collector, RelatedBoards};
use super::rows::{merge, take_rows};
use super::{StoredBoard, board_call, call, check_account, decode, ranked};
use crate::deployment::Deployment;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{AROUND, SCORES};
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery, Row};
use activity_rank_core::error::Error;

/// Rows that all shards together may return for a page near the top: with their profiles about as
/// large as a page of 100.
const MAX_ROWS_NEAR_TOP: u32 = 2_400;

/// The largest page always takes one request.
const MAX_PAGE: u32 = 100;

/// Returns no rows, but the total of a shard.
const TOTAL: BoardQuery<'_> = BoardQuery::Page {
    offset: 0,
    limit: 0,
};

/// Reads a board from all shards, and what other boards know of its users.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(
    deployment: &Deployment,
    board: &BoardId,
    query: &BoardQuery<'_>,
    related: &RelatedBoards<'_>,
) -> Result<StoredBoard, Error> {
    let mut reader = Reader {
        deployment,
        board,
        related,
        collector: Collector::new(related, deployment.config.layout),
    };
    let mut stored = match *query {
        BoardQuery::Page { offset, limit } => reader.page(offset, limit).await?,
        BoardQuery::Standing { user, neighbors } => reader.standing(user, neighbors).await?,
        BoardQuery::Users(users) => reader.users(users).await?,
    };
    let slice = &mut stored.slice;
    let mut collector = reader.collector;
    collector.retain(|user| slice.users().any(|shown| shown == user));
    // Other rows have their ranks already.
    let rows: &mut [Row] = match query {
        BoardQuery::Users(_) => &mut slice.rows,
        BoardQuery::Page { .. } | BoardQuery::Standing { .. } => &mut [],
    };
    let ranked = |row: &Row| Ranked {
        board: 0,
        shard: deployment.config.shard_of(&row.user),
        score: row.score,
        rank: row.rank,
    };
    let mut ranks: Vec<Ranked> = rows.iter().map(ranked).collect();
    collector
        .rank_among_all(deployment, board, &mut ranks)
        .await?;
    for (row, ranked) in rows.iter_mut().zip(ranks) {
        row.rank = ranked.rank;
    }
    collector.finish(&mut stored);
    Ok(stored)
}

/// Returns whether the rows to this rank are read near the top, in one request.
fn is_near_top(shards: u32, end: u32) -> bool {
    end <= MAX_PAGE.max(MAX_ROWS_NEAR_TOP / shards)
}

struct Reader<'a> {
    deployment: &'a Deployment,
    board: &'a BoardId,
    related: &'a RelatedBoards<'a>,
    collector: Collector<'a>,
}

impl Reader<'_> {
    /// Calls a script on every shard.
    async fn run(&self, call: impl Fn(u32) -> Command) -> Result<Vec<Reply>, Error> {
        let calls = (0..self.shards()).map(call).collect();
        self.deployment.run_scripts(calls).await
    }

    fn shards(&self) -> u32 {
        self.deployment.config.shards
    }

    fn call(&self, query: &BoardQuery<'_>, shard: u32) -> Command {
        let (config, keys) = (&self.deployment.config, self.deployment.keys(shard));
        call(config, &keys, self.board, query, self.related)
    }

    fn collect<'a>(
        &mut self,
        replies: &[Reply],
        query: impl Fn(u32) -> BoardQuery<'a>,
    ) -> Result<(), StoreError> {
        for (shard, reply) in (0..).zip(replies) {
            self.collector.add(shard, reply, &query(shard))?;
        }
        Ok(())
    }

    async fn page(&mut self, offset: u32, limit: u32) -> Result<StoredBoard, Error> {
        let end = offset + limit;
        if !is_near_top(self.shards(), end) {
            return self.deep_page(offset, limit).await;
        }
        let top = BoardQuery::Page {
            offset: 0,
            limit: end,
        };
        let replies = self.run(|shard| self.call(&top, shard)).await?;
        self.collect(&replies, |_| top)?;
        let stored = totals(&replies)?;
        Ok(with_page(
            stored,
            replies,
            self.board.kind,
            (offset, offset, limit),
        )?)
    }

    /// Reads a page far from the top: first the scores around the place where it lies if every
    /// shard contributes equally, then the part of each shard that belongs to the page.
    async fn deep_page(&mut self, offset: u32, limit: u32) -> Result<StoredBoard, Error> {
        let middle = offset / self.shards();
        // Several standard deviations: hashing spreads users evenly.
        let mut spread = 4 * middle.isqrt() + 16;
        let (stored, parts) = loop {
            let first = middle.saturating_sub(spread);
            let count = middle.saturating_add(spread).saturating_add(limit) - first;
            let scores = |shard| {
                let (keys, none) = (self.deployment.keys(shard), RelatedBoards::default());
                let scores = board_call(&keys, self.board, &none, &SCORES);
                let scores = scores.number(first).number(count);
                scores.number(self.board.kind.is_plain())
            };
            let replies = self.run(scores).await?;
            let ranges = replies.iter().map(|reply| ScoreRange::decode(reply, first));
            let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
            match page_parts(&ranges, offset as usize, limit as usize) {
                Some(parts) => break (totals(&replies)?, parts),
                None => spread = spread.saturating_mul(4),
            }
        };
        let part = |shard: u32| {
            let (first, count) = parts.get(shard as usize).copied().unwrap_or_default();
            let [offset, limit] = [first, count].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
            self.call(&BoardQuery::Page { offset, limit }, shard)
        };
        let replies = self.run(part).await?;
        self.collect(&replies, |_| TOTAL)?;
        Ok(with_page(
            stored,
            replies,
            self.board.kind,
            (offset, 0, limit),
        )?)
    }

    async fn standing(&mut self, user: &str, neighbors: u32) -> Result<StoredBoard, Error> {
        let own_shard = self.deployment.config.shard_of(user);
        let own_query = BoardQuery::Standing { user, neighbors };
        let query = |shard| {
            if shard == own_shard { own_query } else { TOTAL }
        };
        let mut replies = self.run(|shard| self.call(&query(shard), shard)).await?;
        self.collect(&replies, query)?;
        let mut stored = totals(&replies)?;
        let own = replies.swap_remove(own_shard as usize);
        check_account(&own, self.board.kind, &own_query)?;
        let Some(mut rank) = own.at(3)?.optional_unsigned()? else {
            let slice = decode(own, self.board.kind, &own_query)?.slice;
            stored.slice.unranked = slice.unranked;
            stored.slice.target = slice.target;
            return Ok(stored);
        };
        let first = own.at(4)?.unsigned()?;
        let mut index = usize::try_from(rank.saturating_sub(first)).unwrap_or(0);
        let own_rows = take_rows(own, 5)?;
        let missing = || StoreError::Unavailable("a standing without its row".to_owned());
        let score = own_rows.get(index).ok_or_else(missing)?.score;
        let other_shards = (0..self.shards()).filter(|shard| *shard != own_shard);
        let kind = self.board.kind;
        let around = other_shards.map(|shard| {
            let (config, keys) = (&self.deployment.config, self.deployment.keys(shard));
            let call = board_call(&keys, self.board, self.related, &AROUND);
            let (bound, member) = match kind.is_plain() {
                true => (format!("({score}"), kind.member(user)),
                false => (least_above(shard, own_shard, score), String::new()),
            };
            let call = call.arg(&bound).number(neighbors).arg(&member);
            self.related.add_arguments(config, &own_query, call)
        });
        let replies = self.deployment.run_scripts(around.collect()).await?;
        let neighbors = neighbors as usize;
        let mut shards = Vec::new();
        let other_shards = (0..self.shards()).filter(|shard| *shard != own_shard);
        for (shard, reply) in other_shards.zip(replies) {
            self.collector.add_around(shard, &reply, &own_query)?;
            let above = reply.at(2)?.unsigned()?;
            rank += above;
            index += usize::try_from(above).unwrap_or(usize::MAX).min(neighbors);
            shards.push(take_rows(reply, 3)?);
        }
        shards.insert(own_shard as usize, own_rows);
        let above = index.min(neighbors);
        let rows = merge(shards, kind, index - above, above + 1 + neighbors);
        stored.slice.rows = ranked(rows, rank - above as u64, kind);
        Ok(stored)
    }

    async fn users(&mut self, users: &[String]) -> Result<StoredBoard, Error> {
        let config = &self.deployment.config;
        let mut by_shard = vec![Vec::new(); config.shards as usize];
        for user in users {
            if let Some(users) = by_shard.get_mut(config.shard_of(user) as usize) {
                users.push(user.clone());
            }
        }
        let query = |shard: u32| match by_shard.get(shard as usize).map(Vec::as_slice) {
            None | Some([]) => TOTAL,
            Some(users) => BoardQuery::Users(users),
        };
        let replies = self.run(|shard| self.call(&query(shard), shard)).await?;
        self.collect(&replies, query)?;
        let mut stored = totals(&replies)?;
        for (shard, reply) in (0..).zip(replies) {
            let slice = decode(reply, self.board.kind, &query(shard))?.slice;
            stored.slice.unranked.extend(slice.unranked);
            stored.slice.rows.extend(slice.rows);
            stored.slice.accounts.extend(slice.accounts);
        }
        Ok(stored)
    }
}

/// Adds up the totals of all shards.
fn totals(replies: &[Reply]) -> Result<StoredBoard, StoreError> {
    let mut stored = StoredBoard {
        complete: true,
        ..StoredBoard::default()
    };
    for reply in replies {
        match reply.at(1)?.optional_unsigned()? {
            Some(total) => {
                stored.slice.total += total;
                stored.exists = true;
            }
            None => stored.complete = false,
        }
    }
    Ok(stored)
}

/// Merges pages of all shards: skips `skip` rows, of which the first has a rank after `above`
/// others.
fn with_page(
    mut stored: StoredBoard,
    replies: Vec<Reply>,
    kind: BoardKind,
    (above, skip, limit): (u32, u32, u32),
) -> Result<StoredBoard, StoreError> {
    let shards = replies.into_iter().map(|reply| take_rows(reply, 2));
    let shards = shards.collect::<Result<Vec<_>, _>>()?;
    let rows = merge(shards, kind, skip as usize, limit as usize);
    stored.slice.rows = ranked(rows, u64::from(above), kind);
    Ok(stored)
}
