//! The lines of an exported file.
//!
//! Each line is a JSON object with its `kind`, the parts of its key, the values, and `expires`, the
//! instant at which the key expires; a key without `expires` is permanent. A key with many values
//! takes several lines. The member `#` of a board is its order counter. Data of a single user is on
//! that user's shard; all other lines have `shard`, which is omitted for shard 0.

use std::fmt;
use std::marker::PhantomData;

use activity_rank_core::{score, shard};
use jiff::Timestamp;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::archive::fingerprint::MAX_SHARDS;
use crate::archive::key::{BoardId, Key, date_bits, span_of_date};
use activity_rank_core::id::is_id;

/// Version of the file format.
pub const VERSION: u32 = 2;

/// The member of a board that holds its order counter.
pub const COUNTER: &str = "#";

/// Order counters are below this, scores of users at or above.
pub const ORDERS: i64 = score::ORDERS as i64;
/// Scores are exact below this.
const EXACT: i64 = 1 << 53;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the README documents the fields in a table")]
pub enum Record {
    /// The first line: origin of the data and the settings it depends on.
    Export {
        version: u32,
        prefix: String,
        instant: Timestamp,
        shards: u32,
        decimals: u32,
        timezone: String,
    },
    /// A board of the index, kept there until `until`.
    IndexBoard {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        period: String,
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A span of histories of the index, kept there until `until`.
    IndexSpan {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        span: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A user's profile.
    Profile { user: String, profile: Profile },
    /// A user's flags: `h` hidden by moderators, `s` hidden by the user, `f` frozen. `subject` is
    /// the user's number in the audit log.
    Flags {
        user: String,
        flags: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<u64>,
    },
    /// Number of subjects that the audit log has had.
    Subjects {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        count: u64,
    },
    /// The user with a number in the audit log.
    Subject {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        number: u64,
        user: String,
    },
    /// The reason of an audit log entry.
    Reason {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        entry: String,
        reason: String,
    },
    /// An audit log entry: names and values.
    Audit {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        id: String,
        fields: Vec<(String, String)>,
    },
    /// The tombstone of an erased user, identified by SHA-1. Older activity that arrives later is
    /// dropped.
    Erased {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        hash: String,
        at: Timestamp,
    },
    /// Packed scores of a board: `src/score.rs` of the Worker.
    Board {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        period: String,
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        scores: OrderedMap<i64>,
    },
    /// A user's totals of one day by action. All days of a span are one key, with the daily records and
    /// undo records.
    History {
        user: String,
        date: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        actions: OrderedMap<ActionTotal>,
    },
    /// A user's daily records: the counted dates of a span by action and target.
    #[serde(rename = "day-marks")]
    DailyRecords {
        user: String,
        span: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        #[serde(rename = "marks")]
        records: OrderedMap<Vec<String>>,
    },
    /// A user's active records in the form that `crates/store/src/scripts/count.lua` of the Worker documents, and
    /// the instants of cooldowns.
    #[serde(rename = "marks")]
    ActiveRecords {
        user: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        #[serde(rename = "marks")]
        records: OrderedMap<String>,
    },
    /// A user's undo records: the instants of undos in Unix ms, by action and target.
    #[serde(rename = "undo-memory")]
    UndoRecords {
        user: String,
        span: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        #[serde(rename = "marks")]
        records: OrderedMap<String>,
    },
    /// The last line: number of lines before it.
    End { lines: u64 },
}

/// Returns whether an audit log entry is in the log of opt-outs.
fn is_opt_out(fields: &[(String, String)]) -> bool {
    let action = fields.iter().find(|(name, _)| name == "action");
    action.is_some_and(|(_, action)| ["opt-out", "opt-in"].contains(&action.as_str()))
}

fn is_zero(shard: &u32) -> bool {
    *shard == 0
}

/// A stored profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Profile {
    /// A JSON object that serializes to the stored text again.
    Fields(OrderedMap<Value>),
    /// Any other stored text, unchanged.
    Text(String),
}

/// Totals of an action on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionTotal {
    /// Number of counted activities.
    pub count: u64,
    /// Points in smallest steps.
    pub points: i64,
}

/// A JSON object that keeps the order of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedMap<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for OrderedMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = OrderedMap<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMap<T>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(OrderedMap(members))
    }
}

