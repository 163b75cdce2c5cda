//! What went through the forwarder.

use bytes::Bytes;
use serde_json::Value;

/// One request that the Worker sent to its store.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Such as `/pipeline`.
    pub path: String,
    /// As sent.
    pub body: Bytes,
}

impl Recorded {
    /// The commands of a `/pipeline` or `/multi-exec`, each an array of arguments.
    ///
    /// # Panics
    ///
    /// When the body is no array of arrays.
    #[must_use]
    pub fn commands(&self) -> Vec<Vec<Value>> {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{} with {:?}: {error}", self.path, self.body))
    }
}
