//! Keeps the text of scripts, to load them on nodes that lack them.
//!
//! On a single Redis server, EVAL and SCRIPT LOAD make a script available to every later EVALSHA. In a
//! cluster EVAL reaches one node only, and a promoted replica may have no scripts at all.

use std::sync::Arc;

use redis::Value;

use crate::{
    command::Command,
    script::{ShaMap, sha1_hex},
};

/// The text of scripts by their SHA-1.
pub(super) struct ScriptCache {
    texts: ShaMap<Arc<[u8]>>,
}

impl ScriptCache {
    /// Creates an empty cache. `capacity` is the maximum total length of all texts, in bytes.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            texts: ShaMap::new(capacity),
        }
    }

    /// Returns the text of the script with this SHA-1, which may be in upper case.
    pub(super) fn get(&self, sha: &[u8]) -> Option<Arc<[u8]>> {
        self.texts.get(sha)
    }

    /// Adds the script of EVAL and SCRIPT LOAD. SCRIPT FLUSH clears the cache. `name` is the name of
    /// the command in upper case.
    pub(super) fn observe(&self, name: &str, command: &Command) {
        let text = match name {
            "EVAL" | "EVAL_RO" => command.argument(1),
            "SCRIPT" if command.argument_is(1, "LOAD") => command.argument(2),
            "SCRIPT" if command.argument_is(1, "FLUSH") => {
                self.texts.clear();
                None
            }
            _ => None,
        };
        if let Some(text) = text {
            let sha = sha1_hex(text);
            // Most scripts are cached already, and need no copy of their text.
            if self.get(sha.as_bytes()).is_none() {
                self.texts.insert(sha, text.into(), text.len());
            }
        }
    }

    /// Marks the cached scripts as existing in the reply to `SCRIPT EXISTS`, because the gateway loads
    /// them when they are run.
    pub(super) fn mark_existing(&self, mut reply: Value, shas: &[Vec<u8>]) -> Value {
        if let Value::Array(exists) = &mut reply {
            for (exists, sha) in exists.iter_mut().zip(shas) {
                if self.get(sha).is_some() {
                    *exists = Value::Int(1);
                }
            }
        }
        reply
    }
}
