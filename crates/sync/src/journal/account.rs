//! The recount of accounts, as the journal has it: what else counts by it, so that a rebuild needs no rules and decides nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use activity_rank_core::calendar::Instant;
use serde::{Deserialize, Serialize};

/// A recount of accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountRecount {
    /// The number of the last entry that it has read.
    pub until: u64,
    /// The numbers of the activities that count by it and did not, or the reverse.
    pub changed: BTreeSet<u64>,
    /// For readers of the journal that do not replay it: the number of the entry whose points an entry has, or takes back as an
    /// undo; 0 for none. Entries that say it themselves are absent. Of a receipt, the entry with the receiver: a registration,
    /// or a follow. An undo follows its source, which comes later in the journal if it is of another shard.
    #[serde(default)]
    pub sources: BTreeMap<u64, u64>,
    /// Receipts that the journal lacks.
    #[serde(default)]
    pub receipts: Vec<AddedReceipt>,
}

/// The most bytes of a recount as JSON. D1 stores values of at most 2,000,000 bytes, and the journal escapes this one.
pub const MAX_BYTES: usize = 1_000_000;

impl AccountRecount {
    /// Returns whether it is too large for an entry of the journal.
    #[must_use]
    pub fn is_too_large(&self, max_bytes: usize) -> bool {
        serde_json::to_string(self).is_ok_and(|json| json.len() > max_bytes)
    }

    /// Forgets what only readers need that do not replay the journal.
    pub fn forget_sources(&mut self) {
        self.sources.clear();
        self.receipts.clear();
    }
}

/// A receipt that the journal lacks: the numbers of the activity or undo, of the entry with its points and of the entry with its
/// receiver, as in [`AccountRecount::sources`], and -1 if it takes points back, else 1. It follows the later one of the first two.
pub type AddedReceipt = (u64, u64, u64, i8);

/// The exclusions of members, as the journal has them.
#[derive(Debug, Default)]
pub struct Exclusions(HashMap<String, Vec<String>>);

impl Exclusions {
    /// Replaces the exclusions of a case. Returns all of the member, in the order of the store.
    pub fn set(&mut self, member: &str, case: &str, excluded: &str) -> &[String] {
        let exclusions = self.0.entry(member.to_owned()).or_default();
        let has_case = |exclusion: &str| exclusion.rsplit('/').next() == Some(case);
        exclusions.retain(|exclusion| !has_case(exclusion));
        exclusions.extend(excluded.split_whitespace().map(str::to_owned));
        exclusions
    }

    /// Forgets a member.
    pub fn forget(&mut self, member: &str) {
        self.0.remove(member);
    }

    /// Returns whether activity of a member for another one, with this hash, does not count at an instant.
    #[must_use]
    pub fn contain(&self, member: &str, other: &str, at: Instant) -> bool {
        let exclusions = self.0.get(member).map_or(&[][..], Vec::as_slice);
        exclusions.iter().any(|exclusion| {
            let mut parts = exclusion.split('/');
            let is_other = parts.next() == Some(other);
            let mut instant = || parts.next().unwrap_or_default().parse::<i64>().ok();
            let (from, until) = (instant(), instant());
            let is_since = from.is_some_and(|from| at.0 >= from);
            is_other && is_since && until.is_none_or(|until| at.0 < until)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusions_are_those_of_their_cases() {
        let mut exclusions = Exclusions::default();
        let both = exclusions.set("9", "17", "aa/5//17 bb/5/7/17");
        assert_eq!(both, ["aa/5//17", "bb/5/7/17"]);
        assert_eq!(exclusions.set("9", "7", "aa/1/2/7").len(), 3);
        let contain = |other, at| exclusions.contain("9", other, Instant(at));
        let found = [
            ("aa", 5),
            ("aa", 1),
            ("aa", 2),
            ("aa", 4),
            ("bb", 6),
            ("bb", 7),
        ]
        .map(|(other, at)| contain(other, at));
        assert_eq!(found, [true, true, false, false, true, false]);
        assert!(!exclusions.contain("8", "aa", Instant(5)));
        assert_eq!(exclusions.set("9", "17", ""), ["aa/1/2/7"]);
    }

    #[test]
    fn large_recount_forgets_sources_only() {
        let mut recount = AccountRecount {
            until: 9,
            changed: BTreeSet::from([1]),
            sources: BTreeMap::from([(1, 0)]),
            receipts: vec![(1, 1, 4, -1)],
        };
        let json = r#"{"until":9,"changed":[1],"sources":{"1":0},"receipts":[[1,1,4,-1]]}"#;
        assert_eq!(serde_json::to_string(&recount).unwrap(), json);
        assert!(!recount.is_too_large(json.len()));
        assert!(recount.is_too_large(json.len() - 1));
        recount.forget_sources();
        let expected = AccountRecount {
            until: 9,
            changed: BTreeSet::from([1]),
            ..AccountRecount::default()
        };
        assert_eq!(recount, expected);
    }
}
