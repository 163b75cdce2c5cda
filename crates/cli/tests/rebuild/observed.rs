//! What has to be equal before and after a rebuild: responses, stored values and expiries.

use std::collections::BTreeMap;

use test_support::{Value, rest, shards};

use crate::journal_app::JournalApp;
use crate::responses;
use crate::stored::{StoredData, StoredValue};

/// Points are above these bits of order.
const ORDERS: i64 = 1 << 30;
/// Tolerance of expiries in ms: a rebuild gives all entries of an hour one lifetime.
const HOUR: i64 = 3_600_000;

/// Responses and stored data of a service.
pub struct Observed {
    responses: Vec<(String, Value)>,
    values: BTreeMap<String, Vec<String>>,
    expiries: BTreeMap<String, i64>,
}

impl Observed {
    /// Reads the current responses and data. Asserts that the index is complete.
    pub async fn read(app: &JournalApp) -> Result<Self, Box<dyn std::error::Error>> {
        let mut responses = responses::read_all(&app.without_cache()).await;
        for (path, body) in &mut responses {
            if path.starts_with("/v1/moderation") {
                normalize_audit_log(body);
            }
        }
        if shards() > 1 {
            responses = without_order_of_ties(responses);
        }
        let data = app.data()?;
        assert_indexed(&data);
        let expiries = data.iter().map(|(key, (_, expiry))| (key.clone(), *expiry));
        Ok(Self {
            responses,
            expiries: expiries.collect(),
            values: comparable_values(data),
        })
    }

    /// Asserts that responses, values and expiries are equal.
    #[track_caller]
    pub fn assert_same(&self, expected: &Self) {
        responses::assert_same(&self.responses, &expected.responses);
        let keys = |values: &BTreeMap<String, Vec<String>>| values.keys().cloned().collect();
        let (found, wanted): (Vec<_>, Vec<_>) = (keys(&self.values), keys(&expected.values));
        assert_eq!(found, wanted);
        for (key, expected) in &expected.values {
            assert_eq!(self.values.get(key), Some(expected), "{key}");
        }
        for key in expected.values.keys() {
            let (found, expected) = (self.expiries[key], expected.expiries[key]);
            let is_near = match expected {
                -1 => found == -1,
                at => (found - at).abs() <= HOUR,
            };
            assert!(is_near, "{key} expires at {found}, not at {expected}");
        }
    }
}

/// Asserts that the index of each shard has all boards and spans, which an erasure needs. It may have
/// more: boards with erased users only.
#[track_caller]
pub fn assert_indexed(data: &StoredData) {
    for key in data.keys() {
        let (shard, name) = key.split_once('}').unwrap_or_default();
        let entry = match name.split(':').collect::<Vec<_>>()[..] {
            ["h" | "v", span, ..] => span,
            _ => match name.strip_prefix('b') {
                Some(board) => board,
                None => continue,
            },
        };
        let is_indexed = match data.get(&format!("{shard}}}i")) {
            Some((StoredValue::Sorted(entries), _)) => {
                entries.iter().any(|(known, _)| known == entry)
            }
            Some(_) | None => false,
        };
        assert!(is_indexed, "{key} is not in the index");
    }
}

/// Removes ids, which a rebuild changes, and entries of erased users, which it deletes.
pub fn normalize_audit_log(body: &mut Value) {
    if let Some(entries) = body["entries"].as_array_mut() {
        entries.retain(|entry| !entry["user"].is_null());
        for entry in entries {
            entry["id"] = Value::Null;
        }
    }
}

