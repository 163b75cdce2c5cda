//! Batches of lines, one open batch per partition, partitioned by id.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

use activity_rank_core::MAX_BODY_BYTES;

use crate::upload::line::{BRACKETS, Line};

/// A batch is sent although it has room when this many times the lines of all full batches have followed its first line.
/// Results wait for the results of earlier lines, so this bounds the results that the report keeps.
const MAX_AGE: u64 = 4;

/// Lines in order, within the limits of one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    lines: Vec<Line>,
    /// Bytes of the objects and the commas after them.
    bytes: usize,
}

impl Batch {
    /// Returns whether the line fits, with at most `max_lines` lines in the batch.
    #[must_use]
    pub fn has_room_for(&self, line: &Line, max_lines: usize) -> bool {
        self.lines.len() < max_lines && self.bytes + line.json.len() + BRACKETS <= MAX_BODY_BYTES
    }

    /// Appends a line.
    pub fn push(&mut self, line: Line) {
        self.bytes += line.json.len() + 1;
        self.lines.push(line);
    }

    /// Returns the lines in order.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns whether the batch has no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the lines as a JSON array.
    #[must_use]
    pub fn body(&self) -> String {
        let mut body = String::with_capacity(self.bytes + BRACKETS);
        body.push('[');
        for (index, line) in self.lines.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            body.push_str(&line.json);
        }
        body.push(']');
        body
    }

    /// Splits the batch in two, keeping the order.
    #[must_use]
    pub fn halves(mut self) -> (Self, Self) {
        let second = self.lines.split_off(self.lines.len() / 2);
        (
            self.lines.into_iter().collect(),
            second.into_iter().collect(),
        )
    }
}

impl FromIterator<Line> for Batch {
    fn from_iter<I: IntoIterator<Item = Line>>(lines: I) -> Self {
        let mut batch = Self::default();
        lines.into_iter().for_each(|line| batch.push(line));
        batch
    }
}

/// The open batches, one per partition.
#[derive(Debug)]
pub struct Partitions {
    open: Vec<Batch>,
    max_lines: usize,
}

impl Partitions {
    /// Creates `count` empty partitions for batches of at most `max_lines` lines.
    #[must_use]
    pub fn new(count: usize, max_lines: usize) -> Self {
        Self {
            open: (0..count.max(1)).map(|_| Batch::default()).collect(),
            max_lines,
        }
    }

    /// Adds a line to the partition of its id. Returns the batches to send with the indexes of their partitions: the one
    /// that the line did not fit into, and one whose first line is too far back.
    pub fn push(&mut self, line: Line) -> Vec<(usize, Batch)> {
        let (index, partition) = (line.index, self.partition_of(&line.id));
        let mut ready = Vec::new();
        if let Some(batch) = self.open.get_mut(partition) {
            if !batch.has_room_for(&line, self.max_lines) {
                ready.push((partition, mem::take(batch)));
            }
            batch.push(line);
        }
        let max_age = MAX_AGE * (self.open.len() * self.max_lines) as u64;
        for (partition, batch) in self.open.iter_mut().enumerate() {
            let first = batch.lines.first();
            if first.is_some_and(|first| first.index + max_age <= index) {
                ready.push((partition, mem::take(batch)));
            }
        }
        ready
    }

    /// Removes and returns the open batch of a partition, or `None` if it is empty.
    pub fn take(&mut self, partition: usize) -> Option<Batch> {
        self.open
            .get_mut(partition)
            .map(mem::take)
            .filter(|batch| !batch.is_empty())
    }

    /// Returns the indexes of all partitions.
    #[must_use]
    pub fn indexes(&self) -> std::ops::Range<usize> {
        0..self.open.len()
    }

