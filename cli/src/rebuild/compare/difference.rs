//! What differs between the store and what the journal tells.

use std::fmt;

use activity_rank::keys::Keys;

use crate::archive::key::Key;
use crate::archive::span;
use crate::printable::printable;

/// What can differ, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "told by their names")]
pub enum Kind {
    Board,
    History,
    Mark,
    DayMark,
    UndoMemory,
    Profile,
    Flag,
    Audit,
    Tombstone,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Board => "board",
            Self::History => "history",
            Self::Mark => "mark",
            Self::DayMark => "day-mark",
            Self::UndoMemory => "undo-memory",
            Self::Profile => "profile",
            Self::Flag => "flag",
            Self::Audit => "audit",
            Self::Tombstone => "tombstone",
        }
    }

    /// The kind of what a key holds; none of keys that are not compared.
    #[must_use]
    pub fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Board(_) => Some(Self::Board),
            Key::History(..) => Some(Self::History),
            Key::Marks(_) => Some(Self::Mark),
            Key::DayMarks(..) => Some(Self::DayMark),
            Key::UndoMemory(..) => Some(Self::UndoMemory),
            Key::Profiles => Some(Self::Profile),
            Key::Flags => Some(Self::Flag),
            Key::Erased => Some(Self::Tombstone),
            Key::Stamp | Key::Index | Key::Audit | Key::Who => None,
        }
    }
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is.
    pub kind: Kind,
    /// The key it lies in, without its tag.
    pub key: String,
    /// Which of its members, fields or values.
    pub field: String,
    /// Whom else it is about.
    pub others: Vec<String>,
    /// What the store holds of it.
    pub held: Option<String>,
    /// What the journal tells of it.
    pub told: Option<String>,
    /// Whether the store holds more than the journal tells.
    pub more: bool,
}

impl Difference {
    /// Whose it is.
    #[must_use]
    pub fn user(&self) -> &str {
        let of_key = |letters: usize| self.key.splitn(letters, ':').nth(letters - 1);
        match self.kind {
            Kind::Board | Kind::Profile | Kind::Flag => &self.field,
            Kind::Mark => of_key(2).unwrap_or_default(),
            Kind::History | Kind::DayMark | Kind::UndoMemory => of_key(3).unwrap_or_default(),
            // The first word of an entry.
            Kind::Audit => self.field.split(' ').next().unwrap_or_default(),
            Kind::Tombstone => &self.field,
        }
    }

    /// Everybody it is about.
    pub fn about(&self) -> impl Iterator<Item = &str> {
        [self.user()]
            .into_iter()
            .chain(self.others.iter().map(String::as_str))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind.name())?;
        let mark = Keys::mark_of(&self.field);
        let (mut field, mut held, mut told) =
            (self.field.as_str(), self.held.clone(), self.told.clone());
        match Key::parse(&self.key) {
            Some(Key::Board(board)) => {
                write!(f, "{} {}", board.period, board.id)?;
                match board.group {
                    Some(group) => write!(f, " of {group}, "),
                    None => f.write_str(", "),
                }?;
            }
            Some(Key::History(span, user)) => {
                if let Some((date, action)) = span::of_field(span, &self.field) {
                    field = action;
                    write!(f, "{date} ")?;
                }
                write!(f, "of {user}, ")?;
            }
            Some(Key::DayMarks(span, user)) => {
                let dates = |value: &mut Option<String>| {
                    let dates = value.as_deref().and_then(|bits| span::dates(span, bits));
                    *value = dates.map(|dates| dates.join(" ")).or(value.take());
                };
                dates(&mut held);
                dates(&mut told);
                field = &mark;
                write!(f, "of {user}, ")?;
            }
            Some(Key::Marks(user) | Key::UndoMemory(_, user)) => {
                field = &mark;
                write!(f, "of {user}, ")?;
            }
            Some(
                Key::Stamp
                | Key::Index
                | Key::Profiles
                | Key::Flags
                | Key::Audit
                | Key::Who
                | Key::Erased,
            )
            | None => {}
        }
        let [field, held, told] = [
            field,
            held.as_deref().unwrap_or("nothing"),
            told.as_deref().unwrap_or("nothing"),
        ]
        .map(printable);
        write!(f, "{field}: {held}; the journal tells {told}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_says_where_it_is_and_whose() {
        let of = |kind, key: &str, field: &str| Difference {
            kind,
            key: key.to_owned(),
            field: field.to_owned(),
            others: Vec::new(),
            held: Some("3 points".to_owned()),
            told: None,
            more: true,
        };
        for (difference, told, user) in [
            (
                of(Kind::Board, "bd:2026-11-20:eu", "42"),
                "board day 2026-11-20 of eu, 42: 3 points; the journal tells nothing",
                "42",
            ),
            (
                of(Kind::History, "h:670:a:b", "7L"),
                "history 2026-11-20 of a:b, like: 3 points; the journal tells nothing",
                "a:b",
            ),
            (
                Difference {
                    held: Some("129".to_owned()),
                    ..of(Kind::DayMark, "v:670:42", "V/")
                },
                "day-mark of 42, visit:/: 2026-11-13 2026-11-20; the journal tells nothing",
                "42",
            ),
            (
                of(Kind::Mark, "m:a:b", "Lx"),
                "mark of a:b, like:x: 3 points; the journal tells nothing",
                "a:b",
            ),
            (
                of(Kind::Flag, "f", "7"),
                "flag 7: 3 points; the journal tells nothing",
                "7",
            ),
        ] {
            assert_eq!(
                (difference.to_string().as_str(), difference.user()),
                (told, user)
            );
        }
    }
}
