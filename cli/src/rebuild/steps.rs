//! From entries to steps: what was counted one after the other goes in one call, as far as it can.

use activity_rank::activity::{Deed, Operations};
use activity_rank::keys::Keys;

use super::entry::{Activity, Did, Entry, What};
use super::forgotten::{Forgotten, boards};
use super::keep::Keep;
use super::people::People;
use super::step::{Call, Everywhere, Step};

/// Operations of one call: some milliseconds of the store, in which nobody else is answered.
const MOST: usize = 200;
/// A call has one lifetime for all it writes: that of entries of one hour.
const HOUR: i64 = 3_600_000;

/// Puts steps together.
pub struct Steps {
    keys: Keys,
    /// How long things are kept.
    pub keep: Keep,
    forgotten: Forgotten,
    people: People,
    /// Boards that are told the next call as archived and gone; none where that is not known.
    archived: Option<Vec<String>>,
    open: Option<Open>,
    done: Vec<Step>,
}

/// A call that still takes more.
struct Open {
    hour: i64,
    then: i64,
    n: u64,
    operations: Operations,
    users: Vec<String>,
}

impl Steps {
    /// For a shadow with these keys.
    #[must_use]
    pub fn new(keys: Keys, keep: Keep) -> Self {
        Self {
            keys,
            keep,
            forgotten: Forgotten::default(),
            people: People::default(),
            archived: None,
            open: None,
            done: Vec::new(),
        }
    }

    /// Takes in an entry that has been done before.
    pub fn skip(&mut self, entry: &Entry) {
        match &entry.what {
            What::Activity(activity) => {
                self.forgotten
                    .before(activity, entry.now, &self.keep, &self.keys);
                self.people.skip(&activity.user);
            }
            What::Moderate { user, .. } | What::Profile { user, .. } => {
                self.people.skip(user);
            }
            What::Erase { .. } => {}
        }
    }

    /// Adds an entry, to be done after those before. An erasure is told apart: who it is about has
    /// to be asked.
    pub fn add(&mut self, entry: Entry) {
        let Entry { n, now, what, .. } = entry;
        let (script, user) = match what {
            What::Activity(activity) => return self.count(n, now, activity),
            What::Moderate {
                user,
                hidden,
                frozen,
                reason,
            } => {
                let script = Everywhere::Moderate {
                    hidden,
                    frozen,
                    reason,
                };
                (script, user)
            }
            What::Profile { user, json, hidden } => (Everywhere::Profile { json, hidden }, user),
            What::Erase { .. } => return,
        };
        self.close();
        self.people.meet(&user);
        self.write_down();
        self.everywhere(n, now, script, user);
    }

    /// Adds the erasure of somebody.
    pub fn erase(&mut self, n: u64, now: i64, user: String) {
        self.close();
        self.everywhere(n, now, Everywhere::Erase, user);
    }

    /// Adds a command that does an entry.
    pub fn command(&mut self, n: u64, mut step: Step) {
        self.close();
        (step.n, step.entries) = (Some(n), 1);
        self.done.push(step);
    }

    /// The steps so far, in order.
    pub fn take(&mut self) -> Vec<Step> {
        self.close();
        std::mem::take(&mut self.done)
    }

    fn everywhere(&mut self, n: u64, then: i64, script: Everywhere, user: String) {
        let names = Vec::new();
        self.done.push(Step {
            n: Some(n),
            entries: 1,
            call: Call::Everywhere {
                script,
                then,
                user,
                names,
            },
        });
    }

    fn count(&mut self, n: u64, now: i64, activity: Activity) {
        let gone = self
            .forgotten
            .before(&activity, now, &self.keep, &self.keys);
        let archived = self.archived(&activity);
        let (hour, alone) = (now.div_euclid(HOUR), activity.reason.is_some());
        let goes_on = self
            .open
            .as_ref()
            .is_some_and(|open| open.hour == hour && open.operations.len() < MOST);
        if !goes_on || alone || !gone.is_empty() || self.archived.as_ref() != Some(&archived) {
            self.close();
        }
        for key in gone {
            self.done.push(Step::run("UNLINK", key, Vec::new()));
        }
        if self.archived.as_ref() != Some(&archived) {
            let key = self.keys.archived();
            self.done.push(Step::run("UNLINK", key.clone(), Vec::new()));
            for board in &archived {
                self.done
                    .push(Step::run("UNLINK", board.clone(), Vec::new()));
            }
            if !archived.is_empty() {
                self.done.push(Step::run("SADD", key, archived.clone()));
            }
            self.archived = Some(archived);
        }
        self.people.meet(&activity.user);
        let open = self.open.get_or_insert_with(|| Open {
            hour,
            then: now,
            n,
            operations: Operations::default(),
            users: Vec::new(),
        });
        open.n = n;
        // So that nothing runs out sooner than it did.
        open.then = open.then.max(now);
        let counts = activity.did != Did::Undo;
        open.users.push(match counts {
            true => activity.user.clone(),
            false => String::new(),
        });
        open.operations.reason = activity.reason;
        open.operations.push(Deed {
            user: &activity.user,
            worth: activity.worth,
            place: activity.place,
            verb: activity.did.verb(),
            mark: activity.mark,
            at: activity.at,
            dated: activity.dated,
        });
        if alone {
            self.close();
        }
    }

