//! Every Redis key, with its hash tag and lifetime. No other file builds a key, except
//! `pending.lua`, which reads spans from the index.
//!
//! | key | type | content | lifetime |
//! |---|---|---|---|
//! | `{ar:0}p` | hash | users: profiles, flags and pauses; schema fingerprint. See below | unlimited |
//! | `{ar:0}1i` | sorted set | index of boards and of history spans | unlimited; trims itself |
//! | `{ar:0}l` | stream | audit log | unlimited |
//! | `{ar:0}n` | stream | opt-outs of the audit log | unlimited; the last 1,000 |
//! | `{ar:0}c` | hash | pending changes of visibility and erasures, user → change | until complete |
//! | `{ar:0}w` | hash | subjects and reasons of the audit log | unlimited |
//! | `{ar:0}1t` | hash | register of targets | unlimited |
//! | `{ar:0}1u:9` | sorted set | targets of an author, by the instant of their registration | unlimited |
//! | `{ar:0}a` | set | names of archived boards: an expired one is not written again | unlimited |
//! | `{ar:0}o` | stream | changes that are not in the journal yet, or that others have not received | until every reader has passed them |
//! | `{ar:0}j` | hash | progress of the scheduled jobs | unlimited |
//! | `{ar:0}v` | hash | on the first shard: events, event → definition | unlimited |
//! | `{ar:0}e` | hash | tombstones, SHA-1 of an erased user → instant | unlimited |
//! | `{ar:0}1bd:2026-11-20`, `…:eu` | sorted set | board (`d`, `w`, `m`, `y`, `a`) of all users or a group | by period; `a` unlimited |
//! | `{ar:0}1bTa:all:like` | sorted set | number of activities with an action of `VISITORS`, by target: a board of content | unlimited |
//! | `{ar:0}V:20777:5Jx…` | string | number of visitors of an address on a day of UTC, by a keyed hash of the address; after `c:` and `h:` number of own changes and hidings of a user, by a hash | 2 days |
//! | `{ar:0}1bE::hackathon` | sorted set | board of an event | `KEEP_DAYS.event` after it is final |
//! | `{ar:0}1h:670:42` | hash | history of a user in a span: day and action → count and points; daily records, record → days; undo records, `-` and record → instant; [`Keys::MARKER`] | [`Keys::SPAN_SECONDS`] |
//! | `{ar:0}1m:42` | hash | active records of a user; cooldowns, `~` and action → instant; [`Keys::MARKER`] | `KEEP_DAYS.marks` and up to a day more after the last counted activity |
//!
//! The hash of users is the first key of every script, so that one command reads the schema
//! fingerprint with whatever else the script needs of users. `users.lua` lists its fields. The
//! fingerprint, in the field of a single tab, names the settings that the data depends on, then has a
//! line for each pending change.
//!
//! A *span* is 31 days, numbered since 1970-01-01: days of the deployment's time zone for histories
//! and daily records, days of UTC for undo records. A history field begins with the day's number in
//! its span as one digit in base 36 (`kwave` is the 21st day), and no action has a colon or begins
//! with an upper-case letter; a daily record holds its days as the bits of a number.
//!
//! One letter replaces each action of the default rules in fields: `kL` in a history, `Lpost-7` in a
//! record. Other actions are written out: `wave:post-7`.
//!
//! The `1` is the *generation* of what a rebuild replaces: boards, records, histories, register, author lists and
//! index. The fingerprint names the one that counts.
//!
//! A rebuild writes the next generation, `{ar:0}2ba:all`, and also what it needs of everything else under that
//! number: `{ar:0}2p`. Then the fingerprint names the next generation, and the rest is deleted. `{ar:0}r` holds the
//! progress, for a day where other shards are not finished. Of its own a rebuild has `{ar:0}2q`, SHA-1 of each user →
//! user, and `{ar:0}2r`, the users of whom the journal lists an activity twice.
//!
//! A preview of rules writes such keys of two generations on a shard with a number that no deployment has, see
//! [`rules_preview`](crate::rules_preview). Of its own it has `{ar:1000000}s`, the replies of the last steps; `{ar:1000000}k`,
//! the names of all its keys; `{ar:1000000}1g`, the hidden users; and counters of members for each action, `{ar:1000000}1x:like:daily-cap`
//! of refused activities and `{ar:1000000}1y:like` of points by day. All expire within a day.
//!
//! [`Keys::kind`] is the list of them for tools, such as an export.
//!
//! Keys need no escaping: the letters after the tag are fixed, dates and numbers contain no `:`, and
//! the part that a user chose comes last.

