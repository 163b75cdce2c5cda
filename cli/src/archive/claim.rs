//! A prefix, taken for a restore: until all is written, every shard says so in place of its stamp.
//!
//! The first shard is claimed first and stamped last, so it tells by itself how far a restore is.

use crate::archive::check::Checked;
use crate::archive::key::Key;
use crate::archive::store::Store;
use crate::failure::Failure;

/// Begins what stands in place of the stamp while a restore is under way. A service takes it for
/// the stamp of another version, and answers nothing.
pub const RESTORING: &str = "restoring ";

/// Takes a claim back, where it still stands.
const RELEASE: &str =
    "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0";

/// The claim of one file on a prefix.
pub struct Claim {
    /// The store.
    pub store: Store,
    /// The shards of the site that is restored.
    pub shards: Vec<Store>,
    /// What stands in place of the stamp.
    pub stamp: String,
    /// The stamp that comes.
    site: String,
}

impl Claim {
    /// That of a file.
    #[must_use]
    pub fn new(store: &Store, checked: &Checked) -> Self {
        let shards = checked.stamp.shards;
        Self {
            store: store.clone(),
            shards: (0..shards)
                .map(|shard| store.of_shard(shard, shards))
                .collect(),
            stamp: format!("{RESTORING}{}", checked.digest),
            site: checked.stamp.to_string(),
        }
    }

    /// Takes an empty prefix, or goes on with one that this very file has taken.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] where there is anything else; nothing has changed then.
    pub async fn take(&self, go_on: bool) -> Result<(), Failure> {
        let stamp = self.store.stamp().await?;
        let begun = stamp.as_deref() == Some(self.stamp.as_str());
        match stamp {
            Some(_) if begun && go_on => {}
            Some(_) if begun => {
                let what = "holds a restore of this file that is not finished: add --continue";
                return Err(self.refusal(what));
            }
            Some(held) if held.starts_with(RESTORING) => {
                return Err(self.refusal("holds a restore of another file that is not finished"));
            }
            Some(_) => return Err(self.refusal("holds a site already; choose another PREFIX")),
            None => self.check_empty().await?,
        }
        for (place, shard) in self.shards.iter().enumerate() {
            if self.take_shard(shard, begun).await? {
                continue;
            }
            let taken = self.shards.get(..place).unwrap_or_default();
            for shard in taken.iter().filter(|_| !begun).rev() {
                let keys = [shard.key(&Key::Stamp)];
                let args = [self.stamp.clone()];
                let _: i64 = shard.eval(RELEASE, &keys, &args).await?;
            }
            return Err(self.refusal("has been taken by somebody else just now"));
        }
        Ok(())
    }

    /// Whether a shard is still to be written, and not all there.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn holds(&self, shard: &Store) -> Result<bool, Failure> {
        Ok(shard.stamp().await?.as_deref() == Some(self.stamp.as_str()))
    }

    async fn check_empty(&self) -> Result<(), Failure> {
        let mut cursor = "0".to_owned();
        loop {
            let (next, keys) = self.store.scan_all(&cursor).await?;
            if !keys.is_empty() {
                return Err(self.refusal("is not empty; choose another PREFIX"));
            }
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// Whether a shard is claimed now; or stamped, where that was `begun` before.
    async fn take_shard(&self, shard: &Store, begun: bool) -> Result<bool, Failure> {
        let name = shard.key(&Key::Stamp);
        let command = ["SET", &name, &self.stamp, "NX"];
        let _: Option<String> = shard.ask(&command).await?;
        // Asked again rather than told by SET, whose answer may have been lost and which is then repeated.
        let held = shard.stamp().await?;
        let held = held.as_deref();
        Ok(held == Some(self.stamp.as_str()) || begun && held == Some(self.site.as_str()))
    }

    fn refusal(&self, what: &str) -> Failure {
        Failure::Usage(format!("the prefix {} {what}", self.store.prefix))
    }
}
