//! Every Redis key, its hash tag and its lifetime. No other file forms a key.
//!
//! | key | holds | lives |
//! |---|---|---|
//! | `{ar:0}s` | the stamp: the settings the data depends on | for ever |
//! | `{ar:0}i` | the index: boards that exist, and spans of histories | for ever; trims itself |
//! | `{ar:0}p` | profiles, user → JSON | for ever |
//! | `{ar:0}f` | flags, user → hidden by moderators, by themself, frozen | for ever |
//! | `{ar:0}l` | the audit list, a stream | for ever |
//! | `{ar:0}w` | who is meant in it, and why | for ever |
//! | `{ar:0}a` | archived boards, by key: one that is gone is not written anew | for ever |
//! | `{ar:0}o` | the journal's outbox, a stream: what was done and is not in the database yet | until drained |
//! | `{ar:0}e` | tombstones, SHA-1 of an erased user → instant | for ever |
//! | `{ar:0}bd:2026-11-20`, `…:eu` | a board (`d`, `w`, `m`, `y`, `a`), of everybody or of a group | by kind, `a` for ever |
//! | `{ar:0}h:670:42` | a user's history of a span, day and action → count and points | [`Keys::SPAN_SECONDS`] |
//! | `{ar:0}v:670:42` | a user's per-day marks of a span, mark → days | [`Keys::SPAN_SECONDS`] |
//! | `{ar:0}m:42` | a user's standing marks | `KEEP_DAYS.marks` after the last counted activity |
//! | `{ar:0}u:670:42` | a user's undo memory of a span | [`Keys::SPAN_SECONDS`] |
//!
//! A *span* is 31 days, numbered since 1970-01-01: of the site's days for histories and per-day marks,
//! by the clock in UTC for undo memories. In a history a field begins with the day's number in its span
//! as one digit of base 36 (`kwave`: the 21st day); of a per-day mark the days are bits of a number.
//!
//! Actions of the default rules are a letter in fields: `kL` of a history, `Lpost-7` of a mark, where others
//! are spelled out: `wave:post-7`.
//!
//! A rebuild makes all of it anew under `{ar:0}~`, before that takes the place of what there was. While
//! it goes on there are `{ar:0}r`, how far it is (for a day, where the shard is done and others are not), and
//! in the shadow `q`, SHA-1 of users → user, and `r`, users of whom the journal tells something twice.
//!
//! A key tells its parts apart without escaping: the letters after the tag are fixed, dates and
//! numbers contain no `:`, and what a user chose comes last.

use crate::calendar::{Date, Instant, Period};
use std::fmt::Display;

const DAY: u64 = 86_400;

/// Actions that a letter stands for in fields: those of the default rules, and adjustments. No action
/// has a name with such a letter. They are part of what is stored, so they stay as they are.
const LETTERS: [(&str, &str); 7] = [
    ("A", "adjust"),
    ("B", "bookmark"),
    ("C", "comment"),
    ("F", "follow"),
    ("L", "like"),
    ("P", "publish"),
    ("V", "visit"),
];

/// The keys of one shard.
#[derive(Clone, Debug)]
pub struct Keys {
    tag: String,
}

impl Keys {
    /// How many days of history are held, today included.
    pub const HISTORY_DAYS: i32 = 31;

    /// How many days share a history, a hash of per-day marks or an undo memory.
    pub const SPAN_DAYS: i32 = 31;

    /// Lifetime of those in seconds: they are written for 31 days and read for 31 more. (A history's
    /// last day is read for 30 more; the one left is because a day can have 25 hours and a clock can
    /// be a minute off.)
    pub const SPAN_SECONDS: u64 = 62 * DAY;

    /// The keys of a shard under a prefix.
    #[must_use]
    pub fn new(prefix: &str, shard: u32) -> Self {
        Self {
            tag: format!("{{{prefix}:{shard}}}"),
        }
    }

    /// What all of them begin with.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The keys that a rebuild writes: of the same slot, and nobody else's.
    #[must_use]
    pub fn shadow(&self) -> Self {
        Self { tag: self.key("~") }
    }

    /// How far a rebuild is.
    #[must_use]
    pub fn rebuild(&self) -> String {
        self.key("r")
    }

    /// Of a shadow: whose data are in it.
    #[must_use]
    pub fn people(&self) -> String {
        self.key("q")
    }

    /// Of a shadow: of whom something was counted although it had been counted.
    #[must_use]
    pub fn again(&self) -> String {
        self.key("r")
    }

    /// The stamp.
    #[must_use]
    pub fn stamp(&self) -> String {
        self.key("s")
    }

    /// The index of boards and spans of histories.
    #[must_use]
    pub fn index(&self) -> String {
        self.key("i")
    }