use activity_rank_core::CLOCK_TOLERANCE;
use activity_rank_core::board::{BoardKind, board_name, event_board_name};
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::config::Config;
use std::fmt::Display;

const DAY_SECONDS: u64 = 86_400;

/// The days of a history that can be read, and a day for each direction of a time zone.
const DAYS_READ: i64 = 33;

/// The letters that replace actions in fields, from `build.rs`.
const ACTION_CODES: [(&str, &str); 7] = include!(concat!(env!("OUT_DIR"), "/action_codes.rs"));

/// What tools do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Data, which an export contains.
    Data,
    /// Queues, progress of jobs, changes and rebuilds, and what the version before wrote: no export contains it,
    /// and it may expire or disappear at any time.
    Work,
}

/// The first generation of data: the number in the keys of what a rebuild replaces.
pub const FIRST_GENERATION: u32 = 1;

/// The keys of one shard.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The hash tag; while a rebuild writes a generation, with its number.
    tag: String,
    /// The hash tag and the generation.
    beginning: String,
}

impl Keys {
    /// Days that share a history.
    pub const SPAN_DAYS: i32 = 31;

    /// Field of the hash of users: the schema fingerprint.
    pub const FINGERPRINT: &str = "\t";

    /// Precedes a user in the field of their flags.
    pub const FLAGS: char = '!';

    /// Precedes a user in the field of their pauses.
    pub const PAUSES: char = '~';

    /// Field of a history that has an expiry, and of active records: the day of UTC on which their expiry was last
    /// renewed.
    pub const MARKER: &str = "\t";

    /// Field of the hash of users that registers watched boards.
    pub const WATCHED: &str = "\t#";

    /// Field of the hash of users: the definitions of events and of versions of the rules.
    pub const DEFINITIONS: &str = "\t!";

    /// Precedes the record of an undo in a history.
    pub const UNDONE: char = '-';

    /// Ends the name of a board that Redis no longer has, as a recount has it: until cron has archived that.
    pub const CORRECTED: char = '\t';

    /// Begins the field of a history with what an action has given one receiver on a day: day and action follow, as in a
    /// total, and 12 digits of the SHA-1 of the receiver.
    pub const PAIR: char = '>';

    /// Lifetime of a history in seconds: it is written for 31 days and read for 31 more. (The
    /// last day of a history is read for 30 more. The extra day covers days of 25 hours and clocks
    /// that differ by a minute.)
    pub const SPAN_SECONDS: u64 = 62 * DAY_SECONDS;

    /// Returns the keys of a generation of a shard under a prefix.
    #[must_use]
    pub fn new(prefix: &str, shard: u32, generation: u32) -> Self {
        let tag = format!("{{{prefix}:{shard}}}");
        Self {
            beginning: format!("{tag}{generation}"),
            tag,
        }
    }

    /// Returns the keys that a rebuild writes: in the same slot, all with the number of the generation.
    #[must_use]
    pub fn building(prefix: &str, shard: u32, generation: u32) -> Self {
        let Self { beginning, .. } = Self::new(prefix, shard, generation);
        Self {
            tag: beginning.clone(),
            beginning,
        }
    }

