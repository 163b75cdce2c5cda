//! What the store holds, as records.

use std::collections::BTreeMap;

use activity_rank::keys::Keys;
use jiff::Timestamp;
use serde::Serialize;

use crate::archive::key::{BoardName, Key, span_of};
use crate::archive::pairs::Pairs;
use crate::archive::record::{Done, Profile, Record};
use crate::archive::span;

/// Bytes of values in a line, about: well below what a reader of lines takes.
const LINE_BYTES: usize = 48 * 1024;

/// The records of a key of a shard that has been read whole, or of a page of it.
///
/// # Errors
///
/// What the key holds that no site of this version does.
pub fn of_key(
    shard: u32,
    key: &Key,
    expires: Option<Timestamp>,
    values: Vec<String>,
) -> Result<Vec<Record>, String> {
    Ok(match key.clone() {
        Key::Board(BoardName { period, id, group }) => {
            let scores = pairs(values, |score| exact(&score))?;
            lines(scores, |scores| Record::Board {
                shard,
                period: period.clone(),
                id: id.clone(),
                group: group.clone(),
                expires,
                scores: Pairs(scores),
            })
        }
        Key::History(span, user) => {
            let mut days: BTreeMap<String, Vec<(String, Done)>> = BTreeMap::new();
            for (field, done) in pairs(values, |value| done(&value))? {
                let told = span::of_field(span, &field);
                let (date, action) = told.ok_or_else(|| format!("holds the field '{field}'"))?;
                let action = action.to_owned();
                days.entry(date).or_default().push((action, done));
            }
            let day = |(date, actions): (String, Vec<_>)| Record::History {
                user: user.clone(),
                date,
                expires,
                actions: Pairs(actions),
            };
            days.into_iter().map(day).collect()
        }
        Key::DayMarks(span, user) => {
            let dates = |bits: String| {
                let dates = span::dates(span, &bits);
                dates.ok_or_else(|| format!("holds '{bits}', which is no days"))
            };
            lines(marks(pairs(values, dates)?), |marks| Record::DayMarks {
                user: user.clone(),
                span,
                expires,
                marks: Pairs(marks),
            })
        }
        Key::Marks(user) => lines(marks(pairs(values, Ok)?), |marks| Record::Marks {
            user: user.clone(),
            expires,
            marks: Pairs(marks),
        }),
        Key::UndoMemory(span, user) => {
            lines(marks(pairs(values, Ok)?), |marks| Record::UndoMemory {
                user: user.clone(),
                span,
                expires,
                marks: Pairs(marks),
            })
        }
        Key::Profiles => each(values, profile)?,
        Key::Flags => each(values, flags)?,
        Key::Who => each(values, |field, value| who(shard, field, value))?,
        Key::Erased => each(values, |hash, value| erased(shard, hash, value))?,
        Key::Index | Key::Audit | Key::Stamp => Vec::new(),
    })
}

/// A name of the index; a board is there by its key.
///
/// # Errors
///
/// Where it is neither board nor span.
pub fn of_index(shard: u32, tag: &str, name: &str, expiry: &str) -> Result<Record, String> {
    let until = match expiry {
        "inf" => None,
        expiry => Some(Timestamp::from_second(exact(expiry)?).map_err(|error| error.to_string())?),
    };
    match name.strip_prefix(tag).map(Key::parse) {
        Some(Some(Key::Board(BoardName { period, id, group }))) => Ok(Record::IndexBoard {
            shard,
            period,
            id,
            group,
            until,
        }),
        Some(_) => Err(format!("names '{name}', which is no board")),
        None => Ok(Record::IndexSpan {
            shard,
            span: span_of(name).ok_or_else(|| format!("names '{name}', which is no span"))?,
            until,
        }),
    }
}

/// An entry of the audit list, its fields in a row.
///
/// # Errors
///
/// Where a field has no value.
pub fn of_audit(shard: u32, id: String, fields: Vec<String>) -> Result<Record, String> {
    let fields = pairs(fields, Ok)?;
    Ok(Record::Audit { shard, id, fields })
}

fn profile(user: String, text: String) -> Result<Record, String> {
    let fields = serde_json::from_str(&text).map(Profile::Fields).ok();
    // Only what comes out again as it was.
    let same = |fields: &Profile| serde_json::to_string(fields).is_ok_and(|again| again == text);
    let profile = fields.filter(same).unwrap_or(Profile::Text(text));
    Ok(Record::Profile { user, profile })
}

fn flags(user: String, text: String) -> Result<Record, String> {
    let (flags, subject) = match text.split_once(',') {
        Some((flags, number)) => (flags.to_owned(), Some(whole(number)?)),
        None => (text, None),
    };
    Ok(Record::Flags {
        user,
        flags,
        subject,
    })
}

fn who(shard: u32, field: String, value: String) -> Result<Record, String> {
    if field == "subjects" {
        let count = whole(&value)?;
        return Ok(Record::Subjects { shard, count });
    }
    Ok(match field.strip_prefix('s') {
        Some(number) => Record::Subject {
            shard,
            number: whole(number)?,
            user: value,
        },
        None => Record::Reason {
            shard,
            entry: field,
            reason: value,
        },
    })
}

fn erased(shard: u32, hash: String, value: String) -> Result<Record, String> {
    let at = value.parse().map(Timestamp::from_millisecond);
    match at {
        Ok(Ok(at)) => Ok(Record::Erased { shard, hash, at }),
        _ => Err(format!("holds '{value}', which is no instant")),
    }
}

