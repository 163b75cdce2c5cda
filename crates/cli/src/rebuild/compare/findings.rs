//! Differences between live data and the journal: counted by kind, the first of them printed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use activity_rank_core::board::BoardKind;
use activity_rank_core::content::member_of_stub;
use activity_rank_store::keys::Keys;

use crate::count::count;
use crate::printable::printable;
use crate::rebuild::key::{BoardId, HistoryField, Key, parse_date_bits};

/// Differences that are printed.
const MAX_PRINTED: usize = 20;
/// Provisional differences that are compared again, in addition to excess: some tens of megabytes.
const MAX_PROVISIONAL: usize = 100_000;

/// The kind of a difference, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Kind {
    Board,
    History,
    ActiveRecord,
    DailyRecord,
    UndoRecord,
    Profile,
    Pauses,
    Flag,
    AuditLog,
    Tombstone,
    Target,
    ListedTarget,
    Event,
}

impl Kind {
    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Board => "board",
            Self::History => "history",
            Self::ActiveRecord => "active record",
            Self::DailyRecord => "daily record",
            Self::UndoRecord => "undo record",
            Self::Profile => "profile",
            Self::Pauses => "pauses",
            Self::Flag => "flag",
            Self::AuditLog => "audit log",
            Self::Tombstone => "tombstone",
            Self::Target => "target",
            Self::ListedTarget => "listed target",
            Self::Event => "event",
        }
    }

    /// Returns the kind of a key's values, or `None` if they are not compared by key.
    #[must_use]
    pub fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Board(_) => Some(Self::Board),
            Key::History(..) => Some(Self::History),
            Key::ActiveRecords(_) => Some(Self::ActiveRecord),
            Key::Users => Some(Self::Profile),
            Key::Tombstones => Some(Self::Tombstone),
            Key::Register => Some(Self::Target),
            Key::Targets(_) => Some(Self::ListedTarget),
            Key::Events => Some(Self::Event),
            Key::Other => None,
        }
    }

    /// Returns the kind of a field's value, for a key of this kind.
    #[must_use]
    pub fn for_field(self, span: i32, field: &str) -> Self {
        match (self, HistoryField::parse(span, field)) {
            (Self::History, Some(HistoryField::DailyRecord(_))) => Self::DailyRecord,
            (Self::History, Some(HistoryField::UndoRecord(_))) => Self::UndoRecord,
            (Self::Profile, _) if field.starts_with(Keys::FLAGS) => Self::Flag,
            (Self::Profile, _) if field.starts_with(Keys::PAUSES) => Self::Pauses,
            (Self::Profile, _) if field == Keys::DEFINITIONS => Self::Event,
            (kind, _) => kind,
        }
    }
}

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Kind of the value.
    pub kind: Kind,
    /// The key without its tag and generation.
    pub key: String,
    /// The field or member; for the audit log the whole entry.
    pub field: String,
    /// Other users and targets that the difference depends on.
    pub tied_users: Vec<String>,
    /// The live value.
    pub stored: Option<String>,
    /// The value according to the journal.
    pub expected: Option<String>,
    /// Whether a rebuild would lose data.
    pub is_excess: bool,
}

impl Difference {
    /// Returns the user of the value, or the member of its target; for a tombstone the hash.
    #[must_use]
    pub fn participant(&self) -> &str {
        let key_part = |count: usize| self.key.splitn(count, ':').nth(count - 1);
        match self.kind {
            Kind::Board | Kind::Profile | Kind::Tombstone | Kind::Event => &self.field,
            Kind::Pauses => self.field.strip_prefix(Keys::PAUSES).unwrap_or_default(),
            Kind::Flag => {
                let participant = self.field.strip_prefix(Keys::FLAGS).unwrap_or_default();
                participant.trim_start_matches('\t')
            }
            Kind::Target | Kind::ListedTarget => member_of_stub(&self.field),
            Kind::ActiveRecord => key_part(2).unwrap_or_default(),
            Kind::History | Kind::DailyRecord | Kind::UndoRecord => key_part(3).unwrap_or_default(),
            Kind::AuditLog => {
                let participant = self.field.split(' ').next().unwrap_or_default();
                participant.trim_start_matches('\t')
            }
        }
    }

    /// Returns whether the value is of a target, and of no user.
    fn is_of_target(&self) -> bool {
        let is_content = |board: BoardId| board.kind == BoardKind::Content;
        match Key::parse(&self.key) {
            Some(Key::Board(board)) => is_content(board),
            Some(Key::Register) => true,
            Some(_) | None => self.field.starts_with("!\t"),
        }
    }

