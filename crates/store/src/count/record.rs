//! Active records: the boards on which an activity counted, with how many points, until it is undone.
//!
//! A record is `head[:repeated][,group...][;received]`. `repeated` is the instant of the latest repetition. The head is
//! one number if possible, because Redis stores an integer in ten bytes: the points, two digits, and the 13 digits of
//! the instant. The two digits are `periods * 3 + 1 + offset`: the periods as bits, from the day on; the offset -1, 0 or
//! 1 is the day minus the UTC day of the instant. Any other head is `instant points day periods`, with the day as a
//! number since 1970-01-01 and the letters of the periods. The points of an adjustment are its amounts on each board in
//! their order and then in the history, joined by `/`. The periods `e` mark an adjustment of an event: the groups field
//! holds the event's id.
//!
//! `;2wa;17;1` ends the record of an activity that others receive points for, see [`Received`].

use crate::stream::Received;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::event;

/// The instants that a head of one number can hold, in Unix ms.
const SHORT_INSTANTS: std::ops::Range<i64> = 1_000_000_000_000..10_000_000_000_000;

/// The boards that points go to: those of a day's periods, of all users and of groups, or that of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardSet {
    /// The day.
    pub date: Date,
    /// The periods that contain it.
    pub periods: Vec<Period>,
    /// The groups.
    pub groups: Vec<String>,
    /// The periods with boards of content and of authors.
    pub content: Vec<Period>,
    /// The event whose board an adjustment changes, and no other board.
    pub event: Option<String>,
}

impl BoardSet {
    /// Parses the letters of periods and the groups between commas, or the letter and id of an event; `None` if a letter
    /// is unknown.
    #[must_use]
    pub fn parse(date: Date, letters: &str, groups: &str) -> Option<Self> {
        let (mut periods, mut event) = (Vec::new(), None);
        let mut groups = groups.split(',').filter(|group| !group.is_empty());
        match letters {
            event::LETTER => event = Some(groups.next()?.to_owned()),
            _ => {
                for letter in letters.chars() {
                    periods.push(Period::from_letter(letter)?);
                }
            }
        }
        Some(Self {
            date,
            periods,
            groups: groups.map(str::to_owned).collect(),
            content: Vec::new(),
            event,
        })
    }

    /// Returns the letters and groups that [`Self::parse`] parses.
    #[must_use]
    pub fn render(&self) -> (String, String) {
        match &self.event {
            Some(event) => (event::LETTER.to_owned(), event.clone()),
            None => {
                let letters = self.periods.iter().map(|period| period.letter());
                (letters.collect(), self.groups.join(","))
            }
        }
    }

    /// Returns the board of an event, for an adjustment on a day.
    #[must_use]
    pub fn for_event(date: Date, event: String) -> Self {
        Self {
            event: Some(event),
            ..Self::for_content(date, Vec::new())
        }
    }

    /// Returns the boards of content and of authors alone.
    #[must_use]
    pub fn for_content(date: Date, content: Vec<Period>) -> Self {
        Self {
            date,
            periods: Vec::new(),
            groups: Vec::new(),
            content,
            event: None,
        }
    }

    /// Returns the periods as bits, from the day on.
    fn period_bits(&self) -> u64 {
        let bits = Period::ALL.into_iter().enumerate();
        let bits = bits.filter(|(_, period)| self.periods.contains(period));
        bits.map(|(bit, _)| 1 << bit).sum()
    }

    /// Returns the groups, each after a comma.
    fn listed_groups(&self) -> String {
        self.groups
            .iter()
            .flat_map(|group| [",", group.as_str()])
            .collect()
    }

    /// Returns the day minus the UTC day of an instant, if the record of an activity of this instant can have a head of
    /// one number.
    fn short_offset(&self, at: Instant) -> Option<i64> {
        let utc_day = at.0.div_euclid(Date::MILLIS);
        let offset = i64::from(self.date.number()) - utc_day;
        (SHORT_INSTANTS.contains(&at.0) && (-1..=1).contains(&offset)).then_some(offset)
    }