fn done(value: &str) -> Result<Done, String> {
    let parts = value.split_once(' ').map(|(count, points)| Done {
        count: count.parse().unwrap_or(u64::MAX),
        points: points.parse().unwrap_or(i64::MAX),
    });
    parts
        .filter(|done| format!("{} {}", done.count, done.points) == value)
        .ok_or_else(|| format!("holds '{value}', which is no count and points"))
}

fn whole(text: &str) -> Result<u64, String> {
    let number = text.parse().ok();
    number.ok_or_else(|| format!("holds '{text}', which is no number"))
}

/// A score, which the store may write as `3221225469`, `3221225469.0` or `3.221225469e9`.
///
/// # Errors
///
/// Where it is no exact integer.
pub fn exact(text: &str) -> Result<i64, String> {
    let number: Option<f64> = text.parse().ok();
    match number.filter(|number| number.fract() == 0.0 && number.abs() < (1_u64 << 53) as f64) {
        Some(number) => Ok(number as i64),
        None => Err(format!("holds the score {text}, which is no exact integer")),
    }
}

fn each(
    values: Vec<String>,
    record: impl Fn(String, String) -> Result<Record, String>,
) -> Result<Vec<Record>, String> {
    let pairs = pairs(values, Ok)?;
    let records = pairs.into_iter().map(|(name, value)| record(name, value));
    records.collect()
}

/// Names and values of a row that holds them in turn.
fn pairs<T>(
    row: Vec<String>,
    value: impl Fn(String) -> Result<T, String>,
) -> Result<Vec<(String, T)>, String> {
    let mut pairs = Vec::with_capacity(row.len() / 2);
    let mut row = row.into_iter();
    while let Some(name) = row.next() {
        let second = row.next().ok_or("holds a name without a value")?;
        pairs.push((name, value(second)?));
    }
    Ok(pairs)
}

/// Marks by the names of their actions.
fn marks<T>(fields: Vec<(String, T)>) -> Vec<(String, T)> {
    let named = |(field, value): (String, T)| (Keys::mark_of(&field), value);
    fields.into_iter().map(named).collect()
}

/// As many records as it takes for no line to become too long.
fn lines<T: Serialize>(entries: Vec<T>, record: impl Fn(Vec<T>) -> Record) -> Vec<Record> {
    let (mut records, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
    for entry in entries {
        bytes += serde_json::to_string(&entry).map_or(0, |text| text.len());
        line.push(entry);
        if bytes >= LINE_BYTES {
            records.push(record(std::mem::take(&mut line)));
            bytes = 0;
        }
    }
    if !line.is_empty() {
        records.push(record(line));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_in_every_way_a_store_writes_them() {
        for (text, score) in [
            ("3221225469", 3_221_225_469),
            ("-3221225469.0", -3_221_225_469),
            ("5e+15", 5_000_000_000_000_000),
            ("9007199254740991", 9_007_199_254_740_991),
        ] {
            assert_eq!(exact(text), Ok(score));
        }
        for text in ["9007199254740992", "0.5", "inf", "nan", ""] {
            assert!(exact(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_profile_that_is_written_otherwise_is_kept_as_its_text() {
        let kept = |text: &str| match profile("42".to_owned(), text.to_owned()) {
            Ok(Record::Profile { profile, .. }) => profile,
            other => panic!("{other:?}"),
        };
        assert!(matches!(
            kept(r#"{"name":"Ada","avatar":"x"}"#),
            Profile::Fields(_)
        ));
        for text in [r#"{ "name":"Ada"}"#, r#"{"b":{"z":1,"a":2}}"#, "[]", "Ada"] {
            assert_eq!(kept(text), Profile::Text(text.to_owned()));
        }
    }

    #[test]
    fn a_key_of_many_values_is_several_lines() {
        let marks: Vec<String> = (0..500).map(|n| format!("visit:/{n:0500}")).collect();
        let key = Key::DayMarks(670, "42".to_owned());
        let values = marks.iter().flat_map(|mark| [mark.clone(), "1".to_owned()]);
        let records = of_key(0, &key, None, values.collect()).unwrap();
        let mut read = Vec::new();
        for record in &records {
            assert!(serde_json::to_string(record).unwrap().len() < 64 * 1024);
            match record {
                Record::DayMarks { marks, .. } => {
                    read.extend(marks.0.iter().map(|(mark, _)| mark.clone()));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((records.len(), read), (6, marks));
    }

    #[test]
    fn what_no_site_holds_is_told() {
        let key = Key::History(670, "42".to_owned());
        for (field, value) in [
            ("7like", "2"),
            ("7like", "a b"),
            ("7like", "02 4"),
            ("7like", "2  4"),
            ("vlike", "2 4"),
            ("", "2 4"),
        ] {
            let values = vec![field.to_owned(), value.to_owned()];
            assert!(of_key(0, &key, None, values).is_err(), "{field} {value}");
        }
        for value in ["0", "x", ""] {
            let key = Key::DayMarks(670, "42".to_owned());
            let values = vec!["visit:/".to_owned(), value.to_owned()];
            assert!(of_key(0, &key, None, values).is_err(), "{value}");
        }
        assert!(of_index(0, "{ar:0}", "2026-11-20", "inf").is_err());
        assert!(of_index(0, "{ar:0}", "{ar:0}m:42", "inf").is_err());
        assert!(
            of_key(
                0,
                &Key::Flags,
                None,
                vec!["42".to_owned(), "h,x".to_owned()]
            )
            .is_err()
        );
    }
}