    /// Returns all users and targets that the difference depends on.
    pub fn participants(&self) -> impl Iterator<Item = &str> {
        [self.participant()]
            .into_iter()
            .chain(self.tied_users.iter().map(String::as_str))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind.name())?;
        let mut record = Keys::record_of_field(&self.field);
        let mut field = self.field.as_str();
        let (mut stored, mut expected) = (self.stored.clone(), self.expected.clone());
        match Key::parse(&self.key) {
            Some(Key::Board(board)) => {
                match board.kind {
                    BoardKind::Members => Ok(()),
                    BoardKind::Content => f.write_str("of content "),
                    BoardKind::Authors => f.write_str("of authors "),
                    BoardKind::Event => f.write_str("of an event, "),
                }?;
                let (period, id) = (&board.period, &board.id);
                match (board.kind, board.group) {
                    (BoardKind::Event, event) => write!(f, "{}, ", event.unwrap_or_default()),
                    (_, Some(group)) => write!(f, "{period} {id} of {group}, "),
                    (_, None) => write!(f, "{period} {id}, "),
                }?;
            }
            Some(Key::History(span, user)) => {
                match HistoryField::parse(span, &self.field) {
                    Some(HistoryField::Total(date, action)) => {
                        field = action;
                        write!(f, "{date} ")?;
                    }
                    Some(HistoryField::DailyRecord(name)) => {
                        for value in [&mut stored, &mut expected] {
                            let bits = value.as_deref();
                            if let Some(dates) = bits.and_then(|bits| parse_date_bits(span, bits)) {
                                *value = Some(dates.join(" "));
                            }
                        }
                        record = name;
                        field = &record;
                    }
                    Some(HistoryField::UndoRecord(name)) => {
                        record = name;
                        field = &record;
                    }
                    Some(HistoryField::Pair(date, action, hash)) => {
                        field = action;
                        write!(f, "{date} to {hash} ")?;
                    }
                    None => {}
                }
                write!(f, "of {user}, ")?;
            }
            Some(Key::ActiveRecords(user)) => {
                field = &record;
                write!(f, "of {user}, ")?;
            }
            Some(Key::Targets(user)) => write!(f, "of {user}, ")?,
            Some(Key::Users) if field == Keys::DEFINITIONS => field = "definitions",
            Some(Key::Users) => field = self.participant(),
            Some(Key::Tombstones | Key::Register | Key::Events | Key::Other) | None => {}
        }
        let [field, stored, expected] = [
            field,
            stored.as_deref().unwrap_or("nothing"),
            expected.as_deref().unwrap_or("nothing"),
        ]
        .map(printable);
        write!(
            f,
            "{field}: the store has {stored}; the journal has {expected}"
        )
    }
}

/// The differences found so far.
#[derive(Debug, Default)]
pub struct Findings {
    /// Number of compared keys.
    pub keys: u64,
    kinds: BTreeMap<Kind, u64>,
    printed: Vec<String>,
    /// Differences that may be outdated, by key and field; `None` if none may be.
    pub provisional: Option<HashMap<(String, String), Difference>>,
    /// Differences by which a rebuild would lose data.
    pub excess: Vec<Difference>,
}

impl Findings {
    /// Adds a difference, provisionally while the service writes. Beyond a limit, differences without
    /// excess are confirmed at once.
    pub fn add(&mut self, difference: Difference) {
        if let Some(provisional) = &mut self.provisional
            && (difference.is_excess || provisional.len() < MAX_PROVISIONAL)
        {
            let at = (difference.key.clone(), difference.field.clone());
            provisional.insert(at, difference);
            return;
        }
        self.confirm(difference);
    }

    /// Adds a confirmed difference.
    pub fn confirm(&mut self, difference: Difference) {
        *self.kinds.entry(difference.kind).or_default() += 1;
        if self.printed.len() < MAX_PRINTED {
            self.printed.push(difference.to_string());
        }
        if difference.is_excess {
            self.excess.push(difference);
        }
    }

    /// Removes the excess of users with repeated activity in the journal: it was counted again after a
    /// data loss.
    pub fn accept_excess_of(&mut self, users: &[String]) {
        let users: HashSet<&str> = users.iter().map(String::as_str).collect();
        self.excess.retain(|difference| {
            difference.is_of_target() || !users.contains(difference.participant())
        });
    }

