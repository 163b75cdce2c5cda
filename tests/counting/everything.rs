//! The whole state, by the API and as it lies in Redis.

use crate::run::Run;
use futures::StreamExt;
use jiff::ToSpan;
use std::collections::{BTreeMap, BTreeSet};
use test_support::reference::{Board, BoardName, Day, Moment, Stands, board_key, mark_of, now};
use test_support::{Answer, Value, json};

/// How many requests are under way at once.
const AT_ONCE: usize = 8;

impl Run {
    /// Compares everything; `users` are those that may have done something.
    pub async fn check_everything(&mut self, users: &[String]) -> Result<(), String> {
        let names: Vec<BoardName> = self.model.boards.keys().cloned().collect();
        same(
            "keys of boards",
            &names.iter().map(board_key).collect(),
            &self.store.keys("b"),
        )?;
        self.compare_boards(&names)?;
        self.check_marks()?;
        self.check_histories()?;
        let mut expected = Vec::new();
        for (number, (name, board)) in self.model.boards.iter().enumerate() {
            expected.extend(self.views(name, board, users, number));
        }
        expected.extend(users.iter().map(|user| self.history(user)));
        let answers = futures::stream::iter(expected).map(async |(path, expected)| {
            let answer: Answer = self.api.get(&path).await;
            let same = answer.status == 200 && answer.body == expected;
            let (status, body) = (answer.status, answer.body);
            same.then_some(()).ok_or(format!(
                "GET {path}\nexpected 200 {expected:#}\nanswered {status} {body:#}"
            ))
        });
        let answers: Vec<_> = answers.buffer_unordered(AT_ONCE).collect().await;
        answers.into_iter().collect()
    }

    /// The board, and of every other one a comparison and a standing: requests and their answers.
    fn views(
        &self,
        name: &BoardName,
        board: &Board,
        users: &[String],
        number: usize,
    ) -> Vec<(String, Value)> {
        let (kind, _, group) = name;
        let period = self.model.calendar.view(kind, board.date, now());
        let [ranking, _] = self.model.ranking(name);
        let entry = |place: usize| {
            let (user, steps) = &ranking[place];
            let score = self.points(*steps as i64);
            json!({ "rank": place + 1, "score": score, "user": { "id": user } })
        };
        let entries: Vec<Value> = (0..ranking.len()).map(entry).collect();
        let total = ranking.len();
        let mut question = format!("date={}", board.date);
        if let Some(group) = group {
            question += &format!("&group={group}");
        }
        let path = format!("/v1/ranking/{kind}");
        let top = json!({ "period": period, "total": total, "entries": entries });
        let mut views = vec![(format!("{path}?{question}&limit=100"), top)];
        if number % 2 == 1 {
            return views;
        }
        let ids = users.join(",");
        let comparison = json!({
            "period": period, "total": total, "entries": self.comparison(&ranking, users),
        });
        views.push((format!("{path}/users?{question}&ids={ids}"), comparison));
        let user = &users[number % users.len()];
        let Some(place) = ranking.iter().position(|(ranked, _)| ranked == user) else {
            return views;
        };
        let steps = ranking[place].1;
        let next = place.checked_sub(1).map(|above| {
            let score = ranking[above].1;
            let points = self.points((score - steps + 1) as i64);
            json!({ "rank": place, "score": self.points(score as i64), "points": points })
        });
        let percentile = (1000.0 * (total - place) as f64 / total as f64).round() / 10.0;
        let around = &entries[place.saturating_sub(2)..total.min(place + 3)];
        let standing = json!({
            "period": period, "user": { "id": user }, "rank": place + 1,
            "score": self.points(steps as i64), "total": total, "next": next, "around": around,
            "percentile": percentile,
        });
        views.push((format!("{path}/users/{user}?{question}&around=2"), standing));
        views
    }

    fn comparison(&self, ranking: &[(String, u64)], users: &[String]) -> Vec<Value> {
        let listed = ranking
            .iter()
            .enumerate()
            .filter(|(_, (user, _))| users.contains(user));
        let listed = listed.enumerate().map(|(position, (place, (user, steps)))| {
            let score = self.points(*steps as i64);
            json!({ "position": position + 1, "rank": place + 1, "score": score, "user": { "id": user } })
        });
        let absent = users
            .iter()
            .filter(|user| ranking.iter().all(|(ranked, _)| ranked != *user));
        let absent = absent.map(
            |user| json!({ "position": null, "rank": null, "score": 0, "user": { "id": user } }),
        );
        listed.chain(absent).collect()
    }

