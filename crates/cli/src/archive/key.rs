//! Parsing and formatting of Redis keys and of the fields that contain dates.
//!
//! `src/keys.rs` of the Worker documents the content of each key. Letters after the tag are fixed,
//! dates and numbers contain no `:`, and user-chosen text comes last, so nothing is escaped.
//!
//! A history has one key per *span*: 31 days, numbered since 1970-01-01.

use std::fmt;

use activity_rank_core::board::{BoardKind, event_board_name};
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::id::is_id;
use activity_rank_store::keys::{GENERATION, Keys};

/// Identifies a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardId {
    /// The subject.
    pub kind: BoardKind,
    /// `day`, `week`, `month`, `year` or `all`.
    pub period: String,
    /// `2026-11-20`, `2026-W47`, `2026-11`, `2026` or `all`.
    pub id: String,
    /// The group, or the event; `None` for the board of all users. Only members have boards of groups.
    pub group: Option<String>,
}

impl BoardId {
    /// Returns the board of an event.
    #[must_use]
    pub fn for_event(event: &str) -> Self {
        Self {
            kind: BoardKind::Event,
            period: "all".to_owned(),
            id: "all".to_owned(),
            group: Some(event.to_owned()),
        }
    }

    /// Returns the name, as the index and the set of archived boards contain it.
    #[must_use]
    pub fn name(&self) -> String {
        if let (BoardKind::Event, Some(event)) = (self.kind, &self.group) {
            return event_board_name(event);
        }
        let letter = Period::parse(&self.period).map_or('?', Period::letter);
        let name = format!("{}{letter}:{}", self.kind.prefix(), self.id);
        match &self.group {
            Some(group) => format!("{name}:{group}"),
            None => name,
        }
    }
}

/// A key without its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Existing boards and spans of histories.
    Index,
    /// Profiles and flags of users, and the schema fingerprint.
    Users,
    /// The audit log.
    AuditLog,
    /// The opt-outs of the audit log.
    OptOuts,
    /// Users and reasons of audit log entries.
    AuditDetails,
    /// Tombstones of erased users.
    Tombstones,
    /// A board.
    Board(BoardId),
    /// A user's history, daily records and undo records: span and user.
    History(i32, String),
    /// A user's active records.
    ActiveRecords(String),
    /// The register of targets.
    Register,
    /// The targets of an author.
    Targets(String),
    /// Changes that others have not received.
    Deliveries,
    /// The events, on the first shard.
    Events,
}

impl Key {
    /// Parses a key without its tag. Returns `None` for a key that this version does not use.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "p" => return Some(Self::Users),
            "l" => return Some(Self::AuditLog),
            "n" => return Some(Self::OptOuts),
            "w" => return Some(Self::AuditDetails),
            "e" => return Some(Self::Tombstones),
            "o" => return Some(Self::Deliveries),
            "v" => return Some(Self::Events),
            _ => (),
        }
        let name = Keys::strip_generation(name)?;
        match name {
            "i" => return Some(Self::Index),
            "t" => return Some(Self::Register),
            _ => (),
        }
        let (kind, rest) = name.split_once(':')?;
        let span_and_user = || {
            let (span, user) = rest.split_once(':')?;
            is_id(user).then_some((parse_span(span)?, user.to_owned()))
        };
        match kind {
            "h" => span_and_user().map(|(span, user)| Self::History(span, user)),
            "m" => is_id(rest).then(|| Self::ActiveRecords(rest.to_owned())),
            "u" => is_id(rest).then(|| Self::Targets(rest.to_owned())),
            "bE" => {
                let event = rest.strip_prefix(':').filter(|event| is_id(event))?;
                Some(Self::Board(BoardId::for_event(event)))
            }
            board => {
                let board = board.strip_prefix('b')?;
                let kind = BoardKind::from_board_name(board);
                let letter: char = board.strip_prefix(kind.prefix())?.parse().ok()?;
                let period = Period::from_letter(letter)?;
                let (id, group) = match rest.split_once(':') {
                    Some((id, group)) => (id, Some(group)),
                    None => (rest, None),
                };
                let group_is_valid = match kind {
                    BoardKind::Members => group.is_none_or(is_id),
                    BoardKind::Content | BoardKind::Authors => group.is_none(),
                    BoardKind::Event => false,
                };
                let valid = is_period_id(period, id) && group_is_valid;
                valid.then(|| {
                    Self::Board(BoardId {
                        kind,
                        period: period.name().to_owned(),
                        id: id.to_owned(),
                        group: group.map(str::to_owned),
                    })
                })
            }
        }
    }

    /// Parses the name of a board.
    #[must_use]
    pub fn board_named(name: &str) -> Option<Self> {
        Self::parse(&format!("{GENERATION}b{name}"))
    }

    /// Returns whether the formatted key parses to the same key. Parts read from a file may contain
    /// characters that would make it another key.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        Self::parse(&self.to_string()).as_ref() == Some(self)
    }
}

