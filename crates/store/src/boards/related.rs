//! `related.lua`: what other boards know of the users of a read.

use super::StoredBoard;
use super::ranks::{Ranked, rank_among_all};
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use activity_rank_core::board::{ALL_TIME, BoardId, BoardQuery};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::score::{Layout, Score};

/// A user and their rank, from 1; `None` for none.
pub type UserRank = (String, Option<u64>);

/// The additions of other boards to a read of a board. By default there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelatedBoards<'a> {
    /// The board of the period before, to read the ranks of users there.
    pub previous: Option<&'a BoardId>,
    /// Users whose ranks there need not be read if they are on the board. The users that a standing or a
    /// comparison names are read anyway: they may be hidden since.
    pub known: &'a [UserRank],
    /// Whether to read the points of users on the board of all time.
    pub all_time: bool,
}

/// Ranks on the board of the period before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviousRanks {
    /// The users of the read, except the known ones.
    pub ranks: Vec<UserRank>,
    /// Number of visible users on that board.
    pub total: u64,
    /// Whether any shard holds that board.
    pub exists: bool,
    /// Whether every shard holds that board.
    pub complete: bool,
}

impl RelatedBoards<'_> {
    /// Adds the keys of the other boards.
    pub fn add_keys(&self, keys: &Keys, all: &mut Vec<String>) {
        all.extend(self.previous.map(|board| keys.board_named(&board.name())));
        if self.all_time {
            all.push(keys.board_named(ALL_TIME));
        }
    }

    /// Adds the last arguments of a call that reads `query`.
    #[must_use]
    pub fn add_arguments(&self, config: &Config, query: &BoardQuery<'_>, call: Command) -> Command {
        let mut call = call;
        if self.previous.is_some() {
            // Ranks among all shards need the score.
            let mut what = if config.shards == 1 { "r " } else { "b " }.to_owned();
            for (user, _) in self.known {
                if may_be_known(query, user) {
                    what += user;
                    what.push(' ');
                }
            }
            call = call.arg(&what);
        }
        if self.all_time { call.arg("s") } else { call }
    }

    fn is_none(&self) -> bool {
        self.previous.is_none() && !self.all_time
    }
}

fn may_be_known(query: &BoardQuery<'_>, user: &str) -> bool {
    match *query {
        BoardQuery::Page { .. } => true,
        BoardQuery::Standing { user: own, .. } => user != own,
        BoardQuery::Users(_) => false,
    }
}

/// Collects what the shards reply about other boards.
pub struct Collector<'a> {
    related: &'a RelatedBoards<'a>,
    layout: Layout,
    /// The totals of the shards on the board of the period before.
    totals: Vec<Option<u64>>,
    /// The users and their ranks there.
    ranks: Vec<(String, Option<Ranked>)>,
    /// The users and their points of all time, in smallest steps.
    all_time: Vec<(String, u64)>,
}

impl<'a> Collector<'a> {
    /// Returns a collector without replies.
    #[must_use]
    pub fn new(related: &'a RelatedBoards<'a>, layout: Layout) -> Self {
        Self {
            related,
            layout,
            totals: Vec::new(),
            ranks: Vec::new(),
            all_time: Vec::new(),
        }
    }

    /// Adds the reply of a shard to a query.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for a reply of another form.
    pub fn add(
        &mut self,
        shard: u32,
        reply: &Reply,
        query: &BoardQuery<'_>,
    ) -> Result<(), StoreError> {
        if self.related.is_none() {
            return Ok(());
        }
        let (users, related) = match *query {
            BoardQuery::Page { .. } => (users(reply, 2)?, reply.at(6)?),
            BoardQuery::Standing { user, .. } => match reply.at(3)?.some() {
                None => (vec![user], reply.at(4)?),
                Some(_) => (users(reply, 5)?, reply.at(9)?),
            },
            BoardQuery::Users(users) => (users.iter().map(String::as_str).collect(), reply.at(5)?),
        };
        self.totals.push(related.at(0)?.at(0)?.optional_unsigned()?);
        self.add_users(shard, &users, related, query)
    }

