//! `activity-rank export`: reads all data of a deployment and writes it to a file.
//!
//! Shards are read one after the other. Shared hashes, the index and the audit log are read page by
//! page, all other keys in the order of SCAN: small keys atomically with their expiry, large ones page
//! by page. Between reads the deployment may change.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;

use activity_rank_core::score::Layout;
use activity_rank_store::keys::{KeyKind, Keys};
use activity_rank_store::outbox::OutboxEntry;
use activity_rank_store::receive::Change;
use activity_rank_store::redis::Command;
use jiff::Timestamp;
use serde_json::json;

use crate::archive::codec::{decode_index, decode_key};
use crate::archive::fingerprint::{Fingerprint, REBUILDING, RESTORING, reject_pending_changes};
use crate::archive::key::Key;
use crate::archive::output::Output;
use crate::archive::record::{COUNTER, Record, VERSION};
use crate::archive::store::{Cursor, Pairs, Store, unexpected_data};
use crate::args::ExportArgs;
use crate::count::count;
use crate::failure::Failure;
use crate::printable::printable;
use crate::progress::Progress;
use crate::screen::Screen;

/// Keys in one request.
const REQUEST_KEYS: usize = 200;
/// Members or entries in one page.
const PAGE: u32 = 500;

/// Runs the command.
///
/// # Errors
///
/// [`Failure`] if the prefix has no complete data, the store does not respond, or the file cannot be
/// written.
pub async fn run(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let store = Store::new(&args.store, Progress::new(None))?;
    let fingerprint = common_fingerprint(&store).await?;
    let mut output = Output::open(args.output.as_deref(), args.force)?;
    output.write(&first_line(&store, &fingerprint).await?)?;
    for shard in 0..fingerprint.shards {
        let store = store.with_shard(shard, fingerprint.shards);
        export_shard(&store, fingerprint.layout, &mut output).await?;
    }
    let lines = output.lines;
    output.write(&Record::End { lines })?;
    store.progress.finish();
    let to_stdout = output.is_stdout();
    output.finish()?;
    let message = match args.json {
        true => json!({"lines": lines + 1}).to_string(),
        false => format!("exported {}", count(lines + 1, "line")),
    };
    if to_stdout {
        Screen::print_error(&message);
    } else {
        Screen::print(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the schema fingerprint, which all shards must share.
async fn common_fingerprint(store: &Store) -> Result<Fingerprint, Failure> {
    let prefix = &store.prefix;
    let Some(stored) = store.fingerprint().await? else {
        return Err(Failure::Usage(format!(
            "no data under the prefix {prefix}: does PREFIX match that of the service?"
        )));
    };
    let fingerprint = parse_fingerprint(prefix, &stored)?;
    for shard in 1..fingerprint.shards {
        let store = store.with_shard(shard, fingerprint.shards);
        let Some(other) = store.fingerprint().await? else {
            return Err(Failure::Usage(format!(
                "shard {shard} of {} under the prefix {prefix} has no schema fingerprint: was part of the store lost?",
                fingerprint.shards
            )));
        };
        if parse_fingerprint(prefix, &other)? != fingerprint {
            let [stored, other] = [&stored, &other].map(|text| printable(text));
            return Err(Failure::Usage(format!(
                "the shards under the prefix {prefix} have different schema fingerprints ({stored}; {other})"
            )));
        }
    }
    Ok(fingerprint)
}

fn parse_fingerprint(prefix: &str, stored: &str) -> Result<Fingerprint, Failure> {
    for (marker, command) in [(RESTORING, "restore"), (REBUILDING, "rebuild")] {
        if stored.starts_with(marker) {
            return Err(Failure::Usage(format!(
                "a {command} under the prefix {prefix} is unfinished"
            )));
        }
    }
    reject_pending_changes(stored)?;
    Fingerprint::parse(stored).ok_or_else(|| {
        let stored = printable(stored);
        Failure::Usage(format!(
            "the data under the prefix {prefix} was written by another version ({stored})"
        ))
    })
}

async fn first_line(store: &Store, fingerprint: &Fingerprint) -> Result<Record, Failure> {
    let instant = Timestamp::from_millisecond(store.now().await?);
    Ok(Record::Export {
        version: VERSION,
        prefix: store.prefix.clone(),
        instant: instant.map_err(|error| Failure::Store(error.to_string()))?,
        shards: fingerprint.shards,
        decimals: fingerprint.layout.decimals,
        timezone: fingerprint.timezone.clone(),
        order_bits: fingerprint.layout.order_bits,
    })
}

/// Writes all lines of a shard.
async fn export_shard(store: &Store, layout: Layout, output: &mut Output) -> Result<(), Failure> {
    for key in [Key::Index, Key::Users, Key::AuditDetails, Key::Tombstones] {
        export_pages(store, layout, &key, None, output).await?;
    }
    for key in [Key::AuditLog, Key::OptOuts, Key::Deliveries] {
        export_stream(store, &key, output).await?;
    }
    let mut seen = SeenKeys::default();
    let mut cursor = Cursor::start();
    while let Some(names) = store.scan(&mut cursor).await? {
        let mut keys = Vec::new();
        for name in names
            .into_iter()
            .filter(|name| Keys::kind(name) != Some(KeyKind::Work))
        {
            match Key::parse(&name) {
                Some(
                    Key::Index
                    | Key::Users
                    | Key::AuditLog
                    | Key::OptOuts
                    | Key::AuditDetails
                    | Key::Tombstones
                    | Key::Deliveries,
                ) => (),
                Some(key) if seen.insert(&name) => keys.push(key),
                Some(_) => (),
                None => {
                    let name = format!("{}{name}", store.tag);
                    return Err(unexpected_data(&name, "is not a key of this version"));
                }
            }
        }
        export_keys(store, layout, &keys, output).await?;
    }
    Ok(())
}

/// Detects keys that SCAN returns twice. It takes 16 bytes per key.
#[derive(Default)]
struct SeenKeys {
    first: RandomState,
    second: RandomState,
    hashes: HashSet<(u64, u64)>,
}

impl SeenKeys {
    /// Returns whether the key is new.
    fn insert(&mut self, name: &str) -> bool {
        self.hashes
            .insert((self.first.hash_one(name), self.second.hash_one(name)))
    }
}

async fn export_keys(
    store: &Store,
    layout: Layout,
    keys: &[Key],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut rest = keys;
    while !rest.is_empty() {
        let requested = rest.get(..REQUEST_KEYS).unwrap_or(rest);
        let names: Vec<String> = requested.iter().map(|key| store.key(key)).collect();
        let contents = store.read_keys(&names).await?;
        if contents.is_empty() {
            return Err(Failure::Store("the store returned no key".to_owned()));
        }
        rest = rest.get(contents.len()..).unwrap_or_default();
        let exported = u64::try_from(contents.len()).unwrap_or(0);
        for (key, content) in requested.iter().zip(contents) {
            if content.kind == "none" {
                // The key has expired since SCAN returned it.
                continue;
            }
            check_type(store, key, &content.kind)?;
            let expires = parse_expiry(store, key, content.expires_at)?;
            match content.members {
                Some(members) => write_key(store, layout, key, expires, members, output)?,
                None => export_pages(store, layout, key, expires, output).await?,
            }
        }
        output.show_progress(store, exported);
    }
    Ok(())
}

/// Exports a key page by page. A concurrent change may be missing.
async fn export_pages(
    store: &Store,
    layout: Layout,
    key: &Key,
    expires: Option<Timestamp>,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = store.key(key);
    let command = match key {
        Key::Board(_) | Key::Index | Key::Targets(_) => "ZSCAN",
        _ => "HSCAN",
    };
    let mut cursor = Cursor::start();
    while let Some(mut values) = store
        .scan_members(command, &name, PAGE, &mut cursor)
        .await?
    {
        match key {
            Key::Index => {
                // No id has a tab: that is the board of an event that is counted again.
                for (entry, expiry) in values.iter().filter(|(entry, _)| !entry.contains('\t')) {
                    let record = decode_index(store.shard, entry, expiry);
                    output.write(&record.map_err(|error| unexpected_data(&name, &error))?)?;
                }
            }
            Key::Board(_) => {
                values.retain(|(member, _)| member != COUNTER);
                write_key(store, layout, key, expires, values, output)?;
            }
            _ => write_key(store, layout, key, expires, values, output)?,
        }
        output.show_progress(store, 0);
    }
    if let Key::Board(_) = key {
        // The counter is read last, so that it exceeds every exported order number and the next
        // counted activity ranks after all exported ones.
        let command = Command::new("ZSCORE").args([&name, COUNTER]);
        let counter: Option<String> = store.run(command).await?;
        if let Some(counter) = counter {
            let values = vec![(COUNTER.to_owned(), counter)];
            write_key(store, layout, key, expires, values, output)?;
        }
    }
    Ok(())
}

async fn export_stream(store: &Store, key: &Key, output: &mut Output) -> Result<(), Failure> {
    let name = store.key(key);
    let mut start = "-".to_owned();
    loop {
        let entries = store.stream_entries(&name, &start, PAGE).await?;
        let Some((last, _)) = entries.last() else {
            return Ok(());
        };
        start = format!("({last}");
        for (id, fields) in entries {
            let shard = store.shard;
            if *key != Key::Deliveries {
                output.write(&Record::Audit { shard, id, fields })?;
                continue;
            }
            let entry = OutboxEntry { id, fields };
            if Change::decode(&entry, store.shards > 1).is_some() {
                let OutboxEntry { id, fields } = entry;
                output.write(&Record::Delivery { shard, id, fields })?;
            }
        }
    }
}

fn write_key(
    store: &Store,
    layout: Layout,
    key: &Key,
    expires: Option<Timestamp>,
    values: Pairs,
    output: &mut Output,
) -> Result<(), Failure> {
    let failure = |error: String| unexpected_data(&store.key(key), &error);
    for record in decode_key(store.shard, key, expires, values).map_err(failure)? {
        record.check().map_err(failure)?;
        record.check_shard(store.shards).map_err(failure)?;
        record.check_scores(layout).map_err(failure)?;
        let home = record.shard(store.shards);
        if home != store.shard {
            return Err(failure(format!(
                "belongs to a user or target of shard {home}"
            )));
        }
        output.write(&record)?;
    }
    Ok(())
}

fn check_type(store: &Store, key: &Key, kind: &str) -> Result<(), Failure> {
    let expected = match key {
        Key::Board(_) | Key::Targets(_) => "zset",
        _ => "hash",
    };
    if kind == expected {
        Ok(())
    } else {
        Err(unexpected_data(&store.key(key), &format!("is a {kind}")))
    }
}

fn parse_expiry(store: &Store, key: &Key, millis: i64) -> Result<Option<Timestamp>, Failure> {
    if millis < 0 {
        return Ok(None);
    }
    let instant = Timestamp::from_millisecond(millis);
    instant
        .map(Some)
        .map_err(|error| unexpected_data(&store.key(key), &error.to_string()))
}
