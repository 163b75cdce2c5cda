//! Lanes: the lines of one user all take the same, and each lane is sent in order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

use crate::upload::batch::Batch;
use crate::upload::line::Line;

/// Batches being filled, one for each lane.
#[derive(Debug)]
pub struct Lanes {
    filling: Vec<Batch>,
    most_lines: usize,
}

impl Lanes {
    /// So many empty lanes, for batches of at most so many lines.
    #[must_use]
    pub fn new(lanes: usize, most_lines: usize) -> Self {
        Self {
            filling: (0..lanes.max(1)).map(|_| Batch::default()).collect(),
            most_lines,
        }
    }

    /// Adds a line to its owner's lane. A batch that has no room for it is handed out, with the
    /// number of its lane, to be sent before any later one of that lane.
    pub fn push(&mut self, line: Line) -> Option<(usize, Batch)> {
        let lane = self.lane_of(&line.owner);
        let filling = self.filling.get_mut(lane)?;
        let full = if filling.has_room_for(&line, self.most_lines) {
            None
        } else {
            Some(mem::take(filling))
        };
        filling.push(line);
        full.map(|batch| (lane, batch))
    }

    /// Hands out what a lane holds, full or not; none if it is empty.
    pub fn take(&mut self, lane: usize) -> Option<Batch> {
        self.filling
            .get_mut(lane)
            .map(mem::take)
            .filter(|batch| !batch.is_empty())
    }

    /// The numbers of all lanes.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<usize> {
        0..self.filling.len()
    }

    fn lane_of(&self, owner: &str) -> usize {
        let mut hasher = DefaultHasher::new();
        owner.hash(&mut hasher);
        let lanes = self.filling.len() as u64;
        // Below the number of lanes, which is a usize.
        (hasher.finish() % lanes) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn line(number: u64) -> Line {
        let owner = format!("user-{}", number * number % 37);
        Line {
            number,
            bytes: 3,
            owner,
            at: None,
            json: "{}".to_owned(),
        }
    }

    fn batches(lanes: &mut Lanes, lines: u64) -> Vec<(usize, Batch)> {
        let mut out: Vec<_> = (1..=lines)
            .filter_map(|number| lanes.push(line(number)))
            .collect();
        out.extend(
            lanes
                .numbers()
                .filter_map(|lane| lanes.take(lane).map(|batch| (lane, batch))),
        );
        out
    }

    #[test]
    fn every_line_is_sent_once_and_those_of_one_user_in_order_on_one_lane() {
        let (mut last, mut home, mut seen) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for (lane, batch) in batches(&mut Lanes::new(4, 7), 1000) {
            assert!(batch.lines().len() <= 7);
            for line in batch.lines() {
                assert_eq!(
                    *home.entry(line.owner.clone()).or_insert(lane),
                    lane,
                    "{}",
                    line.owner
                );
                assert!(
                    last.insert(line.owner.clone(), line.number) < Some(line.number),
                    "{}",
                    line.owner
                );
                assert!(seen.insert(line.number));
            }
        }
        assert_eq!(seen.len(), 1000);
    }

    #[test]
    fn users_spread_over_all_lanes() {
        let used: BTreeSet<_> = batches(&mut Lanes::new(4, 7), 1000)
            .into_iter()
            .map(|(lane, _)| lane)
            .collect();
        assert_eq!(used.len(), 4);
    }

    #[test]
    fn an_empty_lane_has_nothing_to_take() {
        assert_eq!(Lanes::new(2, 10).take(1), None);
    }
}
