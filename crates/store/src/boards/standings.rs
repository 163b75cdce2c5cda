//! `standings.lua` and `next_above.lua`: the standings of one user on many boards, and among their friends.

use super::ranks::least_above;
use super::rows::ShardRow;
use crate::accounts;
use crate::deployment::Deployment;
use crate::history;
use crate::keys::Keys;
use crate::pauses;
use crate::profiles::{decode_flags, decode_profile};
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{NEXT_ABOVE, STANDINGS};
use activity_rank_core::board::{
    BoardId, BoardKind, BoardSlice, Friends, Row, Standings, StandingsRequest,
};
use activity_rank_core::card::{Card, CardRequest};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::history::History;
use activity_rank_core::score::Score;

/// The standing of the user on one board.
struct BoardStanding {
    kind: BoardKind,
    total: u64,
    /// The number of users above, and the score.
    own: Option<(u64, u64)>,
    /// The next user above, and their shard.
    next: Option<(u32, ShardRow)>,
    /// The number of friends with a rank, and the number of friends above.
    friends: (u64, u64),
}

/// Reads the standings of a user, and the next users above. With several shards, a second request reads the other
/// shards, for all boards together. Returns `None` if the definitions of events have changed: the request has other
/// boards then.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_standings(
    deployment: &Deployment,
    request: &StandingsRequest,
) -> Result<Option<Standings>, Error> {
    let found = Found::read(deployment, request, &[]).await?;
    accounts::check_flags(found.own.at(5)?)?;
    let shard = deployment.config.shard_of(&request.user);
    let definitions = found.own.at(4)?.optional_text()?.unwrap_or_default();
    if !deployment.knows_definitions(shard, definitions) {
        return Ok(None);
    }
    found.complete(deployment, request).await.map(Some)
}

/// Reads the card of a user, as [`read_standings`] does: with one shard in one request. Returns `None` for a user who
/// is hidden, and for one without a profile and without a rank.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_card(
    deployment: &Deployment,
    request: &CardRequest,
) -> Result<Option<Card>, Error> {
    let (standings, days) = (&request.standings, &request.days);
    let histories = history::keys(&deployment.keys_of(&days.user), days);
    let found = Found::read(deployment, standings, &histories).await?;
    let (profile, flags) = (decode_profile(found.own.at(1)?)?, found.own.at(5)?);
    accounts::check_flags(flags)?;
    let is_ranked = found
        .standings
        .iter()
        .any(|standing| standing.own.is_some());
    if decode_flags(flags)?.is_hidden() || profile.is_none() && !is_ranked {
        return Ok(None);
    }
    let histories = found.own.at(6)?.list()?;
    let history = match profile.is_some_and(|profile| profile.public_activity) {
        true => Some(History {
            pauses: pauses::decode(found.own.at(7)?)?,
            ..history::decode(days, histories)?
        }),
        false => None,
    };
    let standings = found.complete(deployment, standings).await?;
    Ok(Some(Card {
        standings,
        history,
        achievements: None,
    }))
}

/// What the first request has found.
struct Found {
    /// The reply of the user's shard.
    own: Reply,
    /// The standings on that shard, with the totals of all shards.
    standings: Vec<BoardStanding>,
}

impl Found {
    /// Sends the first request, which also reads histories of the user.
    async fn read(
        deployment: &Deployment,
        request: &StandingsRequest,
        histories: &[String],
    ) -> Result<Self, Error> {
        let config = &deployment.config;
        let own_shard = config.shard_of(&request.user);
        let calls = (0..config.shards)
            .map(|shard| first_call(config, &deployment.keys(shard), request, shard, histories));
        let mut replies = deployment.run_scripts(calls.collect()).await?;
        let mut standings = Vec::new();
        for (index, board) in request.boards.iter().enumerate() {
            let mut total = 0;
            for reply in &replies {
                let shard_total = reply.at(2)?.at(index)?.at(0)?;
                total += shard_total.optional_unsigned()?.unwrap_or(0);
            }
            standings.push(BoardStanding::new(board.kind, total));
        }
        let own = replies.get_mut(own_shard as usize).map(std::mem::take);
        let own = own.unwrap_or_default();
        for (standing, reply) in standings.iter_mut().zip(own.at(2)?.list()?) {
            standing.add_own(own_shard, reply)?;
        }
        Ok(Self { own, standings })
    }

    /// Adds what the other shards have.
    async fn complete(
        mut self,
        deployment: &Deployment,
        request: &StandingsRequest,
    ) -> Result<Standings, Error> {
        let own_shard = deployment.config.shard_of(&request.user);
        let follows = self.own.at(3)?.list()?.iter().map(Reply::text);
        let follows = follows.collect::<Result<Vec<&str>, _>>()?;
        let standings = &mut self.standings;
        add_other_shards(deployment, request, own_shard, &follows, standings).await?;
        let compared = self.standings.iter().take(request.compared);
        let friends = compared.map(BoardStanding::among_friends).collect();
        let standings = self.standings.into_iter();
        let slices = standings.map(|standing| Some(standing.slice(&request.user)));
        Ok(Standings {
            profile: decode_profile(self.own.at(1)?)?,
            slices: slices.collect(),
            friends,
        })
    }
}

/// Returns the call that reads the standings of the user on their shard, and the totals of another shard.
#[must_use]
pub fn standings_call(
    config: &Config,
    keys: &Keys,
    request: &StandingsRequest,
    shard: u32,
) -> Command {
    first_call(config, keys, request, shard, &[])
}

