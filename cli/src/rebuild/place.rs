//! Where it happens: a site in a store, and its shadow beside it.

use activity_rank::keys::Keys;

use crate::archive::progress::Progress;
use crate::archive::store::Store;
use crate::args::StoreArgs;
use crate::failure::Failure;

/// A site and its shadow.
pub struct Place {
    /// The site in its store.
    pub live: Store,
    /// The keys of the shadow.
    pub keys: Keys,
    /// The store's clock, Unix ms, as it was last asked.
    pub now: i64,
    live_keys: Keys,
}

impl Place {
    /// The place that the arguments name.
    ///
    /// # Errors
    ///
    /// [`Failure`] without a token, or where the store does not answer.
    pub async fn new(args: &StoreArgs) -> Result<Self, Failure> {
        let live = Store::new(args, Progress::new(None))?;
        let live_keys = Keys::new(&args.prefix, 0);
        Ok(Self {
            now: live.now().await?,
            live,
            keys: live_keys.shadow(),
            live_keys,
        })
    }

    /// The keys of the site.
    #[must_use]
    pub fn live_keys(&self) -> &Keys {
        &self.live_keys
    }

    /// A key of the site and its shadow, by its name without a tag.
    #[must_use]
    pub fn pair(&self, name: &str) -> [String; 2] {
        let tag = &self.live.tag;
        [format!("{tag}{name}"), format!("{tag}~{name}")]
    }

    /// Shows how far it is.
    pub fn moved(&self, parts: u64, message: impl FnOnce() -> String) {
        self.live.progress.moved(parts, message());
    }
}
