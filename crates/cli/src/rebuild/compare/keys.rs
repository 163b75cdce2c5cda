//! Reads a key and its shadow and compares them: small keys atomically, large ones page by page.

use std::collections::HashMap;

use activity_rank_core::board::BoardKind;
use activity_rank_core::score::Layout;

use super::board::{self, Scores};
use super::fields::{self, comparable, is_excess};
use super::findings::{Difference, Findings, Kind};
use crate::failure::Failure;
use crate::rebuild::key::{BoardId, Key};
use crate::rebuild::retention::EXPIRED_TTL;
use crate::rebuild::state::Shard;
use crate::rebuild::store::{Cursor, KeyContent, Pairs, unexpected_data};

/// The order counter, a member of every board.
const COUNTER: &str = "#";
/// Pairs of keys in one request.
const REQUEST_PAIRS: usize = 100;
/// Values in one page.
const PAGE: u32 = 1000;

/// A key with comparable values.
#[derive(Clone, Debug)]
pub struct ComparedKey {
    /// The key without its tag and generation.
    pub name: String,
    /// Kind of its values.
    pub kind: Kind,
    /// The span of a history, else 0.
    span: i32,
    /// The subject of a board.
    board: BoardKind,
}

impl ComparedKey {
    /// Parses a key. Returns `None` for a key without comparable values.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let key = Key::parse(name)?;
        Some(Self {
            name: name.to_owned(),
            kind: Kind::of(&key)?,
            span: match key {
                Key::History(span, _) => span,
                _ => 0,
            },
            board: match key {
                Key::Board(BoardId { kind, .. }) => kind,
                _ => BoardKind::Members,
            },
        })
    }

    fn unexpected(&self, problem: &str) -> Failure {
        unexpected_data(&self.name, problem)
    }

    /// Returns whether the key is a sorted set. It is read as a whole: ranks depend on all members.
    fn is_sorted_set(&self) -> bool {
        matches!(self.kind, Kind::Board | Kind::ListedTarget)
    }

    /// Returns the author of a list, or the parts of registrations and stubs, of which one is the author: it does no
    /// harm if a number is taken for a user.
    fn authors(&self, stored: &Option<String>, expected: &Option<String>) -> Vec<String> {
        let texts = [stored, expected].into_iter().flatten();
        let authors: Vec<&str> = match (self.kind, self.name.split_once(':')) {
            (Kind::Target, _) => texts.flat_map(|text| text.splitn(5, ';').take(4)).collect(),
            (Kind::ListedTarget, Some((_, user))) => vec![user],
            _ => Vec::new(),
        };
        authors.into_iter().map(str::to_owned).collect()
    }

    fn difference(
        &self,
        field: String,
        stored: Option<String>,
        expected: Option<String>,
    ) -> Difference {
        let kind = self.kind.for_field(self.span, &field);
        Difference {
            kind,
            key: self.name.clone(),
            tied_users: self.authors(&stored, &expected),
            field,
            is_excess: is_excess(kind, stored.as_deref(), expected.as_deref()),
            stored,
            expected,
        }
    }
}

/// Fields and their comparable values.
type Fields = HashMap<String, String>;

/// The values of a key.
enum Values {
    Board(Scores),
    Hash(Fields),
}

/// Compares keys with their shadows.
///
/// # Errors
///
/// [`Failure`] if the store does not respond, or a key has an unexpected type or value.
pub async fn compare(
    shard: &Shard,
    keys: &[ComparedKey],
    findings: &mut Findings,
) -> Result<(), Failure> {
    let mut rest = keys;
    while !rest.is_empty() {
        let requested = rest.get(..REQUEST_PAIRS).unwrap_or(rest);
        let names: Vec<String> = requested
            .iter()
            .flat_map(|key| shard.key_pair(&key.name))
            .collect();
        let contents = shard.store.read_keys(&names).await?;
        let (pairs, _) = contents.as_chunks::<2>();
        if pairs.is_empty() {
            return Err(Failure::Store("the store returned no key".to_owned()));
        }
        rest = rest.get(pairs.len()..).unwrap_or_default();
        for (key, [live, shadow]) in requested.iter().zip(pairs) {
            findings.keys += 1;
            if has_expired(shard, shadow) && live.kind == "none" {
                continue;
            }
            match (small_values(key, live)?, small_values(key, shadow)?) {
                (Some(live), Some(shadow)) => {
                    add_differences(shard.layout, key, &live, &shadow, findings);
                }
                _ => compare_pages(shard, key, findings).await?,
            }
        }
    }
    Ok(())
}

/// Returns whether the TTL of a shadow marks its live key as expired.
fn has_expired(shard: &Shard, shadow: &KeyContent) -> bool {
    let ttl = i64::try_from(EXPIRED_TTL).unwrap_or(i64::MAX / 2000) * 900;
    shadow.expires_at > shard.started_at.saturating_add(ttl)
}

/// Returns the values of a key, or `None` if there are too many for one reply.
fn small_values(key: &ComparedKey, content: &KeyContent) -> Result<Option<Values>, Failure> {
    let expected = if key.is_sorted_set() { "zset" } else { "hash" };
    if content.kind == "none" {
        return decode(key, Vec::new()).map(Some);
    }
    if content.kind != expected {
        return Err(key.unexpected(&format!("is a {}", content.kind)));
    }
    let members = content.members.clone();
    members.map(|members| decode(key, members)).transpose()
}

