//! Expiry of boards and active records between the entries of a replay.

use std::collections::HashMap;

use activity_rank_core::board::{BoardKind, board_name};
use activity_rank_core::calendar::Period;
use activity_rank_store::count::Verb;
use activity_rank_store::keys::Keys;

use super::journal::{Activity, Change, Receipt};
use super::retention::Retention;

/// Milliseconds in a day.
const DAY: i64 = 86_400_000;

/// Tracks the expiry of boards and active records during a replay.
///
/// The journal does not record expiries, so a key that expired between two entries must be deleted from
/// the shadow. Only boards and active records are tracked. Expired histories and daily records are
/// written again only by an import of old data, and no route reads them any more. Expired undo records
/// are never written again.
#[derive(Debug, Default)]
pub struct ExpiryTracker {
    /// Expiry in Unix ms by board name.
    boards: HashMap<String, i64>,
    /// Expiry in Unix ms by user.
    active_records: HashMap<String, i64>,
}

impl ExpiryTracker {
    /// Returns the keys that had expired at `now`, before the activity, and records the expiries that
    /// the activity sets.
    pub fn expired_before(
        &mut self,
        activity: &Activity,
        now: i64,
        retention: &Retention,
        keys: &Keys,
    ) -> Vec<String> {
        let boards = ChangedBoards::for_activity(activity);
        let mut expired = self.expired_boards(&boards, now, retention, keys);
        let user = &activity.user;
        if self
            .active_records
            .get(user)
            .is_some_and(|expiry| *expiry <= now)
        {
            self.active_records.remove(user);
            expired.push(keys.active_records(user));
        }
        if boards.adds {
            let lifetime = retention.active_records();
            let expiry = self.active_records.entry(user.clone()).or_insert(0);
            // The first activity that counts on a day of UTC renews the expiry.
            if expiry.div_euclid(DAY) != add(now, lifetime).div_euclid(DAY) {
                *expiry = add(now, lifetime);
            }
        }
        expired
    }

    /// Returns the boards that had expired at `now`, before the change, and records the expiries that the change sets.
    pub fn expired_boards(
        &mut self,
        changed: &ChangedBoards,
        now: i64,
        retention: &Retention,
        keys: &Keys,
    ) -> Vec<String> {
        let mut expired = Vec::new();
        for (number, (period, name)) in (1..).zip(&changed.boards) {
            if self.boards.get(name).is_some_and(|expiry| *expiry <= now) {
                self.boards.remove(name);
                expired.push(keys.board_named(name));
            }
            let expiry = retention.board(*period).map(|seconds| add(now, seconds));
            let creates = changed.adds && !changed.skipped.contains(&number);
            if let Some(expiry) = expiry.filter(|_| creates) {
                self.boards.entry(name.clone()).or_insert(expiry);
            }
        }
        expired
    }
}

/// The boards that an entry of the journal changes.
#[derive(Debug)]
pub struct ChangedBoards<'a> {
    /// Period and name of each, in the order in which the entry numbers them.
    boards: Vec<(Period, String)>,
    /// The numbers, from 1, of the boards that were skipped because they were archived.
    skipped: &'a [usize],
    /// Whether the entry may create them.
    adds: bool,
}

impl<'a> ChangedBoards<'a> {
    /// Returns the boards of an activity.
    #[must_use]
    pub fn for_activity(activity: &'a Activity) -> Self {
        let set = &activity.boards;
        let groups = set.groups.iter().map(|group| Some(group.as_str()));
        let mut boards = Vec::new();
        for group in [None].into_iter().chain(groups) {
            let named = |period| (period, board_name(period, set.date, group));
            boards.extend(set.periods.iter().copied().map(named));
        }
        Self {
            boards,
            skipped: &activity.skipped,
            adds: activity.verb != Verb::Undo,
        }
    }

    /// Returns the boards of content and of authors of a receipt.
    #[must_use]
    pub fn for_receipt(receipt: &'a Receipt) -> Self {
        let sides = [
            (&receipt.target, BoardKind::Content),
            (&receipt.user, BoardKind::Authors),
        ];
        let mut boards = Vec::new();
        for (_, kind) in sides.into_iter().filter(|(id, _)| !id.is_empty()) {
            for period in &receipt.boards.content {
                let name = board_name(*period, receipt.boards.date, None);
                boards.push((*period, format!("{}{name}", kind.prefix())));
            }
        }
        Self {
            boards,
            skipped: &receipt.skipped,
            adds: receipt.points > 0,
        }
    }

