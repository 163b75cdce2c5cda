//! Calls that a rebuild has overtaken.
//!
//! A rebuild writes the next generation of the data beside the present one. Then it changes the fingerprint of each shard.
//! A script that writes compares the fingerprint with that of its caller, and one that reads replies with it: a call for
//! another generation is repeated with the keys of the present one. Before the end of a rebuild, the writers of a shard may
//! have to wait for the rebuild to have caught up.
//!
//! A response that takes several requests, or reads several shards, could mix two generations. [`Deployment::may_mix`]
//! says so, and the response is made again.

use super::Deployment;
use crate::fingerprint::Stored;
use crate::keys::Keys;
use crate::redis::{Command, Pipeline, Reply};
use crate::scripts::RESUME;
use activity_rank_core::error::Error;

/// How long a writer waits for the end of a rebuild before it ends the pause itself, in milliseconds: the process that
/// rebuilds may have been killed.
const MAX_PAUSE: u32 = 500;

/// How long a writer waits between two attempts, in milliseconds.
const STEP: u32 = 25;

impl Deployment {
    /// Returns how often the data of a shard was found replaced.
    #[must_use]
    pub fn replacements(&self) -> u32 {
        self.known.replacements.get()
    }

    /// Returns whether what was read since [`Self::replacements`] were `seen` may be of several generations. Waits for a
    /// moment if some shards still have the former one.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn may_mix(&self, seen: u32) -> Result<bool, Error> {
        if self.known_generations_differ() {
            // Nothing may have been read from some shards since they have another one.
            self.read_fingerprints().await?;
            if self.known_generations_differ() {
                (self.wait)(STEP).await;
            }
            return Ok(true);
        }
        Ok(self.replacements() != seen)
    }

    fn known_generations_differ(&self) -> bool {
        let known = self.known.shards.borrow();
        let mut generations = known.values().map(|known| known.generation);
        let first = generations.next();
        generations.any(|generation| Some(generation) != first)
    }

    /// Returns whether a call has run on the present data of its shard, whose stored fingerprint it has found. Remembers
    /// the generation.
    pub(super) fn accepts(&self, call: &Command, stored: &Reply) -> Result<bool, Error> {
        let (shard, expected) = (self.shard_of(call), generation_of(call));
        if let (Reply::Text(text), Some(expected)) = (stored, expected)
            && self.with_known(shard, |known| {
                known.generation == expected && known.fingerprint == *text
            })
        {
            return Ok(true);
        }
        let present = self.check(shard, stored)?;
        let is_present = present.is_none() || expected.is_none() || present == expected;
        Ok(is_present && !is_paused(call, stored))
    }

    /// Repeats the calls that have not run on the present data, until all have.
    pub(super) async fn repeat_refused(
        &self,
        calls: &mut Pipeline,
        replies: &mut [Reply],
    ) -> Result<(), Error> {
        let mut waited = 0;
        loop {
            let (mut places, mut repeated, mut pauses) = (Vec::new(), Vec::new(), Vec::new());
            for (call, reply) in calls.commands_mut().iter_mut().zip(&mut *replies) {
                let stored = reply.at(0)?;
                if self.accepts(call, stored)? {
                    continue;
                }
                if is_paused(call, stored) {
                    let resume =
                        Command::script(&RESUME, &[self.keys(self.shard_of(call)).users()]);
                    let text = stored.text()?;
                    pauses.push(resume.arg(text).arg(Stored::parse(text).unpaused));
                }
                *call = self.on_present_data(call);
                repeated.push(call.clone());
                places.push(reply);
            }
            if repeated.is_empty() {
                return Ok(());
            }
            if !pauses.is_empty() && waited < MAX_PAUSE {
                (self.wait)(STEP).await;
                waited += STEP;
                pauses.clear();
            }
            let ended = pauses.len();
            let sent = pauses.into_iter().chain(repeated);
            let new = self.store.run(&Pipeline::new(sent.collect())).await?;
            for (place, reply) in places.into_iter().zip(new.into_iter().skip(ended)) {
                *place = reply;
            }
        }
    }

    /// Returns a call for the present data of its shard.
    pub(super) fn on_present_data(&self, call: &Command) -> Command {
        let Some(expected) = generation_of(call) else {
            return call.clone();
        };
        let shard = self.shard_of(call);
        let tag = call.shard();
        let (former, present) = self.with_known(shard, |known| {
            let beginning = |generation| format!("{{{tag}}}{generation}");
            (beginning(expected), beginning(known.generation))
        });
        let moved = call.with_key_beginning(&former, &present);
        match compared_generation(call) {
            Some(_) => moved.with_first_argument(&self.fingerprint(shard)),
            None => moved,
        }
    }
}

/// Returns the generation in the fingerprint that a script compares with the stored one; `None` if it compares none.
fn compared_generation(call: &Command) -> Option<u32> {
    Stored::parse(call.first_argument()?).generation
}

/// Returns the generation that a call expects; `None` if it needs none.
fn generation_of(call: &Command) -> Option<u32> {
    compared_generation(call).or_else(|| {
        call.keys()
            .find_map(|key| Keys::split_generation(after_tag(key)).0)
    })
}

fn after_tag(key: &str) -> &str {
    key.split_once('}').map_or("", |(_, name)| name)
}

/// Returns whether a script has refused to write because writers wait.
fn is_paused(call: &Command, stored: &Reply) -> bool {
    matches!(stored, Reply::Text(text) if Stored::parse(text).is_paused)
        && compared_generation(call).is_some()
}
