//! `activity-rank restore`: writes an exported file to an empty prefix.
//!
//! 1. Check every line of the file.
//! 2. Claim the prefix: on every shard, a claim replaces the schema fingerprint, and the service
//!    rejects requests. Shard 0 is claimed first and completed last, so it shows the state of the
//!    whole restore.
//! 3. Write batches of commands. A batch is applied only while the claim stands.
//! 4. Replace the claims by the fingerprint, shard by shard.

use std::collections::HashMap;
use std::process::ExitCode;
use std::thread;

use activity_rank_core::score::Layout;
use activity_rank_store::keys::Keys;
use ring::digest::{Context, SHA256};
use serde_json::json;
use tokio::sync::mpsc::channel;

use crate::archive::codec::encode;
use crate::archive::fingerprint::{Fingerprint, RESTORING};
use crate::archive::key::Key;
use crate::archive::record::{Record, parse_entry_id};
use crate::archive::store::{Cursor, Store, eval};
use crate::args::RestoreArgs;
use crate::count::count;
use crate::failure::Failure;
use crate::printable::printable;
use crate::progress::Progress;
use crate::screen::Screen;
use crate::upload::source::{RawLine, Source};

const WRITE: &str = include_str!("write.lua");
/// Deletes a claim if it still stands.
const RELEASE: &str = "return redis.call('HGET', KEYS[1], '\\t') == ARGV[1] \
                       and redis.call('HDEL', KEYS[1], '\\t') or 0";

/// Lines read ahead.
const LINES_AHEAD: usize = 256;
/// Approximate size of a request; the last record may exceed it.
const REQUEST_BYTES: usize = 400 * 1024;
/// Arguments of one command: `unpack` in Lua is limited to some thousands.
const COMMAND_ARGS: usize = 1000;