    /// The profiles.
    #[must_use]
    pub fn profiles(&self) -> String {
        self.key("p")
    }

    /// The flags of users that are hidden or frozen, or were.
    #[must_use]
    pub fn flags(&self) -> String {
        self.key("f")
    }

    /// The audit list.
    #[must_use]
    pub fn audit(&self) -> String {
        self.key("l")
    }

    /// Who is meant in the audit list, and why it was done.
    #[must_use]
    pub fn who(&self) -> String {
        self.key("w")
    }

    /// The journal's outbox.
    #[must_use]
    pub fn outbox(&self) -> String {
        self.key("o")
    }

    /// When users were erased.
    #[must_use]
    pub fn tombstones(&self) -> String {
        self.key("e")
    }

    /// What scripts begin with that touch all boards: stamp, index, flags, the audit list, who is
    /// meant in it, profiles, the outbox.
    #[must_use]
    pub fn of_everywhere(&self) -> Vec<String> {
        vec![
            self.stamp(),
            self.index(),
            self.flags(),
            self.audit(),
            self.who(),
            self.profiles(),
            self.outbox(),
        ]
    }

    /// The boards that are archived.
    #[must_use]
    pub fn archived(&self) -> String {
        self.key("a")
    }

    /// The board of the period instance that contains a day, for everybody or for a group.
    #[must_use]
    pub fn board(&self, period: Period, date: Date, group: Option<&str>) -> String {
        self.board_named(&Self::board_name(period, date, group))
    }

    /// The board of a name.
    #[must_use]
    pub fn board_named(&self, name: &str) -> String {
        self.key(&format!("b{name}"))
    }

    /// What tells a board from all others of a site: `d:2026-11-20`, `d:2026-11-20:eu`.
    #[must_use]
    pub fn board_name(period: Period, date: Date, group: Option<&str>) -> String {
        let (letter, id) = (period.letter(), period.id(date));
        match group {
            Some(group) => format!("{letter}:{id}:{group}"),
            None => format!("{letter}:{id}"),
        }
    }

    /// The name in the key of a board; `None` where it is another key.
    #[must_use]
    pub fn name_of<'a>(&self, key: &'a str) -> Option<&'a str> {
        key.strip_prefix(self.tag.as_str())?.strip_prefix('b')
    }

    /// The period, its first day and the group that a board's name tells; `None` of all time too.
    #[must_use]
    pub fn parts_of(name: &str) -> Option<(Period, Date, &str)> {
        let mut parts = name.splitn(3, ':');
        let period = Period::from_letter(parts.next()?.chars().next()?)?;
        let date = period.first_day(parts.next()?)?;
        Some((period, date, parts.next().unwrap_or_default()))
    }

    /// The span that a day lies in.
    #[must_use]
    pub fn span(date: Date) -> i32 {
        date.number().div_euclid(Self::SPAN_DAYS)
    }

    /// A user's history of a span.
    #[must_use]
    pub fn history(&self, span: impl Display, user: &str) -> String {
        self.key(&format!("h:{span}:{user}"))
    }

    /// The day and the action that a field of a history is about.
    #[must_use]
    pub fn of_history(span: i32, field: &str) -> Option<(Date, &str)> {
        let mut rest = field.chars();
        let day = rest.next()?;
        let number = i32::try_from(day.to_digit(36)?).ok()?;
        let written = number < Self::SPAN_DAYS && !day.is_ascii_uppercase();
        let first = span.checked_mul(Self::SPAN_DAYS)?;
        let date = Date::numbered(first.checked_add(number)?)?;
        written.then_some((date, Self::action(rest.as_str())))
    }

    /// The action that a letter stands for; anything else is one.
    fn action(short: &str) -> &str {
        let known = LETTERS.iter().find(|(letter, _)| *letter == short);
        known.map_or(short, |(_, action)| *action)
    }

    /// What stands for an action in fields.
    #[must_use]
    pub fn short(action: &str) -> &str {
        let known = LETTERS.iter().find(|(_, known)| *known == action);
        known.map_or(action, |(letter, _)| *letter)
    }

    /// The field of a mark such as `like:post-7`.
    #[must_use]
    pub fn field_of(mark: &str) -> String {
        match mark.split_once(':') {
            Some((action, target)) if Self::short(action) != action => {
                format!("{}{target}", Self::short(action))
            }
            Some(_) | None => mark.to_owned(),
        }
    }

    /// The mark of a field.
    #[must_use]
    pub fn mark_of(field: &str) -> String {
        match field.split_at_checked(1) {
            Some((letter, target)) if Self::action(letter) != letter => {
                format!("{}:{target}", Self::action(letter))
            }
            Some(_) | None => field.to_owned(),
        }
    }

    /// A user's per-day marks of a span.
    #[must_use]
    pub fn day_marks(&self, span: impl Display, user: &str) -> String {
        self.key(&format!("v:{span}:{user}"))
    }

    /// A user's standing marks.
    #[must_use]
    pub fn marks(&self, user: &str) -> String {
        self.key(&format!("m:{user}"))
    }

    /// A user's undo memories that can matter at an instant, the one to write first.
    ///
    /// The one after is read too: a clock that runs ahead may have written to it already.
    #[must_use]
    pub fn undo_memories(&self, user: &str, now: Instant) -> Vec<String> {
        let span = undo_span(now);
        let ahead = undo_span(Instant(now.0 + crate::CLOCK_TOLERANCE));
        let mut spans = vec![span, span - 1];
        if ahead > span {
            spans.push(ahead);
        }
        spans
            .into_iter()
            .map(|span| self.undo_memory(span, user))
            .collect()
    }

    /// Every undo memory of a user that can exist at an instant.
    pub fn all_undo_memories(&self, user: &str, now: Instant) -> impl Iterator<Item = String> {
        // Written late in its span, one lives to the end of the second span after.
        let span = undo_span(now);
        (span - 2..=span + 1).map(move |span| self.undo_memory(span, user))
    }

    fn undo_memory(&self, span: i64, user: &str) -> String {
        self.key(&format!("u:{span}:{user}"))
    }

    fn key(&self, rest: &str) -> String {
        format!("{}{rest}", self.tag)
    }
}

