//! Replays the journal of a shard into the next generation: plans each page and applies it in batches.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use std::sync::LazyLock;

use activity_rank_core::content::StoredTarget;
use activity_rank_store::fingerprint::pending_changes;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::{
    ACCOUNT, ADJUST, AWARD, COUNT, ERASE, MODERATE, MODERATE_TARGET, PROFILES, RECEIVE, SETTLE,
    Script,
};
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use super::account::AccountRecount;
use super::journal::{Change, Entry, Page};
use super::past::Past;
use super::plan::{AllBoardsScript, CallContext, Planner, Step};
use super::purpose::Recount;
use super::session::Session;
use super::settings::Settings;
use super::source::{Source, read_page};
use super::state::{OwnedShard, Shard, State, lost_ownership};
use super::store::{functions, script};
use crate::count::count_entries;
use crate::failure::Failure;
use crate::printable::printable;

/// Approximate size of a request; the last entries may exceed it.
const REQUEST_BYTES: usize = 256 * 1024;
/// Entries in one request. They block Redis for some milliseconds.
const REQUEST_ENTRIES: u64 = 200;
/// Largest number of consecutive requests of a step for more data: a step that changes boards makes one
/// for every [`NAMES`](super::plan::NAMES) names of the index.
const MAX_DATA_REQUESTS: u32 = 100_000;
/// Replays before a comparison or a swap: each one leaves fewer new entries.
const LIVE_REPLAYS: u32 = 3;

/// `replay.lua` with the service's scripts as functions.
static REPLAY: LazyLock<Script> = LazyLock::new(|| {
    let mut text = include_str!("dated.lua").to_owned();
    text.push_str("local scripts = {}\n");
    text.push_str(&functions(&[
        ("adjust", &ADJUST),
        ("count", &COUNT),
        ("receive", &RECEIVE),
        ("account", &ACCOUNT),
        ("award", &AWARD),
        ("moderate", &MODERATE),
        ("moderate_target", &MODERATE_TARGET),
        ("profiles", &PROFILES),
        ("erase", &ERASE),
        ("settle", &SETTLE),
    ]));
    text.push_str(include_str!("replay.lua"));
    script(text.leak())
});

/// The replay of a shard's journal.
pub struct Replay {
    journal: Source,
    /// The changes of the last recount of accounts.
    past: Option<Rc<Past>>,
    applier: Applier,
    settings: Settings,
    start: Instant,
    /// The number of the last entry to apply.
    pub last: u64,
}

impl Replay {
    /// Continues at the stored position. Reads the journal first, for its recounts, and the applied part again for
    /// its expiries and users.
    ///
    /// # Errors
    ///
    /// As [`Source::page`].
    pub async fn resume(session: &Session, owned: &OwnedShard) -> Result<Self, Failure> {
        let (shard, state) = (&owned.shard, owned.state.clone());
        let applied = state.entry;
        let store = &shard.store;
        let shadow = shard.written.clone();
        let planner = || {
            let shadow = shadow.clone();
            Planner::new(shadow, session.retention, store.shard, store.shards)
        };
        let mut replay = Self {
            journal: session.journal.clone(),
            past: session.past(None).await?,
            settings: session.settings.clone(),
            applier: Applier {
                planner: planner(),
                state,
                entries: 0,
                changed: HashSet::new(),
            },
            start: Instant::now(),
            last: u64::MAX,
        };
        if let Some(recount) = replay.read_recounts(shard, applied).await? {
            replay.past = session.past(Some(recount)).await?;
            replay.applier.planner = planner();
            replay.read_recounts(shard, applied).await?;
        }
        let planner = &mut replay.applier.planner;
        match &session.recount {
            Some(Recount::Rules(rules)) => planner.recounts.0.push((u64::MAX, rules.clone())),
            Some(Recount::Event(recount)) => {
                planner.add_recount(u64::MAX, &recount.event, &recount.line);
            }
            Some(Recount::Accounts(_)) | None => {}
        }
        planner.begin_events(applied);
        Ok(replay)
    }

