//! `settle.lua`: changes of visibility and erasures that take several steps.
//!
//! Hiding, showing or erasing a user concerns every board of a shard. The first script writes
//! everything but boards, and appends a line to the stored fingerprint. The boards follow in steps that
//! are short at any number of boards: of this request, of later ones and of cron. Every script replies
//! with the stored fingerprint, so a caller that finds a line completes the change on its own boards
//! first, and then repeats its call.

use crate::deployment::{Deployment, MAX_CALLS};
use crate::fingerprint::{self, Participant, pending_changes};
use crate::keys::Keys;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use crate::scripts::SETTLE;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Boards of one step, divided by the number of pending changes. A script that begins a change replies
/// with the keys of one step, and a step takes the boards that it declares.
pub const STEP: u32 = 300;

/// The most steps of one request to the store. The last one replies with the keys of the next request,
/// which takes it longer than the step itself: `make moderation` measures it.
const STEPS: u32 = 8;

/// The steps left on a shard.
struct Work {
    shard: Keys,
    /// Keys for the next steps.
    next: Vec<String>,
    /// The stored fingerprint, if it is known.
    stored: String,
}

impl Work {
    fn new(shard: Keys, next: Vec<String>, stored: &str) -> Self {
        Self {
            shard,
            next,
            stored: stored.to_owned(),
        }
    }

    fn is_complete(&self) -> bool {
        self.next.is_empty() && !self.stored.contains('\n')
    }

    /// Appends the steps of one request. Each takes its part of the keys; the last one replies with the
    /// keys for the next request.
    fn add_steps(&self, deployment: &Deployment, calls: &mut Vec<Command>) {
        let own = incomplete_keys(&self.shard, &self.stored, &deployment.config);
        let boards_of_step = step_size(&self.stored);
        let mut rest = self.next.as_slice();
        let reads_log = self.next == [self.shard.audit_log()];
        for step in 1..=STEPS {
            // A span has several keys: a step takes all of them after its last board.
            let boards = (0..)
                .zip(rest)
                .filter(|(_, key)| self.shard.board_name_of(key).is_some());
            let end = boards.map(|(index, _)| index).nth(boards_of_step);
            let (part, left) = rest.split_at(end.unwrap_or(rest.len()));
            rest = left;
            // The steps through the audit log need no keys.
            let is_last = step == STEPS || rest.is_empty() && !reads_log;
            let names = if is_last { STEPS * STEP } else { 0 };
            let keys = own.iter().chain(part);
            calls.push(settle_call(deployment, &self.shard, "step", names, keys));
            if is_last {
                return;
            }
        }
    }

    /// Decodes the reply to the last step.
    fn receive(&mut self, reply: &Reply) -> Result<(), StoreError> {
        self.next = next_keys(reply)?;
        self.stored = stored_text(reply, 2)?.to_owned();
        Ok(())
    }
}

/// Returns the number of boards of one step.
fn step_size(stored: &str) -> usize {
    let changes = pending_changes(stored).count().max(1);
    (STEP as usize / changes).max(1)
}

fn next_keys(reply: &Reply) -> Result<Vec<String>, StoreError> {
    let keys = reply.at(1)?.list()?.iter();
    keys.map(|key| key.text().map(str::to_owned)).collect()
}

fn stored_text(reply: &Reply, index: usize) -> Result<&str, StoreError> {
    Ok(reply.at(index)?.optional_text()?.unwrap_or_default())
}

fn settle_call<'a>(
    deployment: &Deployment,
    shard: &Keys,
    mode: &str,
    names: u32,
    keys: impl Iterator<Item = &'a String>,
) -> Command {
    let mut all = shard.moderation_keys();
    all.extend(keys.cloned());
    let call = Command::script(&SETTLE, &all);
    let fingerprint = deployment.fingerprint(deployment.shard_of(&call));
    call.arg(&fingerprint).arg(mode).number(names)
}

/// Returns the keys that a script needs to complete erasures which have only begun.
fn incomplete_keys(shard: &Keys, stored: &str, config: &Config) -> Vec<String> {
    let changes = pending_changes(stored);
    let erasures = changes.filter(|change| change.is_incomplete && change.is_erasure);
    let own = erasures.map(|change| match change.participant {
        Participant::User(user) => {
            let mut keys = shard.own_keys(user, change.began);
            keys.extend(shard.author_keys(user, config));
            keys
        }
        Participant::Target(_) => vec![shard.register()],
    });
    own.flatten().collect()
}