fn decode(key: &ComparedKey, values: Pairs) -> Result<Values, Failure> {
    Ok(match key.kind {
        Kind::Board => Values::Board(decode_scores(key, values)?),
        Kind::ListedTarget => {
            let instants = decode_scores(key, values)?.into_iter();
            let text = |(member, instant): (String, i64)| (member, instant.to_string());
            Values::Hash(instants.map(text).collect())
        }
        _ => Values::Hash(decode_fields(key, values)),
    })
}

fn decode_score(text: &str) -> Result<i64, String> {
    let number: Option<f64> = text.parse().ok();
    match number.filter(|number| number.fract() == 0.0 && number.abs() < (1_u64 << 53) as f64) {
        Some(number) => Ok(number as i64),
        None => Err(format!(
            "has the score {text}, which is not an exact integer"
        )),
    }
}

/// Decodes scores without the order counter, which is not compared and may be a fraction.
fn decode_scores(key: &ComparedKey, values: Pairs) -> Result<Scores, Failure> {
    let values = values.into_iter().filter(|(member, _)| member != COUNTER);
    values
        .map(|(member, score)| Ok((member, decode_score(&score)?)))
        .collect::<Result<_, String>>()
        .map_err(|error| key.unexpected(&error))
}

fn decode_fields(key: &ComparedKey, values: Pairs) -> Fields {
    let decoded = |(field, value): (String, String)| {
        let value = comparable(key.kind.for_field(key.span, &field), &field, value)?;
        Some((field, value))
    };
    values.into_iter().filter_map(decoded).collect()
}

fn add_differences(
    layout: Layout,
    key: &ComparedKey,
    live: &Values,
    shadow: &Values,
    findings: &mut Findings,
) {
    match (live, shadow) {
        (Values::Board(live), Values::Board(shadow)) => {
            for row in board::compare(key.board, layout, live, shadow) {
                findings.add(Difference {
                    tied_users: row.tied_users,
                    is_excess: row.is_excess,
                    ..key.difference(row.member, row.stored, row.expected)
                });
            }
        }
        (Values::Hash(live), Values::Hash(shadow)) => {
            for (field, stored, expected) in fields::compare(live, shadow) {
                findings.add(key.difference(field, stored, expected));
            }
        }
        (Values::Board(_), Values::Hash(_)) | (Values::Hash(_), Values::Board(_)) => {}
    }
}

/// Compares a large key page by page. A concurrent change may be missing.
async fn compare_pages(
    shard: &Shard,
    key: &ComparedKey,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let [live, shadow] = shard.key_pair(&key.name);
    if key.is_sorted_set() {
        let live = decode(key, read_sorted_set(shard, &live).await?)?;
        let shadow = decode(key, read_sorted_set(shard, &shadow).await?)?;
        add_differences(shard.layout, key, &live, &shadow, findings);
        return Ok(());
    }
    let store = &shard.store;
    let mut cursor = Cursor::start();
    while let Some(page) = store
        .scan_members("HSCAN", &live, PAGE, &mut cursor)
        .await?
    {
        let stored = decode_fields(key, page);
        let expected = read_fields(shard, key, &shadow, &stored).await?;
        add_differences(
            shard.layout,
            key,
            &Values::Hash(stored),
            &Values::Hash(expected),
            findings,
        );
    }
    let mut cursor = Cursor::start();
    while let Some(page) = store
        .scan_members("HSCAN", &shadow, PAGE, &mut cursor)
        .await?
    {
        let expected = decode_fields(key, page);
        let stored = read_fields(shard, key, &live, &expected).await?;
        for (field, value) in expected {
            if !stored.contains_key(&field) {
                findings.add(key.difference(field, None, Some(value)));
            }
        }
    }
    Ok(())
}

/// Reads the scores of a board, given by its name, from a key.
///
/// # Errors
///
/// [`Failure`] if the store does not respond, or a score is invalid.
pub async fn read_board(shard: &Shard, name: &str, key: &str) -> Result<Scores, Failure> {
    let Some(board) = ComparedKey::parse(name) else {
        return Ok(Scores::new());
    };
    decode_scores(&board, read_sorted_set(shard, key).await?)
}

/// Reads a sorted set by ZSCAN: it returns every member that is present all the time, while a range by
/// rank may miss a member when ranks change.
async fn read_sorted_set(shard: &Shard, name: &str) -> Result<Pairs, Failure> {
    let (mut members, mut cursor) = (Pairs::new(), Cursor::start());
    while let Some(page) = shard
        .store
        .scan_members("ZSCAN", name, PAGE, &mut cursor)
        .await?
    {
        members.extend(page);
    }
    Ok(members)
}

/// Reads the fields of another page from a key.
async fn read_fields(
    shard: &Shard,
    key: &ComparedKey,
    name: &str,
    page: &Fields,
) -> Result<Fields, Failure> {
    let fields: Vec<&str> = page.keys().map(String::as_str).collect();
    let values = shard.store.hash_fields(name, &fields).await?;
    Ok(decode_fields(key, values))
}