    /// Reads the recounts of the journal, and the expiries and users of applied entries. Returns a recount of accounts that
    /// is later than the known one: the entries before it become others.
    async fn read_recounts(
        &mut self,
        shard: &Shard,
        applied: u64,
    ) -> Result<Option<AccountRecount>, Failure> {
        let (mut next, mut accounts) = (Some(0), None::<AccountRecount>);
        while let Some(after) = next {
            let page = self.page(shard, after).await?;
            let planner = &mut self.applier.planner;
            for entry in page.entries {
                if entry.number <= applied {
                    planner.skip(&entry);
                }
                match entry.change {
                    Change::Rules(rules) => planner.recounts.0.push((entry.number, rules)),
                    Change::Event {
                        event,
                        definitions,
                        is_recount: true,
                        ..
                    } => {
                        if let Some(line) = definitions.line_of(&event) {
                            planner.add_recount(entry.number, &event, line);
                        }
                    }
                    Change::Accounts(recount) => accounts = Some(recount),
                    _ => {}
                }
            }
            next = page.next;
        }
        let known = self.past.as_ref().map(|past| past.until());
        Ok(accounts.filter(|recount| known.is_none_or(|known| known < recount.until)))
    }

    /// Returns the number of the last entry that is applied.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.applier.state.entry
    }

    /// Returns the number of entries that this run has applied.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.applier.entries
    }

    /// Applies almost all entries while the service adds more.
    ///
    /// # Errors
    ///
    /// As [`Replay::catch_up`].
    pub async fn approach_end(&mut self, shard: &Shard) -> Result<(), Failure> {
        for _ in 0..LIVE_REPLAYS {
            if self.catch_up(shard).await?.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Applies all entries of the journal. Returns the users and the members of targets of the applied
    /// entries; the hash of an erased user.
    ///
    /// # Errors
    ///
    /// [`Failure`] if service or store do not respond, or an entry cannot be applied.
    pub async fn catch_up(&mut self, shard: &Shard) -> Result<HashSet<String>, Failure> {
        self.applier.changed.clear();
        let mut page = self.page(shard, self.applier.state.entry).await?;
        loop {
            let (mut entries, next) = (std::mem::take(&mut page.entries), page.next);
            entries.retain(|entry| entry.number <= self.last);
            let until = entries.last().map(|entry| entry.applied_at);
            let Some(next) = next else {
                self.applier.apply(shard, entries).await?;
                self.show_progress(shard, until);
                return Ok(std::mem::take(&mut self.applier.changed));
            };
            // The next page is read while this one is applied.
            let next_page = read_page(&self.journal, shard, &self.settings, next);
            let (next_page, applied) = tokio::join!(next_page, self.applier.apply(shard, entries));
            applied?;
            page = replaced(self.past.as_deref(), shard, next, next_page?);
            self.show_progress(shard, until);
        }
    }

    async fn page(&self, shard: &Shard, after: u64) -> Result<Page, Failure> {
        let page = read_page(&self.journal, shard, &self.settings, after);
        page.await
            .map(|page| replaced(self.past.as_deref(), shard, after, page))
    }

    fn show_progress(&self, shard: &Shard, until: Option<i64>) {
        let entries = self.entries();
        shard.show_progress(|| {
            let rate = entries as f64 / self.start.elapsed().as_secs_f64().max(0.001);
            let until = until.and_then(|until| Timestamp::from_millisecond(until).ok());
            let until = until.map(|until| format!(", until {until:.0}"));
            let (entries, until) = (count_entries(entries), until.unwrap_or_default());
            format!("{entries}, {rate:.0}/s{until}")
        });
    }
}

/// Returns a page after a recount of accounts.
fn replaced(past: Option<&Past>, shard: &Shard, after: u64, mut page: Page) -> Page {
    if let Some(past) = past {
        past.replace(shard.store.shard, after, page.next, &mut page.entries);
    }
    page
}

/// Formats the number of applied entries, the duration and the rate.
#[must_use]
pub fn format_throughput(entries: u64, start: Instant) -> String {
    let seconds = start.elapsed().as_secs_f64();
    let rate = entries as f64 / seconds.max(0.001);
    format!("{} in {seconds:.1} s ({rate:.0}/s)", count_entries(entries))
}

/// Applies entries to the shadow.
struct Applier {
    planner: Planner,
    state: State,
    /// Number of entries applied by this run.
    entries: u64,
    /// Users and targets of the entries applied since the last [`Replay::catch_up`].
    changed: HashSet<String>,
}

/// The reply of `replay.lua`.
struct ReplayReply {
    /// Number of the last applied entry.
    entry: u64,
    /// Number of applied steps.
    applied: usize,
    /// The reply of the first step that was not applied.
    pending: Option<Value>,
}

impl Applier {
    /// Applies the entries after the current position.
    async fn apply(&mut self, shard: &Shard, entries: Vec<Entry>) -> Result<(), Failure> {
        let context = CallContext {
            keys: shard.written.clone(),
            fingerprint: shard.fingerprint.clone(),
            retention: self.planner.retention,
            now: shard.store.now().await?,
            shard: shard.store.shard,
            shards: shard.store.shards,
        };
        let position = self.state.entry;
        for entry in entries.into_iter().filter(|entry| entry.number > position) {
            let participants = entry.participants().map(str::to_owned);
            self.changed.extend(participants);
            let (number, then) = (entry.completes, entry.applied_at);
            match entry.change {
                Change::Erase { hash, actor } => {
                    // The user may be new in a step that is not applied yet.
                    self.flush(shard, &context).await?;
                    self.erase(shard, (number, then), hash, actor).await?;
                }
                Change::ModerateTarget {
                    target,
                    verb,
                    reason,
                    actor,
                } => {
                    // The same holds for the registration.
                    self.flush(shard, &context).await?;
                    let script = AllBoardsScript::ModerateTarget {
                        author: listing_author(shard, &target).await?,
                        verb,
                        reason,
                        actor,
                    };
                    let participant = format!("\t{target}");
                    self.planner
                        .change_all_boards(number, then, script, participant);
                }
                Change::Activity(_)
                | Change::Receive(_)
                | Change::Target(_)
                | Change::List { .. }
                | Change::Event { .. }
                | Change::Account { .. }
                | Change::Award { .. }
                | Change::Case { .. }
                | Change::Exclude { .. }
                | Change::Moderate { .. }
                | Change::Pause { .. }
                | Change::Profile { .. }
                | Change::Refused(_)
                | Change::Rules(_)
                | Change::Accounts(_)
                | Change::Nothing => self.planner.add(entry),
            }
        }
        self.flush(shard, &context).await
    }

    /// Plans an erasure. The journal has no earlier entries of the user any more, but the shadow may
    /// have the user's data from an earlier run.
    async fn erase(
        &mut self,
        shard: &Shard,
        (entry, then): (u64, i64),
        hash: String,
        actor: String,
    ) -> Result<(), Failure> {
        let users = shard.written.user_hashes();
        let command = Command::new("HGET").args([&users, &hash]);
        let user: Option<String> = shard.store.run(command).await?;
        match user {
            Some(user) => {
                self.planner.forget_accounts(&user);
                let script = AllBoardsScript::Erase { actor };
                self.planner.change_all_boards(entry, then, script, user);
            }
            None => {
                let tombstone = vec![hash, then.to_string()];
                let step = Step::command("HSET", shard.written.tombstones(), tombstone);
                self.planner.complete_with(entry, vec![step]);
            }
        }
        Ok(())
    }

    /// Sends all planned steps.
    async fn flush(&mut self, shard: &Shard, context: &CallContext) -> Result<(), Failure> {
        let mut steps: VecDeque<Step> = self.planner.take().into();
        let mut data_requests = 0;
        while !steps.is_empty() {
            let reply = self.send(shard, context, &steps).await?;
            let mut applied = reply.applied;
            if applied == 0 && reply.entry != self.state.entry {
                // An earlier attempt of this request was applied, but its response was lost.
                let last = steps
                    .iter()
                    .position(|step| step.entry == Some(reply.entry));
                applied = last.ok_or_else(lost_ownership)? + 1;
            }
            data_requests = if applied > 0 { 0 } else { data_requests + 1 };
            let done = steps.drain(..applied);
            self.entries += done.map(|step| step.entries).sum::<u64>();
            self.state.entry = reply.entry;
            if let (Some(reply), Some(step)) = (reply.pending, steps.front_mut()) {
                let supplied = if is_incomplete(&reply, &context.fingerprint) {
                    step.complete_change(context)
                } else if reply.to_string().contains("\"score-overflow\"") {
                    let error = "a score would exceed its maximum: the rules give too many points";
                    Err(error.to_owned())
                } else {
                    step.supply(&reply)
                };
                supplied.map_err(|error| replay_failed(self.state.entry, &error))?;
            }
            if data_requests > MAX_DATA_REQUESTS {
                let error = "a script requested data too many times";
                return Err(replay_failed(self.state.entry, error));
            }
        }
        Ok(())
    }

    /// Sends as many of the first steps as fit into one request.
    async fn send(
        &self,
        shard: &Shard,
        context: &CallContext,
        steps: &VecDeque<Step>,
    ) -> Result<ReplayReply, Failure> {
        let mut keys = vec![shard.keys.rebuild(), shard.written.recounted_users()];
        let mut args = vec![self.state.owner.clone(), self.state.entry.to_string()];
        let (mut bytes, mut entries, mut is_counting) = (0, 0, false);
        for (index, step) in steps.iter().enumerate() {
            // Counting steps are in one request with the step that completes their entries. The next run after an interruption
            // would apply them again, which looks as if the journal repeated activity.
            if !is_counting {
                let last = steps.iter().skip(index).find(|step| step.entry.is_some());
                let more = last.map_or(0, |step| step.entries);
                if bytes > REQUEST_BYTES || entries + more > REQUEST_ENTRIES && entries > 0 {
                    break;
                }
            }
            let (call, users) = (step.encode(context), step.users());
            is_counting = step.entry.is_none() && (is_counting || !users.is_empty());
            args.push(call.script.to_owned());
            args.push(
                step.entry
                    .map(|entry| entry.to_string())
                    .unwrap_or_default(),
            );
            let counts = [call.keys.len(), call.args.len(), users.len()];
            args.extend(counts.map(|count| count.to_string()));
            let words = call.args.iter().chain(&users);
            let sizes = words.clone().chain(&call.keys).map(String::len);
            bytes += sizes.sum::<usize>();
            args.extend(words.cloned());
            keys.extend(call.keys);
            entries += step.entries;
            // The steps after it would be sent again.
            if step.requests_record() {
                break;
            }
        }
        let command = Command::script(&REPLAY, &keys).args(&args);
        let reply: Vec<Value> = shard.store.run(command).await?;
        let mut reply = reply.into_iter();
        let entry = match reply.next() {
            Some(Value::String(entry)) => entry.parse().ok(),
            _ => return Err(lost_ownership()),
        };
        let applied = reply.next().and_then(|applied| applied.as_u64());
        let applied = applied.and_then(|applied| usize::try_from(applied).ok());
        let invalid = || replay_failed(self.state.entry, "unexpected reply of the store");
        Ok(ReplayReply {
            entry: entry.ok_or_else(invalid)?,
            applied: applied
                .filter(|applied| *applied <= steps.len())
                .ok_or_else(invalid)?,
            pending: reply.next(),
        })
    }
}

/// Returns the author of a target according to the shadow, if the list of the author is on the same shard.
async fn listing_author(shard: &Shard, member: &str) -> Result<Option<String>, Failure> {
    if shard.store.shards > 1 {
        return Ok(None);
    }
    let register = shard.written.register();
    let command = Command::new("HGET").args([register.as_str(), member]);
    let registration: Option<String> = shard.store.run(command).await?;
    let stored = registration.and_then(|text| StoredTarget::parse(&text));
    Ok(stored.and_then(|stored| stored.author))
}

/// Returns whether a script has replied with nothing but the fingerprint of its shard, because a change
/// is incomplete.
fn is_incomplete(reply: &Value, fingerprint: &str) -> bool {
    if reply.get(1).is_some() {
        return false;
    }
    let stored = reply.get(0).and_then(Value::as_str).unwrap_or_default();
    let lines = stored.strip_prefix(fingerprint).unwrap_or_default();
    lines.starts_with('\n') && pending_changes(stored).any(|change| change.is_incomplete)
}

fn replay_failed(entry: u64, error: &str) -> Failure {
    Failure::Store(format!(
        "the journal cannot be replayed after entry {entry}: {}",
        printable(error)
    ))
}