    fn partition_of(&self, id: &str) -> usize {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let count = self.open.len() as u64;
        // The remainder is less than the number of partitions, which is a usize.
        (hasher.finish() % count) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn line(number: u64, json: &str) -> Line {
        Line {
            number,
            index: number,
            bytes: json.len() as u64,
            id: format!("user-{}", number * number % 37),
            at: None,
            is_forgotten: false,
            json: json.to_owned(),
        }
    }

    fn partitioned(partitions: &mut Partitions, lines: u64) -> Vec<(usize, Batch)> {
        let mut batches: Vec<_> = (1..=lines)
            .flat_map(|number| partitions.push(line(number, "{}")))
            .collect();
        batches.extend(
            partitions
                .indexes()
                .filter_map(|index| partitions.take(index).map(|batch| (index, batch))),
        );
        batches
    }

    #[test]
    fn batch_body_is_an_array() {
        let batch: Batch = [line(1, "{}"), line(2, r#"{"user":1}"#)]
            .into_iter()
            .collect();
        assert_eq!(batch.body(), r#"[{},{"user":1}]"#);
        assert_eq!(Batch::default().body(), "[]");
    }

    #[test]
    fn batch_is_limited_by_lines() {
        let batch: Batch = [line(1, "{}"), line(2, "{}")].into_iter().collect();
        assert!(batch.has_room_for(&line(3, "{}"), 3));
        assert!(!batch.has_room_for(&line(3, "{}"), 2));
    }

    #[test]
    fn batch_is_limited_by_bytes() {
        let batch: Batch = [line(1, &"x".repeat(1000))].into_iter().collect();
        let rest = MAX_BODY_BYTES - 1000 - "[,]".len();
        assert!(!batch.has_room_for(&line(2, &"y".repeat(rest + 1)), 500));
        let last = line(2, &"y".repeat(rest));
        assert!(batch.has_room_for(&last, 500));
        let full: Batch = batch.lines.into_iter().chain([last]).collect();
        assert_eq!(full.body().len(), MAX_BODY_BYTES);
    }

    #[test]
    fn halves_keep_the_order() {
        let batch: Batch = (1..=5).map(|number| line(number, "{}")).collect();
        let (first, second) = batch.halves();
        let halves = [&first, &second].map(|half| {
            let numbers = half.lines().iter().map(|line| line.number);
            numbers.collect::<Vec<_>>()
        });
        assert_eq!(halves, [vec![1, 2], vec![3, 4, 5]]);
    }

    /// Every line is in exactly one batch, and all lines of a user are in one partition, in order.
    #[test]
    fn partition_keeps_a_users_lines_in_order() {
        let mut last_line = BTreeMap::new();
        let mut partition_of = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (partition, batch) in partitioned(&mut Partitions::new(4, 7), 1000) {
            assert!(batch.lines().len() <= 7);
            for line in batch.lines() {
                let user = line.id.clone();
                let first = *partition_of.entry(user.clone()).or_insert(partition);
                assert_eq!(first, partition, "{user}");
                let earlier = last_line.insert(user.clone(), line.number);
                assert!(earlier < Some(line.number), "{user}");
                assert!(seen.insert(line.number));
            }
        }
        assert_eq!(seen.len(), 1000);
        let used: BTreeSet<usize> = partition_of.into_values().collect();
        assert_eq!(used.len(), 4, "users spread over all partitions");
    }

    /// The first line's user has no other line.
    #[test]
    fn lone_line_is_sent_before_the_end() {
        let mut partitions = Partitions::new(2, 5);
        let frequent = (1..100).find(|number| {
            let id = &line(*number, "{}").id;
            partitions.partition_of(id) != partitions.partition_of(&line(0, "{}").id)
        });
        let frequent = frequent.unwrap_or_default();
        assert_eq!(partitions.push(line(0, "{}")), []);
        let sent = (1..=40).find(|index| {
            let next = Line {
                index: *index,
                ..line(frequent, "{}")
            };
            let ready = partitions.push(next);
            ready
                .iter()
                .any(|(_, batch)| batch.lines() == [line(0, "{}")])
        });
        assert_eq!(sent, Some(40));
    }

    #[test]
    fn empty_partition_has_no_batch() {
        assert_eq!(Partitions::new(2, 10).take(1), None);
    }
}
