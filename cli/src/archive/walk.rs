//! Goes through all keys of a shard, each once, in pages.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;

use crate::archive::key::Key;
use crate::archive::output::Output;
use crate::archive::reading::{of_audit, of_index, of_key};
use crate::archive::record::COUNTER;
use crate::archive::store::Store;
use crate::failure::Failure;

const READ: &str = include_str!("read.lua");

/// Members of a key that is read whole, at one instant.
const WHOLE: &str = "500";
/// Members in one reply: half a kilobyte each at most.
const IN_REPLY: &str = "4000";
/// Keys asked for at once.
const KEYS: usize = 200;
/// Members in a page of a larger key.
const PAGE: &str = "500";

/// Writes everything but the first and the last line.
///
/// # Errors
///
/// [`Failure`] where the store does not answer, holds what no site does, or the output fails.
pub async fn walk(store: &Store, output: &mut Output) -> Result<(), Failure> {
    for key in [Key::Index, Key::Profiles, Key::Flags, Key::Who, Key::Erased] {
        page(store, &key, None, output).await?;
    }
    audit(store, output).await?;
    let mut seen = Seen::default();
    let mut cursor = "0".to_owned();
    loop {
        let (next, names) = store.scan(&cursor).await?;
        let mut keys = Vec::new();
        for name in names.into_iter().filter(|name| !is_left_out(name)) {
            match Key::parse(&name) {
                Some(
                    Key::Stamp
                    | Key::Index
                    | Key::Profiles
                    | Key::Flags
                    | Key::Who
                    | Key::Erased
                    | Key::Audit,
                ) => (),
                Some(key) if seen.first_time(&name) => keys.push(key),
                Some(_) => (),
                None => {
                    let full = format!("{}{name}", store.tag);
                    return Err(strange(&full, "is no key that this version knows"));
                }
            }
        }
        read(store, &keys, output).await?;
        if next == "0" {
            return Ok(());
        }
        cursor = next;
    }
}

/// Which boards the database has: the Worker makes it anew from there. What is on its way to the
/// journal: another site would have another. And what a rebuild has begun, and how far it is.
fn is_left_out(name: &str) -> bool {
    ["a", "o", "r"].contains(&name) || name.starts_with('~')
}

/// Which keys there were: SCAN may find one twice. 16 bytes a key.
#[derive(Default)]
struct Seen {
    first: RandomState,
    second: RandomState,
    hashes: HashSet<(u64, u64)>,
}

impl Seen {
    fn first_time(&mut self, name: &str) -> bool {
        self.hashes
            .insert((self.first.hash_one(name), self.second.hash_one(name)))
    }
}

/// What is read of a key: its type, its expiry in Unix ms, and its values if they are few.
pub type Read = (String, i64, Option<Vec<String>>);

/// Reads keys, each at one instant, as far as a reply has room.
///
/// # Errors
///
/// As [`Store::ask`].
pub async fn read_keys(store: &Store, names: &[String]) -> Result<Vec<Read>, Failure> {
    let args = [WHOLE.to_owned(), IN_REPLY.to_owned()];
    store.eval(READ, names, &args).await
}

async fn read(store: &Store, keys: &[Key], output: &mut Output) -> Result<(), Failure> {
    let mut left = keys;
    while !left.is_empty() {
        let asked = left.get(..KEYS).unwrap_or(left);
        let names: Vec<String> = asked.iter().map(|key| store.key(key)).collect();
        let replies = read_keys(store, &names).await?;
        if replies.is_empty() {
            return Err(Failure::Store("the store answers for no key".to_owned()));
        }
        left = left.get(replies.len()..).unwrap_or_default();
        let done = u64::try_from(replies.len()).unwrap_or(0);
        for (key, (kind, expiry, members)) in asked.iter().zip(replies) {
            if kind == "none" {
                // It has expired since it was found.
                continue;
            }
            check_type(store, key, &kind)?;
            let expires = instant(store, key, expiry)?;
            match members {
                Some(members) => write(store, key, expires, members, output)?,
                None => page(store, key, expires, output).await?,
            }
        }
        output.shown(store, done);
    }
    Ok(())
}

