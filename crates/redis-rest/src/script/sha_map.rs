//! A bounded map whose keys are the SHA-1 of scripts.

use std::{
    collections::{HashMap, VecDeque},
    sync::{PoisonError, RwLock},
};

/// A bounded map from the SHA-1 of a script, in lower-case hexadecimal, to a value.
///
/// The oldest entry is evicted first. EVALSHA of a script without an entry may return NOSCRIPT, and
/// clients then send the script again.
pub(crate) struct ShaMap<V> {
    entries: RwLock<Entries<V>>,
    /// Maximum total size of the entries.
    capacity: usize,
}

struct Entries<V> {
    /// The value and size of each entry.
    values: HashMap<String, (V, usize)>,
    oldest_first: VecDeque<String>,
    /// Total size of the entries.
    size: usize,
}

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            oldest_first: VecDeque::new(),
            size: 0,
        }
    }
}

impl<V: Clone + PartialEq> ShaMap<V> {
    /// Creates an empty map. `capacity` is the maximum total size of the entries.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            entries: RwLock::default(),
            capacity,
        }
    }

    /// Returns the value for `sha`, which may be in upper case.
    pub(crate) fn get(&self, sha: &[u8]) -> Option<V> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        if entries.values.is_empty() {
            return None;
        }
        let sha = str::from_utf8(sha).ok()?;
        let entry = entries
            .values
            .get(sha)
            .or_else(|| entries.values.get(&sha.to_ascii_lowercase()));
        entry.map(|(value, _size)| value.clone())
    }

    /// Adds an entry, or replaces the value of the entry for `sha`, and evicts the oldest entries if
    /// necessary. Ignores an entry larger than the capacity.
    pub(crate) fn insert(&self, sha: String, value: V, size: usize) {
        // Most entries are known, and readers do not wait for each other.
        if size > self.capacity || self.get(sha.as_bytes()).is_some_and(|known| known == value) {
            return;
        }
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.values.insert(sha.clone(), (value, size)) {
            Some((_replaced, size)) => entries.size -= size,
            None => entries.oldest_first.push_back(sha),
        }
        entries.size += size;
        while entries.size > self.capacity {
            let Some(oldest) = entries.oldest_first.pop_front() else {
                return;
            };
            if let Some((_value, size)) = entries.values.remove(&oldest) {
                entries.size -= size;
            }
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        *entries = Entries::default();
    }
}

#[cfg(test)]
mod tests {
    use super::ShaMap;

    /// Returns a map to which text entries with their length as size were added.
    fn map(capacity: usize, entries: &[(&str, &'static str)]) -> ShaMap<&'static str> {
        let map = ShaMap::new(capacity);
        for (sha, text) in entries {
            map.insert((*sha).to_owned(), *text, text.len());
        }
        map
    }

    #[test]
    fn oldest_entry_is_evicted_first() {
        // A repeated insert does not add another entry.
        let map = map(
            10,
            &[("a", "aaaa"), ("b", "bbbb"), ("a", "aaaa"), ("c", "cccc")],
        );
        let values = [b"a", b"b", b"c"].map(|sha| map.get(sha));
        assert_eq!(values, [None, Some("bbbb"), Some("cccc")]);
    }

    #[test]
    fn entry_larger_than_capacity_is_ignored() {
        let map = map(4, &[("a", "aaaa"), ("b", "bbbbb")]);
        assert_eq!([map.get(b"a"), map.get(b"b")], [Some("aaaa"), None]);
    }

    #[test]
    fn insert_replaces_value() {
        let map = map(5, &[("a", "aaaa"), ("a", "a"), ("b", "bbbb")]);
        assert_eq!([map.get(b"a"), map.get(b"b")], [Some("a"), Some("bbbb")]);
    }

    #[test]
    fn lookup_ignores_case_and_accepts_any_bytes() {
        let map = map(4, &[("abc", "aaaa")]);
        assert_eq!(map.get(b"ABC"), Some("aaaa"));
        assert_eq!(map.get(b"\xff"), None);
    }

    #[test]
    fn clear_removes_all_entries() {
        let map = map(4, &[("a", "aaaa")]);
        map.clear();
        assert_eq!(map.get(b"a"), None);
    }
}