    /// The last 31 days of a user: request and answer.
    fn history(&self, user: &str) -> (String, Value) {
        let today = self.model.calendar.date(now());
        let (mut days, mut active) = (Vec::new(), Vec::new());
        for back in 0..31 {
            let date = today.checked_sub(back.days()).unwrap();
            let held = self.model.histories.get(&(date, user.to_owned()));
            let held = held.cloned().unwrap_or_default();
            let points = |steps: i64| self.points(steps);
            let action = |(name, (count, steps)): (&String, &(u64, i64))| {
                (
                    name.clone(),
                    json!({ "count": count, "points": points(*steps) }),
                )
            };
            let some = held.iter().filter(|(_, (count, _))| *count > 0);
            let actions: Value = some.map(action).collect();
            let sum = held.values().map(|(_, steps)| steps).sum();
            active.push(sum > 0);
            days.push(
                json!({ "date": date.to_string(), "points": points(sum), "actions": actions }),
            );
        }
        let run = |days: &[bool]| days.iter().take_while(|active| **active).count();
        let current = if active[0] {
            run(&active)
        } else {
            run(&active[1..])
        };
        let longest = (0..31).map(|from| run(&active[from..])).max();
        let body = json!({
            "user": { "id": user }, "timezone": self.model.calendar.name, "days": days,
            "streak": { "current": current, "longest": longest },
        });
        (format!("/v1/users/{user}/activity"), body)
    }

    fn check_histories(&mut self) -> Result<(), String> {
        let mut expected = BTreeMap::new();
        for ((date, user), day) in &self.model.histories {
            let day: &Day = day;
            let written = |(action, (count, steps)): (&String, &(u64, i64))| {
                (action.clone(), format!("{count} {steps}"))
            };
            let day: BTreeMap<String, String> = day.iter().map(written).collect();
            expected.insert((*date, user.clone()), day);
        }
        same("histories", &expected, &self.store.histories())
    }

    fn check_marks(&mut self) -> Result<(), String> {
        let per_day = self.model.per_day.iter();
        let per_day: BTreeSet<_> = per_day
            .map(|(date, (user, action, target))| {
                (*date, user.clone(), format!("{action}:{target}"))
            })
            .collect();
        same("per-day marks", &per_day, &self.store.day_marks())?;

        let (mut found, mut found_last) = (BTreeMap::new(), BTreeMap::new());
        for key in self.store.keys("m:") {
            for (field, value) in self.store.hash(&key) {
                let cooling = field.starts_with('~');
                let field = (key["m:".len()..].to_owned(), mark_of(&field));
                if cooling {
                    found_last.insert(field.clone(), value.clone());
                    found.insert(field, value);
                    continue;
                }
                let mark = Stands::read(&value);
                let last = mark.repeated.unwrap_or(mark.changed);
                let amounts: Vec<String> = mark.amounts.iter().map(i64::to_string).collect();
                let (changed, amounts) = (mark.changed, amounts.join(":"));
                let mut value = format!("{changed},{amounts},{},{}", mark.date, mark.kinds);
                for group in &mark.groups {
                    value += &format!(",{group}");
                }
                found_last.insert(field.clone(), last.to_string());
                found.insert(field, value);
            }
        }
        let (mut expected, mut expected_last) = (BTreeMap::new(), BTreeMap::new());
        let letters: String = self.model.kinds.iter().map(|kind| &kind[..1]).collect();
        for ((user, action, target), held) in &self.model.standing {
            let amounts: Vec<String> = held.amounts.iter().map(i64::to_string).collect();
            let mut value = format!("{},{},{letters}", amounts.join(":"), held.date);
            for group in &held.groups {
                value += &format!(",{group}");
            }
            let field = (user.clone(), format!("{action}:{target}"));
            expected_last.insert(field.clone(), (held.last, String::new()));
            expected.insert(field, (held.changed, value));
        }
        for ((user, action), last) in &self.model.cooling {
            let (field, last) = ((user.clone(), format!("~{action}")), (*last, String::new()));
            expected_last.insert(field.clone(), last.clone());
            expected.insert(field, last);
        }
        same_within("standing marks", &expected, &found)?;
        same_within("repeats of marks", &expected_last, &found_last)?;

        let mut found = BTreeMap::new();
        for key in self.store.keys("u:") {
            let user = key.splitn(3, ':').nth(2).unwrap().to_owned();
            for (field, value) in self.store.hash(&key) {
                let field = (user.clone(), mark_of(&field));
                let held = found.entry(field).or_insert(value.clone());
                *held = held.clone().max(value);
            }
        }
        let undone = self
            .model
            .undone
            .iter()
            .map(|((user, action, target), changed)| {
                (
                    (user.clone(), format!("{action}:{target}")),
                    (*changed, String::new()),
                )
            });
        same_within("undo memories", &undone.collect(), &found)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    let same = expected == found;
    same.then_some(())
        .ok_or_else(|| format!("{what}\nexpected {expected:?}\nfound    {found:?}"))
}

type Field = (String, String);

/// The same fields; each value an instant within its moment, and the rest after a comma.
fn same_within(
    what: &str,
    expected: &BTreeMap<Field, (Moment, String)>,
    found: &BTreeMap<Field, String>,
) -> Result<(), String> {
    same(
        what,
        &expected.keys().collect::<Vec<_>>(),
        &found.keys().collect(),
    )?;
    for (field, (moment, rest)) in expected {
        let (at, others) = found[field].split_once(',').unwrap_or((&found[field], ""));
        if !moment.contains(at.parse().unwrap()) || others != rest {
            let value = &found[field];
            return Err(format!(
                "{what} {field:?}\nexpected {moment:?},{rest}\nfound {value}"
            ));
        }
    }
    Ok(())
}