/// Reads a key page by page. What changes meanwhile may be told as before or after.
async fn page(
    store: &Store,
    key: &Key,
    expires: Option<Timestamp>,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = store.key(key);
    let command = match key {
        Key::Board(_) | Key::Index => "ZSCAN",
        _ => "HSCAN",
    };
    let mut cursor = "0".to_owned();
    loop {
        let page = [command, &name, &cursor, "COUNT", PAGE];
        let (next, mut values): (String, Vec<String>) = store.ask(&page).await?;
        match key {
            Key::Index => {
                for entry in values.chunks(2) {
                    if let [entry, expiry] = entry {
                        let record = of_index(store.shard, &store.tag, entry, expiry);
                        output.write(&record.map_err(|what| strange(&name, &what))?)?;
                    }
                }
            }
            Key::Board(_) => {
                values = without_counter(values);
                write(store, key, expires, values, output)?;
            }
            _ => write(store, key, expires, values, output)?,
        }
        output.shown(store, 0);
        if next == "0" {
            break;
        }
        cursor = next;
    }
    if let Key::Board(_) = key {
        // Last, so that no user has a later number: what counts next comes after all of them.
        let counter: Option<String> = store.ask(&["ZSCORE", &name, COUNTER]).await?;
        if let Some(counter) = counter {
            let values = vec![COUNTER.to_owned(), counter];
            write(store, key, expires, values, output)?;
        }
    }
    Ok(())
}

fn without_counter(values: Vec<String>) -> Vec<String> {
    let pairs = values.chunks(2);
    let users = pairs.filter(|pair| pair.first().is_some_and(|member| member != COUNTER));
    users.flatten().cloned().collect()
}

async fn audit(store: &Store, output: &mut Output) -> Result<(), Failure> {
    let name = store.key(&Key::Audit);
    let mut from = "-".to_owned();
    loop {
        let command = ["XRANGE", &name, &from, "+", "COUNT", PAGE];
        let entries: Vec<(String, Vec<String>)> = store.ask(&command).await?;
        let Some((last, _)) = entries.last() else {
            return Ok(());
        };
        from = format!("({last}");
        for (id, fields) in entries {
            let record = of_audit(store.shard, id, fields);
            let record = record.map_err(|what| strange(&name, &what))?;
            output.write(&record)?;
        }
    }
}

fn write(
    store: &Store,
    key: &Key,
    expires: Option<Timestamp>,
    values: Vec<String>,
    output: &mut Output,
) -> Result<(), Failure> {
    let odd = |what: String| strange(&store.key(key), &what);
    for record in of_key(store.shard, key, expires, values).map_err(odd)? {
        record.check().map_err(odd)?;
        record.check_shard(store.shards).map_err(odd)?;
        let home = record.shard(store.shards);
        if home != store.shard {
            return Err(odd(format!("is of a user of shard {home}")));
        }
        output.write(&record)?;
    }
    Ok(())
}

fn check_type(store: &Store, key: &Key, kind: &str) -> Result<(), Failure> {
    let expected = match key {
        Key::Board(_) => "zset",
        _ => "hash",
    };
    if kind == expected {
        Ok(())
    } else {
        Err(strange(&store.key(key), &format!("is a {kind}")))
    }
}

fn instant(store: &Store, key: &Key, expiry: i64) -> Result<Option<Timestamp>, Failure> {
    if expiry < 0 {
        return Ok(None);
    }
    let instant = Timestamp::from_millisecond(expiry);
    instant
        .map(Some)
        .map_err(|error| strange(&store.key(key), &error.to_string()))
}

fn strange(key: &str, what: &str) -> Failure {
    Failure::Store(format!(
        "the store holds something else under this prefix: {} {what}",
        crate::printable::printable(key)
    ))
}