    /// Returns the record of an activity, without what others receive. `points` are in smallest steps.
    #[must_use]
    pub fn record(&self, at: Instant, points: i64) -> String {
        match self.short_offset(at).filter(|_| points >= 0) {
            Some(offset) => {
                let code = 3 * self.period_bits().cast_signed() + 1 + offset;
                format!("{points}{code:02}{}{}", at.0, self.listed_groups())
            }
            None => format!("{} {points} {}", at.0, self.where_words()),
        }
    }

    /// Returns what a record of an activity of an instant says of its boards, as `user.lua` reads it: `20777 31,eu` with
    /// the periods as bits, or for a head of words `20777 dwmya,eu`.
    #[must_use]
    pub fn where_short(&self, at: Instant) -> String {
        if self.short_offset(at).is_none() {
            return self.where_words();
        }
        let (day, groups) = (self.date.number(), self.listed_groups());
        format!("{day} {}{groups}", self.period_bits())
    }

    /// Returns what a record with a head of words says of its boards: `20777 dwmya,eu`, or `20777 e,hackathon`.
    #[must_use]
    pub fn where_words(&self) -> String {
        let (letters, groups) = self.render();
        let comma = if groups.is_empty() { "" } else { "," };
        format!("{} {letters}{comma}{groups}", self.date.number())
    }
}

/// The deduplication record of an activity that counts until it is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveRecord {
    /// The instant of the activity, in Unix ms.
    pub at: i64,
    /// The points in smallest steps: one amount for every board, or for an adjustment one for each
    /// board and then one for the day.
    pub amounts: Vec<i64>,
    /// The boards that hold the points.
    pub boards: BoardSet,
}

/// An active record that an undo has found, as it is stored and decoded.
#[derive(Clone, Debug)]
pub struct FoundRecord {
    /// The stored text.
    pub text: String,
    /// The record.
    pub record: ActiveRecord,
}

impl FoundRecord {
    /// Parses a stored record.
    #[must_use]
    pub fn parse(text: String) -> Option<Self> {
        let record = ActiveRecord::parse(&text)?;
        Some(Self { text, record })
    }
}

