//! An active record as the counting script stores it; the header of `count.lua` describes its forms.

use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::event;

/// The boards that points go to: those of a day's periods, of all users and of groups, or that of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardTargets {
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

impl BoardTargets {
    /// Parses the letters of periods and the groups between commas, or the letter and id of an event; `None` if a letter
    /// is unknown.
    #[must_use]
    pub fn parse(date: Date, letters: &str, groups: &str) -> Option<Self> {
        let (mut periods, mut of_event) = (Vec::new(), None);
        let mut groups = groups.split(',').filter(|group| !group.is_empty());
        match letters {
            event::LETTER => of_event = Some(groups.next()?.to_owned()),
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
            event: of_event,
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
    pub fn of_event(date: Date, event: String) -> Self {
        Self {
            event: Some(event),
            ..Self::of_content(date, Vec::new())
        }
    }

    /// Returns the boards of content and of authors alone.
    #[must_use]
    pub fn of_content(date: Date, content: Vec<Period>) -> Self {
        Self {
            date,
            periods: Vec::new(),
            groups: Vec::new(),
            content,
            event: None,
        }
    }
}

/// The deduplication record of an activity that counts until it is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveRecord {
    /// The instant of the last change, in Unix ms.
    pub changed: i64,
    /// The points in smallest steps: one amount for every board, or for an adjustment one for each
    /// board and then one for the day.
    pub amounts: Vec<i64>,
    /// The boards that hold the points.
    pub targets: BoardTargets,
}

impl ActiveRecord {
    /// Parses a stored record.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (text, received) = text.split_once(';').unwrap_or((text, ""));
        let (head, groups) = text.split_once(',').unwrap_or((text, ""));
        let head = head.split_once(':').map_or(head, |(head, _)| head);
        let (changed, amounts, date, periods) = match head.contains(' ') {
            true => Self::parse_words(head)?,
            false => Self::parse_digits(head)?,
        };
        let amounts = amounts.split('/').map(str::parse);
        Some(Self {
            changed,
            amounts: amounts.collect::<Result<_, _>>().ok()?,
            targets: BoardTargets {
                content: Self::parse_content(received)?,
                ..BoardTargets::parse(date, &periods, groups)?
            },
        })
    }

    /// Parses the periods of what others received for the activity: `2wa;17;1`.
    fn parse_content(received: &str) -> Option<Vec<Period>> {
        let (head, _) = received.split_once(';').unwrap_or((received, ""));
        let letters = head.trim_start_matches(|c: char| c.is_ascii_digit());
        letters.chars().map(Period::from_letter).collect()
    }

    /// Parses `changed points day periods`.
    fn parse_words(head: &str) -> Option<(i64, &str, Date, String)> {
        let mut words = head.split(' ');
        let (changed, amounts) = (words.next()?.parse().ok()?, words.next()?);
        let date = Date::numbered(words.next()?.parse().ok()?)?;
        Some((changed, amounts, date, words.next()?.to_owned()))
    }

    /// Parses the points, two digits for periods and day, and 13 digits for the instant.
    fn parse_digits(head: &str) -> Option<(i64, &str, Date, String)> {
        let (rest, changed) = head.split_at_checked(head.len().checked_sub(13)?)?;
        let (amounts, code) = rest.split_at_checked(rest.len().checked_sub(2)?)?;
        let (changed, code): (i64, i32) = (changed.parse().ok()?, code.parse().ok()?);
        let date = Date::of_local_millis(changed).plus(code % 3 - 1);
        let bits = Period::ALL.into_iter().enumerate();
        let periods = bits.filter(|(bit, _)| ((code / 3) >> bit) & 1 == 1);
        let periods = periods.map(|(_, period)| period.letter()).collect();
        Some((changed, amounts, date, periods))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Option<String> {
        let record = ActiveRecord::parse(text)?;
        let (periods, groups) = record.targets.render();
        let (changed, amounts) = (record.changed, record.amounts);
        let BoardTargets { date, content, .. } = record.targets;
        let content: String = content.iter().map(|period| period.letter()).collect();
        Some(format!(
            "{changed} {amounts:?} {date} {periods} [{groups}]{content}"
        ))
    }

    #[test]
    fn record_parses_in_each_form() {
        for (text, expected) in [
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
                "1795132800000 [2] 2026-11-20 dwmya [eu,a|b]",
            ),
            (
                "2941795132800000,eu;2wa;3.17;1;a;b,c",
                "1795132800000 [2] 2026-11-20 dwmya [eu]wa",
            ),
            (
                "2941795132800000:1795132800005;2w;;;bob",
                "1795132800000 [2] 2026-11-20 dwmya []w",
            ),
            ("2941795132800000;2x;17;1", ""),
            ("-5:7,eu", ""),
            ("-5 2 -1 da:7,eu", "-5 [2] 1969-12-31 da [eu]"),
            (
                "1795132800000 -2/0/-2 20777 dw",
                "1795132800000 [-2, 0, -2] 2026-11-20 dw []",
            ),
            (
                "1795132800000 -2/0 20777 e,hackathon",
                "1795132800000 [-2, 0] 2026-11-20 e [hackathon]",
            ),
            ("1795132800000 2/0 20777 e", ""),
            ("1795132800000 2/0 20777 de,hackathon", ""),
            ("1795132800000 2 20777 dx", ""),
            ("2", ""),
            ("", ""),
            ("94ä795132800000", ""),
        ] {
            assert_eq!(rendered(text).unwrap_or_default(), expected, "{text}");
        }
    }
}