    /// Returns the hash tag, with which every key begins.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the kind of a key by its name after the tag; `None` for a key that no part of this version writes.
    #[must_use]
    pub fn kind(name: &str) -> Option<KeyKind> {
        let (generation, rest) = Self::split_generation(name);
        let kind = match (rest.split_once(':'), generation) {
            // A rebuild writes the same keys with its generation, and two of its own.
            (None, Some(_)) => match rest {
                "i" | "t" => KeyKind::Data,
                "q" | "r" | "c" | "a" | "p" | "l" | "n" | "w" | "v" | "e" => KeyKind::Work,
                _ => return None,
            },
            (None, None) => match rest {
                "c" | "a" | "o" | "j" | "r" => KeyKind::Work,
                "p" | "l" | "n" | "w" | "v" | "e" => KeyKind::Data,
                // The version before had no generations.
                "i" | "t" => KeyKind::Work,
                _ => return None,
            },
            // The version before counted an event again beside its board.
            (Some(("g" | "V", _)), None) => KeyKind::Work,
            (Some((letters, _)), generation)
                if matches!(letters, "u" | "h" | "m") || letters.starts_with('b') =>
            {
                match generation {
                    Some(_) => KeyKind::Data,
                    None => KeyKind::Work,
                }
            }
            (Some(_), _) => return None,
        };
        Some(kind)
    }

    /// Returns whether a key with this name, without tag and generation, belongs to a generation of the data.
    #[must_use]
    pub fn has_generation(name: &str) -> bool {
        name.contains(':') || ["i", "t"].contains(&name)
    }

    /// Splits the name of a key after its tag into generation and rest. No other key begins with a digit.
    #[must_use]
    pub fn split_generation(name: &str) -> (Option<u32>, &str) {
        let rest = name.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let generation = name
            .strip_suffix(rest)
            .and_then(|number| number.parse().ok());
        (generation, rest)
    }

    /// Returns the key of a rebuild's progress.
    #[must_use]
    pub fn rebuild(&self) -> String {
        self.key("r")
    }

    /// Returns the key of the users whose data a rebuild has written.
    #[must_use]
    pub fn user_hashes(&self) -> String {
        self.key("q")
    }

    /// Returns the key of the users of whom the journal lists an activity twice.
    #[must_use]
    pub fn recounted_users(&self) -> String {
        self.key("r")
    }

    /// Returns the key of the replies of a preview's last steps.
    #[must_use]
    pub fn preview_steps(&self) -> String {
        self.key("s")
    }

    /// Returns the key of the names of a preview's keys.
    #[must_use]
    pub fn preview_names(&self) -> String {
        self.key("k")
    }

    /// Returns the key of the hidden users of a preview.
    #[must_use]
    pub fn preview_hidden(&self) -> String {
        self.key("g")
    }

    /// Returns the key of the activities of a preview that a limit of an action has refused, by member.
    #[must_use]
    pub fn preview_refused(&self, action: &str, limit: &str) -> String {
        self.key(&format!("x:{action}:{limit}"))
    }

    /// Returns the key of the points of a preview by an action, by day and member.
    #[must_use]
    pub fn preview_days(&self, action: &str) -> String {
        self.key(&format!("y:{action}"))
    }

    /// Returns the key of the hash of users, which holds the schema fingerprint.
    #[must_use]
    pub fn users(&self) -> String {
        self.key("p")
    }

    /// Returns the field of a user's flags in the hash of users.
    #[must_use]
    pub fn flags_field(user: &str) -> String {
        format!("{}{user}", Self::FLAGS)
    }

    /// Returns the field of a user's pauses in the hash of users.
    #[must_use]
    pub fn pauses_field(user: &str) -> String {
        format!("{}{user}", Self::PAUSES)
    }

    /// Returns the key of the index of boards and history spans.
    #[must_use]
    pub fn index(&self) -> String {
        self.generation_key("i", "")
    }

    /// Returns the key of the audit log.
    #[must_use]
    pub fn audit_log(&self) -> String {
        self.key("l")
    }

    /// Returns the key of the subjects and reasons of the audit log.
    #[must_use]
    pub fn audit_subjects(&self) -> String {
        self.key("w")
    }

