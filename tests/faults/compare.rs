//! The final comparison of the service and its stored data with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use test_support::reference::{
    BoardId, Calendar, InstantRange, Model, Outcome, PERIODS, Rule, Store, board_key, noon_zone,
    now, record_name,
};
use test_support::{Answer, Api, Value, json};

use crate::load::Operation;

/// The number of concurrent requests.
const CONCURRENCY: usize = 8;

/// The numbers of compared items, and all differences.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    pub boards: usize,
    pub entries: usize,
    pub points: u64,
    pub days: usize,
    pub records: usize,
    pub differences: Vec<String>,
    /// Users who are not compared.
    pub damaged: BTreeSet<String>,
}

/// Applies each operation once, in order.
pub fn model(operations: &[Arc<Operation>]) -> Model {
    let periods = PERIODS.map(|(period, _)| period).to_vec();
    let mut model = Model::new(Calendar::new(noon_zone()), periods, Rule::defaults(1));
    for operation in operations {
        let outcome = model.apply(&operation.activity, InstantRange::exact(operation.now));
        let counts = matches!(outcome, Outcome::Counted(_) | Outcome::Undone(_));
        assert!(counts, "bug in the load: {outcome:?} {operation:?}");
    }
    model
}

/// Points by user.
type Points = BTreeMap<String, u64>;

