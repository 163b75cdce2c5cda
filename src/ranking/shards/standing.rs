//! One standing: where on the own shard, then how many rank above on the others, and who is near.

use super::above::least_above;
use super::order::merged;
use super::{Asked, Step, Then, columns, count, number};
use crate::archive::Lookup;
use crate::redis::{Failure, Reply};
use crate::scripts;

impl<'a> Asked<'_> {
    pub(super) fn standing(&self, user: &str, around: u32) -> Step<'a> {
        let own = self.config.shard_of(user);
        let command = |shard| {
            let lookup = if shard == own {
                Lookup::Standing(user, around)
            } else {
                Lookup::Top(0, 0)
            };
            self.command(&lookup, shard)
        };
        Step::Ask(self.each(&command), Then::Own(own, around))
    }

    /// Asks who is around on the other shards, where there is anybody to be around.
    pub(super) fn near(
        &self,
        mut replies: Vec<Reply>,
        own: u32,
        around: u32,
    ) -> Result<Step<'a>, Failure> {
        let known = replies.swap_remove(own as usize);
        if known.at(3)?.some().is_none() {
            return Ok(Step::Told(vec![known.at(2)?.clone(), Reply::Nil]));
        }
        let place = count(known.at(3)?)? - count(known.at(4)?)?;
        let score = known.at(6)?.at(place)?.unsigned()?;
        let command = |shard| {
            let near = self.on_board(shard, &scripts::AROUND);
            let near = near.arg(&least_above(shard, own, score));
            near.arg(&around.to_string())
        };
        let mut commands = self.each(&command);
        commands.remove(own as usize);
        Ok(Step::Ask(commands, Then::Around(own, around, known)))
    }
}

/// Profile, rank, first rank and columns, from what the own shard replied and the others.
pub fn placed<'a>(
    known: &Reply,
    mut others: Vec<Reply>,
    own: u32,
    around: u32,
) -> Result<Step<'a>, Failure> {
    let (own, around) = (own as usize, around as usize);
    let mut rank = count(known.at(3)?)?;
    let mut place = rank - count(known.at(4)?)?;
    for reply in &others {
        let above = count(reply.at(2)?)?;
        rank += above;
        place += above.min(around);
    }
    // To its place, in the words of the others.
    let mut own_near = vec![Reply::Nil; 3];
    own_near.extend([known.at(5)?, known.at(6)?, known.at(7)?].map(Reply::clone));
    others.insert(own, Reply::List(own_near));
    let above = place.min(around);
    let rows = merged(&columns(&others, 3)?, place - above, above + 1 + around)?;
    let mut told = vec![known.at(2)?.clone(), number(rank), number(rank - above)];
    told.extend(rows);
    Ok(Step::Told(told))
}
