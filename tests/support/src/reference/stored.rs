//! Histories and marks as they lie in Redis: days in spans of 31, marks packed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::ToSpan;
use jiff::civil::{Date, date};

use super::calendar::KINDS;
use super::store::Store;

/// The span that a day lies in, numbered since 1970, and which of its 31 days it is, from 0.
///
/// # Panics
///
/// At the ends of time, like all that follow.
#[must_use]
pub fn span_of(day: Date) -> (i32, u32) {
    let number = date(1970, 1, 1).until(day).expect("days").get_days();
    let of_span = number.rem_euclid(31);
    (number.div_euclid(31), of_span.unsigned_abs())
}

/// The key of a user's history that has a day.
#[must_use]
pub fn history_key(day: Date, user: &str) -> String {
    format!("h:{}:{user}", span_of(day).0)
}

/// The key of a user's per-day marks of a day.
#[must_use]
pub fn day_marks_key(day: Date, user: &str) -> String {
    format!("v:{}:{user}", span_of(day).0)
}

/// Actions that a letter stands for.
const LETTERS: [(char, &str); 7] = [
    ('A', "adjust"),
    ('B', "bookmark"),
    ('C', "comment"),
    ('F', "follow"),
    ('L', "like"),
    ('P', "publish"),
    ('V', "visit"),
];

/// A mark, by the field that is written for it.
#[must_use]
pub fn mark_of(field: &str) -> String {
    let letter = LETTERS
        .iter()
        .find(|(letter, _)| field.starts_with(*letter));
    letter.map_or(field.to_owned(), |(_, action)| {
        format!("{action}:{}", &field[1..])
    })
}

fn day_of(span: i32, number: u32) -> Date {
    let days = span * 31 + number.cast_signed();
    date(1970, 1, 1).checked_add(days.days()).expect("a day")
}

/// A standing mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stands {
    /// When it changed, in Unix milliseconds.
    pub changed: i64,
    /// When it was done again for the last time, if later.
    pub repeated: Option<i64>,
    /// Points for every board and the day; of an adjustment for each board, in order, and the day.
    pub amounts: Vec<i64>,
    /// The day it counts on.
    pub date: Date,
    /// Letters of the kinds of boards it counts on.
    pub kinds: String,
    /// The groups it counts in.
    pub groups: Vec<String>,
}

impl Stands {
    /// Reads what `m:` has of a mark.
    ///
    /// # Panics
    ///
    /// When it is no mark.
    #[must_use]
    #[track_caller]
    pub fn read(text: &str) -> Self {
        let mut parts = text.split(',');
        let head = parts.next().unwrap_or_default();
        let groups = parts.map(str::to_owned).collect();
        let (head, repeated) = match head.split_once(':') {
            Some((head, at)) => (head, Some(at.parse().expect("an instant"))),
            None => (head, None),
        };
        let number = |text: &str| -> i64 { text.parse().expect("a number") };
        let words: Vec<&str> = head.split(' ').collect();
        let (changed, amounts, day, kinds) = if let [changed, amounts, day, kinds] = words[..] {
            (number(changed), amounts, number(day), kinds.to_owned())
        } else {
            let (rest, changed) = head.split_at(head.len().checked_sub(13).expect("an instant"));
            let (points, code) = rest.split_at(rest.len().checked_sub(2).expect("two digits"));
            let (changed, code) = (number(changed), number(code));
            let bits = KINDS.iter().enumerate();
            let kinds = bits.filter(|(bit, _)| ((code / 3) >> bit) & 1 == 1);
            let kinds = kinds.map(|(_, (_, letter))| *letter).collect();
            let day = changed.div_euclid(86_400_000) + code % 3 - 1;
            (changed, points, day, kinds)
        };
        Self {
            changed,
            repeated,
            amounts: amounts.split('/').map(number).collect(),
            date: day_of(0, 0).checked_add(day.days()).expect("a day"),
            kinds,
            groups,
        }
    }
}

impl Store {
    /// What is held of each user's days: count and points as they are written, by action.
    pub fn histories(&mut self) -> BTreeMap<(Date, String), BTreeMap<String, String>> {
        let mut days: BTreeMap<_, BTreeMap<String, String>> = BTreeMap::new();
        for key in self.keys("h:") {
            let (span, user) = of_span(&key);
            for (field, value) in self.hash(&key) {
                let (digit, action) = field.split_at(1);
                let number = u32::from_str_radix(digit, 36).expect("a digit");
                let day = days.entry((day_of(span, number), user.clone()));
                // A letter, or the name.
                let action = mark_of(action);
                let action = action.strip_suffix(':').unwrap_or(&action);
                day.or_default().insert(action.to_owned(), value);
            }
        }
        days
    }

    /// What was done on which day that counts once a day: day, user, and mark as it is written.
    pub fn day_marks(&mut self) -> BTreeSet<(Date, String, String)> {
        let mut marks = BTreeSet::new();
        for key in self.keys("v:") {
            let (span, user) = of_span(&key);
            for (mark, days) in self.hash(&key) {
                let bits: u32 = days.parse().expect("a number");
                for number in (0..31).filter(|number| (bits >> number) & 1 == 1) {
                    marks.insert((day_of(span, number), user.clone(), mark_of(&mark)));
                }
            }
        }
        marks
    }
}

/// Span and user of a key.
fn of_span(key: &str) -> (i32, String) {
    let parts: Vec<&str> = key.splitn(3, ':').collect();
    (parts[1].parse().expect("a span"), parts[2].to_owned())
}
