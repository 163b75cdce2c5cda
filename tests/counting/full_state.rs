//! Compares the complete state with the model, through the API and in Redis.

use crate::comparison::{Comparison, encoded};
use futures::StreamExt;
use jiff::ToSpan;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use test_support::reference::{
    Board, BoardId, ContentBoard, ContentBoardId, DayHistory, InstantRange, Pair, Received,
    StoredRecord, Subject, board_key, bounds, content_board_key, now, period_id, receiver_hash,
    record_name,
};
use test_support::{Answer, Value, json, shards};

/// The number of concurrent requests.
const CONCURRENCY: usize = 8;

impl Comparison {
    /// Compares the complete state; `users` contains all users with activity.
    pub async fn check_full_state(&mut self, users: &[String]) -> Result<(), String> {
        let names: Vec<BoardId> = self.model.boards.keys().cloned().collect();
        // A preview leaves its board for an hour.
        let mut keys = self.store.keys("b");
        keys.retain(|key| !key.contains('\t'));
        same(
            "keys of boards",
            &names
                .iter()
                .map(board_key)
                .chain(self.content_boards().map(|(id, _)| content_board_key(id)))
                .collect(),
            &keys,
        )?;
        self.compare_boards(&names)?;
        self.compare_content().await?;
        self.check_records()?;
        self.check_histories()?;
        let mut expected = Vec::new();
        let boards = self.model.boards.iter();
        let period_boards = boards.filter(|((period, ..), _)| *period != "event");
        for (number, (name, board)) in period_boards.enumerate() {
            expected.extend(self.board_requests(name, board, users, number));
        }
        for (id, board) in self.content_boards() {
            expected.push(self.content_request(id, board));
        }
        expected.extend(users.iter().map(|user| self.history_request(user)));
        let responses = futures::stream::iter(expected).map(async |(path, expected)| {
            let response: Answer = self.api.get(&path).await;
            let same = response.status == 200 && response.body == expected;
            let (status, body) = (response.status, response.body);
            same.then_some(()).ok_or(format!(
                "GET {path}\nexpected 200 {expected:#}\nreceived {status} {body:#}"
            ))
        });
        let responses: Vec<_> = responses.buffer_unordered(CONCURRENCY).collect().await;
        responses.into_iter().collect()
    }

    /// Returns requests for a board with their expected responses: the board itself and, for every
    /// second board, a comparison and a standing.
    fn board_requests(
        &self,
        name: &BoardId,
        board: &Board,
        users: &[String],
        number: usize,
    ) -> Vec<(String, Value)> {
        let (period_name, _, group) = name;
        let period = self
            .model
            .calendar
            .period_json(period_name, board.date, now());
        let [ranking, _] = self.model.ranking(name);
        let entry = |index: usize| {
            let (user, steps) = &ranking[index];
            let score = self.points(*steps as i64);
            json!({ "rank": index + 1, "score": score, "user": { "id": user } })
        };
        let entries: Vec<Value> = (0..ranking.len()).map(entry).collect();
        let total = ranking.len();
        let mut query = format!("date={}", board.date);
        if let Some(group) = group {
            query += &format!("&group={group}");
        }
        let path = format!("/v1/ranking/{period_name}");
        let top = json!({ "period": period, "total": total, "entries": entries });
        let mut requests = vec![(format!("{path}?{query}&limit=100"), top)];
        if number % 2 == 1 {
            return requests;
        }
        let ids = users.join(",");
        let comparison = json!({
            "period": period, "total": total, "entries": self.comparison(&ranking, users),
        });
        let mut moved = comparison.clone();
        if *period_name != "all" {
            let before = self.before(name, board.date);
            for entry in moved["entries"].as_array_mut().expect("entries") {
                let user = entry["user"]["id"].as_str().expect("an id");
                let rank = before.iter().position(|(ranked, _)| ranked == user);
                entry["previous_rank"] = json!(rank.map(|index| index + 1));
            }
        }
        requests.push((format!("{path}/users?{query}&ids={ids}"), comparison));
        requests.push((
            format!("{path}/users?{query}&ids={ids}&movement=true"),
            moved,
        ));
        let user = &users[number % users.len()];
        let Some(index) = ranking.iter().position(|(ranked, _)| ranked == user) else {
            return requests;
        };
        let steps = ranking[index].1;
        let next = index.checked_sub(1).map(|above| {
            let score = ranking[above].1;
            let points = self.points((score - steps + 1) as i64);
            json!({ "rank": index, "score": self.points(score as i64), "points": points })
        });
        let percentile = (1000.0 * (total - index) as f64 / total as f64).round() / 10.0;
        let around = &entries[index.saturating_sub(2)..total.min(index + 3)];
        let standing = json!({
            "period": period, "user": { "id": user }, "rank": index + 1,
            "score": self.points(steps as i64), "total": total, "next": next, "around": around,
            "percentile": percentile,
        });
        requests.push((format!("{path}/users/{user}?{query}&around=2"), standing));
        requests
    }

