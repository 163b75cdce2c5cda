//! Rows as the reading scripts reply them, in columns.

use crate::redis::{Reply, StoreError};
use activity_rank_core::board::{BoardKind, Content, Row};
use activity_rank_core::content::{StoredTarget, id_of_member};
use activity_rank_core::profile::Profile;
use activity_rank_core::score::Score;
use std::mem;

/// A row of one shard's board. Its texts are parsed when the row is known to be returned.
#[derive(Clone, Debug, Default)]
pub struct ShardRow {
    /// The user's id, or the member of a target.
    pub user: String,
    /// The score as it is stored.
    pub score: u64,
    /// The profile as JSON, or the registration of a target.
    pub profile: Option<String>,
    /// The profile of a target's author; empty for none.
    pub author: Option<String>,
}

impl ShardRow {
    /// Returns what ranks the row.
    #[must_use]
    pub fn rank_key(&self, kind: BoardKind) -> RankKey<'_> {
        let member = if kind.is_plain() { &self.user } else { "" };
        (self.score, member)
    }

    /// Converts the row, parsing its texts. A text that is not a profile is none.
    #[must_use]
    pub fn ranked(self, rank: u64, kind: BoardKind) -> Row {
        let row = Row {
            rank,
            score: Score(self.score),
            user: String::new(),
            profile: None,
            content: None,
        };
        match kind {
            BoardKind::Members | BoardKind::Authors | BoardKind::Event => Row {
                profile: self.profile.as_deref().and_then(Profile::from_json),
                user: self.user,
                ..row
            },
            BoardKind::Content => Row {
                user: id_of_member(&self.user).to_owned(),
                content: Some(Box::new(content(
                    self.profile.as_deref(),
                    self.author.as_deref(),
                ))),
                ..row
            },
        }
    }
}

/// Returns what is known of a target by its registration and the profile of its author.
#[must_use]
pub fn content(registration: Option<&str>, author: Option<&str>) -> Content {
    let Some(stored) = registration.and_then(StoredTarget::parse) else {
        return Content::default();
    };
    let author = stored.author.zip(author);
    Content {
        target: stored.target,
        author: author.map(|(id, profile)| (id, Profile::from_json(profile))),
    }
}

/// Decodes the columns of users, scores, profiles and, for targets, authors that begin at an index of a reply.
///
/// # Errors
///
/// [`StoreError::Unavailable`] for any other reply.
pub fn take_rows(reply: Reply, first: usize) -> Result<Vec<ShardRow>, StoreError> {
    let mut values = reply.into_list()?;
    let Some([users, scores, profiles]) = values.get_mut(first..first + 3) else {
        let cause = "unexpected reply: too short".to_owned();
        return Err(StoreError::Unavailable(cause));
    };
    let users = mem::take(users).into_list()?.into_iter();
    let profiles = mem::take(profiles).into_list()?.into_iter();
    let rows = users.zip(scores.list()?).zip(profiles);
    let rows = rows.map(|((user, score), profile)| {
        Ok(ShardRow {
            user: user.into_text()?.unwrap_or_default(),
            score: score.unsigned()?,
            profile: profile.into_text()?,
            author: None,
        })
    });
    let mut rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
    let authors = values.get_mut(first + 3);
    if let Some(authors) = authors.filter(|authors| **authors != Reply::Nil) {
        for (row, author) in rows.iter_mut().zip(mem::take(authors).into_list()?) {
            row.author = author.into_text()?;
        }
    }
    Ok(rows)
}

/// Merges the rows of several shards, best first: skips some rows and returns at most `take` of the next
/// ones. Equal scores are ordered by member on plain boards, else by shard.
#[must_use]
pub fn merge(
    shards: Vec<Vec<ShardRow>>,
    kind: BoardKind,
    skip: usize,
    take: usize,
) -> Vec<ShardRow> {
    let mut shards: Vec<_> = shards
        .into_iter()
        .map(|rows| rows.into_iter().peekable())
        .collect();
    let mut merged = Vec::new();
    for index in 0..skip + take {
        let heads = shards.iter_mut().enumerate();
        let heads = heads.filter_map(|(shard, rows)| Some((shard, rows.peek()?.rank_key(kind))));
        let Some(shard) = first_of(heads) else { break };
        let row = shards.get_mut(shard).and_then(Iterator::next);
        if index >= skip {
            merged.extend(row);
        }
    }
    merged
}

/// What ranks a row among those of other shards: the score, and on plain boards the member. A greater one ranks
/// above; of equal ones, that of the first shard.
pub type RankKey<'a> = (u64, &'a str);

/// Returns the shard of the greatest key, the first one among equal keys.
pub fn first_of<'a>(heads: impl Iterator<Item = (usize, RankKey<'a>)>) -> Option<usize> {
    let mut first: Option<(usize, RankKey<'a>)> = None;
    for (shard, key) in heads {
        if first.is_none_or(|(_, greatest)| key > greatest) {
            first = Some((shard, key));
        }
    }
    first.map(|(shard, _)| shard)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(&str, u64)]) -> Vec<ShardRow> {
        let row = |(user, score): &(&str, u64)| ShardRow {
            user: (*user).to_owned(),
            score: *score,
            ..ShardRow::default()
        };
        rows.iter().map(row).collect()
    }

    /// Merges three shards, and returns the users of the page.
    fn merged(kind: BoardKind, skip: usize, take: usize) -> Vec<String> {
        let shards = vec![
            rows(&[("#", 7), ("b", 5), ("a", 5)]),
            rows(&[]),
            rows(&[("é", 5), ("aa", 5), ("Z", 5), ("c", 4)]),
        ];
        let page = merge(shards, kind, skip, take);
        page.into_iter().map(|row| row.user).collect()
    }

    #[test]
    fn equal_scores_of_members_rank_by_shard() {
        let expected = ["#", "b", "a", "é", "aa", "Z", "c"];
        assert_eq!(merged(BoardKind::Members, 0, 9), expected);
        assert_eq!(merged(BoardKind::Members, 2, 3), expected[2..5]);
    }

    #[test]
    fn equal_plain_scores_rank_by_member() {
        let expected = ["#", "é", "b", "aa", "a", "Z", "c"];
        for kind in [BoardKind::Content, BoardKind::Authors] {
            assert_eq!(merged(kind, 0, 9), expected);
            assert_eq!(merged(kind, 2, 3), expected[2..5]);
        }
    }
}
