//! Decodes the replies of `count.lua` and `adjust.lua`.

use crate::redis::{Reply, StoreError};
use activity_rank_core::account::Accounts;
use activity_rank_core::activity::Outcome;
use activity_rank_core::error::Error;
use activity_rank_core::score::Score;

/// Why activity of a frozen user is refused.
pub const FROZEN: &str = "This user is frozen: their activity is not counted.";

/// The score and rank of a user on one board of one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardStanding {
    /// The packed score; `None` for a user who is not on the board.
    pub score: Option<Score>,
    /// The rank from 1 among the shard's users; `None` for a user who is not on the board, or
    /// hidden.
    pub rank: Option<u64>,
}

/// The reply to one call.
#[derive(Debug)]
pub enum CountReply {
    /// The call was applied.
    Applied {
        /// The outcome of each operation, in order.
        outcomes: Vec<Result<Outcome, Error>>,
        /// The standings of the first operation's user, if the call asked for them.
        standings: Vec<ShardStanding>,
        /// The watched boards, as `watch.lua` stores them.
        watched: String,
    },
    /// Nothing changed: the shard has these definitions of events.
    Redefined(String),
    /// Nothing changed: the user has these accounts, or is one.
    Accounts(Accounts),
    /// Nothing changed: the active records that undos found, by the numbers of their operations from 1. They name other
    /// boards than the call.
    Records(Vec<(u64, String)>),
    /// Nothing changed: the call before it has not registered a target, because its script was unknown.
    Unregistered,
}

impl CountReply {
    /// Decodes a reply. `user` is for the log.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn decode(reply: &Reply, user: &str) -> Result<Self, StoreError> {
        let applied = match reply.at(1)? {
            Reply::Text(kind) => match kind.as_str() {
                "accounts" => return Ok(Self::Accounts(Accounts::new(reply.at(2)?.text()?))),
                "definitions" => return Ok(Self::Redefined(reply.at(2)?.text()?.to_owned())),
                "records" => {
                    let record = |found: &Reply| {
                        Ok((found.at(0)?.unsigned()?, found.at(1)?.text()?.to_owned()))
                    };
                    let records = reply.at(2)?.list()?.iter().map(record);
                    return Ok(Self::Records(records.collect::<Result<_, _>>()?));
                }
                _ => return Ok(Self::Unregistered),
            },
            applied => applied.list()?,
        };
        let outcomes = applied.iter().map(|outcome| decode_outcome(outcome, user));
        let standings = match reply.at(2)? {
            Reply::Nil => &[],
            standings => standings.list()?,
        };
        let watched = reply.list()?.get(3).and_then(Reply::some);
        let watched = watched.map(Reply::text).transpose()?;
        Ok(Self::Applied {
            outcomes: outcomes.collect::<Result<_, _>>()?,
            standings: standings
                .chunks(2)
                .map(decode_standing)
                .collect::<Result<_, _>>()?,
            watched: watched.unwrap_or_default().to_owned(),
        })
    }
}

fn decode_outcome(reply: &Reply, user: &str) -> Result<Result<Outcome, Error>, StoreError> {
    let (name, values) = match reply {
        Reply::Text(name) => (name.as_str(), [].as_slice()),
        list => match list.list()? {
            [name, values @ ..] => (name.text()?, values),
            [] => ("", [].as_slice()),
        },
    };
    let value = |index| values.get(index).unwrap_or(&Reply::Nil);
    Ok(Ok(match name {
        "counted" => Outcome::Counted {
            steps: value(0).integer()?,
            all_time: value(1).optional_unsigned()?,
        },
        "duplicate" => Outcome::Duplicate,
        "undone" => Outcome::Undone(value(0).integer()?),
        "nothing-to-undo" => Outcome::NothingToUndo,
        "daily-cap" => Outcome::DailyCap,
        "cooldown" => Outcome::Cooldown,
        "pair-cap" => Outcome::PairCap,
        "own-target" => Outcome::OwnTarget,
        "stale" => Outcome::Stale,
        "score-overflow" => {
            let detail = "The score on one of the boards would exceed its maximum.";
            return Ok(Err(Error::ScoreOverflow(detail.to_owned())));
        }
        "frozen" => {
            return Ok(Err(Error::Forbidden(FROZEN.to_owned())));
        }
        "unregistered" => {
            let detail = "The target is not registered: register it with PUT /v1/targets. Activity of readers without an \
                account counts for its target alone.";
            return Ok(Err(Error::NotFound(detail.to_owned())));
        }
        "event-closed" => {
            let detail = "The event of this adjustment is final or deleted: it cannot be undone.";
            return Ok(Err(Error::EventConflict(detail.to_owned())));
        }
        "failed" => {
            let error = StoreError::from_reply(value(0).text()?.to_owned());
            if value(1).some().is_none() {
                let cause = match &error {
                    StoreError::Unavailable(cause) | StoreError::Refused(cause) => cause,
                    StoreError::Unauthorized => "unauthorized",
                };
                return Err(StoreError::Unavailable(format!(
                    "{cause}; the store also refused to restore the values before: boards of the user {user} may be \
                     wrong until a rebuild"
                )));
            }
            return match error {
                // Every retry would fail in the same way, so it is the result of this activity.
                permanent @ (StoreError::Refused(_) | StoreError::Unauthorized) => {
                    Ok(Err(permanent.into()))
                }
                temporary @ StoreError::Unavailable(_) => Err(temporary),
            };
        }
        _ => return Err(StoreError::Unavailable("unexpected outcome".to_owned())),
    }))
}

fn decode_standing(pair: &[Reply]) -> Result<ShardStanding, StoreError> {
    let [score, rank] = pair else {
        return Err(StoreError::Unavailable("unexpected standings".to_owned()));
    };
    // Scores of hidden users are stored negated.
    let score = score.some().map(Reply::integer).transpose()?;
    Ok(ShardStanding {
        score: score.map(|score| Score(score.unsigned_abs())),
        rank: rank.optional_unsigned()?.map(|rank| rank + 1),
    })
}
