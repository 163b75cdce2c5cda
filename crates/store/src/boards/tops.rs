//! Reads the first rows of many boards, for snapshots and feeds.

use super::rows::{ShardRow, merge, take_rows};
use super::{RelatedBoards, call, ranked};
use crate::deployment::Deployment;
use crate::profiles::{read_visible, to_json};
use crate::redis::Command;
use activity_rank_core::board::snapshot::{StoredRow, Top};
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery, BoardSlice};
use activity_rank_core::config::Config;
use activity_rank_core::content::{StoredTarget, id_of_member};
use activity_rank_core::error::Error;

/// Rows of one call: as many as Upstash is known to accept as arguments of a command in a script.
const PAGE: u32 = 1000;

/// Rows that one request reads at most.
const ROWS_PER_REQUEST: u32 = 10_000;

/// The rows that are read of a board on one shard.
struct Part {
    board: usize,
    shard: u32,
    total: u64,
    rows: Vec<ShardRow>,
}

/// The number of rows that are read of each shard, and the portions.
struct Portions {
    rows: u32,
    page: u32,
    calls_per_request: usize,
}

impl Portions {
    fn new(config: &Config, members: u32) -> Self {
        let rows = match config.shards {
            1 => members,
            shards => {
                let mean = members.div_ceil(shards);
                // Several standard deviations: hashing spreads users evenly.
                members.min(mean + 4 * mean.isqrt() + 16)
            }
        };
        let page = rows.min(PAGE);
        Self {
            rows,
            page,
            calls_per_request: (ROWS_PER_REQUEST / page) as usize,
        }
    }
}

/// Returns the requests that [`read_tops`] sends at most, without those for scripts that the store does not know.
#[must_use]
pub fn tops_requests(config: &Config, boards: usize, members: u32) -> u32 {
    let portions = Portions::new(config, members);
    let parts = boards * config.shards as usize;
    let further = (portions.rows.div_ceil(portions.page) - 1) as usize;
    let requests = |calls: usize| calls.div_ceil(portions.calls_per_request);
    let authors = usize::from(config.shards > 1 && config.has_content());
    u32::try_from(requests(parts) + requests(parts * further) + authors).unwrap_or(u32::MAX)
}

/// Reads the first rows of boards, at most `members` of each.
///
/// Up to 1,000 rows of a shard are read at one instant. More are read in pages: a member whose rank changes
/// meanwhile may be left out.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_tops(
    deployment: &Deployment,
    boards: &[BoardId],
    members: u32,
) -> Result<Vec<StoredTop>, Error> {
    let config = &deployment.config;
    let portions = Portions::new(config, members);
    let mut parts = Vec::new();
    for board in 0..boards.len() {
        parts.extend((0..config.shards).map(|shard| Part {
            board,
            shard,
            total: 0,
            rows: Vec::new(),
        }));
    }
    let mut pages: Vec<(usize, u32)> = (0..parts.len()).map(|part| (part, 0)).collect();
    while !pages.is_empty() {
        let count = pages.len().min(portions.calls_per_request);
        let batch: Vec<_> = pages.drain(..count).collect();
        let calls = batch.iter().filter_map(|(part, offset)| {
            parts
                .get(*part)?
                .call(deployment, boards, &portions, *offset)
        });
        let calls = calls.collect();
        let replies = deployment.run_scripts(calls).await?;
        for ((index, offset), reply) in batch.into_iter().zip(replies) {
            let Some(part) = parts.get_mut(index) else {
                continue;
            };
            if offset == 0 {
                part.total = reply.at(1)?.optional_unsigned()?.unwrap_or(0);
                let further = (portions.page..portions.rows).step_by(portions.page as usize);
                let needed = further.filter(|offset| u64::from(*offset) < part.total);
                pages.extend(needed.map(|offset| (index, offset)));
            }
            part.rows.extend(take_rows(reply, 2)?);
        }
    }
    let mut parts = parts.into_iter();
    let mut tops = Vec::new();
    for board in boards {
        let parts = parts.by_ref().take(config.shards as usize).collect();
        tops.push(merged(board, parts, members as usize));
    }
    if config.shards > 1 {
        complete_authors(deployment, &mut tops).await?;
    }
    Ok(tops)
}

/// Reads the profiles of the authors of targets, who may be on other shards, and removes authors whom boards hide.
async fn complete_authors(deployment: &Deployment, tops: &mut [StoredTop]) -> Result<(), Error> {
    let content_tops = tops
        .iter_mut()
        .filter(|top| top.board.kind == BoardKind::Content);
    let mut rows: Vec<&mut ShardRow> = content_tops.flat_map(|top| &mut top.rows).collect();
    rows.retain(|row| row.target().is_some_and(|(_, author)| !author.is_empty()));
    let authors: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(row.target()?.1.to_owned()))
        .collect();
    let ids: Vec<&str> = authors.iter().map(String::as_str).collect();
    let visible = read_visible(deployment, &ids).await?;
    for (row, visible) in rows.into_iter().zip(visible) {
        row.author = visible.map(|profile| profile.as_ref().map(to_json).unwrap_or_default());
    }
    Ok(())
}

/// The first rows of a board as the store has them.
pub struct StoredTop {
    board: BoardId,
    total: u64,
    rows: Vec<ShardRow>,
}

impl StoredTop {
    /// Returns the rows with their ranks.
    #[must_use]
    pub fn slice(self) -> BoardSlice {
        BoardSlice {
            total: self.total,
            rows: ranked(self.rows, 0, self.board.kind),
            ..BoardSlice::default()
        }
    }
}

impl Top for StoredTop {
    fn board(&self) -> &BoardId {
        &self.board
    }

    fn total(&self) -> u64 {
        self.total
    }

