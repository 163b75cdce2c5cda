//! Expiry of boards and active records between the entries of a replay.

use std::collections::HashMap;

use activity_rank_core::board::board_name;
use activity_rank_core::calendar::Period;
use activity_rank_store::count::BoardTargets;
use activity_rank_store::keys::Keys;

use super::journal::{Activity, Verb};
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
        let mut expired = Vec::new();
        let counts = activity.verb != Verb::Undo;
        for (position, period, name) in boards(activity) {
            if self.boards.get(&name).is_some_and(|expiry| *expiry <= now) {
                self.boards.remove(&name);
                expired.push(keys.board_named(&name));
            }
            let expiry = retention.board(period).map(|seconds| add(now, seconds));
            if let Some(expiry) = expiry.filter(|_| counts && !activity.skipped.contains(&position))
            {
                self.boards.entry(name).or_insert(expiry);
            }
        }
        let user = &activity.user;
        if self
            .active_records
            .get(user)
            .is_some_and(|expiry| *expiry <= now)
        {
            self.active_records.remove(user);
            expired.push(keys.active_records(user));
        }
        if counts {
            let lifetime = retention.active_records();
            let expiry = self.active_records.entry(user.clone()).or_insert(0);
            // The first activity that counts on a day of UTC renews the expiry.
            if expiry.div_euclid(DAY) != add(now, lifetime).div_euclid(DAY) {
                *expiry = add(now, lifetime);
            }
        }
        expired
    }
}

/// Returns the boards of an activity: position from 1, period and name.
#[must_use]
pub fn boards(activity: &Activity) -> Vec<(usize, Period, String)> {
    let BoardTargets {
        date,
        periods,
        groups,
        content: _,
    } = &activity.boards;
    let mut boards = Vec::new();
    let groups = groups.iter().map(|group| Some(group.as_str()));
    for group in [None].into_iter().chain(groups) {
        for period in periods {
            let name = board_name(*period, *date, group);
            boards.push((boards.len() + 1, *period, name));
        }
    }
    boards
}

fn add(millis: i64, seconds: u64) -> i64 {
    millis.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX / 1000) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rebuild::journal::{Change, tests::entry};
    use crate::rebuild::retention::tests::default_retention;
    use serde_json::{Value, json};

    const NOW: i64 = 1_795_132_800_000;

    fn expired(tracker: &mut ExpiryTracker, day: i64, fields: Value) -> Vec<String> {
        let Change::Activity(activity) = entry(1, fields).unwrap().change else {
            panic!("not an activity");
        };
        let keys = Keys::new("ar", 0).shadow();
        tracker.expired_before(&activity, NOW + day * DAY, &default_retention(), &keys)
    }

    #[test]
    fn board_expires_after_first_write() {
        let mut tracker = ExpiryTracker::default();
        let groups = json!({"kinds": "da", "groups": "eu"});
        assert!(expired(&mut tracker, 0, groups.clone()).is_empty());
        assert!(expired(&mut tracker, 30, groups).is_empty());
        let late = expired(&mut tracker, 31, json!({"kinds": "da"}));
        assert_eq!(late, ["{ar:0}~bd:2026-11-20"]);
        // A board that is written again gets a new lifetime.
        assert!(expired(&mut tracker, 61, json!({"kinds": "da"})).is_empty());
        let late = expired(
            &mut tracker,
            62,
            json!({"kinds": "da", "groups": "eu", "did": "undo"}),
        );
        assert_eq!(late, ["{ar:0}~bd:2026-11-20", "{ar:0}~bd:2026-11-20:eu"]);
        // An undo and a skipped board write nothing.
        assert!(expired(&mut tracker, 200, json!({"kinds": "d", "skipped": "1"})).is_empty());
        assert!(expired(&mut tracker, 300, json!({"kinds": "d"})).is_empty());
    }

    #[test]
    fn active_records_expire_after_last_count() {
        let mut tracker = ExpiryTracker::default();
        let like = || json!({"kinds": "a"});
        assert!(expired(&mut tracker, 0, like()).is_empty());
        assert!(expired(&mut tracker, 399, like()).is_empty());
        let undo = json!({"kinds": "a", "did": "undo"});
        assert!(expired(&mut tracker, 799, undo.clone()).is_empty());
        assert_eq!(expired(&mut tracker, 800, undo), ["{ar:0}~m:42"]);
        assert!(expired(&mut tracker, 2000, like()).is_empty());
    }
}
