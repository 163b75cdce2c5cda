//! The part of a board that a request reads, wherever it comes from.

use crate::config::{Level, Levels};
use crate::content::Target;
use crate::profile::Profile;
use crate::score::Score;

/// The part of a board that a request reads.
#[derive(Clone, Copy, Debug)]
pub enum BoardQuery<'a> {
    /// A range of rows, best first.
    Page {
        /// Rows to skip, 0 or more.
        offset: u32,
        /// Rows to read at most, 1 or more.
        limit: u32,
    },
    /// The row of one user and the rows around it.
    Standing {
        /// The user.
        user: &'a str,
        /// Rows to read on either side, 1 or more.
        neighbors: u32,
    },
    /// The rows of several users.
    Users(&'a [String]),
}

/// The answer to a [`BoardQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardSlice {
    /// Number of visible users on the whole board.
    pub total: u64,
    /// The rows read, best first; in any order for [`BoardQuery::Users`].
    pub rows: Vec<Row>,
    /// The users named by the query who have no rank, with their profiles.
    pub unranked: Vec<(String, Option<Profile>)>,
    /// The users or the target named by the query of whom a copy knows nothing: they are not among the first rows of
    /// the board, which are all that it has.
    pub unknown: Vec<String>,
    /// The target named by the query, if it has no rank.
    pub target: Option<Box<Content>>,
    /// The ranks of these users in the period before; `None` if they are not known. Users without a rank
    /// there are left out.
    pub previous: Option<Vec<(String, u64)>>,
    /// The points of users on the board of all time, in smallest steps, as far as they are known. Empty
    /// without levels.
    pub all_time: Vec<(String, u64)>,
}

/// The row of a user or target on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rank, from 1.
    pub rank: u64,
    /// The packed score.
    pub score: Score,
    /// The id of the user, or of the target on a board of content.
    pub user: String,
    /// The user's profile, if there is one.
    pub profile: Option<Profile>,
    /// On a board of content, what is known of the target.
    pub content: Option<Box<Content>>,
}

/// A target on a board of content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The title and links.
    pub target: Target,
    /// The id and the profile of its author, unless boards hide them.
    pub author: Option<(String, Option<Profile>)>,
}

