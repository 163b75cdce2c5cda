//! Where it happens: a shard of a site in its store, and its shadow beside it.

use activity_rank::keys::Keys;

use crate::archive::store::Store;

/// A shard and its shadow.
pub struct Place {
    /// The shard in its store.
    pub live: Store,
    /// The keys of the shadow.
    pub keys: Keys,
    /// The store's clock, Unix ms, when this began.
    pub now: i64,
    live_keys: Keys,
}

impl Place {
    /// That of a shard.
    #[must_use]
    pub fn new(live: Store, now: i64) -> Self {
        let live_keys = Keys::new(&live.prefix, live.shard);
        Self {
            live,
            keys: live_keys.shadow(),
            now,
            live_keys,
        }
    }

    /// The keys of the shard.
    #[must_use]
    pub fn live_keys(&self) -> &Keys {
        &self.live_keys
    }

    /// A key of the shard and its shadow, by its name without a tag.
    #[must_use]
    pub fn pair(&self, name: &str) -> [String; 2] {
        let tag = &self.live.tag;
        [format!("{tag}{name}"), format!("{tag}~{name}")]
    }

    /// Shows how far it is.
    pub fn moved(&self, message: impl FnOnce() -> String) {
        self.live.moved(0, &message());
    }
}
