//! The keys of a site, taken apart. The Worker's `src/keys.rs` says what each holds.
//!
//! Letters after the tag are fixed, dates and numbers contain no `:`, and what a user chose comes
//! last: so nothing is escaped.

use std::fmt;

use jiff::civil::Date;

use crate::args::is_id;

/// Which board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardName {
    /// `day`, `week`, `month`, `year` or `all`.
    pub period: String,
    /// `2026-11-20`, `2026-W47`, `2026-11`, `2026` or `all`.
    pub id: String,
    /// The group, of a board that is not everybody's.
    pub group: Option<String>,
}

/// A key without its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The settings the data depends on.
    Stamp,
    /// Boards that exist, and spans of histories.
    Index,
    /// Profiles.
    Profiles,
    /// Who is hidden or frozen.
    Flags,
    /// The audit list.
    Audit,
    /// Who is meant in it, and why.
    Who,
    /// When users were erased.
    Erased,
    /// A board.
    Board(BoardName),
    /// A user's history of a span of 31 days, by its number.
    History(i32, String),
    /// A user's per-day marks of a span.
    DayMarks(i32, String),
    /// A user's standing marks.
    Marks(String),
    /// A user's undo memory of a span.
    UndoMemory(i32, String),
}

const PERIODS: [(char, &str); 5] = [
    ('d', "day"),
    ('w', "week"),
    ('m', "month"),
    ('y', "year"),
    ('a', "all"),
];

impl Key {
    /// Reads what follows the tag; none for a key that no site of this version has.
    #[must_use]
    pub fn parse(rest: &str) -> Option<Self> {
        match rest {
            "s" => return Some(Self::Stamp),
            "i" => return Some(Self::Index),
            "p" => return Some(Self::Profiles),
            "f" => return Some(Self::Flags),
            "l" => return Some(Self::Audit),
            "w" => return Some(Self::Who),
            "e" => return Some(Self::Erased),
            _ => (),
        }
        let (kind, parts) = rest.split_once(':')?;
        let of_span = || {
            let (span, user) = parts.split_once(':')?;
            is_id(user).then_some((span_of(span)?, user.to_owned()))
        };
        match kind {
            "h" => of_span().map(|(span, user)| Self::History(span, user)),
            "v" => of_span().map(|(span, user)| Self::DayMarks(span, user)),
            "m" => is_id(parts).then(|| Self::Marks(parts.to_owned())),
            "u" => of_span().map(|(span, user)| Self::UndoMemory(span, user)),
            board => {
                let letter = board.strip_prefix('b')?;
                let (_, period) = PERIODS
                    .iter()
                    .find(|(known, _)| letter.chars().eq([*known]))?;
                let (id, group) = match parts.split_once(':') {
                    Some((id, group)) => (id, Some(group)),
                    None => (parts, None),
                };
                let known = is_period_id(period, id) && group.is_none_or(is_id);
                known.then(|| {
                    Self::Board(BoardName {
                        period: (*period).to_owned(),
                        id: id.to_owned(),
                        group: group.map(str::to_owned),
                    })
                })
            }
        }
    }

    /// Whether it has the form that [`Key::parse`] reads, as the parts of a line may not.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        Self::parse(&self.to_string()).as_ref() == Some(self)
    }
}

/// What follows the tag.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stamp => f.write_str("s"),
            Self::Index => f.write_str("i"),
            Self::Profiles => f.write_str("p"),
            Self::Flags => f.write_str("f"),
            Self::Audit => f.write_str("l"),
            Self::Who => f.write_str("w"),
            Self::Erased => f.write_str("e"),
            Self::Board(BoardName { period, id, group }) => {
                let letter = PERIODS.iter().find(|(_, name)| name == period);
                let letter = letter.map_or('?', |(letter, _)| *letter);
                write!(f, "b{letter}:{id}")?;
                match group {
                    Some(group) => write!(f, ":{group}"),
                    None => Ok(()),
                }
            }
            Self::History(span, user) => write!(f, "h:{span}:{user}"),
            Self::DayMarks(span, user) => write!(f, "v:{span}:{user}"),
            Self::Marks(user) => write!(f, "m:{user}"),
            Self::UndoMemory(span, user) => write!(f, "u:{span}:{user}"),
        }
    }
}

/// Whether this is a date as keys have it: `2026-11-20`.
#[must_use]
pub fn is_date(text: &str) -> bool {
    text.parse::<Date>()
        .is_ok_and(|date| date.to_string() == text)
}

/// The number of a span, as keys and the index have it.
#[must_use]
pub fn span_of(text: &str) -> Option<i32> {
    text.parse()
        .ok()
        .filter(|span: &i32| span.to_string() == text)
}

/// Whether this is SHA-1 in hex, as tombstones have it.
#[must_use]
pub fn is_hash(text: &str) -> bool {
    let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 40 && text.bytes().all(digit)
}

fn is_period_id(period: &str, id: &str) -> bool {
    let digits =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let two = |between: &str| {
        id.split_once(between)
            .is_some_and(|(year, part)| digits(year, 4) && digits(part, 2))
    };
    match period {
        "day" => is_date(id),
        "week" => two("-W"),
        "month" => two("-"),
        "year" => digits(id, 4),
        _ => id == "all",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_site_is_told_apart_and_written_the_same() {
        for rest in [
            "s",
            "i",
            "p",
            "f",
            "l",
            "w",
            "e",
            "bd:2026-11-20",
            "bw:2026-W47:a:b",
            "bm:2026-11",
            "by:0033",
            "ba:all:eu",
            "h:670:a:b",
            "v:-22044:42",
            "m:m:1",
            "u:670:2026-11-20:42",
            "u:-20:42",
        ] {
            let key = Key::parse(rest).unwrap_or_else(|| panic!("{rest} is not read"));
            assert_eq!(key.to_string(), rest);
            assert!(key.is_sound());
        }
    }

    #[test]
    fn other_keys_are_no_site_s() {
        for rest in [
            "",
            "x",
            "x:1",
            "bd",
            "bx:2026-11-20",
            "bdd:2026-11-20",
            "bd:2026-11",
            "ba:every",
            "bd:2026-11-20:",
            "h:670",
            "h:2026-11-20:42",
            "v:0670:42",
            "m:",
            "m:a b",
            "u:x:42",
            "u:+1:42",
        ] {
            assert_eq!(Key::parse(rest), None, "{rest}");
        }
    }

    #[test]
    fn a_name_that_would_be_another_key_is_not_sound() {
        let named = |period: &str, id: &str, group: Option<&str>| BoardName {
            period: period.to_owned(),
            id: id.to_owned(),
            group: group.map(str::to_owned),
        };
        for board in [
            named("day", "2026-11-20:eu", None),
            named("decade", "2020", None),
            named("all", "all", Some("a b")),
        ] {
            assert!(!Key::Board(board).is_sound());
        }
        assert!(!Key::History(670, "a b".to_owned()).is_sound());
    }
}
