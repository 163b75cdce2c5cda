//! Lets what a rebuild has written count in the place of the present generation.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use activity_rank_core::account::Accounts;
use activity_rank_store::fingerprint::{self, Stored, paused};
use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::Script;
use futures_util::future::try_join_all;
use serde::Deserialize;
use tokio::time::Instant;

use super::compare::audit;
use super::corrections::{Names, keep};
use super::purpose::Purpose;
use super::replay::Replay;
use super::retention::EXPIRED_TTL;
use super::state::{
    OwnedShard, Shard, State, check_owner, lost_ownership, other_deployment, reject_pending_changes,
};
use super::store::{Cursor, script};
use crate::failure::Failure;

static SWEEP: LazyLock<Script> = LazyLock::new(|| script(include_str!("sweep.lua")));
static RESTORE: LazyLock<Script> = LazyLock::new(|| script(include_str!("restore.lua")));
static SWAP: LazyLock<Script> = LazyLock::new(|| script(include_str!("swap.lua")));

/// Keys in one request.
const REQUEST_KEYS: usize = 500;
/// Fields in one page of a hash.
const PAGE: u32 = 1000;
/// Largest time in seconds that the index keeps a span of histories: longer than any history lives.
const SPAN_SECONDS: i64 = 63 * 86_400;
/// Attempts of a single shard while the service writes. Then writers wait: for 500 ms at most, and the next attempt follows.
const ATTEMPTS_BEFORE_PAUSE: u32 = 3;
/// In the place of the id of an entry: the stream has none with it.
const NOT_READ: &str = "";
/// Attempts in all.
const MAX_ATTEMPTS: u32 = 30;

/// A field of a hash: its name, its value as compared, and that of the rebuild.
type Restored = (String, Option<String>, Option<String>);

/// The reply of `swap.lua`.
#[derive(Deserialize)]
#[serde(untagged)]
enum SwapReply {
    /// `swapped`, `lost`, or the id of the last entry of the stream.
    Text(String),
    /// The stored fingerprint.
    Fingerprint([String; 1]),
}

/// Prepares the swap of a shard whose journal has been replayed: all work that does not depend on the last entries.
///
/// # Errors
///
/// [`Failure`] if the store does not respond, or another run owns the rebuild.
pub async fn prepare<'a>(
    owned: &'a OwnedShard,
    corrections: &Names,
) -> Result<SwapCall<'a>, Failure> {
    let (shard, owner) = (&owned.shard, &owned.state.owner);
    if let Some(names) = corrections.get(&shard.store.shard) {
        keep(shard, owner, names).await?;
    }
    sweep(shard, owner).await?;
    let call = SwapCall::new(shard, &owned.state).await?;
    for key in [Keys::events, Keys::tombstones] {
        restore_hash(shard, owner, key).await?;
    }
    Ok(call)
}