/// Formats the key without its tag.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => write!(f, "{GENERATION}i"),
            Self::Users => f.write_str("p"),
            Self::AuditLog => f.write_str("l"),
            Self::OptOuts => f.write_str("n"),
            Self::AuditDetails => f.write_str("w"),
            Self::Tombstones => f.write_str("e"),
            Self::Board(board) => write!(f, "{GENERATION}b{}", board.name()),
            Self::History(span, user) => write!(f, "{GENERATION}h:{span}:{user}"),
            Self::ActiveRecords(user) => write!(f, "{GENERATION}m:{user}"),
            Self::Register => write!(f, "{GENERATION}t"),
            Self::Targets(user) => write!(f, "{GENERATION}u:{user}"),
            Self::Deliveries => f.write_str("o"),
            Self::Events => f.write_str("v"),
        }
    }
}

/// Parses the number of a span in its canonical form.
#[must_use]
pub fn parse_span(text: &str) -> Option<i32> {
    text.parse()
        .ok()
        .filter(|span: &i32| span.to_string() == text)
}

/// Returns the span of a `YYYY-MM-DD` date, or `None` for an invalid date.
#[must_use]
pub fn span_of_date(date: &str) -> Option<i32> {
    Date::parse(date).map(Keys::span)
}

/// Formats the field of a history for an action on a date. Returns `None` for an invalid date.
#[must_use]
pub fn format_history_field(date: &str, action: &str) -> Option<String> {
    let day = Date::parse(date)?.number().rem_euclid(Keys::SPAN_DAYS);
    let digit = char::from_digit(day.unsigned_abs(), 36)?;
    Some(format!("{digit}{}", Keys::action_code(action)))
}

/// The content of a field of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryField<'a> {
    /// Totals: date and action.
    Total(String, &'a str),
    /// A daily record.
    DailyRecord(String),
    /// An undo record.
    UndoRecord(String),
}

impl<'a> HistoryField<'a> {
    /// Parses a field. Returns `None` for an invalid one.
    #[must_use]
    pub fn parse(span: i32, field: &'a str) -> Option<Self> {
        if let Some(field) = field.strip_prefix(Keys::UNDONE) {
            return Some(Self::UndoRecord(Keys::record_of_field(field)));
        }
        if let Some((date, action)) = Keys::parse_history_field(span, field) {
            return Some(Self::Total(date.to_string(), action));
        }
        let record = Keys::record_of_field(field);
        record.contains(':').then_some(Self::DailyRecord(record))
    }
}

/// Parses the bit set of a daily record into the dates of its span, lowest bit first.
#[must_use]
pub fn parse_date_bits(span: i32, text: &str) -> Option<Vec<String>> {
    let bits: u32 = text.parse().ok()?;
    let valid = 0 < bits && bits < 1 << Keys::SPAN_DAYS && bits.to_string() == text;
    let days = (0..Keys::SPAN_DAYS).filter(|day| (bits >> day) & 1 == 1);
    let first = span.checked_mul(Keys::SPAN_DAYS).filter(|_| valid)?;
    days.map(|day| Date::numbered(first.checked_add(day)?).map(|date| date.to_string()))
        .collect()
}

/// Returns the bit set of dates. Returns `None` for no dates, and for dates outside the span.
#[must_use]
pub fn date_bits(span: i32, dates: &[String]) -> Option<u32> {
    let mut bits = 0;
    for date in dates {
        let date = Date::parse(date).filter(|date| Keys::span(*date) == span)?;
        bits |= 1 << date.number().rem_euclid(Keys::SPAN_DAYS);
    }
    (bits != 0).then_some(bits)
}

