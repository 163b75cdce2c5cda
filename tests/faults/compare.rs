//! In the end: what the service says and holds, against the model, number for number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use test_support::reference::{
    BoardName, Calendar, KINDS, Model, Moment, Outcome, Rule, Store, board_key, mark_of, noon_zone,
    now,
};
use test_support::{Answer, Api, Value, json};

use crate::load::Deed;

/// How many requests are under way at once.
const AT_ONCE: usize = 8;

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    pub boards: usize,
    pub members: usize,
    pub points: u64,
    pub days: usize,
    pub marks: usize,
    /// What is not as it must be.
    pub differences: Vec<String>,
}

/// What the deeds amount to, each done once, in their order.
pub fn model(deeds: &[Arc<Deed>]) -> Model {
    let kinds = KINDS.map(|(kind, _)| kind).to_vec();
    let mut model = Model::new(Calendar::of(noon_zone()), kinds, Rule::defaults(1));
    for deed in deeds {
        let outcome = model.apply(&deed.activity, Moment::exact(deed.now));
        let counts = matches!(outcome, Outcome::Counted(_) | Outcome::Undone(_));
        assert!(counts, "the load's own fault: {outcome:?} {deed:?}");
    }
    model
}

/// Points of each member.
type Points = BTreeMap<String, u64>;