/// Removes everything that depends on the order of ties between shards: it is decided by order
/// numbers, and a rebuild reassigns them without the erased users. The order inside a shard is
/// compared by the stored values.
pub fn without_order_of_ties(responses: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut boards: BTreeMap<String, (Value, Vec<Value>)> = BTreeMap::new();
    for (path, mut body) in responses {
        let is_board = path.starts_with("/v1/ranking");
        let mut entries = Vec::new();
        if is_board && let Some(body) = body.as_object_mut() {
            for name in ["rank", "percentile", "next", "around"] {
                body.remove(name);
            }
            if let Some(Value::Array(listed)) = body.remove("entries") {
                entries = listed;
            }
        }
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            entry.remove("rank");
            entry.remove("position");
        }
        let board = path.split("&offset").next().unwrap_or_default();
        let (_, all) = boards.entry(board.to_owned()).or_insert((body, Vec::new()));
        all.extend(entries);
    }
    let normalized = |(board, (mut body, mut entries)): (String, (Value, Vec<Value>))| {
        if body["total"].as_u64() > Some(entries.len() as u64) {
            // Which of the last tied users are listed depends on their order.
            let last = entries.last().map(|entry| entry["score"].clone());
            entries.retain(|entry| Some(&entry["score"]) != last.as_ref());
        }
        entries.sort_by_key(Value::to_string);
        if board.starts_with("/v1/ranking") {
            body["entries"] = Value::Array(entries);
        }
        (board, body)
    };
    boards.into_iter().map(normalized).collect()
}

/// Returns the comparable part of each value: boards by rank, boards of content without order, active records without repeats, flags
/// without numbers of the audit log.
pub fn comparable_values(data: StoredData) -> BTreeMap<String, Vec<String>> {
    let mut comparable = BTreeMap::new();
    for (key, (value, _)) in data {
        let name = rest(&key);
        if ["i", "l", "n", "w", "a", "o", "j", "x"].contains(&name) {
            continue;
        }
        let mut values: Vec<String> = match value {
            StoredValue::Text(text) => vec![text],
            StoredValue::Set(members) => members.into_iter().collect(),
            StoredValue::Sorted(scores) => sorted_values(name, scores),
            StoredValue::Hash(fields) => {
                let fields = fields.into_iter().map(|(field, value)| match name {
                    "p" if field.starts_with('!') => {
                        format!("{field} {}", value.split(',').next().unwrap_or_default())
                    }
                    // Each recount of an event gives the definitions another number.
                    "p" if field == "\t!" => {
                        let (_, lines) = value.split_once('\n').unwrap_or_default();
                        format!("{field} {lines}")
                    }
                    _ if name.starts_with("m:") => format!("{field} {}", without_repeat(&value)),
                    _ => format!("{field} {value}"),
                });
                fields.collect()
            }
            StoredValue::Stream(entries, _) => vec![format!("{entries:?}")],
        };
        if name == "p" {
            // A user who had flags before keeps only the number in the audit log. Positions of deliveries are lost
            // with the deliveries.
            values.retain(|value| !value.ends_with(' ') && !value.starts_with("\t#"));
        }
        if !values.is_empty() {
            comparable.insert(key, values);
        }
    }
    comparable
}

/// Returns the comparable part of a sorted set by the key without its tag: users and points by rank, else members
/// and scores without the order counter.
pub fn sorted_values(name: &str, mut scores: Vec<(String, String)>) -> Vec<String> {
    if !["bT", "bA", "u:"].iter().any(|kind| name.starts_with(kind)) {
        return ranked_points(scores);
    }
    scores.retain(|(member, _)| member != "#");
    let scores = scores.into_iter();
    scores
        .map(|(member, score)| format!("{member} {score}"))
        .collect()
}

/// Returns users and points of a board by rank.
fn ranked_points(scores: Vec<(String, String)>) -> Vec<String> {
    let scores = scores.into_iter().filter(|(member, _)| member != "#");
    let parse = |(member, score): (String, String)| (score.parse::<i64>().unwrap_or(0), member);
    let mut scores: Vec<(i64, String)> = scores.map(parse).collect();
    scores.sort_by_key(|(score, _)| -score.abs());
    let format = |(score, member): (i64, String)| {
        let points = score.abs() / ORDERS * score.signum();
        format!("{member} {points}")
    };
    scores.into_iter().map(format).collect()
}

/// Returns an active record without the instant of its latest repetition.
pub fn without_repeat(record: &str) -> String {
    let (head, groups) = record.split_once(',').unwrap_or((record, ""));
    let head = head.split(':').next().unwrap_or_default();
    format!("{head},{groups}")
}
