//! Numbers of things, as people write them.

use indicatif::HumanCount;

/// `1 line`, `5,792 lines`.
#[must_use]
pub fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        number => format!("{} {thing}s", HumanCount(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_thousands_are_grouped() {
        let texts = [0, 1, 5792].map(|number| count(number, "line"));
        assert_eq!(texts, ["0 lines", "1 line", "5,792 lines"]);
    }
}