    /// Returns the key of the stream of changes: the outbox of the journal, and what others receive.
    #[must_use]
    pub fn outbox(&self) -> String {
        self.key("o")
    }

    /// Returns the key of the register of targets.
    #[must_use]
    pub fn register(&self) -> String {
        self.generation_key("t", "")
    }

    /// Returns the key of the targets of an author.
    #[must_use]
    pub fn targets_of(&self, author: &str) -> String {
        self.generation_key("u:", author)
    }

    /// Returns the keys that an erasure needs of an author: the list of their targets, and with one shard the register.
    #[must_use]
    pub fn author_keys(&self, user: &str, config: &Config) -> Vec<String> {
        match (config.has_content(), config.shards) {
            (false, _) => Vec::new(),
            (true, 1) => vec![self.targets_of(user), self.register()],
            (true, _) => vec![self.targets_of(user)],
        }
    }

    /// Returns the key of the events.
    #[must_use]
    pub fn events(&self) -> String {
        self.key("v")
    }

    /// Returns the key of the tombstones of erased users.
    #[must_use]
    pub fn tombstones(&self) -> String {
        self.key("e")
    }

    /// Returns the key of the progress of the scheduled jobs.
    #[must_use]
    pub fn progress(&self) -> String {
        self.key("j")
    }

    /// Returns the key of the log of opt-outs.
    #[must_use]
    pub fn opt_outs(&self) -> String {
        self.key("n")
    }

    /// Returns the key of the pending changes.
    #[must_use]
    pub fn pending_changes(&self) -> String {
        self.key("c")
    }

    /// Returns the first keys of every script that begins or continues a change of visibility or an
    /// erasure: users, index, audit log and its subjects, outbox, pending changes, opt-outs,
    /// tombstones.
    #[must_use]
    pub fn moderation_keys(&self) -> Vec<String> {
        vec![
            self.users(),
            self.index(),
            self.audit_log(),
            self.audit_subjects(),
            self.outbox(),
            self.pending_changes(),
            self.opt_outs(),
            self.tombstones(),
        ]
    }

    /// Returns the key of the set of archived boards.
    #[must_use]
    pub fn archived(&self) -> String {
        self.key("a")
    }

    /// Returns the key of the board of a period, of all users or of a group.
    #[must_use]
    pub fn board(&self, period: Period, date: Date, group: Option<&str>) -> String {
        self.board_named(&board_name(period, date, group))
    }

    /// Returns the key of the board of content, or of authors, of a period.
    #[must_use]
    pub fn received_board(&self, kind: BoardKind, period: Period, date: Date) -> String {
        let name = board_name(period, date, None);
        self.board_named(&format!("{}{name}", kind.prefix()))
    }

    /// Returns the key of the board of content with the number of activities with an action.
    #[must_use]
    pub fn count_board(&self, action: &str) -> String {
        // The board of all time is the same on each day.
        let name = board_name(Period::All, Date::from_local_millis(0), Some(action));
        self.board_named(&format!("{}{name}", BoardKind::Content.prefix()))
    }

    /// Returns the key of a number of a day of UTC, see [`daily`](crate::daily).
    #[must_use]
    pub fn daily(&self, day: i64, name: &str) -> String {
        self.key(&format!("V:{day}:{name}"))
    }

    /// Returns the key of the board of an event.
    #[must_use]
    pub fn event_board(&self, event: &str) -> String {
        self.board_named(&event_board_name(event))
    }

    /// Returns the key of the board with a name, see [`board_name`].
    #[must_use]
    pub fn board_named(&self, name: &str) -> String {
        self.generation_key("b", name)
    }

    /// Returns the key of what a recount has made of a board that Redis no longer has.
    #[must_use]
    pub fn corrected_board(&self, name: &str) -> String {
        self.board_named(&format!("{name}{}", Self::CORRECTED))
    }