/// Returns the same call, which on the user's shard also reads histories of theirs.
fn first_call(
    config: &Config,
    keys: &Keys,
    request: &StandingsRequest,
    shard: u32,
    histories: &[String],
) -> Command {
    let is_own = shard == config.shard_of(&request.user);
    let mut all = keys_of(keys, &request.boards);
    if !is_own {
        return Command::script(&STANDINGS, &all)
            .arg("")
            .number(0)
            .number(0);
    }
    if request.compared > 0 {
        all.push(keys.active_records(&request.user));
    }
    all.extend_from_slice(histories);
    Command::script(&STANDINGS, &all)
        .arg(&request.user)
        .arg(&request.compared.to_string())
        .arg(&histories.len().to_string())
}

/// Returns the keys of the users and of the boards of a shard.
fn keys_of(keys: &Keys, boards: &[BoardId]) -> Vec<String> {
    let boards = boards.iter().map(|board| keys.board_named(&board.name()));
    [keys.users()].into_iter().chain(boards).collect()
}

/// Adds the users above on the other shards, and the friends there.
async fn add_other_shards(
    deployment: &Deployment,
    request: &StandingsRequest,
    own_shard: u32,
    follows: &[&str],
    standings: &mut [BoardStanding],
) -> Result<(), Error> {
    let config = &deployment.config;
    let friends = config.indexes_by_shard(follows);
    let friends_on = |shard: u32| {
        let friends = friends.iter().filter(move |(home, _)| *home == shard);
        let indexes = friends.flat_map(|(_, indexes)| indexes);
        indexes.filter_map(|index| follows.get(*index))
    };
    let has_rank = standings.iter().any(|standing| standing.own.is_some());
    let shards = (0..config.shards).filter(|shard| *shard != own_shard);
    let shards = shards.filter(|shard| has_rank || friends_on(*shard).next().is_some());
    let shards: Vec<u32> = shards.collect();
    if shards.is_empty() {
        return Ok(());
    }
    let calls = shards.iter().map(|shard| {
        let shard = *shard;
        let call = Command::script(
            &NEXT_ABOVE,
            &keys_of(&deployment.keys(shard), &request.boards),
        );
        let mut call = call.arg(&request.compared.to_string());
        for standing in standings.iter() {
            let (bound, member) = match standing.own {
                Some((_, score)) if standing.kind.is_plain() => {
                    (format!("({score}"), &*request.user)
                }
                Some((_, score)) => (least_above(shard, own_shard, score), ""),
                None => (String::new(), ""),
            };
            call = call.arg(&bound).arg(member);
        }
        call.args(friends_on(shard))
    });
    let replies = deployment.run_scripts(calls.collect()).await?;
    for (shard, reply) in shards.into_iter().zip(&replies) {
        for (standing, reply) in standings.iter_mut().zip(reply.at(1)?.list()?) {
            standing.add_other(shard, reply)?;
        }
    }
    Ok(())
}

impl BoardStanding {
    fn new(kind: BoardKind, total: u64) -> Self {
        Self {
            kind,
            total,
            own: None,
            next: None,
            friends: (0, 0),
        }
    }

    /// Adds the standing on the shard of the user, as `standings.lua` replies it.
    fn add_own(&mut self, shard: u32, reply: &Reply) -> Result<(), StoreError> {
        self.add_friends(reply.at(5)?, reply.at(6)?)?;
        if let Some(above) = reply.at(1)?.optional_unsigned()? {
            self.own = Some((above, reply.at(2)?.unsigned()?));
            self.add_next(shard, reply.at(3)?, reply.at(4)?)?;
        }
        Ok(())
    }

    /// Adds the users above on another shard, as `next_above.lua` replies them.
    fn add_other(&mut self, shard: u32, reply: &Reply) -> Result<(), StoreError> {
        self.add_friends(reply.at(3)?, reply.at(4)?)?;
        if let Some((above, _)) = &mut self.own {
            *above += reply.at(0)?.unsigned()?;
        }
        self.add_next(shard, reply.at(1)?, reply.at(2)?)
    }

    /// Adds the last one above on a shard: the lowest of all shards is the next one above.
    fn add_next(&mut self, shard: u32, score: &Reply, member: &Reply) -> Result<(), StoreError> {
        let Some(score) = score.optional_unsigned()? else {
            return Ok(());
        };
        let row = ShardRow {
            user: member.text()?.to_owned(),
            score,
            ..ShardRow::default()
        };
        let is_next = self.next.as_ref().is_none_or(|(of, next)| {
            let (key, known) = (row.rank_key(self.kind), next.rank_key(self.kind));
            // Of equal ones, that of the last shard ranks lowest.
            key < known || key == known && shard > *of
        });
        if is_next {
            self.next = Some((shard, row));
        }
        Ok(())
    }

    /// Adds friends on a shard.
    fn add_friends(&mut self, ranked: &Reply, above: &Reply) -> Result<(), StoreError> {
        self.friends.0 += ranked.optional_unsigned()?.unwrap_or(0);
        self.friends.1 += above.optional_unsigned()?.unwrap_or(0);
        Ok(())
    }

    /// Returns the standing of the user among themselves and their friends.
    fn among_friends(&self) -> Friends {
        let (ranked, above) = self.friends;
        Friends {
            position: self.own.map(|_| above + 1),
            total: ranked + u64::from(self.own.is_some()),
        }
    }

    /// Returns the row of the user, and the row above.
    fn slice(self, user: &str) -> BoardSlice {
        let row = |above, score, user: String| Row {
            rank: above + 1,
            score: Score(score),
            user,
            profile: None,
            content: None,
        };
        let own = self.own.map(|(above, score)| {
            let next = self.next.filter(|_| above > 0);
            let next = next.map(|(_, next)| row(above - 1, next.score, next.user));
            next.into_iter().chain([row(above, score, user.to_owned())])
        });
        BoardSlice {
            total: self.total,
            rows: own.into_iter().flatten().collect(),
            ..BoardSlice::default()
        }
    }
}
