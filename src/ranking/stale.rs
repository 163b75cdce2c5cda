//! What was known lately, for while the store is away.

use crate::calendar::Instant;

/// An answer as it once was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The JSON object.
    pub body: String,
    /// It holds what had happened by then, and maybe some of what came right after.
    pub made: Instant,
}

impl Copy {
    /// How many seconds ago it was made.
    #[must_use]
    pub fn age(&self, now: Instant) -> i64 {
        (now.0 - self.made.0).max(0) / 1000
    }

    /// The answer, saying that it is of then.
    #[must_use]
    pub fn stale(&self) -> String {
        let fields = self.body.strip_suffix('}').unwrap_or_default();
        format!("{fields},\"stale\":true,\"as_of\":\"{}\"}}", self.made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_answer_says_of_when_it_is() {
        let copy = Copy {
            body: r#"{"total":0}"#.to_owned(),
            made: Instant(1_795_132_800_000),
        };
        let said = r#"{"total":0,"stale":true,"as_of":"2026-11-20T00:00:00Z"}"#;
        assert_eq!(copy.stale(), said);
        assert_eq!(copy.age(Instant(1_795_132_861_999)), 61);
    }
}
