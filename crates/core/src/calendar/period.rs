//! The five periods, their ids and the days they span.

use super::Date;
use super::date::digits;

/// A period of boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// One calendar day.
    Day,
    /// An ISO 8601 week, Monday to Sunday.
    Week,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
    /// All time: a single instance that never closes.
    All,
}

impl Period {
    /// Every period, shortest first.
    pub const ALL: [Self; 5] = [Self::Day, Self::Week, Self::Month, Self::Year, Self::All];

    /// Returns the name used in paths and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
            Self::All => "all",
        }
    }

    /// Returns the period with a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|period| period.name() == name)
    }

    /// Returns the letter used in Redis keys and deduplication records.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Day => 'd',
            Self::Week => 'w',
            Self::Month => 'm',
            Self::Year => 'y',
            Self::All => 'a',
        }
    }

    /// Returns the period with a letter.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|period| period.letter() == letter)
    }

    /// Returns the id of the instance that contains a day: `2026-11-20`, `2026-W47`, `2026-11`,
    /// `2026`, `all`.
    #[must_use]
    pub fn id(self, date: Date) -> String {
        let (year, month, _) = date.civil();
        match self {
            Self::Day => date.to_string(),
            Self::Week => {
                let (year, week) = iso_week(date);
                format!("{year:04}-W{week:02}")
            }
            Self::Month => format!("{year:04}-{month:02}"),
            Self::Year => format!("{year:04}"),
            Self::All => "all".to_owned(),
        }
    }

    /// Returns the first day of the instance with an id; `None` for all time and invalid ids.
    #[must_use]
    pub fn first_day(self, id: &str) -> Option<Date> {
        let year = |text: &str| i32::try_from(digits(text.as_bytes())?).ok();
        let date = match self {
            Self::Day => Date::parse(id)?,
            Self::Week => {
                let (week_year, week) = id.split_once("-W")?;
                // January 4 is always in week 1.
                let january_4 = Date::new(year(week_year)?, 1, 4)?;
                let first_monday = january_4.plus(-january_4.weekday());
                first_monday.plus(7 * (year(week)? - 1))
            }
            Self::Month => Date::parse(&format!("{id}-01"))?,
            Self::Year => Date::new(year(id)?, 1, 1)?,
            Self::All => return None,
        };
        (self.id(date) == id).then_some(date)
    }

    /// Returns the first day of the instance that contains a day, and the first day after the
    /// instance; `None` for all time.
    #[must_use]
    pub fn days(self, date: Date) -> Option<(Date, Date)> {
        let (year, month, _) = date.civil();
        match self {
            Self::Day => Some((date, date.next())),
            Self::Week => {
                let monday = date.plus(-date.weekday());
                Some((monday, monday.plus(7)))
            }
            Self::Month => {
                let (next_year, next_month) = if month == 12 {
                    (year + 1, 1)
                } else {
                    (year, month + 1)
                };
                Some((
                    Date::first_of(year, month),
                    Date::first_of(next_year, next_month),
                ))
            }
            Self::Year => Some((Date::first_of(year, 1), Date::first_of(year + 1, 1))),
            Self::All => None,
        }
    }
}

/// Returns the ISO 8601 week-numbering year and week: a week belongs to the year of its Thursday.
fn iso_week(date: Date) -> (i32, i32) {
    let thursday = date.plus(3 - date.weekday());
    let year = thursday.civil().0;
    (year, thursday.days_since(Date::first_of(year, 1)) / 7 + 1)
}
