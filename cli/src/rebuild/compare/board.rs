//! Boards, compared by rank: points, and of equal points who was there first.

use std::collections::HashMap;

use crate::archive::record::COUNTER;

/// Points are above these bits of order: the Worker's `src/score.rs`.
const ORDERS: i64 = 1 << 30;

/// A member's score as the store has it: below zero of who is hidden.
pub type Scores = HashMap<String, i64>;

/// How one member differs: what is held, what is told, and whether more is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who.
    pub member: String,
    /// As words; none where the member is not on the board.
    pub held: Option<String>,
    /// As words; none where the member is not on the board.
    pub told: Option<String>,
    /// Whether the board has more points for them than is told.
    pub more: bool,
    /// Of equals in another order: who is before them.
    pub before: Vec<String>,
}

/// Whose standing differs.
#[must_use]
pub fn compare(held: &Scores, told: &Scores) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut equals: HashMap<i64, Vec<&str>> = HashMap::new();
    for (member, score) in users(held) {
        let other = told.get(member).copied();
        if other.map(standing) == Some(standing(*score)) {
            equals.entry(points(*score)).or_default().push(member);
            continue;
        }
        rows.push(Row {
            member: member.clone(),
            held: Some(words(*score)),
            told: other.map(words),
            more: points(*score) > other.map_or(0, points),
            before: Vec::new(),
        });
    }
    for (member, score) in users(told).filter(|(member, _)| !held.contains_key(*member)) {
        rows.push(Row {
            member: member.clone(),
            held: None,
            told: Some(words(*score)),
            more: false,
            before: Vec::new(),
        });
    }
    for members in equals.into_values().filter(|members| members.len() > 1) {
        turned(&members, held, told, &mut rows);
    }
    rows
}

/// Of members with the same points on both sides those who come behind somebody else.
fn turned(members: &[&str], held: &Scores, told: &Scores, rows: &mut Vec<Row>) {
    let ranked = |scores: &Scores| {
        let mut ranked = members.to_vec();
        let score = |member: &str| scores.get(member).copied().unwrap_or(0).abs();
        ranked.sort_unstable_by(|a, b| score(b).cmp(&score(a)).then_with(|| b.cmp(a)));
        ranked
    };
    let (held_order, told_order) = (ranked(held), ranked(told));
    if held_order == told_order {
        return;
    }
    let behind = |order: &[&str]| {
        let pairs = order.windows(2).filter_map(|pair| match pair {
            [first, second] => Some(((*second).to_owned(), (*first).to_owned())),
            _ => None,
        });
        pairs.collect::<HashMap<String, String>>()
    };
    let (held_behind, told_behind) = (behind(&held_order), behind(&told_order));
    let place = |before: Option<&String>| match before {
        Some(before) => format!("behind its equal {before}"),
        None => "before its equals".to_owned(),
    };
    for member in held_order {
        let (held, told) = (held_behind.get(member), told_behind.get(member));
        if held != told {
            rows.push(Row {
                member: member.to_owned(),
                held: Some(place(held)),
                told: Some(place(told)),
                more: false,
                before: [held, told].into_iter().flatten().cloned().collect(),
            });
        }
    }
}

fn users(scores: &Scores) -> impl Iterator<Item = (&String, &i64)> {
    scores.iter().filter(|(member, _)| *member != COUNTER)
}

fn points(score: i64) -> i64 {
    score.abs() / ORDERS
}

/// What of a score is not its order.
fn standing(score: i64) -> (i64, bool) {
    (points(score), score < 0)
}

fn words(score: i64) -> String {
    let (points, hidden) = standing(score);
    format!("{points} points{}", if hidden { ", hidden" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(members: &[(&str, i64, i64)]) -> Scores {
        let score = |(member, points, order): &(&str, i64, i64)| {
            let score = points.abs() * ORDERS + (ORDERS - 1 - order);
            ((*member).to_owned(), score * points.signum())
        };
        let counter = (COUNTER.to_owned(), 99);
        members.iter().map(score).chain([counter]).collect()
    }

    fn told(held: &Scores, told: &Scores) -> Vec<String> {
        let mut rows: Vec<String> = compare(held, told)
            .into_iter()
            .map(|row| {
                let words = |words: Option<String>| words.unwrap_or_else(|| "-".to_owned());
                let more = if row.more { " more" } else { "" };
                let (held, told) = (words(row.held), words(row.told));
                format!("{}: {held} / {told}{more}", row.member)
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn the_same_ranks_are_equal_whatever_the_numbers_of_order() {
        let held = scores(&[("a", 5, 10), ("b", 5, 20), ("c", -5, 15), ("d", 2, 3)]);
        let others = scores(&[("a", 5, 1), ("b", 5, 3), ("c", -5, 2), ("d", 2, 9)]);
        assert!(told(&held, &others).is_empty());
    }

    #[test]
    fn points_sides_and_who_is_missing_are_told() {
        let held = scores(&[("a", 5, 1), ("b", 3, 2), ("c", 2, 3), ("d", 1, 4)]);
        let others = scores(&[("a", 4, 1), ("b", -3, 2), ("c", 3, 3), ("e", 1, 4)]);
        assert_eq!(
            told(&held, &others),
            [
                "a: 5 points / 4 points more",
                "b: 3 points / 3 points, hidden",
                "c: 2 points / 3 points",
                "d: 1 points / - more",
                "e: - / 1 points",
            ]
        );
    }

    #[test]
    fn equals_in_another_order_are_told_by_who_is_before_them() {
        let held = scores(&[("a", 5, 1), ("b", 5, 2), ("c", -5, 3), ("d", 5, 4)]);
        let others = scores(&[("a", 5, 1), ("c", -5, 2), ("b", 5, 3), ("d", 5, 4)]);
        assert_eq!(
            told(&held, &others),
            [
                "b: behind its equal a / behind its equal c",
                "c: behind its equal b / behind its equal a",
                "d: behind its equal c / behind its equal b",
            ]
        );
        let others = scores(&[("b", 5, 1), ("a", 5, 2)]);
        let held = scores(&[("a", 5, 1), ("b", 5, 2)]);
        assert_eq!(
            told(&held, &others),
            [
                "a: before its equals / behind its equal b",
                "b: behind its equal a / before its equals"
            ]
        );
    }
}