    /// Adds the reply of `around.lua` on a shard to the query of a standing.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_around(
        &mut self,
        shard: u32,
        reply: &Reply,
        query: &BoardQuery<'_>,
    ) -> Result<(), StoreError> {
        match self.related.is_none() {
            true => Ok(()),
            false => self.add_users(shard, &users(reply, 3)?, reply.at(7)?, query),
        }
    }

    fn add_users(
        &mut self,
        shard: u32,
        users: &[&str],
        related: &Reply,
        query: &BoardQuery<'_>,
    ) -> Result<(), StoreError> {
        if self.related.all_time {
            let all_time = related.list()?.last().unwrap_or(&Reply::Nil);
            for (user, score) in users.iter().zip(all_time.at(2)?.list()?) {
                let points = self.layout.points(Score(score.unsigned()?));
                self.all_time.push(((*user).to_owned(), points));
            }
        }
        if self.related.previous.is_none() {
            return Ok(());
        }
        let previous = related.at(0)?;
        let (ranks, scores) = (previous.at(1)?, previous.at(2)?);
        for (index, user) in users.iter().enumerate() {
            let mut known = self.related.known.iter();
            if may_be_known(query, user) && known.any(|(known, _)| known == user) {
                continue;
            }
            let score = scores.at(index)?.optional_unsigned()?.unwrap_or(0);
            let rank = ranks.at(index)?.optional_unsigned()?;
            let ranked = rank.map(|rank| Ranked {
                board: 1,
                shard,
                score: Score(score),
                rank: rank + 1,
            });
            self.ranks.push(((*user).to_owned(), ranked));
        }
        Ok(())
    }

    /// Removes users that are not on the page.
    pub fn retain(&mut self, is_shown: impl Fn(&str) -> bool) {
        self.ranks.retain(|(user, _)| is_shown(user));
        self.all_time.retain(|(user, _)| is_shown(user));
    }

    /// Ranks among the users of all shards, in one request: scores on the board itself, which have the
    /// index 0, and those collected.
    ///
    /// # Errors
    ///
    /// As [`Deployment::run_script`].
    pub async fn rank_among_all(
        &mut self,
        deployment: &Deployment,
        board: &BoardId,
        ranks: &mut [Ranked],
    ) -> Result<(), Error> {
        let found = self.ranks.iter_mut().flat_map(|(_, ranked)| ranked);
        let slots: Vec<&mut Ranked> = ranks.iter_mut().chain(found).collect();
        let mut all: Vec<Ranked> = slots.iter().map(|ranked| **ranked).collect();
        let boards = [board].into_iter().chain(self.related.previous);
        let names: Vec<String> = boards.map(BoardId::name).collect();
        rank_among_all(deployment, &mut all, &names).await?;
        for (slot, ranked) in slots.into_iter().zip(all) {
            *slot = ranked;
        }
        Ok(())
    }

    /// Adds what was read to a board.
    pub fn finish(self, stored: &mut StoredBoard) {
        stored.slice.all_time = self.all_time;
        if self.related.previous.is_none() {
            return;
        }
        let rank =
            |(user, ranked): (String, Option<Ranked>)| (user, ranked.map(|found| found.rank));
        stored.previous = Some(PreviousRanks {
            ranks: self.ranks.into_iter().map(rank).collect(),
            total: self.totals.iter().flatten().sum(),
            exists: self.totals.iter().any(Option::is_some),
            complete: self.totals.iter().all(Option::is_some),
        });
    }
}

/// Returns the users in a column of a reply.
fn users(reply: &Reply, column: usize) -> Result<Vec<&str>, StoreError> {
    reply.at(column)?.list()?.iter().map(Reply::text).collect()
}
