//! Boards that Redis no longer has, as a recount of accounts changes them: cron archives them again.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::Script;

use super::accounts::{self, read_all};
use super::expiry::ChangedBoards;
use super::journal::{Change, Entry};
use super::past::Past;
use super::purpose::Recount;
use super::retention::EXPIRED_TTL;
use super::session::Session;
use super::state::{OwnedShard, Shard, check_owner};
use super::store::{Cursor, script};
use crate::failure::Failure;

static CORRECT: LazyLock<Script> = LazyLock::new(|| script(include_str!("correct.lua")));

/// Milliseconds for which Redis keeps a board for the archive: cron needs some runs, on the free plan hours.
const KEPT_MS: i64 = 7 * 86_400_000;
/// Boards in one request.
const REQUEST_BOARDS: usize = 250;
/// Names in one page of an index.
const PAGE: u32 = 1000;

/// The names of boards, by shard.
pub type Names = HashMap<u32, BTreeSet<String>>;

/// Returns the archived boards that this run changes, and boards that cron has not archived since an earlier one.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond.
pub async fn read(session: &Session) -> Result<Names, Failure> {
    let mut names = Names::new();
    let mut archived = BTreeSet::new();
    for OwnedShard { shard, .. } in &session.shards {
        let command = Command::new("SMEMBERS").arg(&shard.keys.archived());
        archived.extend(shard.store.run::<Vec<String>>(command).await?);
    }
    if archived.is_empty() {
        return Ok(names);
    }
    for OwnedShard { shard, .. } in &session.shards {
        names.insert(shard.store.shard, waiting(shard).await?);
    }
    if let Some(Recount::Accounts(_)) = session.recount {
        add_changed(session, &archived, &mut names).await?;
    }
    Ok(names)
}

/// Returns the boards that an earlier run has kept, and that cron has not archived.
async fn waiting(shard: &Shard) -> Result<BTreeSet<String>, Failure> {
    let (mut waiting, mut cursor) = (BTreeSet::new(), Cursor::start());
    let index = shard.keys.index();
    while let Some(page) = shard
        .store
        .scan_members("ZSCAN", &index, PAGE, &mut cursor)
        .await?
    {
        for (name, _) in page {
            let Some(name) = name.strip_suffix(Keys::CORRECTED) else {
                continue;
            };
            let exists = Command::new("EXISTS").arg(&shard.keys.corrected_board(name));
            if shard.store.run::<i64>(exists).await? == 1 {
                waiting.insert(name.to_owned());
            }
        }
    }
    Ok(waiting)
}

/// Returns what the recount of this run changes, and what the last one of the journal has changed: it may have been taken
/// back since.
async fn pasts(session: &Session) -> Result<Vec<Rc<Past>>, Failure> {
    let Some(past) = session.past(None).await? else {
        return Ok(Vec::new());
    };
    let (journals, mut former) = (session.journals(), None);
    read_all(journals, |entry| {
        if let Change::Accounts(recount) = entry.change
            && recount.until < past.until()
        {
            former = Some(recount);
        }
    })
    .await?;
    let mut pasts = vec![past];
    if let Some(former) = former {
        pasts.push(Rc::new(accounts::past(journals, &former).await?));
    }
    Ok(pasts)
}

/// Adds the archived boards of the entries that these recounts change, and of what these become.
async fn add_changed(
    session: &Session,
    archived: &BTreeSet<String>,
    names: &mut Names,
) -> Result<(), Failure> {
    let pasts = pasts(session).await?;
    let mut add = |entry: &Entry| {
        let boards = ChangedBoards::of(&entry.change).into_iter();
        let boards = boards.flat_map(ChangedBoards::into_names);
        let names = names.entry(entry.shard).or_default();
        names.extend(boards.filter(|name| archived.contains(name)));
    };
    let new_entries = pasts.iter().flat_map(|past| past.new_entries());
    new_entries.for_each(&mut add);
    read_all(session.journals(), |entry| {
        let mut pasts = pasts.iter();
        if pasts.any(|past| past.changes(entry.shard, entry.number)) {
            add(&entry);
        }
    })
    .await
}

/// Keeps boards of a shard as the rebuild has counted them.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond, or another run owns the rebuild.
pub async fn keep(shard: &Shard, owner: &str, names: &BTreeSet<String>) -> Result<(), Failure> {
    let names: Vec<&String> = names.iter().collect();
    // Milliseconds, with the margin of a sweep.
    let expired_ttl = (EXPIRED_TTL * 900).to_string();
    for names in names.chunks(REQUEST_BOARDS) {
        let mut keys = vec![shard.keys.rebuild(), shard.written.index()];
        for name in names {
            keys.push(shard.written.board_named(name));
            keys.push(shard.written.corrected_board(name));
        }
        let command = Command::script(&CORRECT, &keys).args([owner, &expired_ttl]);
        check_owner(shard.store.run(command.number(KEPT_MS)).await?)?;
    }
    Ok(())
}
