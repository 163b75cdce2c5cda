//! Reads what the journal says of accounts for a recount, and restores the lists of accounts from the flags of the accounts:
//! a list may lie on another shard than its accounts.

use std::time::Duration;

use activity_rank_core::account::Accounts;
use activity_rank_core::config::Rules;
use activity_rank_core::event::Definitions;
use activity_rank_core::rules::Timeline;
use activity_rank_core::shard;
use activity_rank_store::accounts::account_keys;
use activity_rank_store::fingerprint::Stored;
use activity_rank_store::keys::Keys;
use activity_rank_store::outbox::OutboxEntry;
use activity_rank_store::receive;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::ACCOUNT;
use activity_rank_store::stream::position_field;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::account::AccountRecount;
use super::journal::{Change, Entry};
use super::past::{Decision, Links, Past, Reader};
use super::rules::PublishedRules;
use super::settings::Settings;
use super::source::{Source, read_page};
use super::state::{OwnedShard, Shard};
use super::store::Cursor;
use crate::count::count;
use crate::failure::Failure;

/// The longest time that a recount waits for receivers, and the time between two checks.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// Fields in one page of the hash of users.
const PAGE: u32 = 1000;

/// Adds each account to the list of its member, unless it is there, in the order in which they were joined.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond.
pub async fn restore_lists(shards: &[OwnedShard]) -> Result<(), Failure> {
    let mut joined = Vec::new();
    for owned in shards {
        let (store, users) = (&owned.shard.store, owned.shard.keys.users());
        let mut cursor = Cursor::start();
        while let Some(page) = store
            .scan_members("HSCAN", &users, PAGE, &mut cursor)
            .await?
        {
            for (field, flags) in page {
                let accounts = Accounts::from_flags(&flags);
                if let (Some(account), Some((number, member))) =
                    (field.strip_prefix(Keys::FLAGS), accounts.member())
                {
                    let number = number.parse::<i64>().unwrap_or_default();
                    joined.push((number, account.to_owned(), member.to_owned()));
                }
            }
        }
    }
    joined.sort_unstable();
    for (number, account, member) in joined {
        add(shards, &member, &account, number).await?;
    }
    Ok(())
}

async fn add(
    shards: &[OwnedShard],
    member: &str,
    account: &str,
    number: i64,
) -> Result<(), Failure> {
    let count = u32::try_from(shards.len()).unwrap_or(u32::MAX);
    let home = shard::of(member, count);
    let Some(owned) = shards.iter().find(|owned| owned.shard.store.shard == home) else {
        return Ok(());
    };
    let store = &owned.shard.store;
    let stored = store.fingerprint().await?.unwrap_or_default();
    let stored = Stored::parse(&stored).unpaused;
    let command = Command::script(&ACCOUNT, &account_keys(&owned.shard.keys))
        .arg(stored)
        .number(store.now().await?)
        .args(["0", "", "add", member, account])
        .number(number);
    store.run::<Value>(command).await.map(|_| ())
}

/// The journal of all shards.
#[derive(Clone, Copy)]
pub struct Journals<'a> {
    /// Where it is read.
    pub journal: &'a Source,
    /// The settings of the deployment.
    pub settings: &'a Settings,
    /// The shards.
    pub shards: &'a [OwnedShard],
}

/// Calls a function with every entry of every shard.
///
/// # Errors
///
/// As [`read_page`].
pub async fn read_all(journals: Journals<'_>, mut add: impl FnMut(Entry)) -> Result<(), Failure> {
    for owned in journals.shards {
        let (mut next, mut entries) = (Some(0), 0);
        while let Some(after) = next {
            let page = read_page(journals.journal, &owned.shard, journals.settings, after).await?;
            next = page.next;
            entries += page.entries.len() as u64;
            page.entries.into_iter().for_each(&mut add);
            let entries = || format!("read {} for its accounts", count(entries, "entrie"));
            owned.shard.show_progress(entries);
        }
    }
    Ok(())
}