impl ActiveRecord {
    /// Parses a stored record.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (text, received) = text.split_once(';').unwrap_or((text, ""));
        let (head, groups) = text.split_once(',').unwrap_or((text, ""));
        let head = head.split_once(':').map_or(head, |(head, _)| head);
        let (at, amounts, date, periods) = match head.contains(' ') {
            true => Self::parse_words(head)?,
            false => Self::parse_digits(head)?,
        };
        let amounts = amounts.split('/').map(str::parse);
        Some(Self {
            at,
            amounts: amounts.collect::<Result<_, _>>().ok()?,
            boards: BoardSet {
                content: match received {
                    "" => Vec::new(),
                    received => Received::parse(received)?.periods,
                },
                ..BoardSet::parse(date, &periods, groups)?
            },
        })
    }

    /// Parses `instant points day periods`.
    fn parse_words(head: &str) -> Option<(i64, &str, Date, String)> {
        let mut words = head.split(' ');
        let (at, amounts) = (words.next()?.parse().ok()?, words.next()?);
        let date = Date::numbered(words.next()?.parse().ok()?)?;
        Some((at, amounts, date, words.next()?.to_owned()))
    }

    /// Parses the points, two digits for periods and day, and 13 digits for the instant.
    fn parse_digits(head: &str) -> Option<(i64, &str, Date, String)> {
        let (rest, at) = head.split_at_checked(head.len().checked_sub(13)?)?;
        let (amounts, code) = rest.split_at_checked(rest.len().checked_sub(2)?)?;
        let (at, code): (i64, i32) = (at.parse().ok()?, code.parse().ok()?);
        let date = Date::from_local_millis(at).plus(code % 3 - 1);
        let bits = Period::ALL.into_iter().enumerate();
        let periods = bits.filter(|(bit, _)| ((code / 3) >> bit) & 1 == 1);
        let periods = periods.map(|(_, period)| period.letter()).collect();
        Some((at, amounts, date, periods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Option<String> {
        let record = ActiveRecord::parse(text)?;
        let (periods, groups) = record.boards.render();
        let (at, amounts) = (record.at, record.amounts);
        let BoardSet { date, content, .. } = record.boards;
        let content: String = content.iter().map(|period| period.letter()).collect();
        Some(format!(
            "{at} {amounts:?} {date} {periods} [{groups}]{content}"
        ))
    }

    #[test]
    fn record_parses_in_each_form() {
        let day = "1795132800000 [2] 2026-11-20";
        for (text, expected) in [
            ("2941795132800000", format!("{day} dwmya []")),
            (
                "1250951795132800000",
                "1795132800000 [1250] 2026-11-21 dwmya []".to_owned(),
            ),
            (
                "2031795132800000",
                "1795132800000 [2] 2026-11-19 d []".to_owned(),
            ),
            ("2941795132800000:1795132800005", format!("{day} dwmya []")),
            ("2941795132800000,eu,a|b", format!("{day} dwmya [eu,a|b]")),
            (
                "2941795132800000,eu;2wa;3.17;1;a;b,c",
                format!("{day} dwmya [eu]wa"),
            ),
            (
                "2941795132800000:1795132800005;2w;;;bob",
                format!("{day} dwmya []w"),
            ),
            (
                "2941795132800000,eu;2wa>0a4d55a8d778;17;1",
                format!("{day} dwmya [eu]wa"),
            ),
            ("-5 2 -1 da:7,eu", "-5 [2] 1969-12-31 da [eu]".to_owned()),
            (
                "1795132800000 -2/0/-2 20777 dw",
                "1795132800000 [-2, 0, -2] 2026-11-20 dw []".to_owned(),
            ),
            (
                "1795132800000 -2/0 20777 e,hackathon",
                "1795132800000 [-2, 0] 2026-11-20 e [hackathon]".to_owned(),
            ),
        ] {
            assert_eq!(rendered(text), Some(expected), "{text}");
        }
        for text in [
            "2941795132800000;2x;17;1",
            "-5:7,eu",
            "1795132800000 2/0 20777 e",
            "1795132800000 2/0 20777 de,hackathon",
            "1795132800000 2 20777 dx",
            "2",
            "",
            "94ä795132800000",
        ] {
            assert_eq!(rendered(text), None, "{text}");
        }
    }

    #[test]
    fn record_is_one_number_if_possible() {
        let set = |day, letters, groups| {
            let date = Date::numbered(day).unwrap();
            BoardSet::parse(date, letters, groups).unwrap()
        };
        let now = 1_795_132_800_000;
        let grouped = ("2941795132800000,eu,us", "20777 31,eu,us");
        let later = ("1795132800000 2 20779 da", "20779 da");
        for (set, at, (record, place)) in [
            (set(20_777, "dwmya", "eu,us"), now, grouped),
            (set(20_776, "d", ""), now, ("2031795132800000", "20776 1")),
            (set(20_779, "da", ""), now, later),
            (set(-1, "da", "eu"), -5, ("-5 2 -1 da,eu", "-1 da,eu")),
        ] {
            let at = Instant(at);
            assert_eq!(
                (&*set.record(at, 2), &*set.where_short(at)),
                (record, place)
            );
            let parsed = ActiveRecord::parse(record).unwrap();
            let found = (parsed.at, parsed.amounts, parsed.boards);
            assert_eq!(found, (at.0, vec![2], set));
        }
        let event = BoardSet::for_event(Date::numbered(20_777).unwrap(), "hackathon".to_owned());
        assert_eq!(event.where_words(), "20777 e,hackathon");
    }
}
