//! A response from before an outage, served while the store is unavailable.

use crate::calendar::Instant;

/// The body of an earlier response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedResponse {
    /// The JSON object.
    pub body: String,
    /// When the data was read. The body contains every change before this instant.
    pub made: Instant,
}

impl CachedResponse {
    /// Returns the age in seconds.
    #[must_use]
    pub fn age(&self, now: Instant) -> i64 {
        (now.0 - self.made.0).max(0) / 1000
    }

    /// Returns the body with the fields `stale` and `as_of` added; a body that has an `as_of` keeps it, and one that
    /// is not a JSON object stays as it is.
    #[must_use]
    pub fn stale(&self) -> String {
        let Some(fields) = self.body.strip_suffix('}') else {
            return self.body.clone();
        };
        // Texts within the body have escaped quotation marks.
        if fields.contains(",\"as_of\":") {
            return format!("{fields},\"stale\":true}}");
        }
        format!("{fields},\"stale\":true,\"as_of\":\"{}\"}}", self.made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_body_names_its_instant() {
        let cached = CachedResponse {
            body: r#"{"total":0}"#.to_owned(),
            made: Instant(1_795_132_800_000),
        };
        let stale = r#"{"total":0,"stale":true,"as_of":"2026-11-20T00:00:00Z"}"#;
        assert_eq!(cached.stale(), stale);
        let dated = CachedResponse {
            body: r#"{"days":[],"as_of":null}"#.to_owned(),
            ..cached.clone()
        };
        assert_eq!(dated.stale(), r#"{"days":[],"as_of":null,"stale":true}"#);
        let feed = CachedResponse {
            body: "<feed></feed>".to_owned(),
            ..cached.clone()
        };
        assert_eq!(feed.stale(), feed.body);
        assert_eq!(cached.age(Instant(1_795_132_861_999)), 61);
    }
}
