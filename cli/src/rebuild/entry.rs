//! An entry of the journal, read: the Worker's `src/journal` says which fields there are.

use activity_rank::activity::{Dated, Place, Worth};
use activity_rank::calendar::{Date, Instant, Period};
use activity_rank::config::Once;
use activity_rank::shard;
use serde::Deserialize;

/// Something that was done.
#[derive(Debug)]
pub struct Entry {
    /// Its number.
    pub n: u64,
    /// The shard that did it.
    pub shard: u32,
    /// When it was processed, Unix ms.
    pub now: i64,
    /// What it was.
    pub what: What,
}

/// What can be done.
#[derive(Debug)]
#[allow(missing_docs, reason = "fields are those of the journal")]
pub enum What {
    Activity(Activity),
    Moderate {
        user: String,
        hidden: String,
        frozen: String,
        reason: String,
    },
    Profile {
        user: String,
        json: String,
        hidden: String,
    },
    Erase {
        hash: String,
    },
}

/// Something that counted, or was taken back.
#[derive(Debug)]
#[allow(missing_docs, reason = "fields are those of the journal")]
pub struct Activity {
    pub did: Did,
    pub user: String,
    pub worth: Worth,
    pub mark: String,
    pub at: Instant,
    pub dated: Dated,
    pub place: Place,
    /// Numbers, from 1, of the place's boards that were left out.
    pub skipped: Vec<usize>,
    pub reason: Option<String>,
}

impl Entry {
    /// Whom it is about; of an erasure the hash.
    #[must_use]
    pub fn about(&self) -> &str {
        match &self.what {
            What::Activity(activity) => &activity.user,
            What::Moderate { user, .. } | What::Profile { user, .. } => user,
            What::Erase { hash } => hash,
        }
    }

    /// Whose it is lies on its shard; of an erasure nobody knows who it was.
    fn check_shard(&self, shards: u32) -> Result<(), String> {
        let shard = self.shard;
        if shard >= shards {
            return Err(format!("is of shard {shard}, and the site has {shards}"));
        }
        let home = match &self.what {
            What::Activity(Activity { user, .. })
            | What::Moderate { user, .. }
            | What::Profile { user, .. } => shard::of(user, shards),
            What::Erase { .. } => shard,
        };
        if home == shard {
            return Ok(());
        }
        Err(format!(
            "is of shard {shard}; '{}' is of shard {home} of {shards}",
            self.about()
        ))
    }
}

/// How it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "told by their names")]
pub enum Did {
    Count,
    Undo,
    Adjust,
}

impl Did {
    /// The word of the counting script.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Count => "do",
            Self::Undo => "undo",
            Self::Adjust => "adjust",
        }
    }
}

/// An entry as it is answered; which of its fields there are depends on what was done.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    n: u64,
    shard: u32,
    did: String,
    now: String,
    user: String,
    action: String,
    once: String,
    points: String,
    cooldown: String,
    mark: String,
    at: String,
    dated: String,
    date: String,
    kinds: String,
    groups: String,
    skipped: String,
    reason: String,
    hidden: String,
    frozen: String,
    json: String,
    hash: String,
}

impl Line {
    /// The entry, of a site of so many shards.
    ///
    /// # Errors
    ///
    /// Where this version does not know it, or it cannot be of that shard.
    pub fn entry(self, shards: u32) -> Result<Entry, String> {
        let (n, shard) = (self.n, self.shard);
        let read = || {
            let what = self.read()?;
            let now = number("now", &self.now)?;
            let entry = Entry {
                n,
                shard,
                now,
                what,
            };
            entry.check_shard(shards).map(|()| entry)
        };
        read().map_err(|what| format!("entry {n} of the journal {what}"))
    }