    /// Returns the name in the key of a board; `None` for any other key.
    #[must_use]
    pub fn board_name_of<'a>(&self, key: &'a str) -> Option<&'a str> {
        key.strip_prefix(self.beginning.as_str())?.strip_prefix('b')
    }

    /// Returns the number of the span that contains a day.
    #[must_use]
    pub fn span(date: Date) -> i32 {
        date.number().div_euclid(Self::SPAN_DAYS)
    }

    /// Returns the key of a user's history in a span.
    #[must_use]
    pub fn history(&self, span: impl Display, user: &str) -> String {
        self.generation_key("h:", &format!("{span}:{user}"))
    }

    /// Parses a history field into its day and action.
    #[must_use]
    pub fn parse_history_field(span: i32, field: &str) -> Option<(Date, &str)> {
        let mut rest = field.chars();
        let day = rest.next().filter(|_| !field.contains(':'))?;
        let number = i32::try_from(day.to_digit(36)?).ok()?;
        let valid = number < Self::SPAN_DAYS && !day.is_ascii_uppercase();
        let first = span.checked_mul(Self::SPAN_DAYS)?;
        let date = Date::numbered(first.checked_add(number)?)?;
        valid.then_some((date, Self::action(rest.as_str())))
    }

    /// Returns whether a daily record has the bit of a day.
    #[must_use]
    pub fn has_day(record: &str, date: Date) -> bool {
        let day = date.number().rem_euclid(Self::SPAN_DAYS);
        let days: u64 = record.parse().unwrap_or_default();
        days >> day & 1 == 1
    }

    /// Returns the action for its letter; any other text is the action itself.
    fn action(code: &str) -> &str {
        let known = ACTION_CODES.iter().find(|(letter, _)| *letter == code);
        known.map_or(code, |(_, action)| *action)
    }

    /// Returns the text that stands for an action in fields.
    #[must_use]
    pub fn action_code(action: &str) -> &str {
        let known = ACTION_CODES.iter().find(|(_, known)| *known == action);
        known.map_or(action, |(letter, _)| *letter)
    }

    /// Returns the field of a deduplication record such as `like:post-7`.
    #[must_use]
    pub fn record_field(record: &str) -> String {
        match record.split_once(':') {
            Some((action, target)) if Self::action_code(action) != action => {
                format!("{}{target}", Self::action_code(action))
            }
            Some(_) | None => record.to_owned(),
        }
    }

    /// Returns the deduplication record of a field.
    #[must_use]
    pub fn record_of_field(field: &str) -> String {
        match field.split_at_checked(1) {
            Some((letter, target)) if Self::action(letter) != letter => {
                format!("{}:{target}", Self::action(letter))
            }
            Some(_) | None => field.to_owned(),
        }
    }

    /// Returns the key of a user's active records.
    #[must_use]
    pub fn active_records(&self, user: &str) -> String {
        self.generation_key("m:", user)
    }

    /// Returns the spans of the undo records that matter at an instant; the first one is written.
    ///
    /// Near the end of a span the next one is read too: a clock that is ahead may have written it.
    #[must_use]
    pub fn undo_spans(now: Instant) -> Vec<i32> {
        let span = undo_span(now);
        let ahead = undo_span(Instant(now.0 + CLOCK_TOLERANCE));
        let mut spans = vec![span, span - 1];
        if ahead > span {
            spans.push(ahead);
        }
        spans
    }

    /// Returns the keys of a user that an erasure deletes at once: those that can be read or written
    /// at an instant, in any time zone.
    #[must_use]
    pub fn own_keys(&self, user: &str, now: Instant) -> Vec<String> {
        let mut keys = vec![self.active_records(user)];
        let day = now.0.div_euclid(Date::MILLIS);
        let [first, last] = [day - DAYS_READ, day + 2];
        let span = |day: i64| day.div_euclid(i64::from(Self::SPAN_DAYS));
        keys.extend((span(first)..=span(last)).map(|span| self.history(span, user)));
        keys
    }

    fn key(&self, rest: &str) -> String {
        [&self.tag, rest].concat()
    }

    /// Returns a key of data that a rebuild replaces.
    fn generation_key(&self, letters: &str, rest: &str) -> String {
        [&self.beginning, letters, rest].concat()
    }
}

