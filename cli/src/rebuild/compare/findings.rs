//! What was found, counted; the first told.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::difference::{Difference, Kind};
use crate::count::count;

/// Differences told one by one.
const TOLD: usize = 20;
/// Differences that are looked at again, beside those by which something would be lost: some tens of
/// megabytes.
const SUSPECTS: usize = 100_000;

/// Differences between a site and its shadow.
#[derive(Debug, Default)]
pub struct Findings {
    /// Keys compared.
    pub keys: u64,
    kinds: BTreeMap<Kind, u64>,
    first: Vec<String>,
    /// Where something is to be looked at again.
    pub suspects: Option<HashMap<(String, String), Difference>>,
    /// Where the store holds more than the journal tells, and it is not because the journal tells
    /// the same twice.
    pub more: Vec<Difference>,
}

impl Findings {
    /// Those of a site that may change meanwhile: differences are suspects for now.
    #[must_use]
    pub fn suspicious() -> Self {
        let mut findings = Self::default();
        findings.suspect();
        findings
    }

    /// From now on what is added may change meanwhile.
    pub fn suspect(&mut self) {
        self.suspects = Some(HashMap::new());
    }

    /// Adds one.
    pub fn add(&mut self, difference: Difference) {
        if let Some(suspects) = &mut self.suspects
            && (difference.more || suspects.len() < SUSPECTS)
        {
            let place = (difference.key.clone(), difference.field.clone());
            suspects.insert(place, difference);
            return;
        }
        self.settled(difference);
    }

    /// Adds one that is sure.
    pub fn settled(&mut self, difference: Difference) {
        *self.kinds.entry(difference.kind).or_default() += 1;
        if self.first.len() < TOLD {
            self.first.push(difference.to_string());
        }
        if difference.more {
            self.more.push(difference);
        }
    }

    /// Leaves out of what is held more what these users have because it was counted again.
    pub fn explained(&mut self, again: &[String]) {
        let known: HashSet<&str> = again.iter().map(String::as_str).collect();
        self.more
            .retain(|difference| !known.contains(difference.user()));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How many keys were compared, as words.
    #[must_use]
    pub fn keys(&self) -> String {
        count(self.keys, "key")
    }

    /// How many there are of each kind, and the first of them, as lines.
    #[must_use]
    pub fn report(&self) -> String {
        if self.is_empty() {
            return "no differences".to_owned();
        }
        let total = self.kinds.values().sum();
        let mut lines = vec![count(total, "difference")];
        let kinds = self.kinds.iter();
        lines.extend(kinds.map(|(kind, number)| format!("  {:<24}{number:>8}", kind.name())));
        lines.extend(self.first.iter().cloned());
        if total > self.first.len() as u64 {
            lines.push("further ones are only counted".to_owned());
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(kind: Kind, user: &str, more: bool) -> Difference {
        Difference {
            kind,
            key: "ba:all".to_owned(),
            field: user.to_owned(),
            others: Vec::new(),
            held: Some("3 points".to_owned()),
            told: None,
            more,
        }
    }

    #[test]
    fn differences_are_counted_by_kind_and_the_first_told() {
        let mut findings = Findings::default();
        assert!(findings.is_empty());
        for user in 0..21 {
            findings.add(difference(Kind::Board, &user.to_string(), false));
        }
        findings.add(difference(Kind::Profile, "42", true));
        let report = findings.report();
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "22 differences",
                "  board                         21",
                "  profile                        1",
                "board all all, 0: 3 points; the journal tells nothing",
            ]
        );
        assert_eq!(lines.len(), 24);
        assert_eq!(lines.last(), Some(&"further ones are only counted"));
    }

    #[test]
    fn what_was_counted_again_explains_what_is_held_more() {
        let mut findings = Findings::default();
        for (user, more) in [("a", true), ("b", true), ("c", false)] {
            findings.add(difference(Kind::Board, user, more));
        }
        findings.explained(&["a".to_owned()]);
        let users: Vec<&str> = findings.more.iter().map(Difference::user).collect();
        assert_eq!(users, ["b"]);
    }
}
