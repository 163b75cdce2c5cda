//! Whose data are in a shadow, by the hash that an erasure tells of them.

use std::collections::HashSet;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// Users that are written down, or will be with the next step.
#[derive(Debug, Default)]
pub struct People {
    known: HashSet<String>,
    new: Vec<String>,
}

impl People {
    /// Takes in a user who is written down.
    pub fn skip(&mut self, user: &str) {
        self.known.insert(user.to_owned());
    }

    /// Takes in a user.
    pub fn meet(&mut self, user: &str) {
        if self.known.insert(user.to_owned()) {
            self.new.extend([hash(user), user.to_owned()]);
        }
    }

    /// Those who are new, each with their hash before.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

/// SHA-1 of a user, as erasures and tombstones name them.
#[must_use]
pub fn hash(user: &str) -> String {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, user.as_bytes());
    let hex = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
    hex.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_new_once() {
        let mut people = People::default();
        people.skip("7");
        for user in ["42", "7", "42"] {
            people.meet(user);
        }
        let hash = "92cfceb39d57d914ed8b14d0e37643de0797ae56";
        assert_eq!(people.take(), [hash, "42"]);
        people.meet("42");
        assert!(people.take().is_empty());
    }
}