/// Swaps prepared shards. Returns how long writers may have waited. The former generations are left to delete.
///
/// Several shards swap in one request, while their writers wait: boards show all users of one generation, also if this
/// process is killed.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond, another run owns the rebuild, or the service writes faster than the
/// journal can be replayed.
pub async fn swap(calls: &mut [(SwapCall<'_>, Replay)]) -> Result<Duration, Failure> {
    let pending = calls.iter_mut().map(|(call, replay)| Pending {
        call,
        replay,
        read: NOT_READ.to_owned(),
    });
    let mut pending: Vec<Pending> = pending.collect();
    let (mut paused_at, mut longest) = (None::<Instant>, Duration::ZERO);
    // Several shards swap together; the rest follows those that have swapped.
    let (mut together, mut all_wait) = (pending.len() > 1, false);
    let unpaused_attempts = if together { 1 } else { ATTEMPTS_BEFORE_PAUSE };
    let mut attempt = 0;
    while let Some(first) = pending.first() {
        if attempt == MAX_ATTEMPTS {
            return Err(Failure::Store(
                "the service writes faster than its journal can be read: run it again to continue"
                    .to_owned(),
            ));
        }
        let (pauses, may_swap) = (attempt >= unpaused_attempts, !together || all_wait);
        attempt += 1;
        let store = &first.call.shard.store;
        let now = store.now().await?;
        let reads = pending
            .iter()
            .map(|pending| fingerprint::read(&pending.call.shard.keys));
        let stored: Vec<Option<String>> = store.run_all(reads.collect()).await?;
        let mut commands = Vec::new();
        for (pending, stored) in pending.iter().zip(stored) {
            let read = if may_swap { &*pending.read } else { NOT_READ };
            commands.push(
                pending
                    .call
                    .attempt(&stored.unwrap_or_default(), read, pauses, now)?,
            );
        }
        let replies: Vec<SwapReply> = store.run_all(commands).await?;
        if let Some(paused_at) = paused_at.take() {
            longest = longest.max(paused_at.elapsed());
        }
        all_wait = pauses;
        let mut left = Vec::new();
        for (mut pending, reply) in pending.into_iter().zip(replies) {
            match reply {
                SwapReply::Text(reply) if reply == "swapped" => {
                    together = false;
                    continue;
                }
                SwapReply::Text(reply) if reply == "lost" => return Err(lost_ownership()),
                SwapReply::Text(last) => {
                    pending.read = last;
                    paused_at = pauses.then(Instant::now);
                }
                // A change of visibility has begun, or another version writes.
                SwapReply::Fingerprint([stored]) => {
                    reject_pending_changes(&stored)?;
                    if Stored::parse(&stored).generation != Some(pending.call.shard.from) {
                        return Err(other_deployment(&stored));
                    }
                    all_wait = false;
                }
            }
            left.push(pending);
        }
        pending = left;
        let catch_up = pending
            .iter_mut()
            .map(|pending| pending.replay.catch_up(pending.call.shard));
        try_join_all(catch_up).await?;
    }
    Ok(longest)
}

/// A shard that is not swapped yet.
struct Pending<'a> {
    call: &'a SwapCall<'a>,
    replay: &'a mut Replay,
    /// The id of the last entry of the stream that the replay has had.
    read: String,
}

/// Does the rest of a swap that the store has refused, and deletes the former generation.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond, or another run owns the rebuild.
pub async fn complete(owned: &mut OwnedShard) -> Result<(), Failure> {
    let call = SwapCall::new(&owned.shard, &owned.state).await?;
    let store = &owned.shard.store;
    let (stored, now) = (store.fingerprint().await?, store.now().await?);
    let stored = stored.unwrap_or_default();
    let command = call.command([&stored, &stored, NOT_READ, ""], now)?;
    match store.run(command).await? {
        SwapReply::Text(reply) if reply == "swapped" => owned.delete_former().await,
        SwapReply::Text(_) | SwapReply::Fingerprint(_) => Err(lost_ownership()),
    }
}

/// What all attempts of a swap have in common.
pub struct SwapCall<'a> {
    shard: &'a Shard,
    owner: &'a str,
    /// What else the swap does, as letters.
    letters: String,
    /// The flags to restore: scores of hidden users are stored otherwise.
    flags: Vec<Restored>,
}

impl<'a> SwapCall<'a> {
    /// Compares audit log and users, and restores profiles.
    async fn new(shard: &'a Shard, state: &'a State) -> Result<Self, Failure> {
        let owner = &state.owner;
        let replaces_log = !audit::is_complete(shard).await?;
        let mut letters = String::new();
        letters.extend(replaces_log.then_some('l'));
        letters.extend((shard.from == 0).then_some('f'));
        Ok(Self {
            flags: restore_users(shard, state, replaces_log).await?,
            shard,
            owner,
            letters,
        })
    }

    /// Returns the call that swaps if `stored` is still the fingerprint and `read` the last entry of the stream. Else the
    /// writers of the shard may have to wait.
    fn attempt(
        &self,
        stored: &str,
        read: &str,
        pauses: bool,
        now: i64,
    ) -> Result<Command, Failure> {
        let unpaused = Stored::parse(stored).unpaused;
        if self.shard.from > 0 {
            reject_pending_changes(unpaused)?;
        }
        let pause = match pauses {
            true => paused(self.owner, unpaused),
            false => String::new(),
        };
        self.command([unpaused, &self.shard.fingerprint, read, &pause], now)
    }

