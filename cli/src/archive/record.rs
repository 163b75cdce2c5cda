//! The lines of a file.
//!
//! Each is a record with its `kind`, the parts of its key, its values, and `expires`, the instant
//! at which the store forgets the key; without it that is never. A key with many values is several
//! lines of the same key. `#` on a board is its order counter. Of several shards each has such a key
//! of its own: `shard` says which one it is, and is left out of the first; what is one user's lies on
//! their shard.

mod check;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::archive::key::{BoardName, Key};
use crate::archive::pairs::Pairs;
use crate::archive::span;

pub use check::entry_id;

/// The version of the form of these files.
pub const VERSION: u32 = 2;

/// The member of a board that counts its changes.
pub const COUNTER: &str = "#";

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "fields are those of the README's table")]
pub enum Record {
    /// The first line: whose data this is, and the settings it depends on.
    Export {
        version: u32,
        prefix: String,
        instant: Timestamp,
        shards: u32,
        decimals: u32,
        timezone: String,
    },
    /// A board that exists, and until when to know of it.
    IndexBoard {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        period: String,
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A span of histories that exists, and until when to know of it.
    IndexSpan {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        span: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A user's profile.
    Profile { user: String, profile: Profile },
    /// What moderators or users themselves have set: `h` hidden by moderators, `s` by themself,
    /// `f` frozen. `subject` is the user's number in the audit list.
    Flags {
        user: String,
        flags: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<u64>,
    },
    /// How many subjects the audit list has had.
    Subjects {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        count: u64,
    },
    /// Who is meant by a number in the audit list.
    Subject {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        number: u64,
        user: String,
    },
    /// Why an entry of the audit list was made.
    Reason {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        entry: String,
        reason: String,
    },
    /// An entry of the audit list: names and values.
    Audit {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        id: String,
        fields: Vec<(String, String)>,
    },
    /// When a user was erased, known by SHA-1 alone: what they did before and comes later is dropped.
    Erased {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        hash: String,
        at: Timestamp,
    },
    /// Scores of a board, packed: `src/score.rs` of the Worker.
    Board {
        #[serde(default, skip_serializing_if = "is_first")]
        shard: u32,
        period: String,
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        scores: Pairs<i64>,
    },
    /// What a user did on a day, by action, points in smallest steps. The days of a span are one key.
    History {
        user: String,
        date: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        actions: Pairs<Done>,
    },
    /// What of a user counts once a day, and the days of a span on which it has been counted.
    DayMarks {
        user: String,
        span: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        marks: Pairs<Vec<String>>,
    },
    /// What of a user stands, as `src/scripts/count.lua` of the Worker says, and the instants of
    /// cooldowns.
    Marks {
        user: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        marks: Pairs<String>,
    },
    /// What of a user was taken back, and when: Unix ms.
    UndoMemory {
        user: String,
        span: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        marks: Pairs<String>,
    },
    /// The last line: how many came before.
    End { lines: u64 },
}

fn is_first(shard: &u32) -> bool {
    *shard == 0
}

/// A profile: the JSON object the store holds, or its text where it is written unlike ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Profile {
    /// Its members.
    Fields(Pairs<Value>),
    /// The text as it is.
    Text(String),
}

/// How often an action counted on a day, and for how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// How often.
    pub count: u64,
    /// Points in smallest steps.
    pub points: i64,
}

impl Record {
    /// The key whose values it holds; none for the first and the last line.
    #[must_use]
    pub fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Export { .. } | Self::End { .. } => return None,
            Self::IndexBoard { .. } | Self::IndexSpan { .. } => Key::Index,
            Self::Profile { .. } => Key::Profiles,
            Self::Flags { .. } => Key::Flags,
            Self::Subjects { .. } | Self::Subject { .. } | Self::Reason { .. } => Key::Who,
            Self::Audit { .. } => Key::Audit,
            Self::Erased { .. } => Key::Erased,
            Self::Board {
                period, id, group, ..
            } => Key::Board(BoardName {
                period: period.clone(),
                id: id.clone(),
                group: group.clone(),
            }),
            // What is no date is told by the check.
            Self::History { user, date, .. } => {
                Key::History(span::of_date(date).unwrap_or_default(), user.clone())
            }
            Self::DayMarks { user, span, .. } => Key::DayMarks(*span, user.clone()),
            Self::Marks { user, .. } => Key::Marks(user.clone()),
            Self::UndoMemory { user, span, .. } => Key::UndoMemory(*span, user.clone()),
        })
    }

    /// When the store forgets the key; none is never.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        match self {
            Self::Board { expires, .. }
            | Self::History { expires, .. }
            | Self::DayMarks { expires, .. }
            | Self::Marks { expires, .. }
            | Self::UndoMemory { expires, .. } => *expires,
            Self::Export { .. }
            | Self::IndexBoard { .. }
            | Self::IndexSpan { .. }
            | Self::Profile { .. }
            | Self::Flags { .. }
            | Self::Subjects { .. }
            | Self::Subject { .. }
            | Self::Reason { .. }
            | Self::Audit { .. }
            | Self::Erased { .. }
            | Self::End { .. } => None,
        }
    }
}
