//! The texts of scripts that passed by, for nodes that have not seen them.
//!
//! On one Redis, EVAL and SCRIPT LOAD make a script known for good. In a cluster EVAL reaches one
//! node, and a replica that is promoted knows no script at all.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, PoisonError, RwLock},
};

/// SHA-1 → text. Bounded: the oldest is forgotten first. What is forgotten costs one NOSCRIPT,
/// which makes the client send the script.
pub(super) struct Scripts {
    known: RwLock<Known>,
    /// Bytes of all texts together.
    capacity: usize,
}

#[derive(Default)]
struct Known {
    texts: HashMap<String, Arc<[u8]>>,
    oldest_first: VecDeque<String>,
    bytes: usize,
}

impl Scripts {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            known: RwLock::default(),
            capacity,
        }
    }

    /// The text of a script by its name, which may be in upper case.
    pub(super) fn text(&self, sha: &[u8]) -> Option<Arc<[u8]>> {
        let sha = str::from_utf8(sha).ok()?.to_ascii_lowercase();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.texts.get(&sha).cloned()
    }

    pub(super) fn learn(&self, sha: String, text: &[u8]) {
        if text.len() > self.capacity || self.text(sha.as_bytes()).is_some() {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.texts.insert(sha.clone(), text.into()).is_some() {
            return;
        }
        known.bytes += text.len();
        known.oldest_first.push_back(sha);
        while known.bytes > self.capacity {
            let Some(oldest) = known.oldest_first.pop_front() else {
                return;
            };
            if let Some(text) = known.texts.remove(&oldest) {
                known.bytes -= text.len();
            }
        }
    }

    /// After SCRIPT FLUSH no script may come back.
    pub(super) fn forget(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *known = Known::default();
    }
}

#[cfg(test)]
mod tests {
    use super::Scripts;

    #[test]
    fn the_oldest_makes_room_and_a_text_too_large_takes_none() {
        let scripts = Scripts::new(10);
        for (sha, text) in [("a", "aaaa"), ("b", "bbbb"), ("a", "aaaa"), ("c", "cccc")] {
            scripts.learn(sha.to_owned(), text.as_bytes());
        }
        scripts.learn("d".to_owned(), b"ddddddddddd");
        let texts = [b"a", b"B", b"c", b"d"].map(|sha| scripts.text(sha));
        let known = |text: &str| Some(text.as_bytes().into());
        assert_eq!(texts, [None, known("bbbb"), known("cccc"), None]);
    }

    #[test]
    fn forgotten_is_forgotten() {
        let scripts = Scripts::new(10);
        scripts.learn("a".to_owned(), b"aaaa");
        scripts.forget();
        assert_eq!(scripts.text(b"a"), None);
    }
}