/// Returns what a recount changes in the entries before it, and the recount.
async fn decide(
    journals: Journals<'_>,
    until: u64,
    decision: &Decision<'_>,
) -> Result<(Past, AccountRecount), Failure> {
    let mut links = Links::default();
    read_all(journals, |entry| {
        if entry.original <= until {
            links.add(&entry);
        }
    })
    .await?;
    let mut reader = Reader::new(links, until, journals.settings.shards);
    read_all(journals, |entry| reader.add(entry)).await?;
    let mut receipts = reader.decide(decision);
    read_all(journals, |entry| receipts.add(entry)).await?;
    Ok(receipts.finish())
}

/// Waits until others have received their points: their entries follow the activities.
async fn wait_for_receivers(shards: &[OwnedShard]) -> Result<(), Failure> {
    let start = Instant::now();
    for owned in shards {
        while is_waiting(&owned.shard).await? {
            if start.elapsed() > PATIENCE {
                let message =
                    "others have not received yet what activities give: run it again later";
                return Err(Failure::Store(message.to_owned()));
            }
            sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Returns whether the stream of a shard has entries that receivers have not read.
async fn is_waiting(shard: &Shard) -> Result<bool, Failure> {
    let has_shards = shard.store.shards > 1;
    let position = Command::new("HGET").arg(&shard.keys.users());
    let position = position.arg(&position_field(has_shards));
    let position: Option<String> = shard.store.run(position).await?;
    let after = format!("({}", position.as_deref().unwrap_or("0-0"));
    let entries = Command::new("XRANGE").args([&shard.keys.outbox(), &after, "+"]);
    let entries: Vec<(String, Vec<String>)> = shard.store.run(entries).await?;
    let mut entries = entries.into_iter().map(|(id, words)| {
        let pairs = words.chunks_exact(2).filter_map(|pair| match pair {
            [name, value] => Some((name.clone(), value.clone())),
            _ => None,
        });
        OutboxEntry {
            id,
            fields: pairs.collect(),
        }
    });
    Ok(entries.any(|entry| receive::Change::decode(&entry, has_shards).is_some()))
}

/// Returns what a recount of the journal changes in the entries before it.
///
/// # Errors
///
/// As [`read_page`].
pub async fn past(journals: Journals<'_>, recount: &AccountRecount) -> Result<Past, Failure> {
    let decided = decide(journals, recount.until, &Decision::Recount(recount)).await?;
    Ok(decided.0)
}

/// Returns whether an account was joined or detached, or an exclusion changed, after the last recount of accounts.
///
/// # Errors
///
/// As [`read_page`].
pub async fn is_due(journals: Journals<'_>) -> Result<bool, Failure> {
    let (mut changed, mut recounted) = (0, 0);
    read_all(journals, |entry| match entry.change {
        Change::Account { .. } | Change::Exclude { .. } => changed = changed.max(entry.original),
        Change::Accounts(recount) => recounted = recounted.max(recount.until),
        _ => {}
    })
    .await?;
    Ok(changed > recounted)
}

/// Decides a recount by configured rules and the versions of the journal. Returns it with what it changes, and the number of entries of the journal.
///
/// # Errors
///
/// As [`read_page`].
pub async fn recount(
    journals: Journals<'_>,
    configured: &Rules,
) -> Result<(AccountRecount, Past, u64), Failure> {
    let (mut last, mut entries, mut defined) = (0, 0, Definitions::default());
    read_all(journals, |entry| {
        last = last.max(entry.original);
        entries += 1;
        // The first shard has every version first.
        if let (0, Change::Event { definitions, .. }) = (entry.shard, entry.change) {
            defined = definitions;
        }
    })
    .await?;
    wait_for_receivers(journals.shards).await?;
    let versions = Timeline::parse(defined.rules());
    let rules = PublishedRules {
        configured,
        versions,
    };
    let (past, recount) = decide(journals, last, &Decision::Rules(rules)).await?;
    Ok((recount, past, entries))
}