/// Takes the next steps of some shards and runs calls after them, in one request. Returns the replies
/// to the calls. Removes the shards that are complete.
async fn run_steps(
    deployment: &Deployment,
    works: &mut Vec<Work>,
    calls: Vec<Command>,
) -> Result<Vec<Reply>, Error> {
    let (mut sent, mut ends) = (Vec::new(), Vec::new());
    for work in works.iter() {
        work.add_steps(deployment, &mut sent);
        ends.push(sent.len());
    }
    let first = sent.len();
    sent.extend(calls);
    let mut replies = deployment.run_scripts(sent).await?;
    for (work, end) in works.iter_mut().zip(ends) {
        work.receive(replies.get(end - 1).unwrap_or(&Reply::Nil))?;
    }
    works.retain(|work| !work.is_complete());
    Ok(replies.split_off(first))
}

/// Calls scripts that begin changes of visibility or erasures, and completes the changes as far as
/// [`MAX_CALLS`] requests allow. Returns the replies to the calls.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] also if an erasure of the same user is pending and not complete after
/// these requests; else as [`Deployment::run_script`].
pub async fn begin(deployment: &Deployment, calls: Vec<Command>) -> Result<Vec<Reply>, Error> {
    let mut works: Vec<Work> = Vec::new();
    let mut begun: Vec<Option<Reply>> = vec![None; calls.len()];
    for _ in 0..MAX_CALLS {
        let pending = calls
            .iter()
            .zip(&begun)
            .filter(|(_, reply)| reply.is_none());
        let sent: Vec<Command> = pending.map(|(call, _)| call.clone()).collect();
        if works.is_empty() && sent.is_empty() {
            break;
        }
        let mut replies = run_steps(deployment, &mut works, sent).await?.into_iter();
        let pending = calls
            .iter()
            .zip(&mut begun)
            .filter(|(_, reply)| reply.is_none());
        for (call, begun) in pending {
            let reply = replies.next().unwrap_or(Reply::Nil);
            let next = next_keys(&reply)?;
            if !next.is_empty() {
                let shard = deployment.keys(deployment.shard_of(call));
                works.retain(|work| work.shard.tag() != shard.tag());
                works.push(Work::new(shard, next, ""));
            }
            // A call that must wait for an erasure replies with nothing else.
            *begun = (reply.list()?.len() > 2).then_some(reply);
        }
    }
    // A reader of a board completes the changes on it first.
    deployment.report_change();
    let begun: Option<Vec<Reply>> = begun.into_iter().collect();
    begun.ok_or_else(unfinished_erasure)
}

/// Continues the pending changes of all shards, by at most so many requests and one more. Returns
/// whether none is left.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn advance(deployment: &Deployment, requests: u32) -> Result<bool, Error> {
    let shards = 0..deployment.config.shards;
    let reads = shards.map(|shard| fingerprint::read(&deployment.keys(shard)));
    let stored = deployment
        .store
        .run(&Pipeline::new(reads.collect()))
        .await?;
    let mut works = Vec::new();
    for (shard, stored) in (0..).zip(&stored) {
        deployment.check(shard, stored)?;
        works.push(Work::new(
            deployment.keys(shard),
            Vec::new(),
            stored.optional_text()?.unwrap_or_default(),
        ));
    }
    works.retain(|work| !work.is_complete());
    for _ in 0..requests {
        if works.is_empty() {
            break;
        }
        run_steps(deployment, &mut works, Vec::new()).await?;
    }
    Ok(works.is_empty())
}

/// A call that found a pending change.
struct Repeated {
    index: usize,
    shard: Keys,
    /// All its keys.
    keys: Vec<String>,
    /// Whether the script writes: it compares its first argument with the stored fingerprint.
    writes: bool,
    /// The stored fingerprint.
    stored: String,
}

impl Repeated {
    /// Returns a call whose reply shows a pending change that concerns it.
    fn new(deployment: &Deployment, index: usize, call: &Command, reply: &Reply) -> Option<Self> {
        let stored = reply.at(0).ok()?.text().ok()?.to_owned();
        let shard = deployment.shard_of(call);
        let repeated = Self {
            index,
            shard: deployment.keys(shard),
            keys: call.keys().map(str::to_owned).collect(),
            writes: call.first_argument() == Some(&deployment.fingerprint(shard)),
            stored,
        };
        let concerned = repeated.writes || repeated.boards().next().is_some();
        (concerned && repeated.stored.contains('\n')).then_some(repeated)
    }

    fn boards(&self) -> impl Iterator<Item = &String> {
        let is_board = |key: &&String| self.shard.board_name_of(key).is_some();
        self.keys.iter().filter(is_board)
    }

