//! Records of a shard, as commands of the store, many in one request.

use std::collections::HashMap;

use activity_rank::keys::Keys;

use crate::archive::key::{BoardName, Key};
use crate::archive::record::{Profile, Record};
use crate::archive::span;
use crate::archive::store::Store;
use crate::failure::Failure;

const WRITE: &str = include_str!("write.lua");

/// Bytes of a request, about; at most a line more.
const REQUEST_BYTES: usize = 400 * 1024;
/// Arguments of a command: a script can pass on some thousands.
const ARGUMENTS: usize = 1000;

/// Commands that wait to be sent.
#[derive(Debug)]
pub struct Writing<'a> {
    store: &'a Store,
    /// What stands in place of the stamp until all is written.
    claim: String,
    keys: Vec<String>,
    numbers: HashMap<String, usize>,
    args: Vec<String>,
    bytes: usize,
}

impl<'a> Writing<'a> {
    /// For a shard that this claim holds.
    #[must_use]
    pub fn new(store: &'a Store, claim: String) -> Self {
        Self {
            store,
            keys: vec![store.key(&Key::Stamp)],
            numbers: HashMap::new(),
            args: vec![claim.clone()],
            bytes: 0,
            claim,
        }
    }

    /// Adds what a record says, and sends what has come together when it is enough.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] where the store does not take it, or another has taken the prefix.
    pub async fn add(&mut self, record: &Record) -> Result<(), Failure> {
        let Some(key) = record.key() else {
            return Ok(());
        };
        let (name, values) = self.command(record);
        // Whole pairs go together.
        let (leading, values) = values.split_at(usize::from(name == "XADD"));
        let most = if name == "XADD" {
            usize::MAX
        } else {
            ARGUMENTS
        };
        for part in values.chunks(most) {
            self.push(name, &key, [leading, part].concat());
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

    /// Sends what is left, and sets the stamp: from then on this is a shard of a site.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] where the store does not take it, or another has taken the prefix.
    pub async fn finish(mut self, stamp: String) -> Result<(), Failure> {
        self.send().await?;
        self.push("SET", &Key::Stamp, vec![stamp.clone()]);
        match self.send().await {
            // Done, if only the answer was lost.
            Err(_) if self.store.stamp().await? == Some(stamp) => Ok(()),
            sent => sent,
        }
    }

    /// Sends what has come together.
    async fn send(&mut self) -> Result<(), Failure> {
        let written: i64 = self.store.eval(WRITE, &self.keys, &self.args).await?;
        self.keys.truncate(1);
        self.args.clear();
        self.args.push(self.claim.clone());
        self.numbers.clear();
        self.bytes = 0;
        if written == 1 {
            return Ok(());
        }
        Err(Failure::Store(
            "somebody else has written to this prefix meanwhile".to_owned(),
        ))
    }

    fn push(&mut self, name: &str, key: &Key, args: Vec<String>) {
        let key = self.store.key(key);
        let number = *self.numbers.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            self.keys.len()
        });
        let head = [name.to_owned(), number.to_string(), args.len().to_string()];
        for arg in head.into_iter().chain(args) {
            // With quotes and a comma.
            self.bytes += arg.len() + 3;
            self.args.push(arg);
        }
    }

    fn command(&self, record: &Record) -> (&'static str, Vec<String>) {
        let row = |name: String, value: String| vec![name, value];
        match record.clone() {
            Record::Export { .. } | Record::End { .. } => ("", Vec::new()),
            Record::IndexBoard {
                period,
                id,
                group,
                until,
                ..
            } => {
                let board = Key::Board(BoardName { period, id, group });
                let name = self.store.key(&board);
                ("ZADD", row(index_score(until), name))
            }
            Record::IndexSpan { span, until, .. } => {
                ("ZADD", row(index_score(until), span.to_string()))
            }
            Record::Profile { user, profile } => {
                let text = match profile {
                    // An object of texts and values can always be written.
                    Profile::Fields(fields) => serde_json::to_string(&fields).unwrap_or_default(),
                    Profile::Text(text) => text,
                };
                ("HSET", row(user, text))
            }
            Record::Flags {
                user,
                flags,
                subject,
            } => match subject {
                Some(subject) => ("HSET", row(user, format!("{flags},{subject}"))),
                None => ("HSET", row(user, flags)),
            },
            Record::Subjects { count, .. } => {
                ("HSET", row("subjects".to_owned(), count.to_string()))
            }
            Record::Subject { number, user, .. } => ("HSET", row(format!("s{number}"), user)),
            Record::Reason { entry, reason, .. } => ("HSET", row(entry, reason)),
            Record::Audit { id, fields, .. } => {
                let fields = fields.into_iter().flat_map(<[String; 2]>::from);
                ("XADD", [id].into_iter().chain(fields).collect())
            }
            Record::Erased { hash, at, .. } => ("HSET", row(hash, at.as_millisecond().to_string())),
            Record::Board { scores, .. } => {
                let scores = scores.0.into_iter();
                let scores = scores.flat_map(|(user, score)| [score.to_string(), user]);
                ("ZADD", scores.collect())
            }
            // What is no date, or of no days, has been told by the check.
            Record::History { date, actions, .. } => {
                let mut fields = Vec::new();
                for (action, done) in actions.0 {
                    fields.push(span::field(&date, &action).unwrap_or_default());
                    fields.push(format!("{} {}", done.count, done.points));
                }
                ("HSET", fields)
            }
            Record::DayMarks { span, marks, .. } => {
                let bits = |dates: Vec<String>| span::bits(span, &dates).unwrap_or_default();
                let marks = marks.0.into_iter();
                let marks = marks
                    .flat_map(|(mark, dates)| [Keys::field_of(&mark), bits(dates).to_string()]);
                ("HSET", marks.collect())
            }
            Record::Marks { marks, .. } | Record::UndoMemory { marks, .. } => {
                let marks = marks.0.into_iter();
                let marks = marks.flat_map(|(mark, value)| [Keys::field_of(&mark), value]);
                ("HSET", marks.collect())
            }
        }
    }
}

fn index_score(until: Option<jiff::Timestamp>) -> String {
    until.map_or_else(|| "inf".to_owned(), |until| until.as_second().to_string())
}
