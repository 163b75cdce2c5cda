//! Decodes the reply of `count.lua`.

use crate::redis::{Reply, StoreError};
use crate::undo_log::UndoLog;
use activity_rank_core::activity::Outcome;
use activity_rank_core::error::Error;
use activity_rank_core::score::Score;

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
        /// The names of the watched boards that changed, between spaces.
        watched: String,
        /// The standings of the same user in the events in which the first operation counts by its instant.
        events: Vec<(String, ShardStanding)>,
    },
    /// Nothing changed: the shard has these definitions of events.
    Redefined(String),
    /// Nothing changed: these undos, numbered from 1, also need the boards that their records name.
    MissingTargets(Vec<(u64, String)>),
    /// Nothing changed: these users have undo logs of earlier calls.
    Unfinished(Vec<UndoLog>),
}

impl CountReply {
    /// Decodes a reply.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn decode(reply: &Reply) -> Result<Self, StoreError> {
        let missing = reply.at(1)?.list()?;
        if !missing.is_empty() {
            let record =
                |undo: &Reply| Ok((undo.at(0)?.unsigned()?, undo.at(1)?.text()?.to_owned()));
            let records = missing.iter().map(record);
            return Ok(Self::MissingTargets(records.collect::<Result<_, _>>()?));
        }
        let watched = match reply.list()?.get(4) {
            Some(Reply::Text(boards)) => boards.clone(),
            Some(logs) => {
                return Ok(Self::Unfinished(UndoLog::decode_all(logs)?));
            }
            None => String::new(),
        };
        let mut events = Vec::new();
        match reply.list()?.get(5) {
            Some(Reply::Text(definitions)) => return Ok(Self::Redefined(definitions.clone())),
            Some(standings) => {
                for standing in standings.list()?.chunks(3) {
                    let [event, standing @ ..] = standing else {
                        continue;
                    };
                    events.push((event.text()?.to_owned(), decode_standing(standing)?));
                }
            }
            None => {}
        }
        let outcomes = reply.at(2)?.list()?.iter().map(decode_outcome);
        let standings = reply.at(3)?.list()?.chunks(2).map(decode_standing);
        Ok(Self::Applied {
            outcomes: outcomes.collect::<Result<_, _>>()?,
            standings: standings.collect::<Result<_, _>>()?,
            watched,
            events,
        })
    }
}

fn decode_outcome(reply: &Reply) -> Result<Result<Outcome, Error>, StoreError> {
    let steps = reply.at(1)?.integer()?;
    Ok(Ok(match reply.at(0)?.text()? {
        "counted" => Outcome::Counted {
            steps,
            all_time: reply.at(2)?.optional_unsigned()?,
        },
        "duplicate" => Outcome::Duplicate,
        "undone" => Outcome::Undone(steps),
        "nothing-to-undo" => Outcome::NothingToUndo,
        "daily-cap" => Outcome::DailyCap,
        "cooldown" => Outcome::Cooldown,
        "own-target" => Outcome::OwnTarget,
        "stale" => Outcome::Stale,
        "score-overflow" => {
            let detail = "The score on one of the boards would exceed its maximum.";
            return Ok(Err(Error::ScoreOverflow(detail.to_owned())));
        }
        "frozen" => {
            let detail = "This user is frozen: their activity is not counted.";
            return Ok(Err(Error::Forbidden(detail.to_owned())));
        }
        "event-closed" => {
            let detail = "The event of this adjustment is final or deleted: it cannot be undone.";
            return Ok(Err(Error::EventConflict(detail.to_owned())));
        }
        "failed" => {
            return match StoreError::from_reply(reply.at(2)?.text()?.to_owned()) {
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
    let Some(score) = score.optional_unsigned()? else {
        return Ok(ShardStanding {
            score: None,
            rank: None,
        });
    };
    Ok(ShardStanding {
        score: Some(Score(score)),
        rank: rank.optional_unsigned()?.map(|rank| rank + 1),
    })
}
