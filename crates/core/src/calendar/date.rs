//! Days of the proleptic Gregorian calendar.

use std::fmt;

/// A calendar day, stored as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// Milliseconds of a day without clock changes.
    pub const MILLIS: i64 = 86_400_000;

    /// Returns the day of a year (1 to 9999), month and day of month; `None` if it does not exist.
    #[must_use]
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        let date = Self::from_civil(year, month, day);
        (date.civil() == (year, month, day)).then_some(date)
    }

    /// Parses `YYYY-MM-DD`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let dashes = bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
        if bytes.len() != 10 || !dashes {
            return None;
        }
        let year = digits(bytes.get(0..4)?)?;
        let month = digits(bytes.get(5..7)?)?;
        let day = digits(bytes.get(8..10)?)?;
        Self::new(i32::try_from(year).ok()?, month, day)
    }

    /// Returns the day with a number of days since 1970-01-01; `None` outside the years 1 to 9999.
    #[must_use]
    pub fn numbered(number: i32) -> Option<Self> {
        let valid = Self::from_civil(1, 1, 1).0..Self::from_civil(10_000, 1, 1).0;
        valid.contains(&number).then_some(Self(number))
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the day of a local time, given in milliseconds since 1970-01-01T00:00.
    #[must_use]
    pub fn from_local_millis(millis: i64) -> Self {
        Self(i32::try_from(millis.div_euclid(Self::MILLIS)).unwrap_or(i32::MAX))
    }

    /// Returns midnight of this day as local time, in milliseconds since 1970-01-01T00:00.
    #[must_use]
    pub fn local_millis(self) -> i64 {
        i64::from(self.0) * Self::MILLIS
    }

    /// Returns the following day.
    #[must_use]
    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// Returns the day that is `days` later, or earlier if `days` is negative.
    #[must_use]
    pub fn plus(self, days: i32) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// Returns the number of days from `earlier` to this day.
    #[must_use]
    pub fn days_since(self, earlier: Self) -> i32 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the first day of a month (1 to 12).
    #[must_use]
    pub(super) fn first_of(year: i32, month: u32) -> Self {
        Self::from_civil(year, month, 1)
    }

    /// Returns the number of days since Monday: 0 to 6.
    #[must_use]
    pub fn weekday(self) -> i32 {
        // 1970-01-01 was a Thursday.
        (self.0 + 3).rem_euclid(7)
    }

    /// Returns the year, the month (1 to 12) and the day of the month.
    ///
    /// The algorithm is from Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". Years
    /// start in March, so the leap day is the last day of a year. All eras of 400 years are equal.
    #[must_use]
    pub fn civil(self) -> (i32, u32, u32) {
        let days = self.0 + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 {
            month_from_march + 3
        } else {
            month_from_march - 9
        };
        let year = year_of_era + era * 400 + i32::from(month <= 2);
        (year, month.unsigned_abs(), day.unsigned_abs())
    }

    fn from_civil(year: i32, month: u32, day: u32) -> Self {
        let (month, day) = (month.cast_signed(), day.cast_signed());
        let year = year - i32::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month_from_march = (month + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Self(era * 146_097 + day_of_era - 719_468)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// Parses ASCII digits; `None` for any other character and on overflow.
pub(super) fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0u32, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
