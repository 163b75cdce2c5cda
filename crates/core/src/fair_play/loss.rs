//! Points that members would lose if their gifts to each other did not count: scores and ranks before and after.

use crate::board::BoardKind;
use crate::calendar::{Date, Period};
use crate::score::Points;
use serde::Serialize;

/// The points of the gifts of one member to another one on a day, in smallest steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayGifts {
    /// The user of the activity.
    pub giver: String,
    /// The user who received.
    pub receiver: String,
    /// The day.
    pub date: Date,
    /// The points of the giver.
    pub given: u64,
    /// The points of the receiver.
    pub received: u64,
}

/// Points of a member on a board of today that would go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Members or authors.
    pub kind: BoardKind,
    /// The period.
    pub period: Period,
    /// The user.
    pub user: String,
    /// The points, in smallest steps.
    pub steps: u64,
}

/// Returns what would go from the boards of today, by board and user.
#[must_use]
pub fn taken(gifts: &[DayGifts], periods: [&[Period]; 2], today: Date) -> Vec<Taken> {
    let mut all: Vec<Taken> = Vec::new();
    for (kind, periods) in [BoardKind::Members, BoardKind::Authors]
        .into_iter()
        .zip(periods)
    {
        for period in periods {
            let id = period.id(today);
            for gift in gifts.iter().filter(|gift| period.id(gift.date) == id) {
                let (user, steps) = match kind {
                    BoardKind::Authors => (&gift.receiver, gift.received),
                    _ => (&gift.giver, gift.given),
                };
                let is_same = |taken: &&mut Taken| {
                    (taken.kind, taken.period, &taken.user) == (kind, *period, user)
                };
                match all.iter_mut().find(is_same) {
                    Some(taken) => taken.steps += steps,
                    None => all.push(Taken {
                        kind,
                        period: *period,
                        user: user.clone(),
                        steps,
                    }),
                }
            }
        }
    }
    all
}

/// A member's score and rank on a board, before and after.
#[derive(Debug, Serialize)]
pub struct Loss<'a> {
    board: &'static str,
    kind: &'static str,
    user: UserId<'a>,
    score: [Points; 2],
    rank: [Option<u64>; 2],
}

#[derive(Debug, Serialize)]
struct UserId<'a> {
    id: &'a str,
}

impl<'a> Loss<'a> {
    /// Returns the loss of taken points, by the scores in smallest steps and the ranks.
    #[must_use]
    pub fn new(taken: &'a Taken, scores: [u64; 2], rank: [Option<u64>; 2], decimals: u32) -> Self {
        Self {
            board: taken.period.name(),
            kind: match taken.kind {
                BoardKind::Authors => "authors",
                _ => "members",
            },
            user: UserId { id: &taken.user },
            score: scores.map(|steps| Points::new(steps, decimals)),
            rank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_go_from_boards_of_today() {
        let date = |text| Date::parse(text).unwrap();
        let gift = |giver: &str, receiver: &str, day| DayGifts {
            giver: giver.to_owned(),
            receiver: receiver.to_owned(),
            date: date(day),
            given: 3,
            received: 2,
        };
        let gifts = [
            gift("a", "b", "2026-11-20"),
            gift("a", "c", "2026-11-20"),
            gift("b", "a", "2026-10-31"),
        ];
        let periods: [&[Period]; 2] = [&[Period::Month, Period::All], &[Period::Week]];
        let found = taken(&gifts, periods, date("2026-11-22"));
        let found = found.iter().map(|taken| {
            let kind = if taken.kind == BoardKind::Authors {
                "authors"
            } else {
                "members"
            };
            format!(
                "{kind} {} {} {}",
                taken.period.name(),
                taken.user,
                taken.steps
            )
        });
        let expected = [
            "members month a 6",
            "members all a 6",
            "members all b 3",
            "authors week b 2",
            "authors week c 2",
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
