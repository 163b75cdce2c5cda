//! Parsing of Redis keys and of the fields that contain dates.
//!
//! `keys.rs` of the store documents the content of each key. Letters are fixed, dates and numbers contain no `:`, and
//! user-chosen text comes last, so nothing is escaped.
//!
//! A history has one key per *span*: 31 days, numbered since 1970-01-01.

use activity_rank_core::board::{BoardKind, event_board_name};
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::config::is_action;
use activity_rank_core::id::is_id;
use activity_rank_store::keys::Keys;

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
    /// Parses the name of a board, as the index and the set of archived boards contain it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (board, rest) = name.split_once(':')?;
        if board == "E" {
            let event = rest.strip_prefix(':').filter(|event| is_id(event))?;
            return Some(Self {
                kind: BoardKind::Event,
                period: "all".to_owned(),
                id: "all".to_owned(),
                group: Some(event.to_owned()),
            });
        }
        let kind = BoardKind::from_board_name(board);
        let letter: char = board.strip_prefix(kind.prefix())?.parse().ok()?;
        let period = Period::from_letter(letter)?;
        let (id, group) = match rest.split_once(':') {
            Some((id, group)) => (id, Some(group)),
            None => (rest, None),
        };
        let group_is_valid = match kind {
            BoardKind::Members => group.is_none_or(is_id),
            // In the place of the group: the action whose activities the board counts.
            BoardKind::Content => {
                group.is_none_or(|action| period == Period::All && is_action(action))
            }
            BoardKind::Authors => group.is_none(),
            BoardKind::Event => false,
        };
        (is_period_id(period, id) && group_is_valid).then(|| Self {
            kind,
            period: period.name().to_owned(),
            id: id.to_owned(),
            group: group.map(str::to_owned),
        })
    }

    /// Returns the name of the board of an event; `None` for an invalid id.
    #[must_use]
    pub fn event_name(event: &str) -> Option<String> {
        let name = event_board_name(event);
        Self::parse(&name).map(|_| name)
    }
}

/// A key without its tag and generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Profiles and flags of users, and the schema fingerprint.
    Users,
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
    /// The events, on the first shard.
    Events,
    /// A key whose values are not compared by their key.
    Other,
}

impl Key {
    /// Parses a key without its tag and generation. Returns `None` for a key that this version does not use.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "p" => return Some(Self::Users),
            "e" => return Some(Self::Tombstones),
            "v" => return Some(Self::Events),
            "t" => return Some(Self::Register),
            _ => (),
        }
        let Some((kind, rest)) = name.split_once(':') else {
            return Keys::kind(name).map(|_| Self::Other);
        };
        let span_and_user = || {
            let (span, user) = rest.split_once(':')?;
            is_id(user).then_some((parse_span(span)?, user.to_owned()))
        };
        match kind {
            "h" => span_and_user().map(|(span, user)| Self::History(span, user)),
            "m" => is_id(rest).then(|| Self::ActiveRecords(rest.to_owned())),
            "u" => is_id(rest).then(|| Self::Targets(rest.to_owned())),
            // The version before counted an event again beside its board.
            "g" => Some(Self::Other),
            "bE" if rest.starts_with(":\t") => Some(Self::Other),
            _ if rest.ends_with(Keys::CORRECTED) => Some(Self::Other),
            _ => BoardId::parse(name.strip_prefix('b')?).map(Self::Board),
        }
    }
}

/// Parses the number of a span in its canonical form.
fn parse_span(text: &str) -> Option<i32> {
    text.parse()
        .ok()
        .filter(|span: &i32| span.to_string() == text)
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
    /// Points of a receiver: date, action and hash of the receiver.
    Pair(String, &'a str, &'a str),
}