impl Comparison {
    /// Compares boards, histories and records, stored and served, but of damaged users.
    pub async fn run(
        model: &Model,
        damaged: BTreeSet<String>,
        store: &mut Store,
        api: &Api,
    ) -> Self {
        let mut comparison = Self {
            damaged,
            ..Self::default()
        };
        comparison.stored_boards(model, store);
        comparison.stored_histories(model, store);
        comparison.stored_records(model, store);
        comparison.served_boards(model, api).await;
        comparison.served_histories(model, api).await;
        comparison
    }

    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, subject: &str, expected: &T, found: &T) {
        if expected != found {
            let difference = format!("{subject}\n  expected {expected:?}\n  found    {found:?}");
            self.differences.push(difference);
        }
    }

    /// Compares boards in Redis. An emptied board may not exist at all, if its like came after the
    /// undo.
    fn stored_boards(&mut self, model: &Model, store: &mut Store) {
        let mut keys = store.keys("b");
        let names: BTreeMap<String, &BoardId> = model
            .boards
            .keys()
            .map(|name| (board_key(name), name))
            .collect();
        keys.extend(names.keys().cloned());
        let keys: Vec<String> = keys.into_iter().collect();
        for (key, [visible, hidden]) in keys.iter().zip(store.boards(&keys)) {
            let found: Points = visible.into_iter().collect();
            let expected = names.get(key).map(|name| ranking(model, name));
            let expected = expected.unwrap_or_default();
            self.boards += 1;
            self.entries += expected.len();
            self.points += expected.values().sum::<u64>();
            let users: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
            for user in users {
                if self.damaged.contains(user) {
                    continue;
                }
                self.compare(
                    &format!("{key} {user}"),
                    &expected.get(user),
                    &found.get(user),
                );
            }
            self.compare(&format!("{key}, hidden"), &Vec::new(), &hidden);
        }
    }

    fn stored_histories(&mut self, model: &Model, store: &mut Store) {
        let mut expected: BTreeMap<_, BTreeMap<String, String>> = BTreeMap::new();
        for ((date, user), day) in &model.histories {
            let stored = |(action, (count, points)): (&String, &(u64, i64))| {
                (action.clone(), format!("{count} {points}"))
            };
            expected.insert((*date, user.clone()), day.iter().map(stored).collect());
        }
        self.days = expected.len();
        let found = store.histories();
        for day in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
            if self.damaged.contains(&day.1) {
                continue;
            }
            let subject = format!("history of {} on {}", day.1, day.0);
            self.compare(&subject, &expected.get(day), &found.get(day));
        }
    }

    /// Compares active and daily records.
    fn stored_records(&mut self, model: &Model, store: &mut Store) {
        let active = model.active.keys();
        let mut expected: BTreeSet<String> = active
            .map(|(user, action, target)| format!("m:{user} {action}:{target}"))
            .collect();
        let daily = model.daily.iter();
        expected.extend(
            daily.map(|(date, (user, action, target))| {
                format!("{user} on {date} {action}:{target}")
            }),
        );
        let mut found = BTreeSet::new();
        for key in store.keys("m:") {
            // '\t' is the day on which the expiry was renewed.
            let fields = store.hash(&key).into_keys().filter(|field| field != "\t");
            found.extend(fields.map(|field| format!("{key} {}", record_name(&field))));
        }
        for (date, user, record) in store.daily_records() {
            found.insert(format!("{user} on {date} {record}"));
        }
        self.records = expected.len();
        for record in expected.symmetric_difference(&found) {
            let user = record.split(' ').next().unwrap_or_default();
            if self.damaged.contains(user.trim_start_matches("m:")) {
                continue;
            }
            self.compare(record, &expected.contains(record), &found.contains(record));
        }
    }

    /// Compares boards read through the API, page by page.
    async fn served_boards(&mut self, model: &Model, api: &Api) {
        let pages = futures::stream::iter(&model.boards).map(async |(name, board)| {
            let (period, _, group) = name;
            let group = group.as_ref().map(|group| format!("&group={group}"));
            let group = group.unwrap_or_default();
            let path = format!("/v1/ranking/{period}?date={}{group}&limit=100", board.date);
            (name, read_board(api, &path).await)
        });
        let pages: Vec<_> = pages.buffer_unordered(CONCURRENCY).collect().await;
        for (name, found) in pages {
            let mut all = [Ok(ranking(model, name)), found];
            for points in all.iter_mut().flatten() {
                points.retain(|user, _| !self.damaged.contains(user));
            }
            let [expected, found] = all;
            self.compare(&format!("served board {name:?}"), &expected, &found);
        }
    }

    /// Compares histories read through the API.
    async fn served_histories(&mut self, model: &Model, api: &Api) {
        let mut users: BTreeSet<&String> = model.histories.keys().map(|(_, user)| user).collect();
        users.retain(|user| !self.damaged.contains(*user));
        let today = model.calendar.date(now());
        let responses = futures::stream::iter(users).map(async |user| {
            let response = api.get(&format!("/v1/users/{user}/activity")).await;
            (user, response)
        });
        let responses: Vec<(&String, Answer)> =
            responses.buffer_unordered(CONCURRENCY).collect().await;
        for (user, response) in responses {
            let days = response.body["days"]
                .as_array()
                .cloned()
                .unwrap_or_default();
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
            self.compare(&format!("served history of {user}"), &expected, &days);
        }
    }
}

fn ranking(model: &Model, name: &BoardId) -> Points {
    let [visible, _] = model.ranking(name);
    visible.into_iter().collect()
}

/// Reads a complete board. Returns the text of an unexpected response as the error: ranks must have
/// no gaps, and scores must descend.
async fn read_board(api: &Api, path: &str) -> Result<Points, String> {
    let mut users: Vec<(String, u64)> = Vec::new();
    loop {
        let response = api.get(&format!("{path}&offset={}", users.len())).await;
        let entries = response.body["entries"].as_array().cloned();
        let is_fresh = response.status == 200 && response.body["stale"].is_null();
        let entries = entries.filter(|_| is_fresh).ok_or(response.text.clone())?;
        for entry in &entries {
            let user = entry["user"]["id"].as_str().map(str::to_owned);
            let user = user.zip(entry["score"].as_u64());
            let last = users.last().map_or(u64::MAX, |(_, score)| *score);
            let valid =
                user.filter(|(_, score)| *score <= last && entry["rank"] == users.len() + 1);
            users.push(valid.ok_or(response.text.clone())?);
        }
        if entries.len() < 100 {
            let total = &response.body["total"];
            return (*total == users.len())
                .then(|| users.into_iter().collect())
                .ok_or(format!("total {total}"));
        }
    }
}
