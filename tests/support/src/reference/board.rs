//! Boards of the model.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::calendar::KINDS;
use crate::sharding::shard_of;

/// A board: of a kind of period, the instance's id, everybody's or a group's.
pub type BoardName = (&'static str, String, Option<String>);

/// The key of a board behind the tag.
///
/// # Panics
///
/// When there is no such kind of period.
#[must_use]
pub fn board_key((kind, id, group): &BoardName) -> String {
    let named = KINDS.iter().find(|(name, _)| name == kind);
    let (_, letter) = named.expect("a kind of period");
    let group = group
        .as_ref()
        .map(|group| format!(":{group}"))
        .unwrap_or_default();
    format!("b{letter}:{id}{group}")
}

/// Points, and the number of the arrival at them on the user's shard; and the shard.
type Place = (u64, u64, u32);

/// A board; each shard numbers its own arrivals.
#[derive(Clone, Debug)]
pub struct Board {
    /// Some day of it.
    pub date: Date,
    scores: BTreeMap<String, Place>,
    arrivals: BTreeMap<u32, u64>,
}

impl Board {
    pub(super) fn new(date: Date) -> Self {
        Self {
            date,
            scores: BTreeMap::new(),
            arrivals: BTreeMap::new(),
        }
    }

    /// Users and points, the best first: of those that are hidden, or of the others.
    #[must_use]
    pub fn ranking(&self, hidden: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self
            .scores
            .iter()
            .filter(|(user, _)| hidden(user))
            .collect();
        all.sort_by_key(|(_, (points, arrival, shard))| (u64::MAX - points, *arrival, *shard));
        all.into_iter()
            .map(|(user, (points, ..))| (user.clone(), *points))
            .collect()
    }

    pub(super) fn points(&self, user: &str) -> u64 {
        self.scores.get(user).map_or(0, |(points, ..)| *points)
    }

    pub(super) fn set(&mut self, user: &str, points: u64) {
        self.scores.remove(user);
        if points > 0 {
            let shard = shard_of(user);
            let arrivals = self.arrivals.entry(shard).or_default();
            *arrivals += 1;
            let place = (points, *arrivals, shard);
            self.scores.insert(user.to_owned(), place);
        }
    }

    pub(super) fn remove(&mut self, user: &str) {
        self.scores.remove(user);
    }
}