impl<'a> HistoryField<'a> {
    /// Parses a field. Returns `None` for an invalid one.
    #[must_use]
    pub fn parse(span: i32, field: &'a str) -> Option<Self> {
        if let Some(field) = field.strip_prefix(Keys::UNDONE) {
            return Some(Self::UndoRecord(Keys::record_of_field(field)));
        }
        if let Some(field) = field.strip_prefix(Keys::PAIR) {
            let (total, hash) = field.split_at_checked(field.len().checked_sub(12)?)?;
            let (date, action) = Keys::parse_history_field(span, total)?;
            return Some(Self::Pair(date.to_string(), action, hash));
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
    fn key_has_its_parts() {
        use BoardKind::{Authors, Content, Event, Members};
        let board = |kind, period: &str, id: &str, group: Option<&str>| {
            Key::Board(BoardId {
                kind,
                period: period.to_owned(),
                id: id.to_owned(),
                group: group.map(str::to_owned),
            })
        };
        for (name, key) in [
            ("p", Key::Users),
            ("e", Key::Tombstones),
            ("v", Key::Events),
            ("t", Key::Register),
            ("i", Key::Other),
            ("bE::\thackathon", Key::Other),
            ("g:hackathon", Key::Other),
            ("bd:2026-11-20", board(Members, "day", "2026-11-20", None)),
            (
                "bw:2026-W47:a:b",
                board(Members, "week", "2026-W47", Some("a:b")),
            ),
            ("bTa:all", board(Content, "all", "all", None)),
            ("bTa:all:like", board(Content, "all", "all", Some("like"))),
            ("bAm:2026-11", board(Authors, "month", "2026-11", None)),
            ("bE::a:b", board(Event, "all", "all", Some("a:b"))),
            ("u:a:b", Key::Targets("a:b".to_owned())),
            ("h:670:a:b", Key::History(670, "a:b".to_owned())),
            (
                "h:-22044:2026-11-20:42",
                Key::History(-22_044, "2026-11-20:42".to_owned()),
            ),
            ("m:m:1", Key::ActiveRecords("m:1".to_owned())),
        ] {
            assert_eq!(Key::parse(name), Some(key), "{name}");
        }
    }

    #[test]
    fn unknown_keys_are_rejected() {
        let names = " s f x:1 u: bd bTd:2026-11-20:eu bTAa:all bXa:all bEa:all bE: bE:: bx:2026-11-20 bdd:2026-11-20 \
                     bd:2026-11 ba:every bd:2026-11-20: h:670 h:2026-11-20:42 h:0670:42 h:x:42 h:+1:42 v:670:42 m:";
        for name in names.split(' ').chain(["m:a b"]) {
            assert_eq!(Key::parse(name), None, "{name}");
        }
    }

    #[test]
    fn date_bits_are_dates() {
        let dates = |span, bits: &str| parse_date_bits(span, bits).unwrap_or_default().join(" ");
        assert_eq!(dates(670, "1"), "2026-11-13");
        assert_eq!(dates(670, "1073741952"), "2026-11-20 2026-12-13");
        assert_eq!(dates(-1, "1073741824"), "1969-12-31");
        for invalid in ["", "0", "01", "-1", "x", "2147483648"] {
            assert_eq!(dates(670, invalid), "", "{invalid}");
        }
    }

    #[test]
    fn history_field_has_its_parts() {
        use HistoryField::{DailyRecord, Pair, Total, UndoRecord};
        let (date, account) = ("2026-12-13".to_owned(), "0a4d55a8d778");
        let record = |record: &str| record.to_owned();
        for (text, parsed) in [
            ("uL", Some(Total(date.clone(), "like"))),
            ("V/", Some(DailyRecord(record("visit:/")))),
            ("go:home", Some(DailyRecord(record("go:home")))),
            ("-Lpost-7", Some(UndoRecord(record("like:post-7")))),
            (">uL0a4d55a8d778", Some(Pair(date, "like", account))),
            (">L0a4d55a8d77", None),
            ("vlike", None),
            ("", None),
        ] {
            assert_eq!(HistoryField::parse(670, text), parsed, "{text}");
        }
    }
}
