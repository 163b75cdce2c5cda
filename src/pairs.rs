//! A JSON object written from pairs, without a map in between.

use serde::{Serialize, Serializer};

/// Names and values in the order they are written; no name twice.
#[derive(Clone, Debug)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
