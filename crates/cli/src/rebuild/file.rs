//! The journal of a file that `export --activity` wrote, for a deployment with other shards or another time zone.
//!
//! An entry is replayed on the shards that it concerns there. What one shard does in one step is several entries with
//! several shards: the list of an author is on another one than the target. Days follow the new time zone.
//!
//! The journal has the entries of a shard in their order, and those of several shards in no order. For other shards they
//! are merged by their ids, which begin with the instant of the store.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use activity_rank_core::calendar::{Calendar, Instant};
use activity_rank_core::content::id_of_member;
use activity_rank_core::shard;
use serde::Deserialize;

use super::journal::{Entry, JsonEntry, Page};
use super::retention::Retention;
use super::rules::calendar;
use super::settings::Settings;
use super::store::sha1_hex;
use crate::failure::Failure;
use crate::printable::printable;

/// Entries of a page.
const PAGE: usize = 2000;
/// Most entries that one becomes.
const PARTS: u64 = 100_000;

/// A file with a journal.
pub struct JournalFile {
    name: String,
    /// The settings that the journal was written with.
    from: Settings,
    /// The settings of the deployment that is written.
    to: Settings,
    prefix: String,
    retention: Retention,
    /// Where each line begins, in the order of the entries; `None` for the order of the file.
    order: Option<Vec<u64>>,
    passes: RefCell<HashMap<u32, Pass>>,
}

/// The reading of the file for a shard.
struct Pass {
    file: BufReader<File>,
    /// Lines that are read.
    lines: usize,
    /// Entries that are read, but not returned.
    read: VecDeque<JsonEntry>,
    /// The number of the last entry that was returned.
    last: u64,
    targets: HashMap<String, JsonEntry>,
}

#[derive(Deserialize)]
struct FirstLine {
    journal: WrittenWith,
}

#[derive(Deserialize)]
struct WrittenWith {
    stamp: String,
}

#[derive(Deserialize)]
struct Line {
    entry: JsonEntry,
}

impl JournalFile {
    /// Opens a file for a deployment.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the file cannot be read, or is no journal of this version.
    pub fn open(
        name: &str,
        to: Settings,
        prefix: String,
        retention: Retention,
    ) -> Result<Self, Failure> {
        let line = first_line(name)?;
        let first: Option<FirstLine> = serde_json::from_str(&line).ok();
        let from = first.and_then(|first| Settings::parse(&first.journal.stamp));
        let from = from.ok_or_else(|| {
            let message = "is no journal of this version: write one with export --activity";
            Failure::Usage(format!("{name}: {message}"))
        })?;
        if from.layout.decimals != to.layout.decimals {
            let message = "was written with another POINT_DECIMALS";
            return Err(Failure::Usage(format!("{name} {message}")));
        }
        let is_merged = from.shards > 1 && from.shards != to.shards;
        // The whole file is read before anything is written.
        let order = read_order(name)?;
        Ok(Self {
            name: name.to_owned(),
            order: is_merged.then_some(order),
            from,
            to,
            prefix,
            retention,
            passes: RefCell::default(),
        })
    }

    /// Returns what identifies the file: its first line and its size.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] if the file cannot be read.
    pub fn id(&self) -> Result<String, Failure> {
        let unreadable = |cause| unreadable(&self.name, cause);
        let size = std::fs::metadata(&self.name).map_err(unreadable)?.len();
        Ok(format!("{size} {}", sha1_hex(&first_line(&self.name)?)))
    }