impl Record {
    /// Returns the key of the values, or `None` for the first and the last line.
    #[must_use]
    pub fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Export { .. } | Self::End { .. } => return None,
            Self::IndexBoard { .. } | Self::IndexSpan { .. } => Key::Index,
            Self::Profile { .. } | Self::Flags { .. } => Key::Users,
            Self::Subjects { .. } | Self::Subject { .. } | Self::Reason { .. } => Key::AuditDetails,
            Self::Audit { fields, .. } if is_opt_out(fields) => Key::OptOuts,
            Self::Audit { .. } => Key::AuditLog,
            Self::Erased { .. } => Key::Tombstones,
            Self::Board {
                period, id, group, ..
            } => Key::Board(BoardId {
                period: period.clone(),
                id: id.clone(),
                group: group.clone(),
            }),
            // `check` rejects an invalid date.
            Self::History { user, date, .. } => {
                Key::History(span_of_date(date).unwrap_or_default(), user.clone())
            }
            Self::DailyRecords { user, span, .. } | Self::UndoRecords { user, span, .. } => {
                Key::History(*span, user.clone())
            }
            Self::ActiveRecords { user, .. } => Key::ActiveRecords(user.clone()),
        })
    }

    /// Returns the instant at which the key expires, or `None` for a permanent key.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        match self {
            Self::Board { expires, .. }
            | Self::History { expires, .. }
            | Self::DailyRecords { expires, .. }
            | Self::ActiveRecords { expires, .. }
            | Self::UndoRecords { expires, .. } => *expires,
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

    /// Returns the shard of the record: that of its user, or the one it names.
    #[must_use]
    pub fn shard(&self, shards: u32) -> u32 {
        match self {
            Self::Profile { user, .. }
            | Self::Flags { user, .. }
            | Self::History { user, .. }
            | Self::DailyRecords { user, .. }
            | Self::ActiveRecords { user, .. }
            | Self::UndoRecords { user, .. } => shard::of(user, shards),
            Self::IndexBoard { shard, .. }
            | Self::IndexSpan { shard, .. }
            | Self::Subjects { shard, .. }
            | Self::Subject { shard, .. }
            | Self::Reason { shard, .. }
            | Self::Audit { shard, .. }
            | Self::Erased { shard, .. }
            | Self::Board { shard, .. } => *shard,
            Self::Export { .. } | Self::End { .. } => 0,
        }
    }

    /// Checks the values beyond their JSON types.
    ///
    /// # Errors
    ///
    /// A message that names the invalid value.
    pub fn check(&self) -> Result<(), String> {
        if self.key().is_some_and(|key| !key.is_valid()) {
            return Err("invalid user, group, date or period".to_owned());
        }
        match self {
            Self::Export {
                version, shards, ..
            } => {
                if *version != VERSION {
                    return Err(format!(
                        "unsupported file version {version}; this program reads version {VERSION}"
                    ));
                }
                if !(1..=MAX_SHARDS).contains(shards) {
                    return Err(format!(
                        "`shards` must be from 1 to {MAX_SHARDS}, not {shards}"
                    ));
                }
            }
            Self::IndexBoard {
                period, id, group, ..
            } => {
                let (period, id, group) = (period.clone(), id.clone(), group.clone());
                if !Key::Board(BoardId { period, id, group }).is_valid() {
                    return Err("invalid board".to_owned());
                }
            }
            Self::History { date, .. } if span_of_date(date).is_none() => {
                return Err(format!("invalid date '{date}'"));
            }
            Self::DailyRecords { span, records, .. } => {
                let outside = |dates: &Vec<String>| date_bits(*span, dates).is_none();
                if let Some((name, _)) = records.0.iter().find(|(_, dates)| outside(dates)) {
                    return Err(format!("'{name}' must have dates of span {span} only"));
                }
            }
            Self::Profile { user, .. } | Self::Subject { user, .. } if !is_id(user) => {
                return Err(format!("invalid user '{user}'"));
            }
            Self::Flags { user, flags, .. } => {
                if !is_id(user) || !flags.chars().all(|flag| "hsf".contains(flag)) {
                    return Err("`flags` needs a valid user and only the flags h, s, f".to_owned());
                }
            }
            Self::Audit { id, .. } | Self::Reason { entry: id, .. }
                if parse_entry_id(id).is_none() =>
            {
                return Err(format!("invalid audit log entry id '{id}'"));
            }
            Self::Erased { hash, .. } if !is_sha1(hash) => {
                return Err(format!("'{hash}' is not a SHA-1 in hex"));
            }
            Self::Board { scores, .. } => {
                if let Some((member, score)) = scores.0.iter().find(|pair| !is_score(pair)) {
                    return Err(format!("invalid score {score} of '{member}'"));
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
            | Self::ActiveRecords { .. }
            | Self::UndoRecords { .. }
            | Self::End { .. } => (),
        }
        Ok(())
    }

    /// Checks that the shard exists, and that all users of the record belong to it.
    ///
    /// # Errors
    ///
    /// A message that names the shard and the user.
    pub fn check_shard(&self, shards: u32) -> Result<(), String> {
        let shard = self.shard(shards);
        if shard >= shards {
            return Err(format!(
                "shard {shard} does not exist: `shards` is {shards}"
            ));
        }
        let mut users: Vec<&String> = Vec::new();
        if let Self::Board { scores, .. } = self {
            users.extend(scores.0.iter().map(|(member, _)| member));
            users.retain(|member| *member != COUNTER);
        } else if let Self::Subject { user, .. } = self {
            users.push(user);
        }
        let home = |user: &str| shard::of(user, shards);
        match users.into_iter().find(|user| home(user) != shard) {
            Some(user) => Err(format!(
                "user '{user}' belongs to shard {} of {shards}, not to shard {shard}",
                home(user)
            )),
            None => Ok(()),
        }
    }
}

fn is_score((member, score): &(String, i64)) -> bool {
    if member == COUNTER {
        return (0..ORDERS).contains(score);
    }
    // Scores of hidden users are negated.
    is_id(member) && (ORDERS..EXACT).contains(&score.abs())
}

fn is_sha1(text: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 40 && text.bytes().all(is_digit)
}

/// Parses a stream id into its ordered parts: Unix ms and sequence number.
#[must_use]
pub fn parse_entry_id(text: &str) -> Option<(u64, u64)> {
    let (at, number) = text.split_once('-')?;
    Some((at.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
        record.check().map(|()| record)
    }

    #[test]
    fn lines_round_trip() {
        for line in [
            r##"{"kind":"board","period":"day","id":"2026-11-20","group":"eu","expires":"2026-12-21T08:00:00.123Z","scores":{"#":3,"42":3221225469,"7":-2147483646}}"##,
            r#"{"kind":"profile","user":"42","profile":{"name":"艾\"达","avatar":"https://a.example/1","1":[1,{"a":null}]}}"#,
            r#"{"kind":"audit","id":"1795132800000-0","fields":[["at","1795132800000"],["subject","1"]]}"#,
            r#"{"kind":"history","user":"42","date":"2026-11-20","actions":{"like":{"count":2,"points":-4}}}"#,
            r#"{"kind":"day-marks","user":"42","span":670,"marks":{"visit:/":["2026-11-20","2026-12-13"]}}"#,
            r#"{"kind":"erased","hash":"92cfceb39d57d914ed8b14d0e37643de0797ae56","at":"2026-11-20T08:00:00.123Z"}"#,
            r#"{"kind":"subject","shard":3,"number":1,"user":"42"}"#,
            r#"{"kind":"end","lines":4}"#,
        ] {
            let record = parse(line).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), line);
        }
    }

    /// With 8 shards, user 42 belongs to shard 3 and user bob to shard 4.
    #[test]
    fn shard_is_checked_against_users() {
        for (line, shard, expected) in [
            (r#"{"kind":"marks","user":"42","marks":{}}"#, 3, None),
            (r#"{"kind":"flags","user":"bob","flags":"h"}"#, 4, None),
            (r#"{"kind":"subjects","shard":7,"count":2}"#, 7, None),
            (
                r#"{"kind":"subjects","shard":8,"count":2}"#,
                8,
                Some("shard 8 does not exist: `shards` is 8"),
            ),
            (
                r##"{"kind":"board","shard":3,"period":"all","id":"all","scores":{"#":3,"42":3221225469}}"##,
                3,
                None,
            ),
            (
                r##"{"kind":"board","period":"all","id":"all","scores":{"#":3,"42":3221225469}}"##,
                0,
                Some("user '42' belongs to shard 3 of 8, not to shard 0"),
            ),
            (
                r#"{"kind":"subject","shard":4,"number":1,"user":"42"}"#,
                4,
                Some("user '42' belongs to shard 3 of 8, not to shard 4"),
            ),
        ] {
            let record = parse(line).unwrap();
            assert_eq!(record.shard(8), shard, "{line}");
            let error = record.check_shard(8).err();
            assert_eq!(error.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn invalid_lines_are_rejected() {
        for (line, expected) in [
            (r#"{"kind":"mark","user":"42"}"#, "unknown variant `mark`"),
            (
                r#"{"kind":"marks","user":"42","marks":{},"expiry":1}"#,
                "unknown field `expiry`",
            ),
            (
                r#"{"kind":"marks","user":"4 2","marks":{}}"#,
                "invalid user, group, date or period",
            ),
            (
                r#"{"kind":"board","period":"all","id":"all","scores":{"a":1.5}}"#,
                "invalid type",
            ),
            (
                r#"{"kind":"board","period":"all","id":"all","scores":{"a":9007199254740992}}"#,
                "invalid score",
            ),
            (
                r#"{"kind":"board","period":"all","id":"all","scores":{"a":5}}"#,
                "invalid score",
            ),
            (
                r##"{"kind":"board","period":"all","id":"all","scores":{"#":1073741824}}"##,
                "invalid score",
            ),
            (r#"{"kind":"index-span","span":"today"}"#, "invalid type"),
            (
                r#"{"kind":"history","user":"42","date":"today","actions":{}}"#,
                "invalid date",
            ),
            (
                r#"{"kind":"day-marks","user":"42","span":670,"marks":{"visit:/":["2026-11-12"]}}"#,
                "'visit:/' must have dates of span 670 only",
            ),
            (
                r#"{"kind":"index-board","period":"day","id":"all"}"#,
                "invalid board",
            ),
            (
                r#"{"kind":"flags","user":"42","flags":"x"}"#,
                "the flags h, s, f",
            ),
            (
                r#"{"kind":"audit","id":"now","fields":[]}"#,
                "invalid audit log entry id",
            ),
            (
                r#"{"kind":"erased","hash":"","at":"2026-11-20T08:00Z"}"#,
                "is not a SHA-1",
            ),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
