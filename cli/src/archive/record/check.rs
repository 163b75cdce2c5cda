//! What is wrong with a line, as far as it can be told from the line and the settings of its site.

use activity_rank::shard;

use super::{COUNTER, Record, VERSION};
use crate::archive::key::{BoardName, Key, is_hash};
use crate::archive::span;
use crate::archive::stamp::MOST_SHARDS;
use crate::args::is_id;

/// Scores are exact below this.
const EXACT: i64 = 1 << 53;
/// Order counters lie below this, users above: `src/score.rs` of the Worker.
const ORDERS: i64 = 1 << 30;

impl Record {
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
                if !(1..=MOST_SHARDS).contains(shards) {
                    return Err(format!(
                        "has {shards} shards; a site has 1 to {MOST_SHARDS}"
                    ));
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

    /// The shard among so many that it lies on: that of its user, or the one it names.
    #[must_use]
    pub fn shard(&self, shards: u32) -> u32 {
        match self {
            Self::Profile { user, .. }
            | Self::Flags { user, .. }
            | Self::History { user, .. }
            | Self::DayMarks { user, .. }
            | Self::Marks { user, .. }
            | Self::UndoMemory { user, .. } => shard::of(user, shards),
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

    /// Checks that it lies on one of so many shards, with all of whom it tells.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check_shard(&self, shards: u32) -> Result<(), String> {
        let shard = self.shard(shards);
        if shard >= shards {
            return Err(format!("is of shard {shard}, and the site has {shards}"));
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
                "is of shard {shard}; '{user}' is of shard {} of {shards}",
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
            r#"{"kind":"subject","shard":3,"number":1,"user":"42"}"#,
            r#"{"kind":"end","lines":4}"#,
        ] {
            let record = read(line).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), line);
        }
    }

    #[test]
    fn a_line_lies_on_the_shard_that_it_names_or_that_of_its_user() {
        // Of 8 shards 42 lies on 3, and bob on 4.
        for (line, shard, wrong) in [
            (r#"{"kind":"marks","user":"42","marks":{}}"#, 3, None),
            (r#"{"kind":"flags","user":"bob","flags":"h"}"#, 4, None),
            (r#"{"kind":"subjects","shard":7,"count":2}"#, 7, None),
            (
                r#"{"kind":"subjects","shard":8,"count":2}"#,
                8,
                Some("is of shard 8, and the site has 8"),
            ),
            (
                r##"{"kind":"board","shard":3,"period":"all","id":"all","scores":{"#":3,"42":3221225469}}"##,
                3,
                None,
            ),
            (
                r##"{"kind":"board","period":"all","id":"all","scores":{"#":3,"42":3221225469}}"##,
                0,
                Some("is of shard 0; '42' is of shard 3 of 8"),
            ),
            (
                r#"{"kind":"subject","shard":4,"number":1,"user":"42"}"#,
                4,
                Some("is of shard 4; '42' is of shard 3 of 8"),
            ),
        ] {
            let record = read(line).unwrap();
            assert_eq!(record.shard(8), shard, "{line}");
            let told = record.check_shard(8).err();
            assert_eq!(told.as_deref(), wrong, "{line}");
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
