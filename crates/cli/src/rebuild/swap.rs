//! Replaces the live data of a shard by its shadow, while writes are locked.

use std::collections::HashMap;
use std::sync::LazyLock;

use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::Script;

use super::retention::EXPIRED_TTL;
use super::state::{Phase, Shard, State, lost_ownership};
use crate::archive::key::Key;
use crate::archive::store::{Cursor, Pairs, script};
use crate::failure::Failure;

static SWAP: LazyLock<Script> = LazyLock::new(|| script(include_str!("swap.lua")));
static FINISH: LazyLock<Script> = LazyLock::new(|| script(include_str!("finish.lua")));

/// Pairs of keys in one request.
const REQUEST_PAIRS: usize = 200;
/// Fields in one page of a hash.
const PAGE: u32 = 1000;
/// Largest time in seconds that the index keeps a span of histories: longer than any history lives.
const SPAN_SECONDS: i64 = 63 * 86_400;

/// Deletes live keys without a shadow, then renames shadows to live keys and unlocks writes. Continues
/// an interrupted swap. `has_entries` is whether the journal has entries on any shard.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond, or another run owns the rebuild.
pub async fn swap(shard: &Shard, state: &mut State, has_entries: bool) -> Result<(), Failure> {
    let keeps_audit_log = state.keeps_audit_log(shard).await?;
    if state.phase == Phase::Delete {
        if keeps_audit_log {
            keep_subject_numbers(shard).await?;
        }
        swap_keys(shard, state, |name| {
            // The hash of users holds the fingerprint, so it is renamed and never deleted.
            let stays =
                name.starts_with('~') || name == "p" || is_not_swapped(name, keeps_audit_log);
            (!stays).then(|| name.to_owned())
        })
        .await?;
        state.transition(shard, Phase::Rename, false).await?;
    }
    swap_keys(shard, state, |name| {
        let name = name.strip_prefix('~')?;
        let stays = is_not_swapped(name, keeps_audit_log) && name != "e"
            || ["c", "q"].contains(&name)
            || Key::parse(name) == Some(Key::Index);
        (!stays).then(|| name.to_owned())
    })
    .await?;
    finish(shard, state, has_entries).await
}

/// Returns whether a live key is not replaced: outbox, archived boards, tombstones, the state of the rebuild, and perhaps
/// the audit log.
fn is_not_swapped(name: &str, keeps_audit_log: bool) -> bool {
    ["o", "a", "e", "r"].contains(&name) || keeps_audit_log && ["l", "n", "w"].contains(&name)
}

/// Runs the script of the current phase for every key that `select` returns a name for.
async fn swap_keys(
    shard: &Shard,
    state: &State,
    select: impl Fn(&str) -> Option<String>,
) -> Result<(), Failure> {
    let mut cursor = Cursor::start();
    let mut swapped = 0;
    while let Some(names) = shard.store.scan(&mut cursor).await? {
        let names: Vec<String> = names.iter().filter_map(|name| select(name)).collect();
        for names in names.chunks(REQUEST_PAIRS) {
            swap_batch(shard, state, names).await?;
            swapped += names.len();
            shard.show_progress(|| format!("{}: {swapped} keys", state.phase.name()));
        }
    }
    Ok(())
}

async fn swap_batch(shard: &Shard, state: &State, names: &[String]) -> Result<(), Failure> {
    let mut keys = vec![shard.keys.rebuild(), shard.keys.index()];
    // Milliseconds, with a margin of 10 % for the time since the replay.
    let expired_ttl = (EXPIRED_TTL * 900).to_string();
    let now = (shard.store.now().await? / 1000).to_string();
    let phase = state.phase.name().to_owned();
    let mut args = vec![state.owner.clone(), phase, now, expired_ttl];
    for name in names {
        keys.extend(shard.key_pair(name));
        let kind = match Key::parse(name) {
            Some(Key::Board(_)) => "board",
            Some(Key::Tombstones) => "tombstones",
            Some(Key::Register) => "register",
            _ => "",
        };
        args.push(kind.to_owned());
    }
    let command = Command::script(&SWAP, &keys).args(&args);
    let swapped: i64 = shard.store.run(command).await?;
    if swapped == 1 {
        Ok(())
    } else {
        Err(lost_ownership())
    }
}

/// Adds spans to the index, deletes the rest of the shadow and unlocks writes.
async fn finish(shard: &Shard, state: &State, has_entries: bool) -> Result<(), Failure> {
    let (live, shadow) = (&shard.keys, &shard.shadow);
    let keys = [
        live.rebuild(),
        live.users(),
        live.index(),
        shadow.index(),
        shadow.archived(),
        shadow.user_hashes(),
        shadow.pending_changes(),
        shadow.recounted_users(),
        shadow.audit_log(),
        shadow.opt_outs(),
        shadow.audit_subjects(),
        // The jobs have completed nothing on the new data.
        live.progress(),
    ];
    let latest = shard.store.now().await? / 1000 + SPAN_SECONDS;
    let command = Command::script(&FINISH, &keys)
        .arg(&state.owner)
        .number(latest)
        .number(u8::from(has_entries));
    let finished: i64 = shard.store.run(command).await?;
    // A retry after a lost response finds the shard already done.
    if finished == 1 || State::stored_phase(shard).await? == Some(Phase::Done) {
        Ok(())
    } else {
        Err(lost_ownership())
    }
}

/// Gives users of the shadow the subject numbers of the live audit log, which is kept.
async fn keep_subject_numbers(shard: &Shard) -> Result<(), Failure> {
    let (details, users) = (shard.keys.audit_subjects(), shard.shadow.users());
    let mut numbers = HashMap::new();
    for (field, user) in read_hash(shard, &details).await? {
        if let Some(number) = field.strip_prefix('s')
            && field != "subjects"
        {
            numbers.entry(user).or_insert(number.parse::<u64>().ok());
        }
    }
    for (field, value) in read_hash(shard, &users).await? {
        let user = field.strip_prefix(Keys::FLAGS).unwrap_or_default();
        let letters = value.split(',').next().unwrap_or_default();
        if let Some(Some(number)) = numbers.get(user) {
            let value = format!("{letters},{number}");
            let command = Command::new("HSET").args([&users, &field, &value]);
            let _: i64 = shard.store.run(command).await?;
        }
    }
    Ok(())
}

async fn read_hash(shard: &Shard, key: &str) -> Result<Pairs, Failure> {
    let (mut fields, mut cursor) = (Vec::new(), Cursor::start());
    while let Some(page) = shard
        .store
        .scan_members("HSCAN", key, PAGE, &mut cursor)
        .await?
    {
        fields.extend(page);
    }
    Ok(fields)
}