impl BoardSlice {
    /// Returns the row of a user.
    #[must_use]
    pub fn row_of(&self, user: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.user == user)
    }

    /// Returns the rank of a user in the period before: `Some(None)` if there was none, `None` if it is not
    /// known.
    #[must_use]
    pub fn previous_rank(&self, user: &str) -> Option<Option<u64>> {
        let mut ranks = self.previous.as_ref()?.iter();
        Some(
            ranks
                .find(|(known, _)| known == user)
                .map(|(_, rank)| *rank),
        )
    }

    /// Returns the points of a user on the board of all time, in smallest steps, if they are known.
    #[must_use]
    pub fn all_time_points(&self, user: &str) -> Option<u64> {
        let mut all = self.all_time.iter();
        all.find(|(known, _)| known == user)
            .map(|(_, points)| *points)
    }

    /// Returns the level of a user, if it is known and they have one.
    #[must_use]
    pub fn level<'a>(&self, user: &str, levels: &'a Levels) -> Option<&'a Level> {
        levels.at(self.all_time_points(user)?)
    }

    /// Returns whether the copy knows nothing of a user or target.
    #[must_use]
    pub fn is_unknown(&self, id: &str) -> bool {
        self.unknown.iter().any(|unknown| unknown == id)
    }

    /// Returns the ids of all users of whom something is known.
    pub fn users(&self) -> impl Iterator<Item = &String> {
        let unranked = self.unranked.iter().map(|(user, _)| user);
        self.rows.iter().map(|row| &row.user).chain(unranked)
    }

    /// Returns the profile of a user without a rank.
    #[must_use]
    pub fn unranked_profile(&self, user: &str) -> Option<&Profile> {
        let found = self.unranked.iter().find(|(known, _)| known == user);
        found.and_then(|(_, profile)| profile.as_ref())
    }

    /// Returns what is known of each target.
    pub fn contents(&mut self) -> impl Iterator<Item = &mut Content> {
        let rows = self.rows.iter_mut().map(|row| &mut row.content);
        rows.chain([&mut self.target]).flatten().map(Box::as_mut)
    }

    /// Answers a query from this slice, which holds the first rows of a board.
    ///
    /// Returns `None` if the slice does not reach far enough. Rows below a standing may be missing.
    #[must_use]
    pub fn narrow(&self, query: &BoardQuery<'_>) -> Option<Self> {
        let complete = self.rows.len() as u64 >= self.total;
        let index_of = |user: &str| self.rows.iter().position(|row| row.user == user);
        let unranked = |user: &str| (user.to_owned(), None);
        match *query {
            BoardQuery::Page { offset, limit } => {
                let end = offset as usize + limit as usize;
                (complete || end <= self.rows.len()).then(|| self.range(offset as usize, end))
            }
            BoardQuery::Standing { user, neighbors } => match index_of(user) {
                Some(index) => {
                    let neighbors = neighbors as usize;
                    let first = index.saturating_sub(neighbors);
                    Some(self.range(first, index + neighbors + 1))
                }
                None => complete.then(|| Self {
                    unranked: vec![unranked(user)],
                    ..self.range(0, 0)
                }),
            },
            BoardQuery::Users(users) => {
                let mut slice = self.range(0, 0);
                for user in users {
                    match self.row_of(user) {
                        Some(row) => slice.rows.push(row.clone()),
                        None if complete => slice.unranked.push(unranked(user)),
                        None => return None,
                    }
                }
                Some(slice)
            }
        }
    }

    /// Answers a query about users or a target from this slice as [`Self::narrow`] does; those whom it does not
    /// reach are unknown. Returns `None` for a page that it does not reach.
    #[must_use]
    pub fn narrow_partly(&self, query: &BoardQuery<'_>) -> Option<Self> {
        if let Some(slice) = self.narrow(query) {
            return Some(slice);
        }
        let (slice, unknown) = match *query {
            BoardQuery::Page { .. } => return None,
            BoardQuery::Standing { user, .. } => (self.range(0, 0), vec![user.to_owned()]),
            BoardQuery::Users(users) => {
                let has_row = |user: &String| self.row_of(user).is_some();
                let (known, unknown): (Vec<_>, _) = users.iter().cloned().partition(has_row);
                (self.narrow(&BoardQuery::Users(&known))?, unknown)
            }
        };
        Some(Self { unknown, ..slice })
    }

    fn range(&self, first: usize, end: usize) -> Self {
        Self {
            total: self.total,
            rows: self.rows.iter().take(end).skip(first).cloned().collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first three rows of a board with `total` users.
    fn top(total: u64) -> BoardSlice {
        let row = |(rank, user): (u64, &str)| Row {
            rank,
            score: Score(10 - rank),
            user: user.to_owned(),
            profile: None,
            content: None,
        };
        BoardSlice {
            total,
            rows: (1..).zip(["a", "b", "c"]).map(row).collect(),
            ..BoardSlice::default()
        }
    }

    /// Narrows the first three rows of a board with `total` users: ranks, then unranked users.
    fn narrowed(total: u64, query: &BoardQuery<'_>) -> Option<(Vec<u64>, Vec<String>)> {
        let slice = top(total).narrow(query)?;
        assert_eq!(slice.total, total);
        let unranked = slice.unranked.into_iter().map(|(user, _)| user);
        Some((
            slice.rows.iter().map(|row| row.rank).collect(),
            unranked.collect(),
        ))
    }

    #[test]
    fn narrowed_slice_reaches_as_far_as_its_rows() {
        let ids = ["c", "x", "a"].map(str::to_owned);
        let page = |offset, limit| BoardQuery::Page { offset, limit };
        let standing = |user| BoardQuery::Standing { user, neighbors: 1 };
        let ranks = |ranks: &[u64]| Some((ranks.to_vec(), Vec::new()));
        let absent = |ranks: &[u64]| Some((ranks.to_vec(), vec!["x".to_owned()]));
        for (total, query, expected) in [
            (3, page(1, 9), ranks(&[2, 3])),
            (9, page(1, 2), ranks(&[2, 3])),
            (9, page(1, 3), None),
            (3, page(7, 3), ranks(&[])),
            (9, standing("c"), ranks(&[2, 3])),
            (3, standing("x"), absent(&[])),
            (9, standing("x"), None),
            (3, BoardQuery::Users(&ids), absent(&[3, 1])),
            (9, BoardQuery::Users(&ids), None),
        ] {
            assert_eq!(narrowed(total, &query), expected, "{total} {query:?}");
        }
    }

    #[test]
    fn users_below_the_rows_are_unknown() {
        let ids = ["c", "x", "a", "y"].map(str::to_owned);
        let standing = |user| BoardQuery::Standing { user, neighbors: 1 };
        let of_users = BoardQuery::Users(&ids);
        let page = BoardQuery::Page {
            offset: 2,
            limit: 2,
        };
        let partly = |total, query| {
            let slice = top(total).narrow_partly(query)?;
            let rows = slice.rows.iter().map(|row| row.rank).collect();
            Some((rows, slice.unranked.len(), slice.unknown.concat()))
        };
        let result = |ranks: &[u64], unranked, unknown: &str| {
            Some((ranks.to_vec(), unranked, unknown.to_owned()))
        };
        for (total, query, expected) in [
            (9, &standing("x"), result(&[], 0, "x")),
            (9, &standing("c"), result(&[2, 3], 0, "")),
            (3, &standing("x"), result(&[], 1, "")),
            (9, &of_users, result(&[3, 1], 0, "xy")),
            (3, &of_users, result(&[3, 1], 2, "")),
            (9, &page, None),
            (3, &page, result(&[3], 0, "")),
        ] {
            assert_eq!(partly(total, query), expected, "{total} {query:?}");
        }
    }
}