    /// The boards that were archived and gone when it was done.
    fn archived(&self, activity: &Activity) -> Vec<String> {
        if activity.skipped.is_empty() {
            return Vec::new();
        }
        boards(activity)
            .into_iter()
            .filter(|(number, ..)| activity.skipped.contains(number))
            .map(|(_, _, name)| self.keys.board_named(&name))
            .collect()
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.write_down();
        self.done.push(Step {
            n: Some(open.n),
            entries: open.users.len().try_into().unwrap_or(0),
            call: Call::Count {
                operations: open.operations,
                then: open.then,
                users: open.users,
            },
        });
    }

    /// Who is new in the shadow is written down: an erasure tells only a hash.
    fn write_down(&mut self) {
        let new = self.people.take();
        if !new.is_empty() {
            let people = self.keys.people();
            self.done.push(Step::run("HSET", people, new));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rebuild::entry::tests::entry;
    use crate::rebuild::keep::tests::usual;
    use crate::rebuild::step::Terms;
    use serde_json::{Value, json};

    const NOW: i64 = 1_795_132_800_000;

    /// Each step as its entries, script and, of commands, words.
    fn steps(entries: &[Value]) -> Vec<String> {
        let terms = Terms {
            keys: Keys::new("ar", 0).shadow(),
            stamp: "v1".to_owned(),
            keep: usual(),
            now: NOW,
        };
        let mut steps = Steps::new(terms.keys.clone(), usual());
        for (n, fields) in (1..).zip(entries) {
            steps.add(entry(n, fields.clone()).unwrap());
        }
        let told = |step: Step| {
            let words = step.words(&terms);
            match step.n {
                Some(n) => format!("{} to {n} {}", step.entries, words.script),
                None => [words.args, words.keys].concat().join(" "),
            }
        };
        steps.take().into_iter().map(told).collect()
    }

    fn at(hours: i64) -> Value {
        json!({"now": (NOW + hours * HOUR).to_string()})
    }

    const NEW: &str = "HSET 92cfceb39d57d914ed8b14d0e37643de0797ae56 42 {ar:0}~q";

    #[test]
    fn entries_of_an_hour_are_one_call() {
        let told = steps(&[at(0), at(0), at(1), at(0), at(0)]);
        assert_eq!(
            told,
            [
                "UNLINK {ar:0}~a",
                NEW,
                "2 to 2 count",
                "1 to 3 count",
                "2 to 5 count"
            ]
        );
        let many: Vec<Value> = (0..MOST + 1).map(|_| at(0)).collect();
        assert_eq!(steps(&many)[2..], ["200 to 200 count", "1 to 201 count"]);
    }

    #[test]
    fn what_has_run_out_is_taken_away_before_it_is_used_again() {
        let told = steps(&[at(0), at(24 * 31), at(24 * 31)]);
        assert_eq!(
            told[3..],
            ["UNLINK {ar:0}~bd:2026-11-20", "2 to 3 count"],
            "{told:?}"
        );
    }

    #[test]
    fn boards_that_were_archived_and_gone_are_so_again_for_as_long_as_they_were() {
        let skipped = json!({"groups": "eu", "kinds": "da", "skipped": "1,3"});
        let told = steps(&[skipped.clone(), skipped, at(0)]);
        let first = "UNLINK {ar:0}~a";
        let archived = "SADD {ar:0}~bd:2026-11-20 {ar:0}~bd:2026-11-20:eu {ar:0}~a";
        let gone = [
            "UNLINK {ar:0}~bd:2026-11-20",
            "UNLINK {ar:0}~bd:2026-11-20:eu",
        ];
        let expected = [
            first,
            gone[0],
            gone[1],
            archived,
            NEW,
            "2 to 2 count",
            first,
            "1 to 3 count",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_no_activity_and_adjustments_are_calls_of_their_own() {
        let told = steps(&[
            json!({"did": "profile", "json": "{}"}),
            at(0),
            json!({"did": "adjust", "reason": "Case"}),
            at(0),
            json!({"did": "moderate", "hidden": "1", "frozen": "0", "user": "7"}),
        ]);
        let seven = "HSET 902ba3cda1883801594b6e1b452790cc53948fda 7 {ar:0}~q";
        let expected = [
            NEW,
            "1 to 1 profiles",
            "UNLINK {ar:0}~a",
            "1 to 2 count",
            "1 to 3 count",
            "1 to 4 count",
            seven,
            "1 to 5 moderate",
        ];
        assert_eq!(told, expected);
    }
}
