//! Conversion between Redis values and records.

use std::collections::BTreeMap;
use std::fmt::Display;

use activity_rank_core::board::BoardKind;
use activity_rank_store::keys::Keys;
use jiff::Timestamp;
use serde::Serialize;

use crate::archive::key::{
    BoardId, HistoryField, Key, date_bits, format_history_field, parse_date_bits, parse_span,
};
use crate::archive::record::{ActionTotal, COUNTER, OrderedMap, Profile, Record, Subject};
use crate::archive::store::Pairs;

/// Approximate largest size of the values of a line, well below the longest line that is read.
const LINE_BYTES: usize = 48 * 1024;

/// The order counter of a board of content or of authors, divided by its score.
const COUNTER_UNITS: f64 = (1_u64 << 32) as f64;

/// Decodes a whole key of a shard, or a page of it, except for the index, the audit log and the
/// fingerprint.
///
/// # Errors
///
/// A message that names the unexpected value.
pub fn decode_key(
    shard: u32,
    key: &Key,
    expires: Option<Timestamp>,
    values: Pairs,
) -> Result<Vec<Record>, String> {
    Ok(match key.clone() {
        Key::Board(BoardId {
            kind,
            period,
            id,
            group,
        }) => {
            let scores = try_map_values(values, |member, score| match member {
                COUNTER => decode_counter(kind, &score),
                _ => decode_score(&score),
            })?;
            split_lines(scores, |scores| Record::Board {
                shard,
                of: Subject::from_kind(kind),
                period: period.clone(),
                id: id.clone(),
                group: group.clone(),
                expires,
                scores: OrderedMap(scores),
            })
        }
        Key::History(span, user) => decode_history(span, &user, expires, values)?,
        Key::ActiveRecords(user) => split_lines(decode_record_names(values), |records| {
            Record::ActiveRecords {
                user: user.clone(),
                expires,
                records: OrderedMap(records),
            }
        }),
        Key::Users => {
            // Other fields with a tab are the fingerprint and watched boards.
            let is_stored = |(field, _): &(String, String)| {
                !field.starts_with(Keys::FINGERPRINT)
                    || field == Keys::DEFINITIONS
                    || position_source(field).is_some()
            };
            let values = values.into_iter().filter(is_stored).collect();
            decode_each(values, |field, text| {
                if let Some(from) = position_source(&field) {
                    let id = text;
                    return Ok(Record::Position { shard, from, id });
                }
                if field == Keys::DEFINITIONS {
                    let definitions = text;
                    return Ok(Record::Definitions { shard, definitions });
                }
                match field.strip_prefix(Keys::FLAGS) {
                    Some(user) => decode_flags(user.to_owned(), text),
                    None => decode_profile(field, text),
                }
            })?
        }
        Key::Events => decode_each(values, |event, definition| {
            Ok(Record::Event { event, definition })
        })?,
        Key::Register => split_lines(values, |registrations| Record::Register {
            shard,
            registrations: OrderedMap(registrations),
        }),
        Key::Targets(user) => {
            let targets = try_map_values(values, |_, instant| decode_score(&instant))?;
            split_lines(targets, |targets| Record::Targets {
                user: user.clone(),
                targets: OrderedMap(targets),
            })
        }
        Key::AuditDetails => decode_each(values, |field, value| {
            decode_audit_detail(shard, field, value)
        })?,
        Key::Tombstones => decode_each(values, |hash, at| match at.parse() {
            Ok(millis) => {
                let at = Timestamp::from_millisecond(millis).map_err(|error| error.to_string())?;
                Ok(Record::Erased { shard, hash, at })
            }
            Err(_) => Err(format!("has the invalid instant '{at}'")),
        })?,
        Key::Index | Key::AuditLog | Key::OptOuts | Key::Deliveries => Vec::new(),
    })
}