/// Returns the number of the span that contains an instant.
fn undo_span(at: Instant) -> i32 {
    let span = at.0.div_euclid(i64::from(Keys::SPAN_DAYS) * Date::MILLIS);
    i32::try_from(span).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::board::parse_board_name;
    use activity_rank_core::id::is_id;

    #[test]
    fn history_field_contains_day_and_action() {
        let date = |text: &str| Date::parse(text).unwrap();
        let last = date("2026-12-13");
        assert_eq!(Keys::span(last), 670);
        assert_eq!(Keys::span(last.next()), 671);
        assert_eq!(Keys::span(date("1969-12-31")), -1);
        for (span, field, expected) in [
            (670, "0like", Some(("2026-11-13", "like"))),
            (670, "0L", Some(("2026-11-13", "like"))),
            (670, "0Lx", Some(("2026-11-13", "Lx"))),
            (670, "72-b", Some(("2026-11-20", "2-b"))),
            (670, "ulike", Some(("2026-12-13", "like"))),
            (-1, "ulike", Some(("1969-12-31", "like"))),
            (670, "vlike", None),
            (670, "Blike", None),
            (670, "go:home", None),
            (670, "-Lpost-7", None),
            (670, "~like", None),
            (670, "", None),
            (i32::MAX, "0like", None),
        ] {
            let expected = expected.map(|(day, action)| (date(day), action));
            let found = Keys::parse_history_field(span, field);
            assert_eq!(found, expected, "{span} {field}");
        }
    }

    /// The hash of users holds fields of several kinds, each with ids of users.
    #[test]
    fn field_prefixes_are_in_no_id() {
        assert!(!is_id(&Keys::FLAGS.to_string()));
        assert!(!is_id(&Keys::PAUSES.to_string()));
        assert!(!is_id(Keys::FINGERPRINT));
        assert_eq!(Keys::flags_field("42"), "!42");
    }

    #[test]
    fn record_field_round_trips() {
        for (record, field) in [
            ("like:post-7", "Lpost-7"),
            ("visit:/a:b", "V/a:b"),
            ("adjust:é", "Aé"),
            ("likes:Lx", "likes:Lx"),
            ("l:x", "l:x"),
            ("~like", "~like"),
        ] {
            assert_eq!(Keys::record_field(record), field);
            assert_eq!(Keys::record_of_field(field), record);
        }
        for odd in ["", "é", "Xpost"] {
            assert_eq!(Keys::record_of_field(odd), odd);
        }
    }

    #[test]
    fn board_name_round_trips() {
        let (keys, date) = (Keys::new("ar", 0, 1), Date::new(2026, 1, 1).unwrap());
        for period in [Period::Day, Period::Week, Period::Month, Period::Year] {
            for group in [None, Some("eu:1")] {
                let key = keys.board(period, date, group);
                let name = keys.board_name_of(&key).unwrap();
                let (first, _) = period.days(date).unwrap();
                let parts = (period, first, group.unwrap_or_default());
                assert_eq!(parse_board_name(name), Some(parts), "{key}");
                assert_eq!(keys.board_named(name), key);
            }
        }
        assert_eq!(keys.board_name_of(&keys.active_records("b")), None);
        let next = Keys::building("ar", 0, 2);
        assert_eq!(next.users(), "{ar:0}2p");
        assert_eq!(keys.board_name_of(&next.board_named("a:all")), None);
        assert_eq!(next.board_name_of("{ar:0}2ba:all"), Some("a:all"));
        for other in "a:all d:2026-02-30 w:2026-W54 w:2026-W0 x:1 d ".split(' ') {
            assert_eq!(parse_board_name(other), None, "{other}");
        }
    }
}