    /// Returns the boards of an activity that counts, or of a receipt; `None` for another entry.
    #[must_use]
    pub fn of(change: &'a Change) -> Option<Self> {
        match change {
            Change::Activity(activity) => Some(Self::for_activity(activity)),
            Change::Receive(receipt) => Some(Self::for_receipt(receipt)),
            _ => None,
        }
    }

    /// Returns the names of the boards.
    pub fn into_names(self) -> impl Iterator<Item = String> {
        self.boards.into_iter().map(|(_, name)| name)
    }

    /// Returns the names of the boards that were archived and deleted at the time of the entry.
    #[must_use]
    pub fn archived(&self) -> Vec<String> {
        let numbered = (1..).zip(&self.boards);
        let skipped = numbered.filter(|(number, _)| self.skipped.contains(number));
        skipped.map(|(_, (_, name))| name.clone()).collect()
    }
}

fn add(millis: i64, seconds: u64) -> i64 {
    millis.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX / 1000) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rebuild::samples::{default_retention, entry};
    use serde_json::{Value, json};

    const NOW: i64 = 1_795_132_800_000;

    fn expired(tracker: &mut ExpiryTracker, day: i64, fields: Value) -> Vec<String> {
        let Change::Activity(activity) = entry(1, fields).unwrap().change else {
            panic!("not an activity");
        };
        let keys = Keys::building("ar", 0, 2);
        tracker.expired_before(&activity, NOW + day * DAY, &default_retention(), &keys)
    }

    #[test]
    fn board_expires_after_first_write() {
        let mut tracker = ExpiryTracker::default();
        let groups = json!({"kinds": "da", "groups": "eu"});
        assert!(expired(&mut tracker, 0, groups.clone()).is_empty());
        assert!(expired(&mut tracker, 30, groups).is_empty());
        let late = expired(&mut tracker, 31, json!({"kinds": "da"}));
        assert_eq!(late, ["{ar:0}2bd:2026-11-20"]);
        // A board that is written again gets a new lifetime.
        assert!(expired(&mut tracker, 61, json!({"kinds": "da"})).is_empty());
        let late = expired(
            &mut tracker,
            62,
            json!({"kinds": "da", "groups": "eu", "did": "undo"}),
        );
        assert_eq!(late, ["{ar:0}2bd:2026-11-20", "{ar:0}2bd:2026-11-20:eu"]);
        // An undo and a skipped board write nothing.
        assert!(expired(&mut tracker, 200, json!({"kinds": "d", "skipped": "1"})).is_empty());
        assert!(expired(&mut tracker, 300, json!({"kinds": "d"})).is_empty());
    }

    /// A receipt has the boards of its target, then those of its author.
    #[test]
    fn board_of_content_expires_like_others() {
        let mut tracker = ExpiryTracker::default();
        let mut expired = |day: i64, fields: Value| {
            let mut entry =
                json!({"did": "receive", "target": "post-7", "user": "9", "kinds": "da"});
            let (Some(entry), Value::Object(fields)) = (entry.as_object_mut(), fields) else {
                panic!("no object");
            };
            entry.extend(fields);
            let entry = Value::Object(entry.clone());
            let Change::Receive(receipt) = self::entry(1, entry).unwrap().change else {
                panic!("not a receipt");
            };
            let keys = Keys::building("ar", 0, 2);
            let boards = ChangedBoards::for_receipt(&receipt);
            let now = NOW + day * DAY;
            let expired = tracker.expired_boards(&boards, now, &default_retention(), &keys);
            (expired, boards.archived())
        };
        let both = ["{ar:0}2bTd:2026-11-20", "{ar:0}2bAd:2026-11-20"].map(str::to_owned);
        assert_eq!(expired(0, json!({"points": "-2"})), (vec![], vec![]));
        assert_eq!(expired(32, json!({})), (vec![], vec![]));
        let (late, archived) = expired(63, json!({"skipped": "3"}));
        assert_eq!(late, both);
        assert_eq!(archived, ["Ad:2026-11-20"]);
        assert_eq!(expired(94, json!({"target": ""})), (vec![], vec![]));
        assert_eq!(expired(94, json!({"user": ""})).0, both[..1]);
    }

    #[test]
    fn active_records_expire_after_last_count() {
        let mut tracker = ExpiryTracker::default();
        let like = || json!({"kinds": "a"});
        assert!(expired(&mut tracker, 0, like()).is_empty());
        assert!(expired(&mut tracker, 399, like()).is_empty());
        let undo = json!({"kinds": "a", "did": "undo"});
        assert!(expired(&mut tracker, 799, undo.clone()).is_empty());
        assert_eq!(expired(&mut tracker, 800, undo), ["{ar:0}2m:42"]);
        assert!(expired(&mut tracker, 2000, like()).is_empty());
    }
}