    fn read(&self) -> Result<What, String> {
        let user = self.user.clone();
        let did = match self.did.as_str() {
            "count" => Did::Count,
            "undo" => Did::Undo,
            "adjust" => Did::Adjust,
            "moderate" => {
                return Ok(What::Moderate {
                    user,
                    hidden: self.hidden.clone(),
                    frozen: self.frozen.clone(),
                    reason: self.reason.clone(),
                });
            }
            "profile" => {
                return Ok(What::Profile {
                    user,
                    json: self.json.clone(),
                    hidden: self.hidden.clone(),
                });
            }
            "erase" => {
                let hash = self.hash.clone();
                return Ok(What::Erase { hash });
            }
            other => return Err(format!("tells of '{other}', which this version cannot do")),
        };
        let once = match self.once.as_str() {
            "d" => Once::Day,
            "s" => Once::Standing,
            other => return Err(odd("once", other)),
        };
        let dated = match self.dated.as_str() {
            "0" => Dated::Not,
            "1" => Dated::ByCaller,
            "2" => Dated::ByUs,
            other => return Err(odd("dated", other)),
        };
        let kinds = self.kinds.chars().map(Period::from_letter);
        let kinds: Option<Vec<Period>> = kinds.collect();
        let skipped = words(&self.skipped).map(|word| word.parse());
        let skipped: Result<Vec<usize>, _> = skipped.collect();
        Ok(What::Activity(Activity {
            did,
            user,
            worth: Worth {
                action: self.action.clone(),
                once,
                points: number("points", &self.points)?,
                // What a cap or a cooldown left out is not in the journal. An instant that counted
                // is kept again, for cooldowns to come: of a millisecond, the least there is.
                daily_cap: 0,
                cooldown: u64::from(self.cooldown == "1"),
            },
            mark: self.mark.clone(),
            at: Instant(number("at", &self.at)?),
            dated,
            place: Place {
                date: Date::parse(&self.date).ok_or_else(|| odd("date", &self.date))?,
                kinds: kinds.ok_or_else(|| odd("kinds", &self.kinds))?,
                groups: words(&self.groups).map(str::to_owned).collect(),
            },
            skipped: skipped.map_err(|_| odd("skipped", &self.skipped))?,
            reason: (!self.reason.is_empty()).then(|| self.reason.clone()),
        }))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|word| !word.is_empty())
}

fn number(field: &str, text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| odd(field, text))
}

fn odd(field: &str, text: &str) -> String {
    format!("has the {field} '{text}'")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// An entry with these fields instead of the usual ones.
    pub(in crate::rebuild) fn entry(n: u64, fields: Value) -> Result<Entry, String> {
        let mut line = json!({"n": n, "shard": 0, "id": "1-0", "did": "count", "now": "1795132800000",
            "user": "42", "action": "like", "once": "s", "points": "2", "cooldown": "0",
            "mark": "like:post-7", "at": "1795132800000", "dated": "0", "date": "2026-11-20",
            "kinds": "dwmya", "groups": "", "skipped": "", "reason": ""});
        let (Value::Object(line_fields), Value::Object(others)) = (&mut line, fields) else {
            return Err("no object".to_owned());
        };
        line_fields.extend(others);
        let line: Line = serde_json::from_value(line).map_err(|error| error.to_string())?;
        line.entry(1)
    }

    #[test]
    fn an_activity_is_read_with_its_place_and_what_was_left_out() {
        let read = entry(
            7,
            json!({"groups": "eu,a|b", "skipped": "1,12", "dated": "2", "cooldown": "1"}),
        );
        let read = read.unwrap();
        let What::Activity(activity) = read.what else {
            panic!("{read:?}");
        };
        assert_eq!((read.n, read.now), (7, 1_795_132_800_000));
        assert_eq!((activity.did, activity.dated), (Did::Count, Dated::ByUs));
        assert_eq!(activity.place.kinds, Period::ALL);
        assert_eq!(activity.place.groups, ["eu", "a|b"]);
        assert_eq!(activity.skipped, [1, 12]);
        assert_eq!((activity.worth.points, activity.worth.cooldown), (2, 1));
        assert_eq!(activity.reason, None);
    }

    #[test]
    fn what_this_version_does_not_know_is_told() {
        for (fields, told) in [
            (
                json!({"did": "merge"}),
                "entry 3 of the journal tells of 'merge'",
            ),
            (
                json!({"date": "2026-02-30"}),
                "entry 3 of the journal has the date '2026-02-30'",
            ),
            (
                json!({"kinds": "dq"}),
                "entry 3 of the journal has the kinds 'dq'",
            ),
            (
                json!({"points": "2.5"}),
                "entry 3 of the journal has the points '2.5'",
            ),
            (
                json!({"shard": 1}),
                "entry 3 of the journal is of shard 1, and the site has 1",
            ),
        ] {
            let error = entry(3, fields).unwrap_err();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn an_entry_is_of_the_shard_of_its_user() {
        // Of 8 shards 42 lies on 3.
        let of = |did: &str, shard: u32| {
            let line = json!({"n": 3, "shard": shard, "did": did, "now": "1", "user": "42"});
            let line: Line = serde_json::from_value(line).unwrap();
            line.entry(8).map(|entry| entry.shard)
        };
        for did in ["moderate", "profile"] {
            assert_eq!(of(did, 3), Ok(3));
            let told = "entry 3 of the journal is of shard 4; '42' is of shard 3 of 8";
            assert_eq!(of(did, 4), Err(told.to_owned()));
        }
        // Whose it was is not known.
        assert_eq!(of("erase", 4), Ok(4));
        assert!(of("erase", 8).is_err());
    }
}