impl Compared {
    /// Compares everything.
    pub async fn with(model: &Model, store: &mut Store, api: &Api) -> Self {
        let mut compared = Self::default();
        compared.held_boards(model, store);
        compared.held_histories(model, store);
        compared.held_marks(model, store);
        compared.told_boards(model, api).await;
        compared.told_histories(model, api).await;
        compared
    }

    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, expected: &T, found: &T) {
        if expected != found {
            let difference = format!("{what}\n  expected {expected:?}\n  found    {found:?}");
            self.differences.push(difference);
        }
    }

    /// Boards in Redis. One that was emptied may never have been made: its like came after the undo.
    fn held_boards(&mut self, model: &Model, store: &mut Store) {
        let mut keys = store.keys("b");
        let names: BTreeMap<String, &BoardName> = model
            .boards
            .keys()
            .map(|name| (board_key(name), name))
            .collect();
        keys.extend(names.keys().cloned());
        let keys: Vec<String> = keys.into_iter().collect();
        for (key, [seen, hidden]) in keys.iter().zip(store.boards(&keys)) {
            let found: Points = seen.into_iter().collect();
            let expected = names.get(key).map(|name| ranking(model, name));
            let expected = expected.unwrap_or_default();
            self.boards += 1;
            self.members += expected.len();
            self.points += expected.values().sum::<u64>();
            for user in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
                self.same(
                    &format!("{key} {user}"),
                    &expected.get(user),
                    &found.get(user),
                );
            }
            self.same(&format!("{key}, hidden"), &Vec::new(), &hidden);
        }
    }

    fn held_histories(&mut self, model: &Model, store: &mut Store) {
        let mut expected: BTreeMap<_, BTreeMap<String, String>> = BTreeMap::new();
        for ((date, user), day) in &model.histories {
            let written = |(action, (count, points)): (&String, &(u64, i64))| {
                (action.clone(), format!("{count} {points}"))
            };
            expected.insert((*date, user.clone()), day.iter().map(written).collect());
        }
        self.days = expected.len();
        let found = store.histories();
        for day in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
            let what = format!("history of {} on {}", day.1, day.0);
            self.same(&what, &expected.get(day), &found.get(day));
        }
    }

    /// What stands, and what was done on which day.
    fn held_marks(&mut self, model: &Model, store: &mut Store) {
        let standing = model.standing.keys();
        let mut expected: BTreeSet<String> = standing
            .map(|(user, action, target)| format!("m:{user} {action}:{target}"))
            .collect();
        let per_day = model.per_day.iter();
        expected.extend(
            per_day.map(|(date, (user, action, target))| {
                format!("{user} on {date} {action}:{target}")
            }),
        );
        let mut found = BTreeSet::new();
        for key in store.keys("m:") {
            let marks = store.hash(&key).into_keys();
            found.extend(marks.map(|field| format!("{key} {}", mark_of(&field))));
        }
        for (date, user, mark) in store.day_marks() {
            found.insert(format!("{user} on {date} {mark}"));
        }
        self.marks = expected.len();
        for mark in expected.symmetric_difference(&found) {
            self.same(mark, &expected.contains(mark), &found.contains(mark));
        }
    }

    /// Boards as anybody reads them, page by page.
    async fn told_boards(&mut self, model: &Model, api: &Api) {
        let pages = futures::stream::iter(&model.boards).map(async |(name, board)| {
            let (kind, _, group) = name;
            let group = group.as_ref().map(|group| format!("&group={group}"));
            let group = group.unwrap_or_default();
            let path = format!("/v1/ranking/{kind}?date={}{group}&limit=100", board.date);
            (name, read_board(api, &path).await)
        });
        let pages: Vec<_> = pages.buffer_unordered(AT_ONCE).collect().await;
        for (name, found) in pages {
            self.same(
                &format!("told: {name:?}"),
                &Ok(ranking(model, name)),
                &found,
            );
        }
    }

    /// Histories as their owners read them.
    async fn told_histories(&mut self, model: &Model, api: &Api) {
        let users: BTreeSet<&String> = model.histories.keys().map(|(_, user)| user).collect();
        let today = model.calendar.date(now());
        let answers = futures::stream::iter(users).map(async |user| {
            let answer = api.get(&format!("/v1/users/{user}/activity")).await;
            (user, answer)
        });
        let answers: Vec<(&String, Answer)> = answers.buffer_unordered(AT_ONCE).collect().await;
        for (user, answer) in answers {
            let days = answer.body["days"].as_array().cloned().unwrap_or_default();
            let expected = |date: jiff::civil::Date| {
                let day = model.histories.get(&(date, user.clone()));
                let day = day.cloned().unwrap_or_default();
                let sum: i64 = day.values().map(|(_, points)| points).sum();
                let action = |(name, (count, points)): (String, (u64, i64))| {
                    (name, json!({ "count": count, "points": points }))
                };
                let actions: Value = day.into_iter().map(action).collect();
                json!({ "date": date.to_string(), "points": sum, "actions": actions })
            };
            let dates = (0..31).map(|back| today.saturating_sub(jiff::Span::new().days(back)));
            let expected: Vec<Value> = dates.map(expected).collect();
            self.same(&format!("history of {user}"), &expected, &days);
        }
    }
}

fn ranking(model: &Model, name: &BoardName) -> Points {
    let [seen, _] = model.ranking(name);
    seen.into_iter().collect()
}

/// A whole board, or what is wrong with it: ranks without gaps, points in their order.
async fn read_board(api: &Api, path: &str) -> Result<Points, String> {
    let mut members: Vec<(String, u64)> = Vec::new();
    loop {
        let answer = api.get(&format!("{path}&offset={}", members.len())).await;
        let entries = answer.body["entries"].as_array().cloned();
        let is_fresh = answer.status == 200 && answer.body["stale"].is_null();
        let entries = entries.filter(|_| is_fresh).ok_or(answer.text.clone())?;
        for entry in &entries {
            let user = entry["user"]["id"].as_str().map(str::to_owned);
            let member = user.zip(entry["score"].as_u64());
            let last = members.last().map_or(u64::MAX, |(_, score)| *score);
            let right =
                member.filter(|(_, score)| *score <= last && entry["rank"] == members.len() + 1);
            members.push(right.ok_or(answer.text.clone())?);
        }
        if entries.len() < 100 {
            let total = &answer.body["total"];
            let whole = *total == members.len();
            return whole
                .then(|| members.into_iter().collect())
                .ok_or(format!("total {total}"));
        }
    }
}