    /// Returns whether the call counts for a participant who is being erased, or registers one: the
    /// sweep would remove the new scores.
    fn counts_erased(&self, call: &Command) -> bool {
        // An erasure declares these records too.
        let is_count = self.writes && !self.keys.contains(&self.shard.pending_changes());
        // Authors, members, and receivers after a letter.
        let names = |kinds: &[&str], id: &str| {
            let mut kinds = kinds.iter();
            kinds.any(|kind| call.has_argument(&format!("{kind}{id}")))
        };
        let mut erasures = pending_changes(&self.stored).filter(|change| change.is_erasure);
        let concerns = |participant| match participant {
            Participant::User(user) => {
                self.keys.contains(&self.shard.active_records(user)) || names(&["", "u"], user)
            }
            Participant::Target(member) => names(&["", "t", "o"], member),
        };
        is_count && erasures.any(|change| concerns(change.participant))
    }

    /// Appends the calls that complete the pending changes on the boards of this one, and this one.
    fn add_calls(&self, deployment: &Deployment, call: &Command, calls: &mut Vec<Command>) {
        let own = incomplete_keys(&self.shard, &self.stored, &deployment.config);
        let boards: Vec<&String> = self.boards().collect();
        let step = step_size(&self.stored);
        // Changes on no boards may be incomplete.
        for part in 0..boards.len().div_ceil(step).max(1) {
            let part = boards.iter().skip(part * step).take(step);
            let keys = own.iter().chain(part.copied());
            calls.push(settle_call(deployment, &self.shard, "boards", 0, keys));
        }
        calls.push(match self.writes {
            true => call.with_first_argument(&self.stored),
            false => call.clone(),
        });
    }

    /// Returns whether a reply shows no pending change, or those that were complete on these boards.
    /// Otherwise remembers the stored fingerprint.
    fn accepts(&mut self, settled: &Reply, reply: &Reply) -> Result<bool, StoreError> {
        let stored = stored_text(reply, 0)?;
        // A writing script replies with its first argument, or has changed nothing.
        let accepted = if self.writes {
            stored == self.stored
        } else {
            !stored.contains('\n') || stored == stored_text(settled, 2)?
        };
        stored.clone_into(&mut self.stored);
        Ok(accepted)
    }
}

/// Repeats the calls whose replies show a pending change, after the change is complete on the boards
/// that they declare.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub(crate) async fn repeat_settled(
    deployment: &Deployment,
    calls: &[Command],
    mut replies: Vec<Reply>,
) -> Result<Vec<Reply>, Error> {
    let mut repeated = Vec::new();
    for (index, (call, reply)) in calls.iter().zip(&replies).enumerate() {
        repeated.extend(Repeated::new(deployment, index, call, reply));
    }
    for _ in 0..MAX_CALLS {
        if repeated.is_empty() {
            return Ok(replies);
        }
        let (mut sent, mut ends) = (Vec::new(), Vec::new());
        for call in &mut repeated {
            if let Some(original) = calls.get(call.index) {
                if call.counts_erased(original) {
                    finish_erasure(deployment, call, original).await?;
                }
                call.add_calls(deployment, original, &mut sent);
            }
            ends.push(sent.len());
        }
        let results = deployment.store.run(&Pipeline::new(sent)).await?;
        let mut again = Vec::new();
        for (mut call, end) in repeated.into_iter().zip(ends) {
            if let Some([settled, reply]) = results.get(end - 2..end) {
                let shard = calls.get(call.index).map(|call| deployment.shard_of(call));
                for reply in [settled, reply] {
                    deployment.check(shard.unwrap_or_default(), reply.at(0)?)?;
                }
                if !call.accepts(settled, reply)? {
                    again.push(call);
                } else if let Some(slot) = replies.get_mut(call.index) {
                    slot.clone_from(reply);
                }
            }
        }
        repeated = again;
    }
    if repeated.is_empty() {
        return Ok(replies);
    }
    let cause = "a change of visibility began between every two calls";
    Err(Error::StoreUnavailable(cause.to_owned()))
}

/// Completes the changes of a shard before a call counts for a participant who is being erased.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if [`MAX_CALLS`] requests are not enough.
async fn finish_erasure(
    deployment: &Deployment,
    call: &mut Repeated,
    original: &Command,
) -> Result<(), Error> {
    let mut works = vec![Work::new(call.shard.clone(), Vec::new(), &call.stored)];
    for _ in 0..MAX_CALLS {
        run_steps(deployment, &mut works, Vec::new()).await?;
        call.stored = match works.first() {
            Some(work) => work.stored.clone(),
            None => deployment.fingerprint(deployment.shard_of(original)),
        };
        if !call.counts_erased(original) {
            return Ok(());
        }
    }
    Err(unfinished_erasure())
}

fn unfinished_erasure() -> Error {
    Error::StoreUnavailable("an erasure of this user or target is not complete yet".to_owned())
}