    /// Returns the ranking of the period before the one that contains a day.
    fn before(&self, (period, _, group): &BoardId, date: Date) -> Vec<(String, u64)> {
        let (first, _) = bounds(period, date).expect("a calendar period");
        let before = first.checked_sub(1.day()).expect("an earlier day");
        let [ranking, _] = self
            .model
            .ranking(&(period, period_id(period, before), group.clone()));
        ranking
    }

    fn content_boards(&self) -> impl Iterator<Item = (&ContentBoardId, &ContentBoard)> {
        let content = self.model.content.iter();
        content.flat_map(|content| &content.boards)
    }

    /// Returns the request for the numbers of all targets with activities of an action.
    fn counts_request(&self, id: &ContentBoardId, ranking: &[(String, u64)]) -> (String, Value) {
        let (_, action) = id.2.split_once(':').expect("an action");
        let targets = ranking.iter().map(|(target, _)| {
            let target = target.replace('%', "%25").replace(',', "%2C");
            encoded(&target)
        });
        let targets: Vec<String> = targets.collect();
        let row = |(target, number): &(String, u64)| json!({"target": target, "counts": {action: number}});
        let rows: Vec<Value> = ranking.iter().map(row).collect();
        let query = match targets.as_slice() {
            [] => String::new(),
            targets => format!("&targets={}", targets.join(",")),
        };
        let path = format!("/v1/content/counts?actions={action}{query}");
        (path, json!({ "targets": rows }))
    }

    /// Returns the request for a board of content or of authors with the expected response.
    fn content_request(&self, id: &ContentBoardId, board: &ContentBoard) -> (String, Value) {
        let content = self.model.content.as_ref().expect("boards of content");
        let (subject, period, _) = id;
        let [ranking, _] = content.ranking(id, &self.model.hidden);
        let entry = |(index, (id, steps)): (usize, &(String, u64))| {
            let mut entry = json!({ "rank": index + 1, "score": self.points(*steps as i64) });
            if *subject == Subject::Authors {
                entry["user"] = json!({ "id": id });
                return entry;
            }
            let target = &content.targets[id];
            entry["target"] = json!({ "id": id });
            if let Some(title) = &target.title {
                entry["target"]["title"] = json!(title);
            }
            let author = target.author.as_ref();
            if let Some(author) = author.filter(|author| !self.model.hidden.contains(*author)) {
                entry["author"] = json!({ "id": author });
            }
            entry
        };
        let entries: Vec<Value> = ranking.iter().enumerate().map(entry).collect();
        let path = match subject {
            Subject::Content => "content",
            Subject::Authors => "authors",
            Subject::Counts => return self.counts_request(id, &ranking),
        };
        let calendar = &self.model.calendar;
        let body = json!({
            "period": calendar.period_json(period, board.date, now()), "total": entries.len(),
            "entries": entries,
        });
        let query = format!("date={}&limit=100", board.date);
        (format!("/v1/{path}/{period}?{query}"), body)
    }

    /// Returns the entries of a comparison.
    pub fn comparison(&self, ranking: &[(String, u64)], users: &[String]) -> Vec<Value> {
        let listed = ranking
            .iter()
            .enumerate()
            .filter(|(_, (user, _))| users.contains(user));
        let listed = listed.enumerate().map(|(position, (index, (user, steps)))| {
            let score = self.points(*steps as i64);
            json!({ "position": position + 1, "rank": index + 1, "score": score, "user": { "id": user } })
        });
        let absent = users
            .iter()
            .filter(|user| ranking.iter().all(|(ranked, _)| ranked != *user));
        let absent = absent.map(
            |user| json!({ "position": null, "rank": null, "score": 0, "user": { "id": user } }),
        );
        listed.chain(absent).collect()
    }