fn is_period_id(period: Period, id: &str) -> bool {
    match period {
        Period::All => id == "all",
        Period::Day | Period::Week | Period::Month | Period::Year => period.first_day(id).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip() {
        for name in [
            "1i",
            "p",
            "l",
            "w",
            "e",
            "1bd:2026-11-20",
            "1bw:2026-W47:a:b",
            "1bm:2026-11",
            "1by:0033",
            "1ba:all:eu",
            "1bTd:2026-11-20",
            "1bAa:all",
            "1bE::a:b",
            "v",
            "1t",
            "1u:a:b",
            "o",
            "1h:670:a:b",
            "1h:-22044:2026-11-20:42",
            "1m:m:1",
        ] {
            let key = Key::parse(name).unwrap_or_else(|| panic!("{name} is not parsed"));
            assert_eq!(key.to_string(), name);
            assert!(key.is_valid());
        }
    }

    #[test]
    fn unknown_keys_are_rejected() {
        for name in [
            "",
            "s",
            "i",
            "ba:all",
            "2ba:all",
            "f",
            "x:1",
            "1u:",
            "1bd",
            "1bTd:2026-11-20:eu",
            "1bTAa:all",
            "1bXa:all",
            "1bEa:all",
            "1bE:",
            "1bE::",
            "1bx:2026-11-20",
            "1bdd:2026-11-20",
            "1bd:2026-11",
            "1ba:every",
            "1bd:2026-11-20:",
            "1h:670",
            "1h:2026-11-20:42",
            "1h:0670:42",
            "1h:x:42",
            "1h:+1:42",
            "v:670:42",
            "1m:",
            "1m:a b",
        ] {
            assert_eq!(Key::parse(name), None, "{name}");
        }
    }

    #[test]
    fn ambiguous_keys_are_invalid() {
        let board = |period: &str, id: &str, group: Option<&str>| BoardId {
            kind: BoardKind::Members,
            period: period.to_owned(),
            id: id.to_owned(),
            group: group.map(str::to_owned),
        };
        for board in [
            board("day", "2026-11-20:eu", None),
            board("decade", "2020", None),
            board("all", "all", Some("a b")),
        ] {
            assert!(!Key::Board(board).is_valid());
        }
        assert!(!Key::History(670, "a b".to_owned()).is_valid());
    }

    #[test]
    fn date_bits_round_trip() {
        let dates = |span, bits: &str| parse_date_bits(span, bits).unwrap_or_default().join(" ");
        assert_eq!(dates(670, "1"), "2026-11-13");
        assert_eq!(dates(670, "1073741952"), "2026-11-20 2026-12-13");
        assert_eq!(dates(-1, "1073741824"), "1969-12-31");
        for invalid in ["", "0", "01", "-1", "x", "2147483648"] {
            assert_eq!(dates(670, invalid), "", "{invalid}");
        }
        for (span, bits) in [(670, 1_073_741_952), (-22_044, 3)] {
            let dates = parse_date_bits(span, &bits.to_string()).unwrap();
            assert_eq!(date_bits(span, &dates), Some(bits));
            assert_eq!(date_bits(span + 1, &dates), None);
        }
        assert_eq!(date_bits(670, &[]), None);
        assert_eq!(date_bits(670, &["today".to_owned()]), None);
    }

    #[test]
    fn history_fields_round_trip() {
        let field = |date, action| format_history_field(date, action);
        assert_eq!(field("2026-12-13", "wave").unwrap(), "uwave");
        assert_eq!(field("2026-12-13", "like").unwrap(), "uL");
        assert_eq!(span_of_date("2026-12-13"), Some(670));
        for (text, parsed) in [
            (
                "uL",
                Some(HistoryField::Total("2026-12-13".to_owned(), "like")),
            ),
            ("V/", Some(HistoryField::DailyRecord("visit:/".to_owned()))),
            (
                "go:home",
                Some(HistoryField::DailyRecord("go:home".to_owned())),
            ),
            (
                "-Lpost-7",
                Some(HistoryField::UndoRecord("like:post-7".to_owned())),
            ),
            ("vlike", None),
            ("", None),
        ] {
            assert_eq!(HistoryField::parse(670, text), parsed, "{text}");
        }
        assert_eq!(field("2026-13-01", "like"), None);
    }
}