/// Decodes a history into totals of each day, daily records and undo records.
fn decode_history(
    span: i32,
    user: &str,
    expires: Option<Timestamp>,
    values: Pairs,
) -> Result<Vec<Record>, String> {
    let mut days: BTreeMap<String, Vec<(String, ActionTotal)>> = BTreeMap::new();
    let (mut daily, mut undone) = (Vec::new(), Vec::new());
    for (field, value) in values {
        if field == Keys::MARKER {
            continue;
        }
        let parsed = HistoryField::parse(span, &field);
        match parsed.ok_or_else(|| format!("has the invalid field '{field}'"))? {
            HistoryField::Total(date, action) => {
                let total = decode_total(&value)?;
                days.entry(date)
                    .or_default()
                    .push((action.to_owned(), total));
            }
            HistoryField::DailyRecord(record) => {
                let dates = parse_date_bits(span, &value);
                let dates = dates.ok_or_else(|| format!("has the invalid date bits '{value}'"))?;
                daily.push((record, dates));
            }
            HistoryField::UndoRecord(record) => undone.push((record, value)),
        }
    }
    let day = |(date, actions): (String, Vec<_>)| Record::History {
        user: user.to_owned(),
        date,
        expires,
        actions: OrderedMap(actions),
    };
    let mut records: Vec<Record> = days.into_iter().map(day).collect();
    records.extend(split_lines(daily, |records| Record::DailyRecords {
        user: user.to_owned(),
        span,
        expires,
        records: OrderedMap(records),
    }));
    records.extend(split_lines(undone, |records| Record::UndoRecords {
        user: user.to_owned(),
        span,
        expires,
        records: OrderedMap(records),
    }));
    Ok(records)
}

/// Decodes an entry of the index: the name of a board or the number of a span, and its expiry in Unix
/// seconds.
///
/// # Errors
///
/// A message that names the unexpected value.
pub fn decode_index(shard: u32, name: &str, expiry: &str) -> Result<Record, String> {
    let until = match expiry {
        "inf" => None,
        expiry => {
            Some(Timestamp::from_second(decode_score(expiry)?).map_err(|error| error.to_string())?)
        }
    };
    match Key::board_named(name) {
        Some(Key::Board(BoardId {
            kind,
            period,
            id,
            group,
        })) => Ok(Record::IndexBoard {
            shard,
            of: Subject::from_kind(kind),
            period,
            id,
            group,
            until,
        }),
        _ => Ok(Record::IndexSpan {
            shard,
            span: parse_span(name)
                .ok_or_else(|| format!("has the entry '{name}', which is no board and no span"))?,
            until,
        }),
    }
}

fn decode_profile(user: String, text: String) -> Result<Record, String> {
    let fields = serde_json::from_str(&text).map(Profile::Fields).ok();
    let round_trips =
        |fields: &Profile| serde_json::to_string(fields).is_ok_and(|again| again == text);
    let profile = fields.filter(round_trips).unwrap_or(Profile::Text(text));
    Ok(Record::Profile { user, profile })
}

fn decode_flags(user: String, text: String) -> Result<Record, String> {
    let (flags, subject) = match text.split_once(',') {
        Some((flags, number)) => (flags.to_owned(), Some(decode_number(number)?)),
        None => (text, None),
    };
    Ok(match user.strip_prefix('\t') {
        Some(target) => Record::TargetFlags {
            target: target.to_owned(),
            flags,
            subject,
        },
        None => Record::Flags {
            user,
            flags,
            subject,
        },
    })
}

/// Returns the shard in a field with the position of deliveries.
fn position_source(field: &str) -> Option<u32> {
    field.strip_prefix(Keys::WATCHED)?.parse().ok()
}

fn decode_audit_detail(shard: u32, field: String, value: String) -> Result<Record, String> {
    if field == "subjects" {
        let count = decode_number(&value)?;
        return Ok(Record::Subjects { shard, count });
    }
    Ok(match (field.strip_prefix('s'), value.strip_prefix('\t')) {
        (Some(number), Some(target)) => Record::TargetSubject {
            shard,
            number: decode_number(number)?,
            target: target.to_owned(),
        },
        (Some(number), None) => Record::Subject {
            shard,
            number: decode_number(number)?,
            user: value,
        },
        (None, _) => Record::Reason {
            shard,
            entry: field,
            reason: value,
        },
    })
}

