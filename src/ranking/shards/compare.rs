//! Several standings: scores on their own shards, then how many rank above on the others.

use super::above::{add_above, commands};
use super::order::in_order;
use super::{Asked, Ranked, Step, Then, columns};
use crate::archive::Lookup;
use crate::redis::{Failure, Reply};

impl<'a> Asked<'_> {
    pub(super) fn compare(&self, users: &'a [String]) -> Step<'a> {
        let command = |shard| {
            let mut here = users.to_vec();
            here.retain(|user| self.config.shard_of(user) == shard);
            let lookup = match here.as_slice() {
                [] => Lookup::Top(0, 0),
                here => Lookup::Compare(here),
            };
            self.command(&lookup, shard)
        };
        Step::Ask(self.each(&command), Then::Scored(users))
    }

    /// Asks who is above those that have a rank.
    pub(super) fn above(
        &self,
        replies: &[Reply],
        users: &'a [String],
    ) -> Result<Step<'a>, Failure> {
        let mut order = Vec::new();
        for user in users {
            order.push(self.config.shard_of(user) as usize);
        }
        // Scores, ranks and profiles.
        let rows = in_order(&columns(replies, 2)?, &order, 0)?;
        let mut ranked = Vec::new();
        let [scores, ranks, _] = &rows;
        for (place, user) in users.iter().enumerate() {
            if let Some(rank) = ranks.at(place)?.some() {
                ranked.push(Ranked {
                    board: 0,
                    shard: self.config.shard_of(user),
                    score: scores.at(place)?.unsigned()?,
                    rank: rank.unsigned()?,
                });
            }
        }
        let commands = commands(self.config, &ranked, &[self.which.name()]);
        if commands.is_empty() {
            return Ok(Step::Told(rows.into()));
        }
        Ok(Step::Ask(commands, Then::Above(ranked, rows)))
    }

    /// The rows with their ranks among all.
    pub(super) fn ranked(
        &self,
        mut ranked: Vec<Ranked>,
        [scores, ranks, profiles]: [Reply; 3],
        replies: &[Reply],
    ) -> Result<Step<'a>, Failure> {
        add_above(self.config, &mut ranked, replies)?;
        let mut ranked = ranked.into_iter();
        let mut all = Vec::new();
        for rank in ranks.list()? {
            let among_all = rank.some().and_then(|_| ranked.next());
            all.push(among_all.map_or(Reply::Nil, |one| Reply::Integer(one.rank.cast_signed())));
        }
        Ok(Step::Told(vec![scores, Reply::List(all), profiles]))
    }
}
