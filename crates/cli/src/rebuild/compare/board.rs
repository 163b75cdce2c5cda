//! Compares boards: points, visibility, and the order of users with equal points.

use std::collections::HashMap;

use activity_rank_core::board::BoardKind;
use activity_rank_core::score::{Layout, Score};

/// Scores by member, without the order counter. Scores of hidden users and targets are negated.
pub type Scores = HashMap<String, i64>;

/// A member with different standings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The member.
    pub member: String,
    /// The live standing as text; `None` if the member is missing.
    pub stored: Option<String>,
    /// The standing according to the journal; `None` if the member is missing.
    pub expected: Option<String>,
    /// Whether the live board has more points.
    pub is_excess: bool,
    /// For members with equal points in another order: the preceding members.
    pub tied_users: Vec<String>,
}

/// Returns the members with different standings. Only boards of members have an order of equal points.
#[must_use]
pub fn compare(kind: BoardKind, layout: Layout, live: &Scores, shadow: &Scores) -> Vec<Row> {
    let points = |score: i64| kind.points(Score(score.unsigned_abs()), layout).steps;
    let standing = |score: i64| (points(score), score < 0);
    let format_standing = |score: i64| {
        let (points, hidden) = standing(score);
        format!("{points} points{}", if hidden { ", hidden" } else { "" })
    };
    let mut rows = Vec::new();
    let mut equal: HashMap<i64, Vec<&str>> = HashMap::new();
    for (member, score) in live {
        let other = shadow.get(member).copied();
        if other.map(standing) == Some(standing(*score)) {
            equal.entry(points(*score)).or_default().push(member);
            continue;
        }
        rows.push(Row {
            member: member.clone(),
            stored: Some(format_standing(*score)),
            expected: other.map(format_standing),
            is_excess: points(*score) > other.map_or(0, points),
            tied_users: Vec::new(),
        });
    }
    for (member, score) in shadow
        .iter()
        .filter(|(member, _)| !live.contains_key(*member))
    {
        rows.push(Row {
            member: member.clone(),
            stored: None,
            expected: Some(format_standing(*score)),
            is_excess: false,
            tied_users: Vec::new(),
        });
    }
    let has_order = |members: &Vec<&str>| !kind.is_plain() && members.len() > 1;
    for members in equal.into_values().filter(has_order) {
        compare_order(&members, live, shadow, &mut rows);
    }
    rows
}

/// Adds the members, all with the same points, that follow another member than expected.
fn compare_order(members: &[&str], live: &Scores, shadow: &Scores, rows: &mut Vec<Row>) {
    let ranked = |scores: &Scores| {
        let mut ranked = members.to_vec();
        let score = |member: &str| scores.get(member).copied().unwrap_or(0).abs();
        ranked.sort_unstable_by(|a, b| score(b).cmp(&score(a)).then_with(|| b.cmp(a)));
        ranked
    };
    let (live_order, shadow_order) = (ranked(live), ranked(shadow));
    if live_order == shadow_order {
        return;
    }
    let predecessors = |order: &[&str]| {
        let pairs = order.windows(2).filter_map(|pair| match pair {
            [first, second] => Some(((*second).to_owned(), (*first).to_owned())),
            _ => None,
        });
        pairs.collect::<HashMap<String, String>>()
    };
    let (live_before, shadow_before) = (predecessors(&live_order), predecessors(&shadow_order));
    let format = |before: Option<&String>| match before {
        Some(before) => format!("tied after {before}"),
        None => "first of the tie".to_owned(),
    };
    for member in live_order {
        let (stored, expected) = (live_before.get(member), shadow_before.get(member));
        if stored != expected {
            rows.push(Row {
                member: member.to_owned(),
                stored: Some(format(stored)),
                expected: Some(format(expected)),
                is_excess: false,
                tied_users: [stored, expected].into_iter().flatten().cloned().collect(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout {
        order_bits: 20,
        decimals: 0,
    };

    /// Returns scores from member, points and order of arrival. Negative points are hidden.
    fn scores(members: &[(&str, i64, i64)]) -> Scores {
        let score = |(member, points, order): &(&str, i64, i64)| {
            let score = LAYOUT.pack(points.unsigned_abs(), order.unsigned_abs());
            let Score(score) = score.unwrap();
            ((*member).to_owned(), score.cast_signed() * points.signum())
        };
        members.iter().map(score).collect()
    }

    fn differences(live: &Scores, shadow: &Scores) -> Vec<String> {
        texts(compare(BoardKind::Members, LAYOUT, live, shadow))
    }

    fn texts(rows: Vec<Row>) -> Vec<String> {
        let mut rows: Vec<String> = rows
            .into_iter()
            .map(|row| {
                let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                let excess = if row.is_excess { " excess" } else { "" };
                let (stored, expected) = (text(row.stored), text(row.expected));
                format!("{}: {stored} / {expected}{excess}", row.member)
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn order_numbers_are_not_compared() {
        let live = scores(&[("a", 5, 10), ("b", 5, 20), ("c", -5, 15), ("d", 2, 3)]);
        let shadow = scores(&[("a", 5, 1), ("b", 5, 3), ("c", -5, 2), ("d", 2, 9)]);
        assert!(differences(&live, &shadow).is_empty());
    }

    #[test]
    fn scores_of_content_are_points() {
        let scores = |scores: &[(&str, i64)]| {
            let scores = scores.iter();
            scores
                .map(|(member, score)| ((*member).to_owned(), *score))
                .collect()
        };
        let live = scores(&[("a", 5), ("b", 5), ("c", -3)]);
        let shadow = scores(&[("a", 5), ("b", 4), ("c", 3)]);
        assert_eq!(
            texts(compare(BoardKind::Content, LAYOUT, &live, &shadow)),
            [
                "b: 5 points / 4 points excess",
                "c: 3 points, hidden / 3 points"
            ]
        );
    }

    #[test]
    fn points_visibility_and_membership_are_compared() {
        let live = scores(&[("a", 5, 1), ("b", 3, 2), ("c", 2, 3), ("d", 1, 4)]);
        let shadow = scores(&[("a", 4, 1), ("b", -3, 2), ("c", 3, 3), ("e", 1, 4)]);
        assert_eq!(
            differences(&live, &shadow),
            [
                "a: 5 points / 4 points excess",
                "b: 3 points / 3 points, hidden",
                "c: 2 points / 3 points",
                "d: 1 points / - excess",
                "e: - / 1 points",
            ]
        );
    }

    #[test]
    fn order_of_ties_is_compared() {
        let live = scores(&[("a", 5, 1), ("b", 5, 2), ("c", -5, 3), ("d", 5, 4)]);
        let shadow = scores(&[("a", 5, 1), ("c", -5, 2), ("b", 5, 3), ("d", 5, 4)]);
        assert_eq!(
            differences(&live, &shadow),
            [
                "b: tied after a / tied after c",
                "c: tied after b / tied after a",
                "d: tied after c / tied after b",
            ]
        );
        let shadow = scores(&[("b", 5, 1), ("a", 5, 2)]);
        let live = scores(&[("a", 5, 1), ("b", 5, 2)]);
        assert_eq!(
            differences(&live, &shadow),
            [
                "a: first of the tie / tied after b",
                "b: tied after a / first of the tie"
            ]
        );
    }
}