    /// Returns the request for a user's last 31 days with the expected response.
    fn history_request(&self, user: &str) -> (String, Value) {
        let today = self.model.calendar.date(now());
        let (mut days, mut active) = (Vec::new(), Vec::new());
        for back in 0..31 {
            let date = today.checked_sub(back.days()).unwrap();
            let day = self.model.histories.get(&(date, user.to_owned()));
            let day = day.cloned().unwrap_or_default();
            let points = |steps: i64| self.points(steps);
            let action = |(name, (count, steps)): (&String, &(u64, i64))| {
                (
                    name.clone(),
                    json!({ "count": count, "points": points(*steps) }),
                )
            };
            let counted = day.iter().filter(|(_, (count, _))| *count > 0);
            let actions: Value = counted.map(action).collect();
            let sum = day.values().map(|(_, steps)| steps).sum();
            active.push(sum > 0);
            days.push(
                json!({ "date": date.to_string(), "points": points(sum), "actions": actions }),
            );
        }
        let streak = |days: &[bool]| days.iter().take_while(|active| **active).count();
        let current = if active[0] {
            streak(&active)
        } else {
            streak(&active[1..])
        };
        let longest = (0..31).map(|from| streak(&active[from..])).max();
        let begun = today.weekday().to_monday_one_offset() as usize;
        let weeks = [&active[..begun]]
            .into_iter()
            .chain(active[begun..].chunks(7));
        let weeks: Vec<bool> = weeks.map(|week| week.contains(&true)).collect();
        let current_week = usize::from(!weeks[0]);
        let weeks = json!({
            "current": streak(&weeks[current_week..]),
            "longest": (0..weeks.len()).map(|from| streak(&weeks[from..])).max(),
        });
        let body = json!({
            "user": { "id": user }, "timezone": self.model.calendar.name, "days": days,
            "streak": { "current": current, "longest": longest, "weeks": weeks },
        });
        (format!("/v1/users/{user}/activity"), body)
    }

    /// Returns what the record of an activity on a target keeps of what others received.
    fn received_text(&self, received: &Received, pair: Option<&Pair>, target: &str) -> String {
        let content = self.model.content.as_ref().expect("boards of content");
        let letters: String = content.periods.iter().map(|period| &period[..1]).collect();
        let number = received
            .target
            .as_ref()
            .map(|(_, number)| number.to_string());
        let number = number.unwrap_or_default();
        let receiver = pair.map(|(.., receiver)| format!(">{}", receiver_hash(receiver)));
        let receiver = receiver.unwrap_or_default();
        let letters = if received.points > 0 {
            letters
        } else {
            String::new()
        };
        let counted = received.counted.as_ref().map_or("", |_| "n");
        let text = format!(";{}{letters}{counted}{receiver}", received.points);
        if content.has_shards {
            return text;
        }
        let authorship = received.authorship.map(|number| number.to_string());
        let text = format!("{text};{number};{}", authorship.unwrap_or_default());
        match (&received.target, &received.author) {
            (Some((id, _)), _) if id != target => {
                let hash = if id.starts_with('#') { "#" } else { "" };
                format!("{text};{hash}{id}")
            }
            (None, Some(user)) if user != target => format!("{text};{user}"),
            _ => text,
        }
    }

    fn check_histories(&mut self) -> Result<(), String> {
        let mut expected = BTreeMap::new();
        for ((date, user), day) in &self.model.histories {
            let day: &DayHistory = day;
            let stored = |(action, (count, steps)): (&String, &(u64, i64))| {
                (action.clone(), format!("{count} {steps}"))
            };
            let day: BTreeMap<String, String> = day.iter().map(stored).collect();
            expected.insert((*date, user.clone()), day);
        }
        same("histories", &expected, &self.store.histories())
    }