    fn rows(&self) -> impl Iterator<Item = StoredRow<'_>> {
        self.rows.iter().map(|row| {
            let stored = StoredRow {
                id: &row.user,
                score: row.score,
                subject: row.profile.as_deref().unwrap_or_default(),
                author: None,
            };
            match self.board.kind {
                BoardKind::Members | BoardKind::Authors | BoardKind::Event => stored,
                BoardKind::Content => {
                    let (subject, author) = row.target().unwrap_or(("{}", ""));
                    let author = Some(author).filter(|author| !author.is_empty());
                    StoredRow {
                        id: id_of_member(&row.user),
                        subject,
                        author: author.zip(row.author.as_deref()),
                        ..stored
                    }
                }
            }
        })
    }
}

impl ShardRow {
    /// Returns the JSON of a registered target and the id of its author, empty for none.
    fn target(&self) -> Option<(&str, &str)> {
        StoredTarget::json_and_author(self.profile.as_deref()?)
    }
}

impl Part {
    /// Returns the call that reads the rows from an offset on.
    fn call(
        &self,
        deployment: &Deployment,
        boards: &[BoardId],
        portions: &Portions,
        offset: u32,
    ) -> Option<Command> {
        let query = BoardQuery::Page {
            offset,
            limit: portions.page.min(portions.rows - offset),
        };
        let board = boards.get(self.board)?;
        Some(call(
            &deployment.config,
            &deployment.keys(self.shard),
            board,
            &query,
            &RelatedBoards::default(),
        ))
    }
}

/// Returns the users who occur more than once: hardly ever any.
fn repeated(rows: &[ShardRow]) -> Vec<String> {
    let mut users: Vec<&str> = rows.iter().map(|row| row.user.as_str()).collect();
    users.sort_unstable();
    let pairs = users.windows(2).filter(|pair| pair.first() == pair.last());
    let repeated = pairs.filter_map(|pair| pair.first().copied());
    repeated.map(str::to_owned).collect()
}

/// Merges the parts of a board: as many rows as are known to be its first ones.
fn merged(board: &BoardId, parts: Vec<Part>, members: usize) -> StoredTop {
    let kind = board.kind;
    let total = parts.iter().map(|part| part.total).sum();
    let mut lowest: Option<ShardRow> = None;
    let mut shards = Vec::new();
    for mut part in parts {
        // Ranks may have changed between two pages.
        for user in repeated(&part.rows) {
            let first = part.rows.iter().position(|row| row.user == user);
            let mut index = 0;
            part.rows.retain(|row| {
                index += 1;
                row.user != user || first == Some(index - 1)
            });
        }
        part.rows
            .dedup_by(|row, before| row.rank_key(kind) >= before.rank_key(kind));
        if (part.rows.len() as u64) < part.total
            && let Some(last) = part.rows.last()
            && lowest
                .as_ref()
                .is_none_or(|lowest| lowest.rank_key(kind) < last.rank_key(kind))
        {
            lowest = Some(last.clone());
        }
        shards.push(part.rows);
    }
    let mut rows = merge(shards, kind, 0, members);
    // Below the last row that was read of a shard, others of that shard may be missing.
    rows.retain(|row| {
        lowest
            .as_ref()
            .is_none_or(|lowest| row.rank_key(kind) >= lowest.rank_key(kind))
    });
    StoredTop {
        board: board.clone(),
        total,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::calendar::{Date, Period};
    use proptest::prelude::*;

    fn part(rows: &[u64], read: usize) -> Part {
        let row = |score: &u64| ShardRow {
            user: score.to_string(),
            score: *score,
            ..ShardRow::default()
        };
        Part {
            board: 0,
            shard: 0,
            total: rows.len() as u64,
            rows: rows.iter().take(read).map(row).collect(),
        }
    }

    fn scores(parts: Vec<Part>, members: usize) -> Vec<u64> {
        let board = BoardId {
            kind: BoardKind::Members,
            period: Period::All,
            date: Date::parse("2026-11-20").unwrap(),
            group: None,
        };
        let top = merged(&board, parts, members);
        top.rows().map(|row| row.score).collect()
    }

    proptest! {
        #[test]
        fn merged_rows_are_the_first_of_the_board(
            scores_by_shard in prop::collection::vec(prop::collection::btree_set(1..500u64, 0..60), 1..5),
            read in 1..30usize, members in 1..80usize,
        ) {
            let descending = |scores: &std::collections::BTreeSet<u64>| -> Vec<u64> {
                scores.iter().rev().copied().collect()
            };
            let shards: Vec<Vec<u64>> = scores_by_shard.iter().map(descending).collect();
            let mut all: Vec<u64> = shards.concat();
            all.sort_by(|a, b| b.cmp(a));
            all.truncate(members);
            let whole = shards.iter().map(|rows| part(rows, rows.len())).collect();
            prop_assert_eq!(&scores(whole, members), &all);
            let partly = shards.iter().map(|rows| part(rows, read)).collect();
            let found = scores(partly, members);
            prop_assert!(all.starts_with(&found));
            prop_assert!(found.len() >= read.min(all.len()));
        }
    }

    #[test]
    fn rank_changes_between_pages_repeat_no_member() {
        let mut moved = part(&[9, 8, 7], 9);
        let late = ("late", 8);
        let rows = [
            ("9", 9),
            ("8", 8),
            ("8", 8),
            ("7", 7),
            late,
            ("9", 3),
            ("1", 1),
        ];
        moved.rows = rows
            .map(|(user, score)| ShardRow {
                user: user.to_owned(),
                score,
                ..ShardRow::default()
            })
            .into();
        moved.total = 4;
        assert_eq!(scores(vec![moved], 9), [9, 8, 7, 1]);
    }
}
