//! A run of `rebuild` or `verify`: it owns all shards of a deployment.

use super::journal::{Journal, Page};
use super::retention::Retention;
use super::state::{
    Phase, Shard, State, check_live_fingerprint, check_started_fingerprint, delete_state,
};
use crate::archive::fingerprint::MAX_SHARDS;
use crate::archive::store::Store;
use crate::args::{ServiceArgs, StoreArgs};
use crate::failure::Failure;
use crate::printable::printable;
use crate::progress::Progress;
use crate::request_error::RequestError;

/// A run that owns all shards.
pub struct Session {
    /// The journal of the service.
    pub journal: Journal,
    /// Lifetimes of stored data.
    pub retention: Retention,
    /// Whether the journal has any entry. Then every shard has a fingerprint.
    pub has_entries: bool,
    /// The shards in order.
    pub shards: Vec<OwnedShard>,
    store: Store,
}

/// A shard and the state of its rebuild.
pub struct OwnedShard {
    /// The shard.
    pub shard: Shard,
    /// The state at the start of this run.
    pub state: State,
}

impl Session {
    /// Takes ownership of all shards. `fresh` drops the shadow of an earlier run. Changes nothing if
    /// any shard belongs to another deployment.
    ///
    /// # Errors
    ///
    /// [`Failure`] if service or store do not respond, or the data belongs to another deployment.
    pub async fn open(
        service: &ServiceArgs,
        args: &StoreArgs,
        fresh: bool,
    ) -> Result<Self, Failure> {
        let store = Store::new(args, Progress::new(None))?;
        let journal = Journal::new(service, args.retries)?;
        let first = first_page(&store, &journal).await?;
        let (shards, layout) = (first.fingerprint.shards, first.fingerprint.layout);
        let fingerprint = first.fingerprint.to_string();
        let now = store.now().await?;
        let shard = |index| Shard::new(store.with_shard(index, shards), layout, now);
        for index in 0..shards {
            check_live_fingerprint(&shard(index), &fingerprint).await?;
        }
        if fresh {
            // The earlier run may have been started with more shards.
            drop_all((0..MAX_SHARDS).map(shard), &fingerprint).await?;
        }
        for index in 0..shards {
            check_started_fingerprint(&shard(index), &fingerprint).await?;
        }
        let mut owned = Vec::new();
        for shard in (0..shards).map(shard) {
            if State::stored_phase(&shard).await? == Some(Phase::Drop) {
                let mut state = State::acquire(&shard, &fingerprint).await?;
                state.drop_shadow(&shard).await?;
            }
            let state = State::acquire(&shard, &fingerprint).await?;
            owned.push(OwnedShard { shard, state });
        }
        Ok(Self {
            journal,
            retention: first.retention,
            has_entries: !first.entries.is_empty(),
            shards: owned,
            store,
        })
    }

    /// Removes the progress bar.
    pub fn finish_progress(&self) {
        self.store.progress.finish();
    }

    /// Deletes the state of all shards after a complete rebuild.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn delete_states(&self) -> Result<(), Failure> {
        for OwnedShard { shard, .. } in &self.shards {
            delete_state(shard).await?;
        }
        Ok(())
    }
}

/// Reads the first page of the journal and checks that it belongs to this prefix.
async fn first_page(store: &Store, journal: &Journal) -> Result<Page, Failure> {
    let notify = |error: &RequestError, wait| store.progress.retrying(&error.to_string(), wait);
    let page = journal.page(None, 0, notify).await?;
    if page.prefix == store.prefix {
        return Ok(page);
    }
    Err(Failure::Usage(format!(
        "the service uses the prefix {}, not {}: set PREFIX to that of the service",
        printable(&page.prefix),
        store.prefix
    )))
}

/// Drops the shadows of all shards, unless any shard is being swapped.
async fn drop_all(shards: impl Iterator<Item = Shard>, fingerprint: &str) -> Result<(), Failure> {
    let mut started = Vec::new();
    for shard in shards {
        match State::stored_phase(&shard).await? {
            None => {}
            Some(Phase::Replay | Phase::Locked | Phase::Done | Phase::Drop) => started.push(shard),
            Some(Phase::Delete | Phase::Rename) => {
                return Err(Failure::Usage(
                    "a rebuild has started to replace the data and must be completed: run it \
                     without --fresh"
                        .to_owned(),
                ));
            }
        }
    }
    for shard in started {
        let mut state = State::acquire(&shard, fingerprint).await?;
        state.drop_shadow(&shard).await?;
    }
    Ok(())
}
