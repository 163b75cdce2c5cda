//! Does entries on the shadow: steps, as many in a request as are worth it.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use super::entry::{Entry, What};
use super::place::Place;
use super::scripts::REPLAY;
use super::state::{State, taken_over};
use super::step::{Step, Terms};
use super::steps::Steps;
use crate::failure::Failure;

/// Bytes of a request, about; at most a step more.
const REQUEST_BYTES: usize = 256 * 1024;
/// Entries of a request, at most a step more: some milliseconds of the store.
const REQUEST_ENTRIES: u64 = 200;
/// How often a step may ask for something: never seen to be more than once.
const MOST_CALLS: u32 = 8;

/// Who does them.
pub struct Applier {
    steps: Steps,
    /// How far it is.
    pub state: State,
    /// Entries done so far.
    pub entries: u64,
    /// Whom those were about; of an erasure the hash.
    pub changed: HashSet<String>,
}

/// Where a request has come to.
struct Come {
    /// The entry it is at.
    at: u64,
    /// Steps done.
    done: usize,
    /// The reply of the one that was not.
    asked: Option<Value>,
}

impl Applier {
    /// Goes on where a state is.
    #[must_use]
    pub fn new(steps: Steps, state: State) -> Self {
        Self {
            steps,
            state,
            entries: 0,
            changed: HashSet::new(),
        }
    }

    /// Takes in entries that have been done before.
    pub fn skip(&mut self, entries: &[Entry]) {
        entries
            .iter()
            .filter(|entry| entry.n <= self.state.entry)
            .for_each(|entry| self.steps.skip(entry));
    }

    /// Does those that have not been done.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the store does not answer, another run has gone on, or one cannot be done.
    pub async fn apply(&mut self, place: &Place, entries: Vec<Entry>) -> Result<(), Failure> {
        let terms = Terms {
            keys: place.keys.clone(),
            stamp: self.state.stamp.clone(),
            keep: self.steps.keep,
            now: place.live.now().await?,
        };
        let from = self.state.entry;
        for entry in entries.into_iter().filter(|entry| entry.n > from) {
            self.changed.insert(entry.about().to_owned());
            match entry.what {
                What::Erase { hash } => {
                    self.flush(place, &terms).await?;
                    self.erase(place, entry.n, entry.now, hash).await?;
                }
                What::Activity(_) | What::Moderate { .. } | What::Profile { .. } => {
                    self.steps.add(entry);
                }
            }
        }
        self.flush(place, &terms).await
    }

    /// What was of them before is not in the journal any more; but in the shadow, perhaps.
    async fn erase(
        &mut self,
        place: &Place,
        n: u64,
        now: i64,
        hash: String,
    ) -> Result<(), Failure> {
        let people = place.keys.people();
        let user: Option<String> = place.live.ask(&["HGET", &people, &hash]).await?;
        match user {
            Some(user) => self.steps.erase(n, now, user),
            None => {
                let buried = vec![hash, now.to_string()];
                let step = Step::run("HSET", place.keys.tombstones(), buried);
                self.steps.command(n, step);
            }
        }
        Ok(())
    }

    async fn flush(&mut self, place: &Place, terms: &Terms) -> Result<(), Failure> {
        let mut steps: VecDeque<Step> = self.steps.take().into();
        let mut asked = 0;
        while !steps.is_empty() {
            let come = self.send(place, terms, &steps).await?;
            let mut done = come.done;
            if done == 0 && come.at != self.state.entry {
                // It was done, and the answer lost.
                let last = steps.iter().position(|step| step.n == Some(come.at));
                done = last.ok_or_else(taken_over)? + 1;
            }
            asked = if done > 0 { 0 } else { asked + 1 };
            self.entries += steps.drain(..done).map(|step| step.entries).sum::<u64>();
            self.state.entry = come.at;
            if let (Some(reply), Some(step)) = (come.asked, steps.front_mut()) {
                let told = match reply.get(1) {
                    Some(asked) if asked.as_array().is_some_and(|list| !list.is_empty()) => {
                        step.learn(asked)
                    }
                    Some(_) | None => Err(format!("a script replies {reply}")),
                };
                told.map_err(|what| undone(self.state.entry, &what))?;
            }
            if asked > MOST_CALLS {
                return Err(undone(self.state.entry, "a script asks again and again"));
            }
        }
        Ok(())
    }

    /// Sends the first of these steps.
    async fn send(
        &self,
        place: &Place,
        terms: &Terms,
        steps: &VecDeque<Step>,
    ) -> Result<Come, Failure> {
        let mut keys = vec![place.live_keys().rebuild(), place.keys.again()];
        let mut args = vec![self.state.owner.clone(), self.state.entry.to_string()];
        let (mut bytes, mut entries) = (0, 0);
        for step in steps {
            if bytes > REQUEST_BYTES || entries + step.entries > REQUEST_ENTRIES && entries > 0 {
                break;
            }
            let (words, users) = (step.words(terms), step.users());
            args.push(words.script.to_owned());
            args.push(step.n.map(|n| n.to_string()).unwrap_or_default());
            let counts = [words.keys.len(), words.args.len(), users.len()];
            args.extend(counts.map(|count| count.to_string()));
            let told = words.args.iter().chain(users);
            bytes += told
                .clone()
                .chain(&words.keys)
                .map(String::len)
                .sum::<usize>();
            args.extend(told.cloned());
            keys.extend(words.keys);
            entries += step.entries;
        }
        let reply: Vec<Value> = place.live.run(&REPLAY, &keys, &args).await?;
        let mut reply = reply.into_iter();
        let at = match reply.next() {
            Some(Value::String(at)) => at.parse().ok(),
            _ => return Err(taken_over()),
        };
        let done = reply.next().and_then(|done| done.as_u64());
        let done = done.and_then(|done| usize::try_from(done).ok());
        let odd = || undone(self.state.entry, "the store gives an odd reply");
        Ok(Come {
            at: at.ok_or_else(odd)?,
            done: done.filter(|done| *done <= steps.len()).ok_or_else(odd)?,
            asked: reply.next(),
        })
    }
}

fn undone(entry: u64, what: &str) -> Failure {
    let what = crate::printable::printable(what);
    Failure::Store(format!(
        "what comes after entry {entry} of the journal cannot be done: {what}"
    ))
}