fn decode_total(value: &str) -> Result<ActionTotal, String> {
    let total = value.split_once(' ').map(|(count, points)| ActionTotal {
        count: count.parse().unwrap_or(u64::MAX),
        points: points.parse().unwrap_or(i64::MAX),
    });
    total
        .filter(|total| encode_total(total) == value)
        .ok_or_else(|| format!("has the invalid count and points '{value}'"))
}

fn encode_total(total: &ActionTotal) -> String {
    format!("{} {}", total.count, total.points)
}

fn decode_number(text: &str) -> Result<u64, String> {
    let number = text.parse().ok();
    number.ok_or_else(|| format!("has the invalid number '{text}'"))
}

/// Decodes a score in any form that Redis writes: `3221225469`, `3221225469.0` or `3.221225469e9`.
///
/// # Errors
///
/// A message with the score if it is not an exact integer.
pub fn decode_score(text: &str) -> Result<i64, String> {
    let number: Option<f64> = text.parse().ok();
    match number.filter(|number| number.fract() == 0.0 && number.abs() < (1_u64 << 53) as f64) {
        Some(number) => Ok(number as i64),
        None => Err(format!(
            "has the score {text}, which is not an exact integer"
        )),
    }
}

/// The fraction of a counter of members counts changes after the last order number, and is left out: the last
/// order number is enough to continue from.
fn decode_counter(kind: BoardKind, text: &str) -> Result<i64, String> {
    let number = text.parse().unwrap_or(f64::NAN);
    let number = match kind.is_plain() {
        true => number * COUNTER_UNITS,
        false => number.floor(),
    };
    decode_score(&number.to_string())
}

fn decode_each(
    values: Pairs,
    decode: impl Fn(String, String) -> Result<Record, String>,
) -> Result<Vec<Record>, String> {
    let records = values.into_iter().map(|(name, value)| decode(name, value));
    records.collect()
}

fn try_map_values<T>(
    values: Pairs,
    decode: impl Fn(&str, String) -> Result<T, String>,
) -> Result<Vec<(String, T)>, String> {
    let values = values.into_iter();
    let decoded = |(name, value): (String, String)| {
        let value = decode(&name, value)?;
        Ok((name, value))
    };
    values.map(decoded).collect()
}

/// Expands action letters of deduplication records: `Lpost-7` becomes `like:post-7`.
fn decode_record_names<T>(fields: Vec<(String, T)>) -> Vec<(String, T)> {
    let decoded = |(field, value): (String, T)| (Keys::record_of_field(&field), value);
    fields.into_iter().map(decoded).collect()
}