    /// Returns the call of the script with two fingerprints, the id of an entry, and a fingerprint with a pause.
    fn command(&self, arguments: [&str; 4], now: i64) -> Result<Command, Failure> {
        let command = swap_command(self.shard).arg(self.owner).args(arguments);
        let command = command.number(now).arg(&self.letters);
        Ok(command.args(self::arguments(&self.flags)?))
    }
}

fn swap_command(shard: &Shard) -> Command {
    let (live, written) = (&shard.keys, &shard.written);
    let register = match shard.from {
        0 => format!("{}t", shard.store.tag),
        _ => live.register(),
    };
    let mut keys = vec![
        live.rebuild(),
        live.users(),
        live.outbox(),
        live.progress(),
        live.pending_changes(),
        live.archived(),
        register,
        written.register(),
        live.audit_log(),
        live.opt_outs(),
        live.audit_subjects(),
        written.audit_log(),
        written.opt_outs(),
        written.audit_subjects(),
        written.users(),
    ];
    if shard.store.shard == 0 {
        keys.push(live.events());
    }
    Command::script(&SWAP, &keys)
}

/// Deletes the keys that have expired by now, and completes the index.
async fn sweep(shard: &Shard, owner: &str) -> Result<(), Failure> {
    let (rebuild, index) = (shard.keys.rebuild(), shard.written.index());
    // Milliseconds, with a margin of 10 % for the time since the replay.
    let expired_ttl = (EXPIRED_TTL * 900).to_string();
    let now = shard.store.now().await? / 1000;
    let latest = now + SPAN_SECONDS;
    let (mut cursor, mut swept) = (Cursor::start(), 0);
    loop {
        let names = shard.store.scan(&mut cursor).await?;
        let is_last = names.is_none();
        let is_written = |name: &String| {
            let (generation, base) = Keys::split_generation(name);
            generation == Some(shard.generation) && base.contains(':')
        };
        let names: Vec<String> = names.unwrap_or_default();
        let names: Vec<String> = names.into_iter().filter(is_written).collect();
        let mut parts: Vec<&[String]> = names.chunks(REQUEST_KEYS).collect();
        if is_last {
            parts.push(&[]);
        }
        for part in parts {
            let names = part.iter().map(|name| format!("{}{name}", shard.store.tag));
            let keys: Vec<String> = [rebuild.clone(), index.clone()]
                .into_iter()
                .chain(names)
                .collect();
            let command = Command::script(&SWEEP, &keys).args([owner, &expired_ttl]);
            let command = command.number(latest).number(now);
            check_owner(shard.store.run(command).await?)?;
            swept += part.len();
            shard.show_progress(|| format!("completed {swept} keys"));
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Restores the profiles that the store lacks or has in another form. Returns the flags to restore with the swap: scores
/// of hidden users are stored otherwise.
async fn restore_users(
    shard: &Shard,
    state: &State,
    replaces_log: bool,
) -> Result<Vec<Restored>, Failure> {
    // With a recounted event, the new definitions hold from the swap on.
    let definitions = (!Purpose::recounts_event(&state.purpose)).then_some(Keys::DEFINITIONS);
    let (live, written) = (shard.keys.users(), shard.written.users());
    let mut flags = Vec::new();
    for (from, other, is_written) in [(&written, &live, true), (&live, &written, false)] {
        let mut cursor = Cursor::start();
        while let Some(page) = shard
            .store
            .scan_members("HSCAN", from, PAGE, &mut cursor)
            .await?
        {
            let mut profiles = Vec::new();
            let names: Vec<&str> = page.iter().map(|(field, _)| field.as_str()).collect();
            let others = shard.store.hash_fields(other, &names).await?;
            let others: BTreeMap<String, String> = others.into_iter().collect();
            for (field, value) in &page {
                let known = others.get(field).cloned();
                // A field of both has been compared in the first pass.
                if field.starts_with(Keys::FINGERPRINT) && Some(field.as_str()) != definitions
                    || !is_written && known.is_some()
                {
                    continue;
                }
                let (seen, new) = match is_written {
                    true => (known, Some(value.clone())),
                    false => (Some(value.clone()), None),
                };
                match field.starts_with(Keys::FLAGS) {
                    true => {
                        let new = with_number(&seen, new, replaces_log);
                        if seen != new {
                            flags.push((field.clone(), seen, new));
                        }
                    }
                    false if seen != new => profiles.push((field.clone(), seen, new)),
                    false => {}
                }
            }
            restore(shard, &state.owner, &live, &profiles).await?;
        }
    }
    Ok(flags)
}

/// Returns restored flags: letters, then the number of the user in the audit log, which is that of the log that stays, then
/// accounts: the journal of an account names the member, whose list another shard may have. The journal has all exclusions.
fn with_number(seen: &Option<String>, new: Option<String>, replaces_log: bool) -> Option<String> {
    let part = |text: &Option<String>, index| {
        let part = text
            .as_ref()
            .and_then(|text| text.splitn(3, ',').nth(index));
        part.unwrap_or_default().to_owned()
    };
    let letters = part(&new, 0);
    let number = part(if replaces_log { &new } else { seen }, 1);
    let (written, stored) = (part(&new, 2), Accounts::new(&part(seen, 2)));
    let accounts = match (written.starts_with('>'), stored.member()) {
        (true, _) => written,
        (false, Some(_)) => String::new(),
        (false, None) => stored.with_exclusions_of(&Accounts::new(&written)),
    };
    match (number, accounts) {
        (number, accounts) if !accounts.is_empty() => {
            Some(format!("{letters},{number},{accounts}"))
        }
        (number, _) if !number.is_empty() => Some(format!("{letters},{number}")),
        _ => (!letters.is_empty()).then_some(letters),
    }
}

/// Restores the fields of a hash that the store lacks or has in another form; none is deleted but that of an event.
async fn restore_hash(
    shard: &Shard,
    owner: &str,
    key: impl Fn(&Keys) -> String,
) -> Result<(), Failure> {
    let (live, written) = (key(&shard.keys), key(&shard.written));
    let is_event = live == shard.keys.events();
    let [stored, expected] = [
        read_hash(shard, &live).await?,
        read_hash(shard, &written).await?,
    ];
    let mut restored = Vec::new();
    for (field, value) in &expected {
        let seen = stored.get(field).cloned();
        // A user erased according to either source stays erased.
        let is_newer = || {
            let number = |text: &str| text.parse::<i64>().unwrap_or(i64::MIN);
            seen.as_ref()
                .is_none_or(|seen| number(seen) < number(value))
        };
        if is_event && seen.as_ref() != Some(value) || !is_event && is_newer() {
            restored.push((field.clone(), seen.clone(), Some(value.clone())));
        }
    }
    for (field, value) in stored.iter().filter(|_| is_event) {
        if !expected.contains_key(field) {
            restored.push((field.clone(), Some(value.clone()), None));
        }
    }
    restore(shard, owner, &live, &restored).await
}

/// Restores fields of a hash that have not changed since they were compared.
async fn restore(
    shard: &Shard,
    owner: &str,
    key: &str,
    fields: &[Restored],
) -> Result<(), Failure> {
    for fields in fields.chunks(REQUEST_KEYS) {
        let keys = [shard.keys.rebuild(), key.to_owned()];
        let command = Command::script(&RESTORE, &keys).arg(owner);
        let restored = shard.store.run(command.args(arguments(fields)?)).await?;
        check_owner(restored)?;
    }
    Ok(())
}

/// Returns fields as the scripts have them as arguments.
fn arguments(fields: &[Restored]) -> Result<Vec<String>, Failure> {
    let mut arguments = Vec::new();
    for (field, seen, new) in fields {
        arguments.push(field.clone());
        for value in [seen, new] {
            let values: Vec<&String> = value.iter().collect();
            let json = serde_json::to_string(&values);
            arguments.push(json.map_err(|error| Failure::Data(error.to_string()))?);
        }
    }
    Ok(arguments)
}

async fn read_hash(shard: &Shard, key: &str) -> Result<BTreeMap<String, String>, Failure> {
    let (mut fields, mut cursor) = (BTreeMap::new(), Cursor::start());
    while let Some(page) = shard
        .store
        .scan_members("HSCAN", key, PAGE, &mut cursor)
        .await?
    {
        fields.extend(page);
    }
    Ok(fields)
}
