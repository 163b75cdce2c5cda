//! Spans: the 31 days that share a key, numbered since 1970-01-01.

use activity_rank::calendar::Date;
use activity_rank::keys::Keys;

/// The span of a date; none where it is not one.
#[must_use]
pub fn of_date(date: &str) -> Option<i32> {
    Date::parse(date).map(Keys::span)
}

/// The field of a history that tells of an action on a date.
#[must_use]
pub fn field(date: &str, action: &str) -> Option<String> {
    let number = Date::parse(date)?.number().rem_euclid(Keys::SPAN_DAYS);
    let digit = char::from_digit(number.unsigned_abs(), 36)?;
    Some(format!("{digit}{}", Keys::short(action)))
}

/// The date and the action that a field of a history is about.
#[must_use]
pub fn of_field(span: i32, field: &str) -> Option<(String, &str)> {
    let (date, action) = Keys::of_history(span, field)?;
    Some((date.to_string(), action))
}

/// Dates of a span that are bits of a number, as per-day marks have them.
#[must_use]
pub fn dates(span: i32, bits: &str) -> Option<Vec<String>> {
    let number: u32 = bits.parse().ok()?;
    let known = 0 < number && number < 1 << Keys::SPAN_DAYS && number.to_string() == bits;
    let set = (0..Keys::SPAN_DAYS).filter(|day| (number >> day) & 1 == 1);
    let first = span.checked_mul(Keys::SPAN_DAYS).filter(|_| known)?;
    set.map(|day| Date::numbered(first.checked_add(day)?).map(|date| date.to_string()))
        .collect()
}

/// The number whose bits are dates of a span.
#[must_use]
pub fn bits(span: i32, dates: &[String]) -> Option<u32> {
    let mut bits = 0;
    for date in dates {
        let date = Date::parse(date).filter(|date| Keys::span(*date) == span)?;
        bits |= 1 << date.number().rem_euclid(Keys::SPAN_DAYS);
    }
    (bits != 0).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_bits_of_their_span() {
        let all = |span, bits: &str| dates(span, bits).unwrap_or_default().join(" ");
        assert_eq!(all(670, "1"), "2026-11-13");
        assert_eq!(all(670, "1073741952"), "2026-11-20 2026-12-13");
        assert_eq!(all(-1, "1073741824"), "1969-12-31");
        for none in ["", "0", "01", "-1", "x", "2147483648"] {
            assert_eq!(all(670, none), "", "{none}");
        }
        for (span, number) in [(670, 1_073_741_952), (-22_044, 3)] {
            let dates = dates(span, &number.to_string()).unwrap();
            assert_eq!(bits(span, &dates), Some(number));
            assert_eq!(bits(span + 1, &dates), None);
        }
        assert_eq!(bits(670, &[]), None);
        assert_eq!(bits(670, &["today".to_owned()]), None);
    }

    #[test]
    fn a_field_is_of_a_date_and_an_action() {
        assert_eq!(field("2026-12-13", "wave").unwrap(), "uwave");
        assert_eq!(field("2026-12-13", "like").unwrap(), "uL");
        let (date, action) = of_field(670, "uL").unwrap();
        assert_eq!((date.as_str(), action), ("2026-12-13", "like"));
        assert_eq!(of_date(&date), Some(670));
        assert_eq!(field("2026-13-01", "like"), None);
    }
}
