//! Counts with a unit, for display.

use indicatif::HumanCount;

/// Formats a count with its unit: `1 line`, `5,792 lines`.
#[must_use]
pub fn count(number: u64, unit: &str) -> String {
    match number {
        1 => format!("1 {unit}"),
        number => format!("{} {unit}s", HumanCount(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_has_plural_and_thousands_separator() {
        let texts = [0, 1, 5792].map(|number| count(number, "line"));
        assert_eq!(texts, ["0 lines", "1 line", "5,792 lines"]);
    }
}
