//! Restores the lists of accounts from the flags of the accounts: a list may lie on another shard than its accounts.

use activity_rank_core::account::Accounts;
use activity_rank_core::shard;
use activity_rank_store::accounts::account_keys;
use activity_rank_store::fingerprint::Stored;
use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::ACCOUNT;
use serde_json::Value;

use super::state::OwnedShard;
use super::store::Cursor;
use crate::failure::Failure;

/// Fields in one page of the hash of users.
const PAGE: u32 = 1000;

/// Adds each account to the list of its member, unless it is there.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond.
pub async fn restore_lists(shards: &[OwnedShard]) -> Result<(), Failure> {
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
                    add(shards, member, account, number).await?;
                }
            }
        }
    }
    Ok(())
}

async fn add(
    shards: &[OwnedShard],
    member: &str,
    account: &str,
    number: &str,
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
        .args(["0", "", "add", member, account, number]);
    store.run::<Value>(command).await.map(|_| ())
}
