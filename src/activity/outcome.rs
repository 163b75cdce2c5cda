//! What became of activities, read from the counting script's reply.

use crate::error::Error;
use crate::redis::{Failure, Reply};
use crate::score::Score;

/// What became of one activity, as the API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It counts, with these points in smallest steps.
    Counted(i64),
    /// It has been counted before.
    Duplicate,
    /// It was taken back, with these points in smallest steps, below zero.
    Undone(i64),
    /// There was nothing to take back.
    NothingToUndo,
    /// The rule's daily cap leaves no room for its whole points.
    DailyCap,
    /// The rule's cooldown is not over.
    Cooldown,
    /// Something later, or too long ago, decides already.
    Stale,
}

impl Outcome {
    /// The name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Counted(_) => "counted",
            Self::Duplicate => "duplicate",
            Self::Undone(_) => "undone",
            Self::NothingToUndo => "nothing-to-undo",
            Self::DailyCap | Self::Cooldown => "capped",
            Self::Stale => "stale",
        }
    }

    /// Why it was capped, if it was.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::DailyCap => Some("daily-cap"),
            Self::Cooldown => Some("cooldown"),
            Self::Counted(_)
            | Self::Duplicate
            | Self::Undone(_)
            | Self::NothingToUndo
            | Self::Stale => None,
        }
    }

    /// The signed change of points, in smallest steps.
    #[must_use]
    pub fn steps(self) -> i64 {
        match self {
            Self::Counted(steps) | Self::Undone(steps) => steps,
            Self::Duplicate
            | Self::NothingToUndo
            | Self::DailyCap
            | Self::Cooldown
            | Self::Stale => 0,
        }
    }

    fn read(reply: &Reply) -> Result<Result<Self, Error>, Failure> {
        let steps = reply.at(1)?.integer()?;
        Ok(Ok(match reply.at(0)?.text()? {
            "counted" => Self::Counted(steps),
            "duplicate" => Self::Duplicate,
            "undone" => Self::Undone(steps),
            "nothing-to-undo" => Self::NothingToUndo,
            "daily-cap" => Self::DailyCap,
            "cooldown" => Self::Cooldown,
            "stale" => Self::Stale,
            "score-overflow" => {
                let detail = "The score on one of its boards cannot hold these points.";
                return Ok(Err(Error::ScoreOverflow(detail.to_owned())));
            }
            "frozen" => {
                let detail = "This user is frozen: nothing they do or take back counts.";
                return Ok(Err(Error::Forbidden(detail.to_owned())));
            }
            "failed" => {
                return match Failure::of(reply.at(2)?.text()?.to_owned()) {
                    // Comes again with every try, so it is this activity's own answer.
                    refused @ (Failure::Refused(_) | Failure::Unauthorized) => {
                        Ok(Err(refused.into()))
                    }
                    passing @ Failure::Unavailable(_) => Err(passing),
                };
            }
            _ => return Err(Failure::Unavailable("unexpected outcome".to_owned())),
        }))
    }
}

/// A user's score and rank on one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// None for who is not on the board.
    pub score: Option<Score>,
    /// 1 for the best of the shard; none for who is not on the board, or hidden.
    pub rank: Option<u64>,
}

/// The reply to one call.
#[derive(Debug)]
pub enum Outcomes {
    /// What became of each operation, and where asked for the standings of the first one's user.
    Done(Vec<Result<Outcome, Error>>, Vec<Standing>),
    /// Nothing was done: these undos, numbered from 1, need the places their marks name.
    Missing(Vec<(u64, String)>),
}

impl Outcomes {
    /// Reads the reply behind the stamp.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where it is not a reply of this script.
    pub fn read(reply: &Reply) -> Result<Self, Failure> {
        let missing = reply.at(1)?.list()?;
        if !missing.is_empty() {
            let mark = |undo: &Reply| Ok((undo.at(0)?.unsigned()?, undo.at(1)?.text()?.to_owned()));
            return Ok(Self::Missing(
                missing.iter().map(mark).collect::<Result<_, _>>()?,
            ));
        }
        let results = reply
            .at(2)?
            .list()?
            .iter()
            .map(Outcome::read)
            .collect::<Result<_, _>>()?;
        let standings = reply.at(3)?.list()?.chunks(2).map(|pair| match pair {
            [Reply::Nil, _] => Ok(Standing {
                score: None,
                rank: None,
            }),
            [score, rank] => {
                let rank = rank.some().map(Reply::unsigned).transpose()?;
                Ok(Standing {
                    score: Some(Score(score.unsigned()?)),
                    rank: rank.map(|rank| rank + 1),
                })
            }
            _ => Err(Failure::Unavailable("unexpected standings".to_owned())),
        });
        Ok(Self::Done(results, standings.collect::<Result<_, _>>()?))
    }
}