/// Runs the command.
///
/// # Errors
///
/// [`Failure`] if the file is invalid, the prefix is not empty, or the store does not respond.
pub async fn run(args: &RestoreArgs) -> Result<ExitCode, Failure> {
    let mut source = Source::open(&args.file)?;
    let store = Store::new(&args.store, Progress::new(source.size()))?;
    let file = check_file(&mut source, &args.file)?;
    let claim = Claim::new(&store, &file);
    claim.acquire(args.resume).await?;
    let expired = match write_file(source, &file, args, &claim).await {
        Ok(expired) => expired,
        Err(failure) => {
            store.progress.finish();
            Screen::print_error(&format!(
                "the restore is incomplete: run it again with --continue; until then the service \
                 rejects all requests for the prefix {}",
                args.store.prefix
            ));
            return Err(failure);
        }
    };
    store.progress.finish();
    if args.json {
        let shards = file.fingerprint.shards;
        let summary = json!({"lines": file.lines, "shards": shards, "expired": expired});
        Screen::print(&summary.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut message = format!("restored {}", count(file.lines, "line"));
    if file.fingerprint.shards > 1 {
        message.push_str(&format!(" to {} shards", file.fingerprint.shards));
    }
    if expired > 0 {
        let lines = count(expired, "line");
        message.push_str(&format!(", skipped {lines} that had expired"));
    }
    Screen::print(&message)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes all lines. Returns the number of expired lines, which are skipped.
async fn write_file(
    source: Source,
    file: &CheckedFile,
    args: &RestoreArgs,
    claim: &Claim,
) -> Result<u64, Failure> {
    let now = claim.store.now().await?;
    let mut writers = Vec::new();
    for store in &claim.shards {
        // A completed shard has the fingerprint and is not written again.
        let is_incomplete = claim.stands_on(store).await?;
        writers.push(is_incomplete.then(|| ShardWriter::new(store, claim.value.clone())));
    }
    let (lines, mut received) = channel(LINES_AHEAD);
    // A thread, because reading a file blocks.
    let reader = thread::spawn(move || source.read(|line| lines.blocking_send(line).is_ok()));
    let (mut done, mut expired) = (0, 0);
    while let Some(line) = received.recv().await {
        let record = parse_line(&line).map_err(|error| at_line(&args.file, line.number, error))?;
        done += 1;
        let shard = usize::try_from(record.shard(file.fingerprint.shards)).unwrap_or(usize::MAX);
        if record
            .expires()
            .is_some_and(|at| at.as_millisecond() <= now)
        {
            expired += 1;
        } else if let Some(Some(writer)) = writers.get_mut(shard) {
            writer.add(&record).await?;
        }
        let message = count(done, "line");
        claim.store.progress.advance(line.bytes, message);
    }
    match reader.join() {
        Ok(read) => read?,
        Err(_) => return Err(Failure::Usage("the file could not be read".to_owned())),
    }
    if done != file.lines {
        let error = "the file has changed since it was checked".to_owned();
        return Err(at_line(&args.file, done + 1, error));
    }
    // Shard 0 shows the state of the restore, so it is completed last.
    for writer in writers.into_iter().rev().flatten() {
        writer.finish(file.fingerprint.to_string()).await?;
    }
    Ok(expired)
}

/// A file whose lines are all valid.
#[derive(Debug)]
struct CheckedFile {
    fingerprint: Fingerprint,
    /// SHA-256 of the file in hex.
    digest: String,
    lines: u64,
}

/// Reads the whole file. Fails with the number of the first invalid line.
fn check_file(source: &mut Source, name: &str) -> Result<CheckedFile, Failure> {
    let mut checker = Checker {
        digest: Context::new(&SHA256),
        fingerprint: None,
        lines: 0,
        ended: false,
        last_ids: HashMap::new(),
    };
    let mut first_error = None;
    source.read_ahead(|line| {
        if first_error.is_none() {
            let number = line.number;
            first_error = checker.check(line).err().map(|error| (number, error));
        }
    })?;
    let lines = checker.lines;
    match (first_error, checker.fingerprint) {
        (Some((line, error)), _) => Err(at_line(name, line, error)),
        (None, Some(fingerprint)) if checker.ended => {
            let digest = checker.digest.finish();
            let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
            Ok(CheckedFile {
                fingerprint,
                digest: hex.collect(),
                lines,
            })
        }
        (None, _) => {
            let error = "the `end` record is missing: the file is incomplete".to_owned();
            Err(at_line(name, lines + 1, error))
        }
    }
}

fn parse_line(line: &RawLine) -> Result<Record, String> {
    let text = line.text.as_ref().ok_or("the line is too long")?;
    let record: Record = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    record.check().map(|()| record)
}

fn at_line(name: &str, line: u64, error: String) -> Failure {
    Failure::Line {
        name: name.to_owned(),
        line,
        what: printable(&error),
    }
}

/// Checks each line against the lines before it.
struct Checker {
    digest: Context,
    fingerprint: Option<Fingerprint>,
    lines: u64,
    ended: bool,
    /// Id of the last entry by shard and stream.
    last_ids: HashMap<(u32, String), (u64, u64)>,
}

impl Checker {
    fn check(&mut self, line: RawLine) -> Result<(), String> {
        self.digest.update(line.text.as_deref().unwrap_or_default());
        let record = parse_line(&line)?;
        if self.ended {
            return Err("unexpected line after the `end` record".to_owned());
        }
        match (&self.fingerprint, &record) {
            (None, Record::Export { .. }) => {}
            (Some(_), Record::Export { .. }) => {
                return Err("unexpected second `export` record".to_owned());
            }
            (None, _) => return Err("the first line must be an `export` record".to_owned()),
            (Some(fingerprint), record) => {
                record.check_shard(fingerprint.shards)?;
                record.check_scores(fingerprint.layout)?;
            }
        }
        match &record {
            Record::Export {
                shards,
                decimals,
                timezone,
                order_bits,
                ..
            } => {
                self.fingerprint = Some(Fingerprint {
                    shards: *shards,
                    layout: Layout {
                        order_bits: *order_bits,
                        decimals: *decimals,
                    },
                    timezone: timezone.clone(),
                });
            }
            Record::End { lines } => {
                if *lines != self.lines {
                    let found = self.lines;
                    return Err(format!(
                        "`lines` is {lines}, but the number of lines before is {found}"
                    ));
                }
                self.ended = true;
            }
            Record::Audit { shard, id, .. } | Record::Delivery { shard, id, .. } => {
                // XADD accepts only increasing ids.
                let id = parse_entry_id(id).unwrap_or_default();
                let stream = record.key().map(|key| key.to_string());
                let stream = (*shard, stream.unwrap_or_default());
                if self.last_ids.get(&stream).is_some_and(|last| id <= *last) {
                    return Err("entries of a stream must have increasing ids".to_owned());
                }
                self.last_ids.insert(stream, id);
            }
            _ => (),
        }
        self.lines += 1;
        Ok(())
    }
}

/// The claim of one file on a prefix.
struct Claim {
    store: Store,
    shards: Vec<Store>,
    /// The claim as stored: it identifies the file by its digest.
    value: String,
    /// The fingerprint that replaces the claim.
    fingerprint: String,
}

impl Claim {
    fn new(store: &Store, file: &CheckedFile) -> Self {
        let shards = file.fingerprint.shards;
        Self {
            store: store.clone(),
            shards: (0..shards)
                .map(|shard| store.with_shard(shard, shards))
                .collect(),
            value: format!("{RESTORING}{}", file.digest),
            fingerprint: file.fingerprint.to_string(),
        }
    }

    /// Claims an empty prefix, or resumes an unfinished restore of the same file if `resume` is set.
    /// Changes nothing if it fails.
    async fn acquire(&self, resume: bool) -> Result<(), Failure> {
        let stored = self.store.fingerprint().await?;
        let is_claimed = stored.as_deref() == Some(self.value.as_str());
        match stored {
            Some(_) if is_claimed && resume => {}
            Some(_) if is_claimed => {
                return Err(self.rejected("has an unfinished restore of this file: add --continue"));
            }
            Some(stored) if stored.starts_with(RESTORING) => {
                return Err(self.rejected("has an unfinished restore of another file"));
            }
            Some(_) => return Err(self.rejected("already has data; choose another PREFIX")),
            None => self.check_empty().await?,
        }
        for (index, shard) in self.shards.iter().enumerate() {
            if self.acquire_shard(shard, is_claimed).await? {
                continue;
            }
            let claimed = self.shards.get(..index).unwrap_or_default();
            for shard in claimed.iter().filter(|_| !is_claimed).rev() {
                let command = eval(RELEASE, &[shard.key(&Key::Users)]).arg(&self.value);
                let _: i64 = shard.run(command).await?;
            }
            return Err(self.rejected("was claimed by another process just now"));
        }
        Ok(())
    }

    /// Claims a shard. Returns whether the claim stands, or the shard was completed by the restore
    /// that is resumed.
    async fn acquire_shard(&self, shard: &Store, resumed: bool) -> Result<bool, Failure> {
        let command = shard.on_fingerprint("HSETNX").arg(&self.value);
        let _: i64 = shard.run(command).await?;
        // The reply of HSETNX is not used: after a lost response, the retry finds the claim in place.
        let stored = shard.fingerprint().await?;
        let stored = stored.as_deref();
        Ok(stored == Some(self.value.as_str())
            || resumed && stored == Some(self.fingerprint.as_str()))
    }

    /// Returns whether the shard is claimed and not completed.
    async fn stands_on(&self, shard: &Store) -> Result<bool, Failure> {
        Ok(shard.fingerprint().await?.as_deref() == Some(self.value.as_str()))
    }

    async fn check_empty(&self) -> Result<(), Failure> {
        let mut cursor = Cursor::start();
        while let Some(keys) = self.store.scan_prefix(&mut cursor).await? {
            if !keys.is_empty() {
                return Err(self.rejected("is not empty; choose another PREFIX"));
            }
        }
        Ok(())
    }

    fn rejected(&self, reason: &str) -> Failure {
        Failure::Usage(format!("the prefix {} {reason}", self.store.prefix))
    }
}

/// Writes the records of a shard in batches.
struct ShardWriter<'a> {
    store: &'a Store,
    claim: String,
    keys: Vec<String>,
    /// Index of each key in `keys`, from 1.
    key_indexes: HashMap<String, usize>,
    args: Vec<String>,
    bytes: usize,
}

impl<'a> ShardWriter<'a> {
    fn new(store: &'a Store, claim: String) -> Self {
        let users = store.key(&Key::Users);
        Self {
            store,
            key_indexes: HashMap::from([(users.clone(), 1)]),
            keys: vec![users],
            args: vec![claim.clone()],
            bytes: 0,
            claim,
        }
    }

    /// Adds a record to the batch, and sends the batch when it is large enough.
    async fn add(&mut self, record: &Record) -> Result<(), Failure> {
        let Some(key) = record.key() else {
            return Ok(());
        };
        let (name, args) = encode(record);
        // The even chunk size keeps names and values together.
        let max = match name {
            "XADD" => usize::MAX,
            _ => COMMAND_ARGS,
        };
        for args in args.chunks(max) {
            self.push(name, &key, args.to_vec());
        }
        if let Some(expires) = record.expires() {
            let at = expires.as_millisecond().to_string();
            self.push("PEXPIREAT", &key, vec![at]);
        }
        if self.bytes >= REQUEST_BYTES {
            self.send().await?;
        }
        Ok(())
    }

    /// Sends the last batch and replaces the claim by the fingerprint.
    async fn finish(mut self, fingerprint: String) -> Result<(), Failure> {
        self.send().await?;
        let field = vec![Keys::FINGERPRINT.to_owned(), fingerprint.clone()];
        self.push("HSET", &Key::Users, field);
        match self.send().await {
            // A retry after a lost response finds the claim already replaced.
            Err(_) if self.store.fingerprint().await? == Some(fingerprint) => Ok(()),
            sent => sent,
        }
    }

    async fn send(&mut self) -> Result<(), Failure> {
        let command = eval(WRITE, &self.keys).args(&self.args);
        let written: i64 = self.store.run(command).await?;
        self.keys.truncate(1);
        self.args.clear();
        self.args.push(self.claim.clone());
        self.key_indexes.retain(|_, index| *index == 1);
        self.bytes = 0;
        if written == 1 {
            return Ok(());
        }
        Err(Failure::Store(
            "another process has written to this prefix".to_owned(),
        ))
    }

    fn push(&mut self, name: &str, key: &Key, args: Vec<String>) {
        let key = self.store.key(key);
        let index = *self.key_indexes.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            self.keys.len()
        });
        let head = [name.to_owned(), index.to_string(), args.len().to_string()];
        for arg in head.into_iter().chain(args) {
            // Two quotes and a comma in JSON.
            self.bytes += arg.len() + 3;
            self.args.push(arg);
        }
    }
}
