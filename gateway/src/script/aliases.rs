//! Under which name a client knows a script, and under which Redis does.

use std::{
    collections::{HashMap, VecDeque},
    sync::{PoisonError, RwLock},
};

/// SHA-1 of a script as sent → SHA-1 of the script as Redis has it. Bounded: the oldest is
/// forgotten first. What is forgotten costs one NOSCRIPT, which makes the client send the script.
pub(crate) struct Aliases {
    known: RwLock<Known>,
    capacity: usize,
}

#[derive(Default)]
struct Known {
    real: HashMap<String, String>,
    oldest_first: VecDeque<String>,
}

impl Aliases {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            known: RwLock::default(),
            capacity,
        }
    }

    /// The name Redis has for `alias`, which may be in upper case.
    pub(crate) fn real(&self, alias: &[u8]) -> Option<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.real.is_empty() {
            return None;
        }
        let alias = str::from_utf8(alias).ok()?;
        known
            .real
            .get(alias)
            .or_else(|| known.real.get(&alias.to_ascii_lowercase()))
            .cloned()
    }

    pub(crate) fn learn(&self, alias: String, real: String) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.real.insert(alias.clone(), real).is_some() {
            return;
        }
        known.oldest_first.push_back(alias);
        if known.oldest_first.len() > self.capacity
            && let Some(oldest) = known.oldest_first.pop_front()
        {
            known.real.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Aliases;

    #[test]
    fn the_oldest_is_forgotten_first_and_a_repeat_takes_no_place() {
        let aliases = Aliases::new(2);
        for name in ["a", "b", "b", "a", "c"] {
            aliases.learn(name.to_owned(), format!("real {name}"));
        }
        assert_eq!(aliases.real(b"a"), None);
        assert_eq!(aliases.real(b"b").as_deref(), Some("real b"));
        assert_eq!(aliases.real(b"c").as_deref(), Some("real c"));
    }

    #[test]
    fn a_name_may_be_in_upper_case_or_no_text_at_all() {
        let aliases = Aliases::new(2);
        aliases.learn("abc".to_owned(), "def".to_owned());
        assert_eq!(aliases.real(b"ABC").as_deref(), Some("def"));
        assert_eq!(aliases.real(b"\xff"), None);
    }
}
