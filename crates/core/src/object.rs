//! A JSON object serialized from a list, without a map in between.

use serde::{Serialize, Serializer};

/// The members of a JSON object in the order in which they are written.
///
/// The caller makes sure that no name occurs twice.
#[derive(Clone, Debug)]
pub struct Object<K, V>(pub Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
