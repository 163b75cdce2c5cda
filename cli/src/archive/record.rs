//! The lines of a file.
//!
//! Each is a record with its `kind`, the parts of its key, its values, and `expires`, the instant
//! at which the store forgets the key; without it that is never. A key with many values is several
//! lines of the same key. `#` on a board is its order counter.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::archive::key::{BoardName, Key, is_hash};
use crate::archive::pairs::Pairs;
use crate::archive::span;
use crate::args::is_id;

/// The version of the form of these files.
pub const VERSION: u32 = 2;

/// Scores are exact below this.
const EXACT: i64 = 1 << 53;
/// Order counters lie below this, users above: `src/score.rs` of the Worker.
const ORDERS: i64 = 1 << 30;
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
        period: String,
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A span of histories that exists, and until when to know of it.
    IndexSpan {
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
    Subjects { count: u64 },
    /// Who is meant by a number in the audit list.
    Subject { number: u64, user: String },
    /// Why an entry of the audit list was made.
    Reason { entry: String, reason: String },
    /// An entry of the audit list: names and values.
    Audit {
        id: String,
        fields: Vec<(String, String)>,
    },
    /// When a user was erased, known by SHA-1 alone: what they did before and comes later is dropped.
    Erased { hash: String, at: Timestamp },
    /// Scores of a board, packed: `src/score.rs` of the Worker.
    Board {
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

    /// Checks what its type leaves open.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        if self.key().is_some_and(|key| !key.is_sound()) {
            return Err("names no key: a user, group, date or period is not one".to_owned());
        }
        match self {
            Self::Export {
                version, shards, ..
            } => {
                if *version != VERSION {
                    return Err(format!(
                        "was written in version {version} of this form; this is {VERSION}"
                    ));
                }
                if *shards != 1 {
                    return Err(format!("has {shards} shards; this version knows 1"));
                }
            }
            Self::IndexBoard {
                period, id, group, ..
            } => {
                let (period, id, group) = (period.clone(), id.clone(), group.clone());
                if !Key::Board(BoardName { period, id, group }).is_sound() {
                    return Err("names no board".to_owned());
                }
            }
            Self::History { date, .. } if span::of_date(date).is_none() => {
                return Err(format!("'{date}' is no date"));
            }
            Self::DayMarks { span, marks, .. } => {
                let other = |dates: &Vec<String>| span::bits(*span, dates).is_none();
                if let Some((mark, _)) = marks.0.iter().find(|(_, dates)| other(dates)) {
                    return Err(format!("'{mark}' is of days that are not of span {span}"));
                }
            }
            Self::Profile { user, .. } | Self::Subject { user, .. } if !is_id(user) => {
                return Err(format!("'{user}' is no user"));
            }
            Self::Flags { user, flags, .. } => {
                if !is_id(user) || !flags.chars().all(|flag| "hsf".contains(flag)) {
                    return Err("takes a user and the flags h, s, f".to_owned());
                }
            }
            Self::Audit { id, .. } | Self::Reason { entry: id, .. } if entry_id(id).is_none() => {
                return Err(format!("'{id}' is no entry of an audit list"));
            }
            Self::Erased { hash, .. } if !is_hash(hash) => {
                return Err(format!("'{hash}' is no SHA-1 in hex"));
            }
            Self::Board { scores, .. } => {
                if let Some((member, score)) = scores.0.iter().find(|pair| !is_score(pair)) {
                    return Err(format!("{score} is no score that '{member}' can have"));
                }
            }
            Self::IndexSpan { .. }
            | Self::Profile { .. }
            | Self::Subjects { .. }
            | Self::Subject { .. }
            | Self::Reason { .. }
            | Self::Audit { .. }
            | Self::Erased { .. }
            | Self::History { .. }
            | Self::Marks { .. }
            | Self::UndoMemory { .. }
            | Self::End { .. } => (),
        }
        Ok(())
    }
}

fn is_score((member, score): &(String, i64)) -> bool {
    if member == COUNTER {
        return (0..ORDERS).contains(score);
    }
    // Below zero of who is hidden.
    is_id(member) && (ORDERS..EXACT).contains(&score.abs())
}

/// The parts of a stream's id, by which entries are in order.
#[must_use]
pub fn entry_id(text: &str) -> Option<(u64, u64)> {
    let (at, number) = text.split_once('-')?;
    Some((at.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
        record.check().map(|()| record)
    }

    #[test]
    fn a_line_is_written_as_it_was_read() {
        for line in [
            r##"{"kind":"board","period":"day","id":"2026-11-20","group":"eu","expires":"2026-12-21T08:00:00.123Z","scores":{"#":3,"42":3221225469,"7":-2147483646}}"##,
            r#"{"kind":"profile","user":"42","profile":{"name":"艾\"达","avatar":"https://a.example/1","1":[1,{"a":null}]}}"#,
            r#"{"kind":"audit","id":"1795132800000-0","fields":[["at","1795132800000"],["subject","1"]]}"#,
            r#"{"kind":"history","user":"42","date":"2026-11-20","actions":{"like":{"count":2,"points":-4}}}"#,
            r#"{"kind":"day-marks","user":"42","span":670,"marks":{"visit:/":["2026-11-20","2026-12-13"]}}"#,
            r#"{"kind":"erased","hash":"92cfceb39d57d914ed8b14d0e37643de0797ae56","at":"2026-11-20T08:00:00.123Z"}"#,
            r#"{"kind":"end","lines":4}"#,
        ] {
            let record = read(line).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), line);
        }
    }

    #[test]
    fn what_no_site_has_is_refused() {
        for (line, why) in [
            (r#"{"kind":"mark","user":"42"}"#, "unknown variant `mark`"),
            (
                r#"{"kind":"marks","user":"42","marks":{},"expiry":1}"#,
                "unknown field `expiry`",
            ),
            (
                r#"{"kind":"marks","user":"4 2","marks":{}}"#,
                "names no key",
            ),
            (
                r#"{"kind":"board","period":"all","id":"all","scores":{"a":1.5}}"#,
                "invalid type",
            ),
            (
                r#"{"kind":"board","period":"all","id":"all","scores":{"a":9007199254740992}}"#,
                "is no score",
            ),
            (
                r#"{"kind":"board","period":"all","id":"all","scores":{"a":5}}"#,
                "is no score",
            ),
            (
                r##"{"kind":"board","period":"all","id":"all","scores":{"#":1073741824}}"##,
                "is no score",
            ),
            (r#"{"kind":"index-span","span":"today"}"#, "invalid type"),
            (
                r#"{"kind":"history","user":"42","date":"today","actions":{}}"#,
                "is no date",
            ),
            (
                r#"{"kind":"day-marks","user":"42","span":670,"marks":{"visit:/":["2026-11-12"]}}"#,
                "'visit:/' is of days that are not of span 670",
            ),
            (
                r#"{"kind":"index-board","period":"day","id":"all"}"#,
                "names no board",
            ),
            (
                r#"{"kind":"flags","user":"42","flags":"x"}"#,
                "the flags h, s, f",
            ),
            (r#"{"kind":"audit","id":"now","fields":[]}"#, "is no entry"),
            (
                r#"{"kind":"erased","hash":"","at":"2026-11-20T08:00Z"}"#,
                "is no SHA-1",
            ),
        ] {
            let told = read(line).unwrap_err();
            assert!(told.contains(why), "{line}: {told}");
        }
    }
}
