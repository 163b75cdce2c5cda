//! What has to be the same after a rebuild as it was before.

use std::collections::BTreeMap;

use test_support::{Value, rest, shards};

use crate::answers;
use crate::content::{Content, Held};
use crate::journalled::Journalled;

/// Points are above these bits of order.
const ORDERS: i64 = 1 << 30;
/// An expiry may be as much off, ms: entries of an hour are done with one lifetime.
const HOUR: i64 = 3_600_000;

/// What a site answers and holds.
pub struct Picture {
    answers: Vec<(String, Value)>,
    held: BTreeMap<String, Vec<String>>,
    expiries: BTreeMap<String, i64>,
}

impl Picture {
    /// Of a site as it is now.
    pub async fn of(site: &Journalled) -> Result<Self, Box<dyn std::error::Error>> {
        let mut answers = answers::all(&site.reader()).await;
        for (path, answer) in &mut answers {
            if path.starts_with("/v1/moderation") {
                without_ids(answer);
            }
        }
        if shards() > 1 {
            answers = without_order_of_equals(answers);
        }
        let content = site.content()?;
        assert_indexed(&content);
        let expiries = content
            .iter()
            .map(|(key, (_, expiry))| (key.clone(), *expiry));
        Ok(Self {
            answers,
            expiries: expiries.collect(),
            held: said(content),
        })
    }

    /// Fails the test unless this is the same.
    #[track_caller]
    pub fn assert_same(&self, expected: &Self) {
        answers::assert_same(&self.answers, &expected.answers);
        self.assert_holds_the_same(expected);
    }

    /// The same, but for what is answered.
    #[track_caller]
    pub fn assert_holds_the_same(&self, expected: &Self) {
        let names = |held: &BTreeMap<String, Vec<String>>| held.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&self.held), names(&expected.held));
        for (key, expected) in &expected.held {
            assert_eq!(self.held.get(key), Some(expected), "{key}");
        }
        for key in expected.held.keys() {
            let (found, expected) = (self.expiries[key], expected.expiries[key]);
            let near = match expected {
                -1 => found == -1,
                at => (found - at).abs() <= HOUR,
            };
            assert!(near, "{key} expires at {found}, not {expected}");
        }
    }
}

/// Fails the test unless the index of its shard names every board and span there is, so that erasing finds them.
/// It may name more: a board on which only somebody was who is erased.
#[track_caller]
fn assert_indexed(content: &Content) {
    for key in content.keys() {
        let (shard, name) = key.split_once('}').unwrap_or_default();
        let name = match name.split(':').collect::<Vec<_>>()[..] {
            ["h" | "v", span, ..] => span,
            _ if name.starts_with('b') => key,
            _ => continue,
        };
        let named = match content.get(&format!("{shard}}}i")) {
            Some((Held::Sorted(names), _)) => names.iter().any(|(known, _)| known == name),
            Some(_) | None => false,
        };
        assert!(named, "the index does not name {key}");
    }
}

/// An audit list made anew has other ids, and nothing of who is erased.
fn without_ids(answer: &mut Value) {
    if let Some(entries) = answer["entries"].as_array_mut() {
        entries.retain(|entry| !entry["user"].is_null());
        for entry in entries {
            entry["id"] = Value::Null;
        }
    }
}

/// Between equals of different shards numbers of order decide, and who is erased has none any more: what
/// depends on them is left out. Who is before whom on one shard is told by what it holds.
fn without_order_of_equals(answers: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut told: BTreeMap<String, (Value, Vec<Value>)> = BTreeMap::new();
    for (path, mut answer) in answers {
        let ranked = path.starts_with("/v1/ranking");
        let mut entries = Vec::new();
        if ranked && let Some(answer) = answer.as_object_mut() {
            for name in ["rank", "percentile", "next", "around"] {
                answer.remove(name);
            }
            if let Some(Value::Array(listed)) = answer.remove("entries") {
                entries = listed;
            }
        }
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            entry.remove("rank");
            entry.remove("position");
        }
        let board = path.split("&offset").next().unwrap_or_default();
        let (_, all) = told.entry(board.to_owned()).or_insert((answer, Vec::new()));
        all.extend(entries);
    }
    let settled = |(board, (mut answer, mut entries)): (String, (Value, Vec<Value>))| {
        if answer["total"].as_u64() > Some(entries.len() as u64) {
            // Which of the last equals are listed is a matter of order.
            let last = entries.last().map(|entry| entry["score"].clone());
            entries.retain(|entry| Some(&entry["score"]) != last.as_ref());
        }
        entries.sort_by_key(Value::to_string);
        if board.starts_with("/v1/ranking") {
            answer["entries"] = Value::Array(entries);
        }
        (board, answer)
    };
    told.into_iter().map(settled).collect()
}

/// What each key says: of boards ranks, of marks when they changed, of flags the letters.
fn said(content: Content) -> BTreeMap<String, Vec<String>> {
    let mut said = BTreeMap::new();
    for (key, (held, _)) in content {
        let name = rest(&key);
        if ["i", "l", "w", "a", "o"].contains(&name) {
            continue;
        }
        let values = match held {
            Held::Text(text) => vec![text],
            Held::Set(members) => members.into_iter().collect(),
            Held::Sorted(scores) => ranks(scores),
            Held::Hash(fields) => {
                let fields = fields.into_iter().map(|(field, value)| match name {
                    "f" => format!("{field} {}", value.split(',').next().unwrap_or_default()),
                    _ if name.starts_with("m:") => format!("{field} {}", without_repeat(&value)),
                    _ => format!("{field} {value}"),
                });
                fields.collect()
            }
            Held::Stream(entries, _) => vec![format!("{entries:?}")],
        };
        let mut values: Vec<String> = values;
        if name == "f" {
            // Who had flags and has none is in the list alone.
            values.retain(|value| !value.ends_with(' '));
        }
        if !values.is_empty() {
            said.insert(key, values);
        }
    }
    said
}

fn ranks(scores: Vec<(String, String)>) -> Vec<String> {
    let scores = scores.into_iter().filter(|(member, _)| member != "#");
    let score = |(member, score): (String, String)| (score.parse::<i64>().unwrap_or(0), member);
    let mut scores: Vec<(i64, String)> = scores.map(score).collect();
    scores.sort_by_key(|(score, _)| -score.abs());
    let told = |(score, member): (i64, String)| {
        let points = score.abs() / ORDERS * score.signum();
        format!("{member} {points}")
    };
    scores.into_iter().map(told).collect()
}

fn without_repeat(mark: &str) -> String {
    let (head, groups) = mark.split_once(',').unwrap_or((mark, ""));
    let head = head.split(':').next().unwrap_or_default();
    format!("{head},{groups}")
}