    /// Returns whether there are no confirmed differences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns the number of differences by the name of their kind.
    #[must_use]
    pub fn by_kind(&self) -> BTreeMap<&'static str, u64> {
        let kinds = self.kinds.iter();
        kinds.map(|(kind, number)| (kind.name(), *number)).collect()
    }

    /// Formats the number of compared keys.
    #[must_use]
    pub fn format_keys(&self) -> String {
        count(self.keys, "key")
    }

    /// Formats the number of differences by kind, and the first of them, as lines.
    #[must_use]
    pub fn report(&self) -> String {
        if self.is_empty() {
            return "no differences".to_owned();
        }
        let total = self.kinds.values().sum();
        let mut lines = vec![count(total, "difference")];
        let kinds = self.kinds.iter();
        lines.extend(kinds.map(|(kind, number)| format!("  {:<24}{number:>8}", kind.name())));
        lines.extend(self.printed.iter().cloned());
        let omitted = total.saturating_sub(self.printed.len() as u64);
        if omitted > 0 {
            lines.push(format!("and {}", count(omitted, "more difference")));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(kind: Kind, key: &str, field: &str, is_excess: bool) -> Difference {
        Difference {
            kind,
            key: key.to_owned(),
            field: field.to_owned(),
            tied_users: Vec::new(),
            stored: Some("3 points".to_owned()),
            expected: None,
            is_excess,
        }
    }

    #[test]
    fn difference_names_location_and_user() {
        let days = Difference {
            stored: Some("129".to_owned()),
            ..difference(Kind::DailyRecord, "h:670:42", "V/", true)
        };
        let found = (days.to_string(), days.participant());
        let expected = "daily record of 42, visit:/: the store has 2026-11-13 2026-11-20; the journal has nothing";
        assert_eq!(found, (expected.to_owned(), "42"));
        for (kind, key, field, location, user) in [
            (
                Kind::Board,
                "bd:2026-11-20:eu",
                "42",
                "board day 2026-11-20 of eu, 42",
                "42",
            ),
            (
                Kind::History,
                "h:670:a:b",
                "7L",
                "history 2026-11-20 of a:b, like",
                "a:b",
            ),
            (
                Kind::ActiveRecord,
                "m:a:b",
                "Lx",
                "active record of a:b, like:x",
                "a:b",
            ),
            (Kind::Flag, "p", "!7", "flag 7", "7"),
            (Kind::Flag, "p", "!\tpost-7", "flag post-7", "post-7"),
            (
                Kind::Board,
                "bTa:all",
                "post-7",
                "board of content all all, post-7",
                "post-7",
            ),
            (Kind::Target, "t", "#1 post-7", "target #1 post-7", "post-7"),
            (
                Kind::ListedTarget,
                "u:9",
                "post-7",
                "listed target of 9, post-7",
                "post-7",
            ),
        ] {
            let difference = difference(kind, key, field, true);
            let expected = format!("{location}: the store has 3 points; the journal has nothing");
            let found = (difference.to_string(), difference.participant());
            assert_eq!(found, (expected, user));
        }
    }

    #[test]
    fn report_counts_kinds_and_prints_the_first() {
        let mut findings = Findings::default();
        assert!(findings.is_empty());
        for user in 0..21 {
            findings.add(difference(Kind::Board, "ba:all", &user.to_string(), false));
        }
        findings.add(difference(Kind::Profile, "p", "42", true));
        let report = findings.report();
        let lines: Vec<&str> = report.lines().collect();
        let expected = [
            "22 differences",
            "  board                         21",
            "  profile                        1",
            "board all all, 0: the store has 3 points; the journal has nothing",
        ];
        assert_eq!(lines[..4], expected);
        assert_eq!(lines.len(), 24);
        assert_eq!(lines.last(), Some(&"and 2 more differences"));
    }

    #[test]
    fn repeated_activity_explains_excess() {
        let mut findings = Findings::default();
        for (user, is_excess) in [("a", true), ("b", true), ("c", false)] {
            findings.add(difference(Kind::Board, "ba:all", user, is_excess));
        }
        // The target has the id of the user.
        findings.add(difference(Kind::Board, "bTa:all", "a", true));
        findings.accept_excess_of(&["a".to_owned()]);
        let excess = findings.excess.iter();
        let left: Vec<_> = excess
            .map(|difference| (difference.key.as_str(), difference.participant()))
            .collect();
        assert_eq!(left, [("ba:all", "b"), ("bTa:all", "a")]);
    }
}
