//! A standing mark as the counting script writes it: when what changed, and where its points are.

use super::plan::Place;
use crate::calendar::{Date, Period};

/// A standing mark, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When it changed, in Unix ms.
    pub changed: i64,
    /// What it gave: each board, or of an adjustment board by board and then the day.
    pub amounts: Vec<i64>,
    /// Where.
    pub place: Place,
}

impl Mark {
    /// Reads one; the script's header says of which parts it is.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (head, groups) = text.split_once(',').unwrap_or((text, ""));
        let head = head.split_once(':').map_or(head, |(head, _)| head);
        let (changed, amounts, date, kinds) = match head.contains(' ') {
            true => Self::in_words(head)?,
            false => Self::in_digits(head)?,
        };
        let amounts = amounts.split('/').map(str::parse);
        let groups = groups.split(',').filter(|group| !group.is_empty());
        Some(Self {
            changed,
            amounts: amounts.collect::<Result<_, _>>().ok()?,
            place: Place {
                date,
                kinds,
                groups: groups.map(str::to_owned).collect(),
            },
        })
    }

    /// `changed points day kinds`
    fn in_words(head: &str) -> Option<(i64, &str, Date, Vec<Period>)> {
        let mut words = head.split(' ');
        let (changed, amounts) = (words.next()?.parse().ok()?, words.next()?);
        let date = Date::numbered(words.next()?.parse().ok()?)?;
        let kinds = words.next()?.chars().map(Period::from_letter);
        Some((changed, amounts, date, kinds.collect::<Option<_>>()?))
    }

    /// Points, two digits for kinds and day, 13 for the instant.
    fn in_digits(head: &str) -> Option<(i64, &str, Date, Vec<Period>)> {
        let (rest, changed) = head.split_at_checked(head.len().checked_sub(13)?)?;
        let (amounts, code) = rest.split_at_checked(rest.len().checked_sub(2)?)?;
        let (changed, code): (i64, i32) = (changed.parse().ok()?, code.parse().ok()?);
        let date = Date::of_local_millis(changed).plus(code % 3 - 1);
        let kinds = Period::ALL.iter().enumerate();
        let kinds = kinds.filter(|(bit, _)| ((code / 3) >> bit) & 1 == 1);
        Some((
            changed,
            amounts,
            date,
            kinds.map(|(_, kind)| *kind).collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        let mark = Mark::parse(text)?;
        let kinds: String = mark.place.kinds.iter().map(|kind| kind.letter()).collect();
        let (changed, amounts) = (mark.changed, mark.amounts);
        let Place { date, groups, .. } = mark.place;
        Some(format!("{changed} {amounts:?} {date} {kinds} {groups:?}"))
    }

    #[test]
    fn a_mark_is_read_in_each_of_its_forms() {
        for (text, read) in [
            ("2941795132800000", "1795132800000 [2] 2026-11-20 dwmya []"),
            (
                "1250951795132800000",
                "1795132800000 [1250] 2026-11-21 dwmya []",
            ),
            ("2031795132800000", "1795132800000 [2] 2026-11-19 d []"),
            (
                "2941795132800000:1795132800005",
                "1795132800000 [2] 2026-11-20 dwmya []",
            ),
            (
                "2941795132800000,eu,a|b",
                "1795132800000 [2] 2026-11-20 dwmya [\"eu\", \"a|b\"]",
            ),
            ("-5:7,eu", ""),
            ("-5 2 -1 da:7,eu", "-5 [2] 1969-12-31 da [\"eu\"]"),
            (
                "1795132800000 -2/0/-2 20777 dw",
                "1795132800000 [-2, 0, -2] 2026-11-20 dw []",
            ),
            ("1795132800000 2 20777 dx", ""),
            ("2", ""),
            ("", ""),
            ("94ä795132800000", ""),
        ] {
            assert_eq!(told(text).unwrap_or_default(), read, "{text}");
        }
    }
}