    /// Returns the entries of a shard after the entry number `after`.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the file cannot be read, or an entry is invalid.
    pub fn page(&self, shard: u32, after: u64) -> Result<Page, Failure> {
        let mut passes = self.passes.borrow_mut();
        let known = passes.remove(&shard).filter(|pass| pass.last == after);
        let mut pass = match known {
            Some(pass) => pass,
            None => Pass {
                file: open(&self.name)?,
                lines: 0,
                read: VecDeque::new(),
                last: 0,
                targets: HashMap::new(),
            },
        };
        let mut entries = Vec::new();
        let next = loop {
            while let Some(entry) = pass.read.pop_front() {
                let number = entry.n;
                if entry.shard == shard && number > after {
                    let decoded = entry.decode(self.to.shards);
                    entries.push(decoded.map_err(|error| self.invalid(&error))?);
                }
                pass.last = pass.last.max(number);
            }
            if entries.len() >= PAGE {
                break entries.last().map(|entry: &Entry| entry.number);
            }
            let line = self.next_line(&mut pass);
            let Some(line) = line.map_err(|cause| unreadable(&self.name, cause))? else {
                break None;
            };
            if let Some(entry) = read_entry(&self.name, pass.lines, &line)? {
                self.convert(entry, &mut pass)?;
            }
        };
        if let Some(last) = next {
            pass.last = last;
        }
        passes.insert(shard, pass);
        Ok(Page {
            prefix: self.prefix.clone(),
            settings: self.to.clone(),
            retention: self.retention,
            entries,
            next,
        })
    }

    /// Returns the next line; `None` at the end.
    fn next_line(&self, pass: &mut Pass) -> io::Result<Option<String>> {
        if let Some(order) = &self.order {
            let Some(start) = order.get(pass.lines) else {
                return Ok(None);
            };
            pass.file.seek(SeekFrom::Start(*start))?;
        }
        pass.lines += 1;
        let mut line = String::new();
        let length = pass.file.read_line(&mut line)?;
        Ok((length > 0).then_some(line))
    }

    /// Appends what an entry becomes.
    fn convert(&self, mut entry: JsonEntry, pass: &mut Pass) -> Result<(), Failure> {
        let shards = self.to.shards;
        let number = pass.lines as u64 * PARTS;
        self.change_day(&mut entry)?;
        let mut parts = Vec::new();
        let home = |id: &str| shard::of(id, shards);
        let on_target = |entry: &JsonEntry| home(id_of_member(&entry.target));
        match entry.did.as_str() {
            "receive" if shards > 1 => {
                let (mut target, mut user) = (entry.clone(), entry);
                if !target.target.is_empty() {
                    target.user.clear();
                    parts.push((on_target(&target), target));
                }
                if !user.user.is_empty() {
                    user.target.clear();
                    parts.push((home(&user.user), user));
                }
            }
            "target" => {
                let former = pass.targets.insert(entry.target.clone(), entry.clone());
                let former = former.map(|former| former.user).unwrap_or_default();
                if self.from.shards == 1 && former != entry.user {
                    parts.extend(self.listed(&entry, former, ""));
                    let instant = entry.instant.clone();
                    parts.extend(self.listed(&entry, entry.user.clone(), &instant));
                }
                parts.insert(0, (on_target(&entry), entry));
            }
            "moderate-target" => {
                let is_deleted = entry.verb == "e";
                let target = pass.targets.get(&entry.target).filter(|_| is_deleted);
                if let Some(author) = target.map(|target| target.user.clone())
                    && self.from.shards == 1
                {
                    parts.extend(self.listed(&entry, author, ""));
                }
                if is_deleted {
                    pass.targets.remove(&entry.target);
                }
                parts.push((on_target(&entry), entry));
            }
            // With one shard, lists follow from registrations.
            "list" if shards == 1 => {}
            // The user's shard is unknown, and the first shard has the same events and recounts as all others.
            "erase" => {
                parts.extend((0..shards).map(|shard| (shard, entry.clone())));
                if self.from.shards == 1 && shards > 1 {
                    for target in pass.targets.values_mut() {
                        if !target.user.is_empty() && sha1_hex(&target.user) == entry.hash {
                            target.user.clear();
                            target.now.clone_from(&entry.now);
                            parts.push((on_target(target), target.clone()));
                        }
                    }
                }
            }
            "event" | "recount" | "rules" | "accounts" if entry.shard > 0 => {}
            "event" | "recount" | "rules" | "accounts" => {
                parts.extend((0..shards).map(|shard| (shard, entry.clone())));
            }
            _ if !entry.user.is_empty() => parts.push((home(&entry.user), entry)),
            // An entry of an erased user, or of a target alone.
            _ if !entry.target.is_empty() => parts.push((on_target(&entry), entry)),
            _ => {}
        }
        for (index, (shard, part)) in (0..PARTS).zip(parts) {
            pass.read.push_back(JsonEntry {
                original: part.n,
                n: number + index,
                shard,
                ..part
            });
        }
        Ok(())
    }

