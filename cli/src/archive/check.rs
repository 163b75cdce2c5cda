//! Reads a whole file before anything is written of it.

use std::collections::HashMap;

use ring::digest::{Context, SHA256};

use crate::archive::record::{Record, entry_id};
use crate::archive::stamp::Stamp;
use crate::failure::Failure;
use crate::upload::source::{RawLine, Source};

/// A file that is all right.
#[derive(Debug)]
pub struct Checked {
    /// The stamp of the site.
    pub stamp: Stamp,
    /// Says which file it is: SHA-256 in hex.
    pub digest: String,
    /// How many lines it has.
    pub lines: u64,
}

/// Reads it once, up to the first line that is wrong.
///
/// # Errors
///
/// [`Failure`] with that line's number, or if the file can't be read.
pub fn check(source: &mut Source, name: &str) -> Result<Checked, Failure> {
    let mut pass = Pass {
        digest: Context::new(&SHA256),
        stamp: None,
        lines: 0,
        ended: false,
        last_entries: HashMap::new(),
    };
    let mut wrong = None;
    source.read_ahead(|line| {
        if wrong.is_none() {
            let number = line.number;
            wrong = pass.line(line).err().map(|what| (number, what));
        }
    })?;
    let lines = pass.lines;
    let broken = "the file ends early: its last line is missing".to_owned();
    match (wrong, pass.stamp) {
        (Some((line, what)), _) => Err(at_line(name, line, what)),
        (None, Some(stamp)) if pass.ended => Ok(Checked {
            stamp,
            digest: hex(pass.digest.finish().as_ref()),
            lines,
        }),
        (None, _) => Err(at_line(name, lines + 1, broken)),
    }
}

/// A line, read and checked.
///
/// # Errors
///
/// What is wrong with it.
pub fn read_line(line: &RawLine) -> Result<Record, String> {
    let text = line.text.as_ref().ok_or("is too long")?;
    let record: Record = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    record.check().map(|()| record)
}

/// A failure of one line.
#[must_use]
pub fn at_line(name: &str, line: u64, what: String) -> Failure {
    Failure::Line {
        name: name.to_owned(),
        line,
        what: crate::printable::printable(&what),
    }
}

struct Pass {
    digest: Context,
    stamp: Option<Stamp>,
    lines: u64,
    ended: bool,
    /// Of the audit list, by shard.
    last_entries: HashMap<u32, (u64, u64)>,
}

impl Pass {
    fn line(&mut self, line: RawLine) -> Result<(), String> {
        self.digest.update(line.text.as_deref().unwrap_or_default());
        let record = read_line(&line)?;
        if self.ended {
            return Err("comes after the last line".to_owned());
        }
        match (&self.stamp, &record) {
            (None, Record::Export { .. }) => {}
            (Some(_), Record::Export { .. }) => return Err("is a second first line".to_owned()),
            (None, _) => return Err("is no first line of an export".to_owned()),
            (Some(stamp), record) => record.check_shard(stamp.shards)?,
        }
        match &record {
            Record::Export {
                shards,
                decimals,
                timezone,
                ..
            } => {
                self.stamp = Some(Stamp {
                    shards: *shards,
                    decimals: *decimals,
                    timezone: timezone.clone(),
                });
            }
            Record::End { lines } => {
                if *lines != self.lines {
                    let found = self.lines;
                    return Err(format!("counts {lines} lines before it; there are {found}"));
                }
                self.ended = true;
            }
            Record::Audit { shard, id, .. } => {
                // A stream takes them in their order alone.
                let entry = entry_id(id).unwrap_or_default();
                if self
                    .last_entries
                    .get(shard)
                    .is_some_and(|last| entry <= *last)
                {
                    return Err("is not later than the audit entry before".to_owned());
                }
                self.last_entries.insert(*shard, entry);
            }
            _ => (),
        }
        self.lines += 1;
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
