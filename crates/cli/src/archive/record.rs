//! The lines of an exported file.
//!
//! Each line is a JSON object with its `kind`, the parts of its key, the values, and `expires`, the
//! instant at which the key expires; a key without `expires` is permanent. A key with many values
//! takes several lines. The member `#` of a board is its order counter. Data of a single user or target is
//! on their shard; all other lines have `shard`, which is omitted for shard 0. A target is written as the
//! member of boards: its id, after a second `#` if it begins with one.

use std::fmt;
use std::marker::PhantomData;

use activity_rank_core::board::BoardKind;
use activity_rank_core::content::{id_of_member, member, member_of_stub};
use activity_rank_core::event::Event;
use activity_rank_core::score::Layout;
use activity_rank_core::shard;
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

/// Order counters of boards of content and of authors are below this.
const PLAIN_ORDERS: i64 = 1 << 32;
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
        #[serde(
            default = "default_order_bits",
            skip_serializing_if = "is_default_order_bits"
        )]
        order_bits: u32,
    },
    /// A board of the index, kept there until `until`.
    IndexBoard {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<Subject>,
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
    /// As `Flags`, of a target.
    TargetFlags {
        target: String,
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
    /// The target with a number in the audit log.
    TargetSubject {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        number: u64,
        target: String,
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
    /// Packed scores of a board: `src/score.rs` of the Worker. Those of content and of authors are points.
    Board {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<Subject>,
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
    /// A user's active records in the form that `crates/store/src/count/record.rs` documents, the instants of
    /// cooldowns, and the marker of the expiry.
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
    /// Registrations of targets in the form that `crates/store/src/scripts/users.lua` of the Worker documents,
    /// and the number of the last registration as `#`.
    Register {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        registrations: OrderedMap<String>,
    },
    /// The targets of an author, by the instant of their registration in Unix ms.
    Targets {
        user: String,
        targets: OrderedMap<i64>,
    },
    /// A change that others have not received yet: names and values of its entry.
    Delivery {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        id: String,
        fields: Vec<(String, String)>,
    },
    /// The id of the last change of a shard that others have received on this one.
    Position {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        from: u32,
        id: String,
    },
    /// An event: its definition as the Worker stores it.
    Event { event: String, definition: String },
    /// The definitions of the events that are not final, as the counting script reads them.
    Definitions {
        #[serde(default, skip_serializing_if = "is_zero")]
        shard: u32,
        definitions: String,
    },
    /// The last line: number of lines before it.
    End { lines: u64 },
}

/// The subject of a board that does not rank users by what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Targets, by the points that they receive.
    Content,
    /// Users, by the points that their targets and they themselves receive.
    Authors,
    /// Users, by the points of what they do in the event that `group` names.
    Event,
}

impl Subject {
    /// Returns the subject of a kind of board; `None` for members.
    #[must_use]
    pub fn from_kind(kind: BoardKind) -> Option<Self> {
        match kind {
            BoardKind::Members => None,
            BoardKind::Content => Some(Self::Content),
            BoardKind::Authors => Some(Self::Authors),
            BoardKind::Event => Some(Self::Event),
        }
    }

    /// Returns the kind of a board with this subject.
    #[must_use]
    pub fn kind(of: Option<Self>) -> BoardKind {
        match of {
            None => BoardKind::Members,
            Some(Self::Content) => BoardKind::Content,
            Some(Self::Authors) => BoardKind::Authors,
            Some(Self::Event) => BoardKind::Event,
        }
    }
}

/// Returns whether an audit log entry is in the log of opt-outs.
fn is_opt_out(fields: &[(String, String)]) -> bool {
    let action = fields.iter().find(|(name, _)| name == "action");
    action.is_some_and(|(_, action)| ["opt-out", "opt-in"].contains(&action.as_str()))
}

fn default_order_bits() -> u32 {
    Layout::DEFAULT.order_bits
}

fn is_default_order_bits(order_bits: &u32) -> bool {
    *order_bits == Layout::DEFAULT.order_bits
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
            Self::Profile { .. }
            | Self::Flags { .. }
            | Self::TargetFlags { .. }
            | Self::Definitions { .. }
            | Self::Position { .. } => Key::Users,
            Self::Event { .. } => Key::Events,
            Self::Subjects { .. }
            | Self::Subject { .. }
            | Self::TargetSubject { .. }
            | Self::Reason { .. } => Key::AuditDetails,
            Self::Audit { fields, .. } if is_opt_out(fields) => Key::OptOuts,
            Self::Audit { .. } => Key::AuditLog,
            Self::Erased { .. } => Key::Tombstones,
            Self::Board {
                of,
                period,
                id,
                group,
                ..
            } => Key::Board(BoardId {
                kind: Subject::kind(*of),
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
            Self::Register { .. } => Key::Register,
            Self::Targets { user, .. } => Key::Targets(user.clone()),
            Self::Delivery { .. } => Key::Deliveries,
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
            | Self::TargetFlags { .. }
            | Self::TargetSubject { .. }
            | Self::Register { .. }
            | Self::Targets { .. }
            | Self::Delivery { .. }
            | Self::Position { .. }
            | Self::Event { .. }
            | Self::Definitions { .. }
            | Self::End { .. } => None,
        }
    }

    /// Returns the shard of the record: that of its user or target, or the one it names.
    #[must_use]
    pub fn shard(&self, shards: u32) -> u32 {
        match self {
            Self::Profile { user, .. }
            | Self::Flags { user, .. }
            | Self::History { user, .. }
            | Self::DailyRecords { user, .. }
            | Self::ActiveRecords { user, .. }
            | Self::UndoRecords { user, .. }
            | Self::Targets { user, .. } => shard::of(user, shards),
            Self::TargetFlags { target, .. } => shard::of(id_of_member(target), shards),
            Self::IndexBoard { shard, .. }
            | Self::IndexSpan { shard, .. }
            | Self::Subjects { shard, .. }
            | Self::Subject { shard, .. }
            | Self::Reason { shard, .. }
            | Self::Audit { shard, .. }
            | Self::Erased { shard, .. }
            | Self::TargetSubject { shard, .. }
            | Self::Register { shard, .. }
            | Self::Delivery { shard, .. }
            | Self::Position { shard, .. }
            | Self::Definitions { shard, .. }
            | Self::Board { shard, .. } => *shard,
            Self::Export { .. } | Self::Event { .. } | Self::End { .. } => 0,
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
                version,
                shards,
                order_bits,
                ..
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
                if !Layout::ORDER_BITS.contains(order_bits) {
                    let (min, max) = (Layout::ORDER_BITS.start(), Layout::ORDER_BITS.end());
                    return Err(format!(
                        "`order_bits` must be from {min} to {max}, not {order_bits}"
                    ));
                }
            }
            Self::IndexBoard {
                of,
                period,
                id,
                group,
                ..
            } => {
                let board = BoardId {
                    kind: Subject::kind(*of),
                    period: period.clone(),
                    id: id.clone(),
                    group: group.clone(),
                };
                if !Key::Board(board).is_valid() {
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
            Self::TargetFlags { target, flags, .. } => {
                if !is_member(target) || !["", "h"].contains(&flags.as_str()) {
                    return Err("`flags` needs a valid target and only the flag h".to_owned());
                }
            }
            Self::TargetSubject { target, .. } if !is_member(target) => {
                return Err(format!("invalid target '{target}'"));
            }
            Self::Register { registrations, .. } => {
                let mut names = registrations.0.iter().map(|(name, _)| name);
                let is_valid = |name: &str| name == COUNTER || is_member(member_of_stub(name));
                if let Some(name) = names.find(|name| !is_valid(name)) {
                    return Err(format!("invalid target '{name}'"));
                }
            }
            Self::Targets { targets, .. } => {
                let mut names = targets.0.iter().map(|(name, _)| name);
                if let Some(name) = names.find(|name| !is_member(member_of_stub(name))) {
                    return Err(format!("invalid target '{name}'"));
                }
            }
            Self::Audit { id, .. }
            | Self::Reason { entry: id, .. }
            | Self::Delivery { id, .. }
            | Self::Position { id, .. }
                if parse_entry_id(id).is_none() =>
            {
                return Err(format!("invalid entry id '{id}'"));
            }
            Self::Event { event, definition }
                if !is_id(event) || Event::from_stored(event, definition).is_none() =>
            {
                return Err(format!("invalid event '{event}'"));
            }
            Self::Erased { hash, .. } if !is_sha1(hash) => {
                return Err(format!("'{hash}' is not a SHA-1 in hex"));
            }
            Self::IndexSpan { .. }
            | Self::Board { .. }
            | Self::Profile { .. }
            | Self::Subjects { .. }
            | Self::Subject { .. }
            | Self::Reason { .. }
            | Self::TargetSubject { .. }
            | Self::Audit { .. }
            | Self::Delivery { .. }
            | Self::Position { .. }
            | Self::Event { .. }
            | Self::Definitions { .. }
            | Self::Erased { .. }
            | Self::History { .. }
            | Self::ActiveRecords { .. }
            | Self::UndoRecords { .. }
            | Self::End { .. } => (),
        }
        Ok(())
    }

    /// Checks that the shard exists, and that all users and targets of the record belong to it.
    ///
    /// # Errors
    ///
    /// A message that names the shard and the user or target.
    pub fn check_shard(&self, shards: u32) -> Result<(), String> {
        let shard = self.shard(shards);
        let from = match self {
            Self::Position { from, .. } => *from,
            _ => shard,
        };
        if let Some(shard) = [shard, from].into_iter().find(|shard| *shard >= shards) {
            return Err(format!(
                "shard {shard} does not exist: `shards` is {shards}"
            ));
        }
        let (kind, mut ids) = self.ids();
        let home = |id: &str| shard::of(id, shards);
        match ids.find(|id| home(id) != shard) {
            Some(id) => Err(format!(
                "{kind} '{id}' belongs to shard {} of {shards}, not to shard {shard}",
                home(id)
            )),
            None => Ok(()),
        }
    }

    /// Checks the scores of a board.
    ///
    /// # Errors
    ///
    /// A message that names the score and its member.
    pub fn check_scores(&self, layout: Layout) -> Result<(), String> {
        let Self::Board { of, scores, .. } = self else {
            return Ok(());
        };
        let is_valid =
            |(member, score): &&(String, i64)| is_score(Subject::kind(*of), member, *score, layout);
        match scores.0.iter().find(|pair| !is_valid(pair)) {
            Some((member, score)) => Err(format!("invalid score {score} of '{member}'")),
            None => Ok(()),
        }
    }

    /// Returns the ids that a record with a shard of its own names: users or targets.
    fn ids(&self) -> (&'static str, Box<dyn Iterator<Item = &str> + '_>) {
        match self {
            Self::Board { of, scores, .. } => {
                let members = scores.0.iter().map(|(member, _)| member.as_str());
                let members = members.filter(|member| *member != COUNTER);
                match Subject::kind(*of) {
                    BoardKind::Content => ("target", Box::new(members.map(id_of_member))),
                    BoardKind::Members | BoardKind::Authors | BoardKind::Event => {
                        ("user", Box::new(members))
                    }
                }
            }
            Self::Subject { user, .. } => ("user", Box::new([user.as_str()].into_iter())),
            Self::TargetSubject { target, .. } => {
                ("target", Box::new([id_of_member(target)].into_iter()))
            }
            Self::Register { registrations, .. } => {
                let names = registrations.0.iter().map(|(name, _)| name.as_str());
                let names = names.filter(|name| *name != COUNTER);
                let ids = names.map(|name| id_of_member(member_of_stub(name)));
                ("target", Box::new(ids))
            }
            _ => ("user", Box::new([].into_iter())),
        }
    }
}

fn is_score(kind: BoardKind, member: &str, score: i64, layout: Layout) -> bool {
    let orders = layout.orders().cast_signed();
    if member == COUNTER {
        let counters = if kind.is_plain() {
            PLAIN_ORDERS
        } else {
            orders
        };
        return (0..counters).contains(&score);
    }
    // Scores of hidden users and targets are negated.
    let score = score.abs();
    match kind {
        BoardKind::Members | BoardKind::Event => is_id(member) && (orders..EXACT).contains(&score),
        BoardKind::Content => is_member(member) && (1..EXACT).contains(&score),
        BoardKind::Authors => is_id(member) && (1..EXACT).contains(&score),
    }
}

/// Returns whether a text is the member of boards for a target.
fn is_member(text: &str) -> bool {
    !text.is_empty() && member(id_of_member(text)) == text
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
        record.check()?;
        record.check_scores(Layout::DEFAULT)?;
        Ok(record)
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
            r###"{"kind":"board","of":"content","period":"all","id":"all","scores":{"#":3,"##a b":4,"post-7":-2}}"###,
            r#"{"kind":"index-board","of":"authors","period":"day","id":"2026-11-20"}"#,
            r#"{"kind":"target-flags","target":"a b","flags":"h","subject":2}"#,
            r#"{"kind":"target-subject","number":2,"target":"a b"}"#,
            r##"{"kind":"register","registrations":{"#":"17","#3.17 post-7":";1;9","post-7":"3.18;5;0;;{}"}}"##,
            r##"{"kind":"targets","user":"9","targets":{"#3.17 post-7":4,"post-8":5}}"##,
            r#"{"kind":"delivery","shard":1,"id":"1795132800000-0","fields":[["do","receive"]]}"#,
            r#"{"kind":"position","shard":1,"from":3,"id":"1795132800000-0"}"#,
            r#"{"kind":"board","of":"event","period":"all","id":"all","group":"hackathon","scores":{"42":3221225469}}"#,
            r#"{"kind":"event","event":"hackathon","definition":"{\"final_at\":\"2026-11-22T03:00:00Z\",\"from\":\"2026-11-20T00:00:00Z\",\"to\":\"2026-11-22T00:00:00Z\"}"}"#,
            r#"{"kind":"definitions","shard":1,"definitions":"7\nhackathon 1 2 3 4 - -"}"#,
            r#"{"kind":"end","lines":4}"#,
            r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":0,"timezone":"UTC"}"#,
            r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":4,"timezone":"UTC","order_bits":20}"#,
        ] {
            let record = parse(line).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), line);
        }
    }

    #[test]
    fn scores_are_checked_against_bits_of_order() {
        let layout = Layout {
            order_bits: 20,
            decimals: 0,
        };
        for (scores, expected) in [
            (r##"{"#":1048575,"a":1048576,"b":-1048576}"##, None),
            (r##"{"#":1048576}"##, Some("invalid score 1048576 of '#'")),
            (r#"{"a":1048575}"#, Some("invalid score 1048575 of 'a'")),
        ] {
            let line = format!(r#"{{"kind":"board","period":"all","id":"all","scores":{scores}}}"#);
            let record: Record = serde_json::from_str(&line).unwrap();
            let error = record.check_scores(layout).err();
            assert_eq!(error.as_deref(), expected, "{line}");
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
            // The shard of the target #42 is 0.
            (
                r###"{"kind":"board","of":"content","period":"all","id":"all","scores":{"#":3,"##42":4}}"###,
                0,
                None,
            ),
            (
                r##"{"kind":"register","registrations":{"#":"17","#3.17 42":";1;9"}}"##,
                0,
                Some("target '42' belongs to shard 3 of 8, not to shard 0"),
            ),
            (
                r#"{"kind":"position","from":8,"id":"1-0"}"#,
                0,
                Some("shard 8 does not exist: `shards` is 8"),
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
            (
                r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":0,"timezone":"UTC","order_bits":31}"#,
                "`order_bits` must be from 16 to 30, not 31",
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
                "invalid entry id",
            ),
            (
                r##"{"kind":"targets","user":"9","targets":{"#":5}}"##,
                "invalid target '#'",
            ),
            (
                r#"{"kind":"target-flags","target":"a","flags":"f"}"#,
                "only the flag h",
            ),
            (
                r#"{"kind":"board","of":"content","period":"all","id":"all","group":"eu","scores":{"a":5}}"#,
                "invalid user, group, date or period",
            ),
            (
                r#"{"kind":"event","event":"hackathon","definition":"{}"}"#,
                "invalid event 'hackathon'",
            ),
            (
                r#"{"kind":"board","of":"event","period":"day","id":"2026-11-20","group":"e","scores":{}}"#,
                "invalid user, group, date or period",
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
