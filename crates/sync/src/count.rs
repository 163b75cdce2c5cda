//! Counts with a unit, for display.

/// Formats a count with its unit: `1 line`, `5,792 lines`.
#[must_use]
pub fn count(number: u64, unit: &str) -> String {
    match number {
        1 => format!("1 {unit}"),
        number => format!("{} {unit}s", separated(number)),
    }
}

/// Formats a number with commas between thousands.
fn separated(number: u64) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", separated(thousands)),
    }
}

/// `1 entry`, `5,792 entries`.
#[must_use]
pub fn count_entries(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        number => count(number, "entrie"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_has_plural_and_thousands_separator() {
        let texts = [0, 1, 5792, 1_000_007].map(|number| count(number, "line"));
        assert_eq!(
            texts,
            ["0 lines", "1 line", "5,792 lines", "1,000,007 lines"]
        );
    }
}
