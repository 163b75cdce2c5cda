//! What a site had forgotten between two entries: there it is gone although no entry says so.
//!
//! Only boards and standing marks are written anew after they have run out. A history or a per-day
//! mark is so by an import of long ago, where nobody sees it; an undo memory never.

use std::collections::HashMap;

use activity_rank::activity::Place;
use activity_rank::calendar::Period;
use activity_rank::keys::Keys;

use super::entry::{Activity, Did};
use super::keep::Keep;

/// When what was written runs out, Unix ms.
#[derive(Debug, Default)]
pub struct Forgotten {
    boards: HashMap<String, i64>,
    marks: HashMap<String, i64>,
}

impl Forgotten {
    /// The keys that were gone before an entry, which is then taken in.
    pub fn before(
        &mut self,
        activity: &Activity,
        now: i64,
        keep: &Keep,
        keys: &Keys,
    ) -> Vec<String> {
        let mut gone = Vec::new();
        let counts = activity.did != Did::Undo;
        for (number, kind, name) in boards(activity) {
            if self.boards.get(&name).is_some_and(|end| *end <= now) {
                self.boards.remove(&name);
                gone.push(keys.board_named(&name));
            }
            let end = keep.board(kind).map(|seconds| after(now, seconds));
            if let Some(end) = end.filter(|_| counts && !activity.skipped.contains(&number)) {
                self.boards.entry(name).or_insert(end);
            }
        }
        let user = &activity.user;
        if self.marks.get(user).is_some_and(|end| *end <= now) {
            self.marks.remove(user);
            gone.push(keys.marks(user));
        }
        if counts {
            self.marks.insert(user.clone(), after(now, keep.marks()));
        }
        gone
    }
}

/// The boards of an activity's place: number from 1, kind and name.
#[must_use]
pub fn boards(activity: &Activity) -> Vec<(usize, Period, String)> {
    let Place {
        date,
        kinds,
        groups,
    } = &activity.place;
    let mut boards = Vec::new();
    let groups = groups.iter().map(|group| Some(group.as_str()));
    for group in [None].into_iter().chain(groups) {
        for kind in kinds {
            let name = Keys::board_name(*kind, *date, group);
            boards.push((boards.len() + 1, *kind, name));
        }
    }
    boards
}

fn after(now: i64, seconds: u64) -> i64 {
    now.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX / 1000) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rebuild::entry::{What, tests::entry};
    use crate::rebuild::keep::tests::usual;
    use serde_json::{Value, json};

    const DAY: i64 = 86_400_000;
    const NOW: i64 = 1_795_132_800_000;

    fn gone(forgotten: &mut Forgotten, day: i64, fields: Value) -> Vec<String> {
        let What::Activity(activity) = entry(1, fields).unwrap().what else {
            panic!("no activity");
        };
        let keys = Keys::new("ar", 0).shadow();
        forgotten.before(&activity, NOW + day * DAY, &usual(), &keys)
    }

    #[test]
    fn a_board_is_gone_when_it_has_run_out_and_not_later_because_it_was_used() {
        let mut forgotten = Forgotten::default();
        let groups = json!({"kinds": "da", "groups": "eu"});
        assert!(gone(&mut forgotten, 0, groups.clone()).is_empty());
        assert!(gone(&mut forgotten, 30, groups).is_empty());
        let late = gone(&mut forgotten, 31, json!({"kinds": "da"}));
        assert_eq!(late, ["{ar:0}~bd:2026-11-20"]);
        // Written anew, it lives anew.
        assert!(gone(&mut forgotten, 61, json!({"kinds": "da"})).is_empty());
        let late = gone(
            &mut forgotten,
            62,
            json!({"kinds": "da", "groups": "eu", "did": "undo"}),
        );
        assert_eq!(late, ["{ar:0}~bd:2026-11-20", "{ar:0}~bd:2026-11-20:eu"]);
        // An undo makes none anew.
        assert!(gone(&mut forgotten, 200, json!({"kinds": "d", "skipped": "1"})).is_empty());
        assert!(gone(&mut forgotten, 300, json!({"kinds": "d"})).is_empty());
    }

    #[test]
    fn marks_are_gone_so_long_after_the_last_that_counted() {
        let mut forgotten = Forgotten::default();
        let skipped = || json!({"kinds": "a"});
        assert!(gone(&mut forgotten, 0, skipped()).is_empty());
        assert!(gone(&mut forgotten, 399, skipped()).is_empty());
        let undo = json!({"kinds": "a", "did": "undo"});
        assert!(gone(&mut forgotten, 798, undo.clone()).is_empty());
        assert_eq!(gone(&mut forgotten, 799, undo), ["{ar:0}~m:42"]);
        assert!(gone(&mut forgotten, 2000, skipped()).is_empty());
    }
}