    fn check_records(&mut self) -> Result<(), String> {
        let daily = self.model.daily.iter();
        let daily: BTreeSet<_> = daily
            .map(|(date, (user, action, target))| {
                (*date, user.clone(), format!("{action}:{target}"))
            })
            .collect();
        same("daily records", &daily, &self.store.daily_records())?;
        let pairs = self.model.pairs.iter().filter(|(_, points)| **points > 0);
        let pairs = pairs.map(|((date, user, action, receiver), points)| {
            let pair = (*date, user.clone(), action.clone(), receiver_hash(receiver));
            (pair, points.to_string())
        });
        same("pairs", &pairs.collect(), &self.store.pairs())?;

        let (mut found, mut found_last) = (BTreeMap::new(), BTreeMap::new());
        for key in self.store.keys("m:") {
            for (field, value) in self.store.hash(&key) {
                // The day on which the expiry was renewed.
                if field == "\t" {
                    continue;
                }
                let is_cooldown = field.starts_with('~');
                let field = (key["m:".len()..].to_owned(), record_name(&field));
                if is_cooldown {
                    found_last.insert(field.clone(), value.clone());
                    found.insert(field, value);
                    continue;
                }
                let record = StoredRecord::parse(&value);
                let last = record.repeated.unwrap_or(record.at);
                let amounts: Vec<String> = record.amounts.iter().map(i64::to_string).collect();
                let (at, amounts) = (record.at, amounts.join(":"));
                let mut value = format!("{at},{amounts},{},{}", record.date, record.periods);
                for group in &record.groups {
                    value += &format!(",{group}");
                }
                if let Some(received) = &record.received {
                    // With several shards the shard of the target has the rest.
                    let parts = if shards() > 1 { 1 } else { 4 };
                    let parts: Vec<&str> = received.splitn(4, ';').take(parts).collect();
                    value += &format!(";{}", parts.join(";"));
                }
                found_last.insert(field.clone(), last.to_string());
                found.insert(field, value);
            }
        }
        let (mut expected, mut expected_last) = (BTreeMap::new(), BTreeMap::new());
        let letters: String = self
            .model
            .periods
            .iter()
            .map(|period| &period[..1])
            .collect();
        for ((user, action, target), record) in &self.model.active {
            let amounts: Vec<String> = record.amounts.iter().map(i64::to_string).collect();
            let mut value = format!("{},{},", amounts.join(":"), record.date);
            value += match &record.event {
                Some(_) => "e",
                None if user.starts_with("visitor:") => "",
                None => &letters,
            };
            for group in record.event.iter().chain(&record.groups) {
                value += &format!(",{group}");
            }
            if let Some(received) = &record.received {
                let pair = record.pair.as_ref().map(|(pair, _)| pair);
                value += &self.received_text(received, pair, target);
            }
            let field = (user.clone(), format!("{action}:{target}"));
            expected_last.insert(field.clone(), (record.last, String::new()));
            expected.insert(field, (record.at, value));
        }
        for ((user, action), last) in &self.model.cooldowns {
            let (field, last) = ((user.clone(), format!("~{action}")), (*last, String::new()));
            expected_last.insert(field.clone(), last.clone());
            expected.insert(field, last);
        }
        same_within("active records", &expected, &found)?;
        same_within("repetitions of active records", &expected_last, &found_last)?;

        let mut found = BTreeMap::new();
        for (key, records) in self.store.undo_records() {
            let user = key.splitn(3, ':').nth(2).unwrap().to_owned();
            for (record, value) in records {
                let field = (user.clone(), record);
                let latest = found.entry(field).or_insert(value.clone());
                *latest = latest.clone().max(value);
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
        same_within("undo records", &undone.collect(), &found)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    subject: &str,
    expected: &T,
    found: &T,
) -> Result<(), String> {
    let same = expected == found;
    same.then_some(())
        .ok_or_else(|| format!("{subject}\nexpected {expected:?}\nfound    {found:?}"))
}

type Field = (String, String);

/// Compares fields whose values are an instant and, after a comma, further text. The instant must
/// be within the expected range, the text equal.
fn same_within(
    subject: &str,
    expected: &BTreeMap<Field, (InstantRange, String)>,
    found: &BTreeMap<Field, String>,
) -> Result<(), String> {
    same(
        subject,
        &expected.keys().collect::<Vec<_>>(),
        &found.keys().collect(),
    )?;
    for (field, (range, text)) in expected {
        let (at, found_text) = found[field].split_once(',').unwrap_or((&found[field], ""));
        if !range.contains(at.parse().unwrap()) || found_text != text {
            let value = &found[field];
            return Err(format!(
                "{subject} {field:?}\nexpected {range:?},{text}\nfound {value}"
            ));
        }
    }
    Ok(())
}