/// The span that an instant lies in.
fn undo_span(at: Instant) -> i64 {
    at.0.div_euclid(i64::from(Keys::SPAN_DAYS) * Date::MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_history_tells_its_day() {
        let date = |text: &str| Date::parse(text).unwrap();
        let last = date("2026-12-13");
        assert_eq!(Keys::span(last), 670);
        assert_eq!(Keys::span(last.next()), 671);
        assert_eq!(Keys::span(date("1969-12-31")), -1);
        for (span, field, told) in [
            (670, "0like", Some(("2026-11-13", "like"))),
            (670, "0L", Some(("2026-11-13", "like"))),
            (670, "0Lx", Some(("2026-11-13", "Lx"))),
            (670, "72-b", Some(("2026-11-20", "2-b"))),
            (670, "ulike", Some(("2026-12-13", "like"))),
            (-1, "ulike", Some(("1969-12-31", "like"))),
            (670, "vlike", None),
            (670, "Blike", None),
            (670, "~like", None),
            (670, "", None),
            (i32::MAX, "0like", None),
        ] {
            let told = told.map(|(day, action)| (date(day), action));
            assert_eq!(Keys::of_history(span, field), told, "{span} {field}");
        }
    }

    #[test]
    fn a_mark_s_field_has_a_letter_or_the_whole_action() {
        for (mark, field) in [
            ("like:post-7", "Lpost-7"),
            ("visit:/a:b", "V/a:b"),
            ("adjust:é", "Aé"),
            ("likes:Lx", "likes:Lx"),
            ("l:x", "l:x"),
            ("~like", "~like"),
        ] {
            assert_eq!(Keys::field_of(mark), field);
            assert_eq!(Keys::mark_of(field), mark);
        }
        for odd in ["", "é", "Xpost"] {
            assert_eq!(Keys::mark_of(odd), odd);
        }
    }

    #[test]
    fn a_boards_name_tells_its_period_and_group() {
        let (keys, date) = (Keys::new("ar", 0), Date::new(2026, 1, 1).unwrap());
        for period in [Period::Day, Period::Week, Period::Month, Period::Year] {
            for group in [None, Some("eu:1")] {
                let key = keys.board(period, date, group);
                let name = keys.name_of(&key).unwrap();
                let (first, _) = period.days(date).unwrap();
                let parts = (period, first, group.unwrap_or_default());
                assert_eq!(Keys::parts_of(name), Some(parts), "{key}");
                assert_eq!(keys.board_named(name), key);
            }
        }
        assert_eq!(keys.name_of(&keys.marks("b")), None);
        let shadow = keys.shadow();
        assert_eq!(shadow.outbox(), "{ar:0}~o");
        assert_eq!(keys.name_of(&shadow.board_named("a:all")), None);
        assert_eq!(shadow.name_of("{ar:0}~ba:all"), Some("a:all"));
        for other in [
            "a:all",
            "d:2026-02-30",
            "w:2026-W54",
            "w:2026-W0",
            "x:1",
            "",
            "d",
        ] {
            assert_eq!(Keys::parts_of(other), None, "{other}");
        }
    }
}
