//! A run of `rebuild` or `verify`: it owns all shards of a deployment.

use super::journal::{Journal, Page};
use super::retention::Retention;
use super::rules::RecountRules;
use super::state::{
    Phase, Purpose, Shard, State, check_live_fingerprint, check_started_fingerprint, delete_state,
};
use crate::archive::fingerprint::{Fingerprint, MAX_SHARDS};
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
    /// The purpose of the shadows.
    pub purpose: Purpose,
    /// The rules by which the journal is counted again.
    pub rules: Option<RecountRules>,
    fingerprint: String,
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
    /// `purpose` returns the purpose for the settings of the service. A recount that no earlier run has started begins
    /// as a rebuild: the data is compared first.
    ///
    /// # Errors
    ///
    /// [`Failure`] if service or store do not respond, or the data belongs to another deployment.
    pub async fn open(
        service: &ServiceArgs,
        args: &StoreArgs,
        fresh: bool,
        purpose: impl FnOnce(&Fingerprint) -> Result<Purpose, Failure>,
    ) -> Result<Self, Failure> {
        let store = Store::new(args, Progress::new(None))?;
        let journal = Journal::new(service, args.retries)?;
        let first = first_page(&store, &journal).await?;
        let (shards, layout) = (first.fingerprint.shards, first.fingerprint.layout);
        let mut purpose = purpose(&first.fingerprint)?;
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
        let (mut is_started, mut phases) = (false, Vec::new());
        for index in 0..shards {
            let shard = shard(index);
            check_started_fingerprint(&shard, &fingerprint).await?;
            let mut stored = State::stored_purpose(&shard).await?;
            if stored == Some(Purpose::Preview.stored()) {
                let mut state = State::acquire(&shard, &fingerprint, &purpose).await?;
                state.drop_shadow(&shard).await?;
                stored = None;
            }
            phases.push(State::stored_phase(&shard).await?);
            is_started |= stored == Some(purpose.stored());
        }
        if !is_started && matches!(purpose, Purpose::Recount(_)) {
            purpose = Purpose::Rebuild;
        }
        // All shards have a state before the first one is swapped: an earlier run has completed if some have none.
        let is_complete = |phase: &Option<Phase>| matches!(phase, None | Some(Phase::Done));
        let is_complete = phases.contains(&Some(Phase::Done)) && phases.iter().all(is_complete);
        let mut owned = Vec::new();
        for (shard, phase) in (0..shards).map(shard).zip(phases) {
            if is_complete && phase.is_none() {
                let state = State::done(&fingerprint, &purpose);
                owned.push(OwnedShard { shard, state });
                continue;
            }
            let is_replay = matches!(phase, Some(Phase::Replay | Phase::Locked));
            if phase == Some(Phase::Drop) || is_replay && State::is_partial(&shard).await? {
                let mut state = State::acquire(&shard, &fingerprint, &purpose).await?;
                state.drop_shadow(&shard).await?;
            }
            let state = State::acquire(&shard, &fingerprint, &purpose).await?;
            owned.push(OwnedShard { shard, state });
        }
        Ok(Self {
            journal,
            retention: first.retention,
            has_entries: !first.entries.is_empty(),
            shards: owned,
            rules: purpose.rules().cloned(),
            purpose,
            fingerprint,
            store,
        })
    }

    /// Checks that no shard has an unfinished run with another purpose, but for a swap, which any run completes.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if one has.
    pub fn check_purpose(&self) -> Result<(), Failure> {
        let purpose = self.purpose.stored();
        let is_other = |state: &State| {
            state.purpose != purpose && !matches!(state.phase, Phase::Delete | Phase::Rename)
        };
        let other = self.shards.iter().find(|owned| is_other(&owned.state));
        let Some(OwnedShard { state, .. }) = other else {
            return Ok(());
        };
        let run = match state.purpose.as_str() {
            "" => "a rebuild is unfinished: run rebuild first",
            _ => "a recount is unfinished: run it again with the same rules",
        };
        Err(Failure::Usage(format!(
            "{run}, or use --fresh to start over"
        )))
    }

    /// Checks that no earlier run has locked a shard or swapped one.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if one has.
    pub fn check_unlocked(&self) -> Result<(), Failure> {
        self.check_purpose()?;
        let mut shards = self.shards.iter();
        match shards.all(|owned| owned.state.phase == Phase::Replay) {
            true => Ok(()),
            false => Err(Failure::Usage(
                "a rebuild is unfinished: run rebuild first".to_owned(),
            )),
        }
    }

    /// Deletes the shadows of all shards.
    ///
    /// # Errors
    ///
    /// As [`State::drop_shadow`].
    pub async fn drop_shadows(&mut self) -> Result<(), Failure> {
        for OwnedShard { shard, state } in &mut self.shards {
            state.drop_shadow(shard).await?;
        }
        Ok(())
    }

    /// Deletes the shadows of a run that refuses the data, unless a shard is locked or rebuilt.
    ///
    /// # Errors
    ///
    /// As [`State::drop_shadow`].
    pub async fn refuse(&self) -> Result<(), Failure> {
        for OwnedShard { shard, .. } in &self.shards {
            if State::stored_phase(shard).await? != Some(Phase::Replay) {
                return Ok(());
            }
        }
        for OwnedShard { shard, state } in &self.shards {
            let mut state = State {
                phase: Phase::Replay,
                ..state.clone()
            };
            state.drop_shadow(shard).await?;
        }
        Ok(())
    }

    /// Returns the result of a comparison. Deletes the shadows if the store has data that no run can compare.
    ///
    /// # Errors
    ///
    /// The failure of the comparison, or as [`State::drop_shadow`].
    pub async fn end<T>(&self, compared: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(Failure::Data(_)) = compared {
            self.refuse().await?;
        }
        compared
    }

    /// Deletes the shadows of all shards and begins new ones.
    ///
    /// # Errors
    ///
    /// As [`State::drop_shadow`].
    pub async fn restart(&mut self, purpose: Purpose) -> Result<(), Failure> {
        self.drop_shadows().await?;
        for OwnedShard { shard, state } in &mut self.shards {
            *state = State::acquire(shard, &self.fingerprint, &purpose).await?;
        }
        self.rules = purpose.rules().cloned();
        self.purpose = purpose;
        Ok(())
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
        let mut state = State::acquire(&shard, fingerprint, &Purpose::Rebuild).await?;
        state.drop_shadow(&shard).await?;
    }
    Ok(())
}