/// Splits entries over several records so that no line becomes too long.
fn split_lines<T: Serialize>(entries: Vec<T>, record: impl Fn(Vec<T>) -> Record) -> Vec<Record> {
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

/// Encodes a checked record as a Redis command on its key: the name of the command, and its
/// arguments after the key.
#[must_use]
pub fn encode(record: &Record) -> (&'static str, Vec<String>) {
    let pair = |name: String, value: String| vec![name, value];
    let index_score = |until: Option<Timestamp>| {
        until.map_or_else(|| "inf".to_owned(), |until| until.as_second().to_string())
    };
    match record.clone() {
        Record::Export { .. } | Record::End { .. } => ("", Vec::new()),
        Record::IndexBoard {
            of,
            period,
            id,
            group,
            until,
            ..
        } => {
            let kind = Subject::kind(of);
            let board = BoardId {
                kind,
                period,
                id,
                group,
            };
            ("ZADD", pair(index_score(until), board.name()))
        }
        Record::IndexSpan { span, until, .. } => {
            ("ZADD", pair(index_score(until), span.to_string()))
        }
        Record::Profile { user, profile } => {
            let text = match profile {
                // Serializing string keys and JSON values does not fail.
                Profile::Fields(fields) => serde_json::to_string(&fields).unwrap_or_default(),
                Profile::Text(text) => text,
            };
            ("HSET", pair(user, text))
        }
        Record::Flags {
            user,
            flags,
            subject,
        } => {
            let subject = subject.map(|subject| format!(",{subject}"));
            let value = flags + &subject.unwrap_or_default();
            ("HSET", pair(Keys::flags_field(&user), value))
        }
        Record::TargetFlags {
            target,
            flags,
            subject,
        } => {
            let user = format!("\t{target}");
            let flags = Record::Flags {
                user,
                flags,
                subject,
            };
            encode(&flags)
        }
        Record::Subjects { count, .. } => ("HSET", pair("subjects".to_owned(), count.to_string())),
        Record::Subject { number, user, .. } => ("HSET", pair(format!("s{number}"), user)),
        Record::TargetSubject { number, target, .. } => {
            ("HSET", pair(format!("s{number}"), format!("\t{target}")))
        }
        Record::Position { from, id, .. } => ("HSET", pair(format!("{}{from}", Keys::WATCHED), id)),
        Record::Reason { entry, reason, .. } => ("HSET", pair(entry, reason)),
        // A stream has no entry without fields.
        Record::Audit { fields, .. } | Record::Delivery { fields, .. } if fields.is_empty() => {
            ("XADD", Vec::new())
        }
        Record::Audit { id, fields, .. } | Record::Delivery { id, fields, .. } => {
            let fields = fields.into_iter().flat_map(<[String; 2]>::from);
            ("XADD", [id].into_iter().chain(fields).collect())
        }
        Record::Erased { hash, at, .. } => ("HSET", pair(hash, at.as_millisecond().to_string())),
        Record::Board { of, scores, .. } => {
            let score_of = |member: &str, score: i64| match Subject::kind(of).is_plain()
                && member == COUNTER
            {
                true => (score as f64 / COUNTER_UNITS).to_string(),
                false => score.to_string(),
            };
            let scores = scores.0.into_iter();
            let args = scores.flat_map(|(member, score)| [score_of(&member, score), member]);
            ("ZADD", args.collect())
        }
        Record::Event { event, definition } => ("HSET", pair(event, definition)),
        Record::Definitions { definitions, .. } => {
            ("HSET", pair(Keys::DEFINITIONS.to_owned(), definitions))
        }
        Record::Register { registrations, .. } => {
            let fields = registrations.0.into_iter();
            ("HSET", fields.flat_map(<[String; 2]>::from).collect())
        }
        Record::Targets { targets, .. } => {
            let targets = targets.0.into_iter();
            let args = targets.flat_map(|(target, instant)| [instant.to_string(), target]);
            ("ZADD", args.collect())
        }
        Record::History { date, actions, .. } => {
            let field = |action: &str| format_history_field(&date, action).unwrap_or_default();
            let actions = actions.0.iter();
            let args = actions.flat_map(|(action, total)| [field(action), encode_total(total)]);
            ("HSET", args.collect())
        }
        Record::DailyRecords { span, records, .. } => {
            let bits = |dates: Vec<String>| date_bits(span, &dates).unwrap_or_default();
            let records = records.0.into_iter();
            let args = records
                .flat_map(|(name, dates)| [Keys::record_field(&name), bits(dates).to_string()]);
            ("HSET", args.collect())
        }
        Record::ActiveRecords { records, .. } => ("HSET", encode_records("", records)),
        Record::UndoRecords { records, .. } => ("HSET", encode_records(Keys::UNDONE, records)),
    }
}

/// Returns the fields, each after a prefix, and values of deduplication records.
fn encode_records(prefix: impl Display, records: OrderedMap<String>) -> Vec<String> {
    let field = |name: &str| format!("{prefix}{}", Keys::record_field(name));
    let records = records.0.into_iter();
    let pairs = records.flat_map(|(name, value)| [field(&name), value]);
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn scores_are_decoded_in_every_redis_format() {
        for (text, score) in [
            ("3221225469", 3_221_225_469),
            ("-3221225469.0", -3_221_225_469),
            ("5e+15", 5_000_000_000_000_000),
            ("9007199254740991", 9_007_199_254_740_991),
        ] {
            assert_eq!(decode_score(text), Ok(score));
        }
        for text in ["9007199254740992", "0.5", "inf", "nan", ""] {
            assert!(decode_score(text).is_err(), "{text}");
        }
    }

    /// The counter of a board of content is the number of the last change divided by 2^32.
    #[test]
    fn board_of_content_round_trips() {
        let Some(key) = Key::board_named("Ta:all") else {
            panic!("no key");
        };
        for (counter, order) in [
            ("2.3283064365386963e-10", 1),
            ("0.24999999976716936", 1_073_741_823),
        ] {
            let values = vec![pair("#", counter), pair("##1", "-4"), pair("a", "3")];
            let records = decode_key(0, &key, None, values).unwrap();
            let [record @ Record::Board { scores, .. }] = records.as_slice() else {
                panic!("{records:?}");
            };
            assert_eq!(scores.0[0], ("#".to_owned(), order));
            assert_eq!(record.check(), Ok(()));
            let (_, args) = encode(record);
            assert_eq!(args[0].parse::<f64>(), counter.parse::<f64>());
            assert_eq!(args[1..], ["#", "-4", "##1", "3", "a"]);
        }
        let odd = vec![pair("#", "1e-11")];
        assert!(decode_key(0, &key, None, odd).is_err());
    }

    #[test]
    fn noncanonical_profile_is_kept_as_text() {
        let decoded = |text: &str| match decode_profile("42".to_owned(), text.to_owned()) {
            Ok(Record::Profile { profile, .. }) => profile,
            other => panic!("{other:?}"),
        };
        assert!(matches!(
            decoded(r#"{"name":"Ada","avatar":"x"}"#),
            Profile::Fields(_)
        ));
        for text in [r#"{ "name":"Ada"}"#, r#"{"b":{"z":1,"a":2}}"#, "[]", "Ada"] {
            assert_eq!(decoded(text), Profile::Text(text.to_owned()));
        }
    }

    #[test]
    fn long_keys_are_split_into_lines() {
        let names: Vec<String> = (0..500).map(|n| format!("visit:/{n:0500}")).collect();
        let key = Key::History(670, "42".to_owned());
        let values = names.iter().map(|name| pair(name, "1"));
        let records = decode_key(0, &key, None, values.collect()).unwrap();
        let mut decoded = Vec::new();
        for record in &records {
            assert!(serde_json::to_string(record).unwrap().len() < 64 * 1024);
            match record {
                Record::DailyRecords { records, .. } => {
                    decoded.extend(records.0.iter().map(|(name, _)| name.clone()));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((records.len(), decoded), (6, names));
    }

    #[test]
    fn unexpected_values_are_rejected() {
        let key = Key::History(670, "42".to_owned());
        for (field, value) in [
            ("7like", "2"),
            ("7like", "a b"),
            ("7like", "02 4"),
            ("7like", "2  4"),
            ("vlike", "2 4"),
            ("", "2 4"),
        ] {
            let values = vec![pair(field, value)];
            assert!(
                decode_key(0, &key, None, values).is_err(),
                "{field} {value}"
            );
        }
        for value in ["0", "x", ""] {
            let key = Key::History(670, "42".to_owned());
            let values = vec![pair("visit:/", value)];
            assert!(decode_key(0, &key, None, values).is_err(), "{value}");
        }
        assert!(decode_index(0, "2026-11-20", "inf").is_err());
        assert!(decode_index(0, "m:42", "inf").is_err());
        assert!(decode_key(0, &Key::Users, None, vec![pair("!42", "h,x")]).is_err());
        let skipped = vec![
            pair("\t", "v3"),
            pair("\t42", "1795132800000\n"),
            pair("\t\tpost-7", "1795132800000\n"),
            pair("\t#", "d:2026-11-20 5"),
        ];
        assert_eq!(decode_key(0, &Key::Users, None, skipped), Ok(Vec::new()));
        let key = Key::History(670, "42".to_owned());
        let marker = vec![pair("\t", "41555")];
        assert_eq!(decode_key(0, &key, None, marker), Ok(Vec::new()));
    }
}
