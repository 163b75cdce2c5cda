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
    /// The users named by [`BoardQuery::Users`] who are accounts, and their members.
    pub accounts: Vec<(String, String)>,
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
}
