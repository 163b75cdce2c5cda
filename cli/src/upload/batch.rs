//! Lines that travel in one request.

use crate::upload::line::Line;

/// Most bytes the service takes in one request.
pub const MOST_BYTES: usize = 256 * 1024;
/// The brackets around an array.
pub const BRACKETS: usize = 2;

/// Lines in order, within the limits of one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    lines: Vec<Line>,
    /// Of the objects and the commas after them.
    bytes: usize,
}

impl Batch {
    /// Whether the line may join, if at most so many lines may travel together.
    #[must_use]
    pub fn has_room_for(&self, line: &Line, most_lines: usize) -> bool {
        self.lines.len() < most_lines && self.bytes + line.json.len() + BRACKETS <= MOST_BYTES
    }

    /// Adds a line at the end.
    pub fn push(&mut self, line: Line) {
        self.bytes += line.json.len() + 1;
        self.lines.push(line);
    }

    /// The lines, in order.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Whether there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The JSON array.
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

    /// The first half and the second.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, json: &str) -> Line {
        Line {
            number,
            bytes: json.len() as u64,
            owner: String::new(),
            at: None,
            json: json.to_owned(),
        }
    }

    #[test]
    fn a_batch_is_an_array_of_its_lines() {
        let batch: Batch = [line(1, "{}"), line(2, r#"{"user":1}"#)]
            .into_iter()
            .collect();
        assert_eq!(batch.body(), r#"[{},{"user":1}]"#);
        assert_eq!(Batch::default().body(), "[]");
    }

    #[test]
    fn a_batch_holds_only_so_many_lines() {
        let batch: Batch = [line(1, "{}"), line(2, "{}")].into_iter().collect();
        assert!(batch.has_room_for(&line(3, "{}"), 3));
        assert!(!batch.has_room_for(&line(3, "{}"), 2));
    }

    #[test]
    fn a_body_fills_the_limit_to_the_byte_and_never_beyond() {
        let batch: Batch = [line(1, &"x".repeat(1000))].into_iter().collect();
        let rest = MOST_BYTES - 1000 - "[,]".len();
        assert!(!batch.has_room_for(&line(2, &"y".repeat(rest + 1)), 500));
        let last = line(2, &"y".repeat(rest));
        assert!(batch.has_room_for(&last, 500));
        let full: Batch = batch.lines.into_iter().chain([last]).collect();
        assert_eq!(full.body().len(), MOST_BYTES);
    }

    #[test]
    fn halves_keep_the_order() {
        let batch: Batch = (1..=5).map(|number| line(number, "{}")).collect();
        let (first, second) = batch.halves();
        let numbers = |batch: &Batch| {
            batch
                .lines()
                .iter()
                .map(|line| line.number)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (numbers(&first), numbers(&second)),
            (vec![1, 2], vec![3, 4, 5])
        );
    }
}