    /// Returns the entry by which the list of an author gains or loses a target; none without author or other shards.
    fn listed(&self, entry: &JsonEntry, author: String, instant: &str) -> Option<(u32, JsonEntry)> {
        (self.to.shards > 1 && !author.is_empty()).then(|| {
            let list = JsonEntry {
                did: "list".to_owned(),
                now: entry.now.clone(),
                listed: entry.target.clone(),
                instant: instant.to_owned(),
                user: author,
                ..JsonEntry::default()
            };
            (shard::of(&list.user, self.to.shards), list)
        })
    }

    /// Sets the day of an entry in the new time zone: that of the activity, or of the one that an undo takes back.
    fn change_day(&self, entry: &mut JsonEntry) -> Result<(), Failure> {
        if self.from.timezone == self.to.timezone || entry.date.is_empty() {
            return Ok(());
        }
        let texts = match entry.did.as_str() {
            "undo" => [&entry.counted, &entry.at],
            "receive" => [&entry.changed, &entry.changed],
            _ => [&entry.at, &entry.at],
        };
        let at = texts.iter().find_map(|text| text.parse().ok());
        if let Some(at) = at {
            entry.date = self.calendar()?.date_at(Instant(at)).to_string();
        }
        // Other days are other boards.
        entry.skipped.clear();
        Ok(())
    }

    fn calendar(&self) -> Result<Calendar, Failure> {
        calendar(&self.to.timezone).map_err(Failure::Usage)
    }

    fn invalid(&self, error: &str) -> Failure {
        Failure::Usage(format!("{}: {}", self.name, printable(error)))
    }
}

fn open(name: &str) -> Result<BufReader<File>, Failure> {
    let file = File::open(name).map_err(|cause| unreadable(name, cause))?;
    Ok(BufReader::new(file))
}

fn first_line(name: &str) -> Result<String, Failure> {
    let mut line = String::new();
    let read = open(name)?.read_line(&mut line);
    read.map_err(|cause| unreadable(name, cause))?;
    Ok(line)
}

/// Returns the entry of a line; `None` for the first line and a blank one.
///
/// # Errors
///
/// [`Failure::Line`] for a line without an entry: the file may be incomplete.
fn read_entry(name: &str, number: usize, line: &str) -> Result<Option<JsonEntry>, Failure> {
    match serde_json::from_str(line) {
        Ok(Line { entry }) => Ok(Some(entry)),
        Err(_) if number == 1 || line.trim().is_empty() => Ok(None),
        Err(error) => Err(Failure::Line {
            name: name.to_owned(),
            line: number as u64,
            what: format!("has no entry of a journal: {error}"),
        }),
    }
}

/// Returns where the line of each entry begins, in the order of the ids of the entries.
fn read_order(name: &str) -> Result<Vec<u64>, Failure> {
    let mut file = open(name)?;
    let (mut keys, mut start, mut line) = (Vec::new(), 0, String::new());
    for number in 1.. {
        line.clear();
        let read = file.read_line(&mut line);
        let length = read.map_err(|cause| unreadable(name, cause))? as u64;
        if length == 0 {
            break;
        }
        if let Some(entry) = read_entry(name, number, &line)? {
            let (ms, sequence) = entry.id.split_once('-').unwrap_or_default();
            let number = |text: &str| text.parse::<u64>().unwrap_or_default();
            keys.push((number(ms), entry.shard, number(sequence), start));
        }
        start += length;
    }
    keys.sort_unstable();
    Ok(keys.into_iter().map(|(.., start)| start).collect())
}

fn unreadable(name: &str, cause: io::Error) -> Failure {
    Failure::File {
        name: name.to_owned(),
        cause,
    }
}
