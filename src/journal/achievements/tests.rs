//! The SQL on SQLite, compared with an evaluation of the rows one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::*;
use crate::query_plans::schema;
use activity_rank_core::calendar::{Date, Utc};
use activity_rank_core::config::Vars;
use activity_rank_core::pause::Pauses;
use activity_rank_core::streak::{Cover, StreakUnit, length_around};
use serde_json::{Value, json};
use test_support::{depth, npm};

/// Runs a transaction for each line: a number of statements and the statements, as text and values. With fewer statements than
/// there are, the transaction fails after them. Writes the rows of the last one.
const SCRIPT: &str = "const { DatabaseSync } = require('node:sqlite')
    const database = new DatabaseSync(':memory:')
    const run = ([sql, values]) => database.prepare(sql).all(...values)
    const lines = require('readline').createInterface({ input: process.stdin })
    lines.once('line', (schema) => {
      database.exec(JSON.parse(schema))
      lines.on('line', (line) => {
        const [count, statements] = JSON.parse(line)
        let rows = []
        database.exec('BEGIN')
        for (const statement of statements.slice(0, count)) rows = run(statement)
        database.exec(count < statements.length ? 'ROLLBACK' : 'COMMIT')
        console.log(JSON.stringify(rows.map(({ text }) => text)))
      })
    })";

/// A database of its own.
struct TestDatabase {
    node: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl TestDatabase {
    fn new() -> Self {
        let mut node = Command::new(npm("node"))
            .args(["--no-warnings", "-e", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = node.stdin.take().unwrap();
        writeln!(input, "{}", json!(schema(&["journal"]))).unwrap();
        let output = BufReader::new(node.stdout.take().unwrap());
        Self {
            node,
            input,
            output,
        }
    }

    /// Runs the first statements of a transaction. Returns the rows of the last one.
    fn run_first(&mut self, count: usize, statements: &[Value]) -> Vec<String> {
        writeln!(self.input, "{}", json!([count, statements])).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn run(&mut self, statements: &[Value]) -> Vec<String> {
        self.run_first(statements.len(), statements)
    }

    /// Computes the streaks of the next rows.
    fn read(&mut self, config: &Config, rows: u32) -> String {
        let mut statements = restart(config, Instant(0));
        statements.extend(streaks::read(config, &streaks::plain_batch(rows)));
        let read = self.run(&json_of(&statements));
        streaks::evaluate(config, rows, &read)
    }

    /// Evaluates the next rows as [`evaluate`] does, after a transaction that fails after so many statements. Returns what
    /// the last statement does.
    fn advance(&mut self, config: &Config, batch: &str, failing: usize) -> Vec<String> {
        let statements = json_of(&statements(config, Instant(0), batch));
        self.run_first(failing.min(statements.len() - 1), &statements);
        self.run(&statements)
    }

    /// Evaluates all rows.
    fn evaluate(&mut self, config: &Config, rows: u32, failing: usize) {
        loop {
            let batch = self.read(config, rows);
            if self.advance(config, &batch, failing) != ["1"] {
                break;
            }
        }
    }

    /// Returns what the evaluation has written.
    fn result(&mut self) -> Vec<Vec<Value>> {
        let rows = self.run(&[json!([RESULT, []])]);
        let parse = |text: &String| serde_json::from_str(text).unwrap();
        rows.iter().map(parse).collect()
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

fn json_of(statements: &[Statement]) -> Vec<Value> {
    statements.iter().map(Statement::json).collect()
}

fn config(freezes: u32) -> Config {
    let named = |fields: Value| {
        let mut fields = fields;
        fields["name"] = json!("A");
        fields
    };
    let vars = json!({
        "UPSTASH_REDIS_REST_URL": "https://store",
        "UPSTASH_REDIS_REST_TOKEN": "token",
        "STREAK_FREEZES": freezes,
        "WEBHOOKS": [{"url": "https://hooks.slack.com/a", "kinds": ["achievement.earned"]}],
        "ACHIEVEMENTS": {
            "likes": named(json!({"count": "like", "steps": [1, 3, 5]})),
            "likes-now": named(json!({"count": "like", "steps": [1, 3], "revoke": true})),
            "europe": named(json!({"count": "like", "steps": [2], "groups": ["eu", "uk"]})),
            "points": named(json!({"points": true, "steps": [5, 9, 20]})),
            "points-now": named(json!({"points": true, "steps": [5, 9], "revoke": true})),
            "week-1": named(json!({"points": true, "steps": [4], "from": "2026-01-01", "until": "2026-01-06"})),
            "received": named(json!({"received": true, "steps": [2, 4, 6]})),
            "days": named(json!({"streak": "days", "steps": [2, 3, 5]})),
            "podium": named(json!({"place": "week", "within": 2, "steps": [1, 3]})),
            "weeks": named(json!({"streak": "weeks", "steps": [2, 3]})),
        },
    });
    Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap()
}

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The achievements and steps of [`config`] that moderators award and withdraw.
const AWARDED: [(&str, i64); 6] = [
    ("likes", 1),
    ("likes", 3),
    ("likes-now", 1),
    ("points-now", 5),
    ("days", 2),
    ("weeks", 3),
];

/// The change by a row: a member, its action, its instant and its day, and the points that it gives. Of an award the action
/// is the achievement, and the points are the step. Of pauses the points are the days that they take.
#[derive(Clone, Debug)]
struct Change {
    n: i64,
    user: String,
    did: &'static str,
    action: &'static str,
    at: i64,
    points: i64,
    group: &'static str,
}

const DAY: i64 = 86_400_000;

fn first_day() -> Date {
    Date::parse("2026-01-01").unwrap()
}

/// Returns a journal of a few members, and what its rows change. With `rules` recounts follow some rows.
fn journal(random: &mut Random, rows: i64, rules: bool) -> (Vec<Value>, Vec<Change>) {
    let (mut entries, mut changes) = (Vec::new(), Vec::<Change>::new());
    let mut active: Vec<Change> = Vec::new();
    let mut recounts = Vec::new();
    let start = first_day().local_millis();
    for n in 1..=rows {
        let user = ["1", "2", "3"][random.below(3) as usize].to_owned();
        let at = start + random.below(16) as i64 * DAY + random.below(1000) as i64;
        let group = ["", "eu", "us", "uk"][random.below(4) as usize];
        let change = |did, action, at, points| Change {
            n,
            user: user.clone(),
            did,
            action,
            at,
            points,
            group,
        };
        let mut change = match random.below(23) {
            0..=9 => change(
                "count",
                ["like", "comment"][random.below(2) as usize],
                at,
                1,
            ),
            10..=13 if !active.is_empty() => {
                let record = active.swap_remove(random.below(active.len() as u64) as usize);
                Change {
                    n,
                    did: "undo",
                    points: -record.points,
                    ..record
                }
            }
            // The record of this one is not in the journal.
            14 => change("undo", "like", at, -1),
            15 => change("adjust", "adjust", at, [-4, 3][random.below(2) as usize]),
            16 | 17 => change("receive", "like", at, [-1, 2][random.below(2) as usize]),
            18 if rules => {
                let points = 1 + random.below(3) as i64;
                let given = json!([[null, {"points": 1, "received": 2}],
                    [start + 5 * DAY, {"points": points, "received": points}]]);
                entries.push(json!([
                    "0",
                    json!({"did": "rules", "now": "0",
                    "rules": json!({"like": given}).to_string()})
                ]));
                recounts.push((n, start + 5 * DAY, points));
                continue;
            }
            20 | 21 => change(
                "place",
                ["place:w", "place:d"][random.below(4) as usize / 3],
                at,
                1 + random.below(3) as i64,
            ),
            22 => change("pause", "pause", at, random.below(4) as i64),
            18 | 19 => {
                let (achievement, step) = AWARDED[random.below(6) as usize];
                change(
                    ["award", "withdraw"][random.below(2) as usize],
                    achievement,
                    start + 99 * DAY,
                    step,
                )
            }
            _ => {
                entries.push(json!(["", {}]));
                continue;
            }
        };
        if change.did == "count" {
            // A rule that the recount before has changed.
            active.push(change.clone());
        }
        let date = Date::from_local_millis(change.at).to_string();
        let text = |number: i64| number.to_string();
        let mut entry = json!({"did": change.did, "now": text(start + 99 * DAY), "user": change.user,
            "action": change.action, "points": text(change.points.abs()), "at": text(change.at), "date": date,
            "kinds": "dwa", "groups": change.group, "applied": text(change.points)});
        match change.did {
            "undo" => {
                entry["at"] = json!(text(start + 98 * DAY));
                entry["counted"] = json!(text(change.at));
                entry["gave"] = json!(text(-change.points));
            }
            "adjust" => {
                entry["applied"] = json!(format!("9/7/{}", change.points));
                change.group = "";
                entry["groups"] = json!("");
            }
            "award" | "withdraw" => {
                entry = json!({"did": change.did, "now": text(change.at), "user": change.user,
                    "achievement": change.action, "steps": json!([change.points]).to_string()});
            }
            "pause" => {
                let (day, days) = (Date::from_local_millis(change.at), change.points as i32);
                let pauses = match days {
                    0 => String::new(),
                    days => format!("{day}/{}", day.plus(days - 1)),
                };
                entry = json!({"did": change.did, "now": text(change.at), "user": change.user, "day": date,
                    "pauses": pauses});
            }
            "place" => {
                entry = json!({"did": change.did, "now": text(change.at), "user": change.user,
                    "action": change.action, "points": text(change.points)});
            }
            "receive" => {
                entry["points"] = json!(text(change.points));
                entry["changed"] = json!(text(change.at));
                for field in ["at", "applied", "groups"] {
                    entry.as_object_mut().unwrap().remove(field);
                }
            }
            _ => (),
        }
        entries.push(json!([change.user, entry]));
        changes.push(change);
    }
    // The last recount after a row says what it gave.
    for change in &mut changes {
        let recount = recounts.iter().rev().find(|(n, ..)| change.n < *n);
        let Some((_, from, points)) = recount.filter(|_| change.action == "like") else {
            continue;
        };
        let given = match (change.at >= *from, change.did) {
            (true, _) => *points,
            (false, "receive") => 2,
            (false, _) => 1,
        };
        change.points = given * change.points.signum();
    }
    (entries, changes)
}

/// A member, an achievement and a step or a period.
type Key = (String, String, i64);
type Earned = BTreeMap<Key, (i64, i64)>;
/// Steps that were earned, values of days, and messages that were sent.
type Reference = (Earned, BTreeMap<Key, i64>, BTreeSet<Key>);

/// Evaluates changes one by one. Returns the steps that members have, the tallies, and the steps that sent a message.
fn reference(changes: &[Change], freezes: u32) -> Reference {
    let mut earned = Earned::new();
    let mut tallies: BTreeMap<Key, i64> = BTreeMap::new();
    let (mut by_hand, mut known, mut sent) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let start = first_day().local_millis();
    let mut paused: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for change in changes {
        let day = change.at.div_euclid(DAY);
        let paused = paused.entry(&change.user).or_default();
        if change.did == "pause" {
            paused.retain(|paused| *paused < day);
            paused.extend(day..day + change.points);
            continue;
        }
        if let "award" | "withdraw" = change.did {
            let key = (change.user.clone(), change.action.to_owned(), change.points);
            let is_new = known.insert(key.clone());
            if by_hand.insert(key.clone(), change.did) == Some(change.did) {
                continue;
            }
            earned.remove(&key);
            if change.did == "award" {
                earned.insert(key.clone(), (change.at, change.n));
                if is_new {
                    sent.insert(key);
                }
            }
            continue;
        }
        let (received, is_like) = (change.did == "receive", change.action == "like");
        let in_group = ["eu", "uk"].contains(&change.group);
        let in_time = (start..start + 5 * DAY).contains(&change.at);
        let sign = if change.did == "undo" { -1 } else { 1 };
        let is_place = change.did == "place";
        let is_first = is_place && change.action == "place:w" && change.points <= 2;
        let rules: [(&str, bool, i64, i64, &[i64]); 10] = [
            ("podium", is_first, 0, 1, &[1, 3]),
            ("likes", is_like && !received, 0, sign, &[1, 3, 5]),
            ("likes-now", is_like && !received, 0, sign, &[1, 3]),
            ("europe", is_like && !received && in_group, 0, sign, &[2]),
            ("points", !received, 0, change.points, &[5, 9, 20]),
            ("points-now", !received, 0, change.points, &[5, 9]),
            ("week-1", !received && in_time, 0, change.points, &[4]),
            ("received", received, 0, change.points, &[2, 4, 6]),
            ("days", !received, day, change.points, &[2, 3, 5]),
            ("weeks", !received, day, change.points, &[2, 3]),
        ];
        for (id, applies, period, delta, steps) in rules {
            if !applies || is_place != (id == "podium") {
                continue;
            }
            let key = |period| (change.user.clone(), id.to_owned(), period);
            let before = *tallies.get(&key(period)).unwrap_or(&0);
            let after = (before + delta).max(0);
            tallies.insert(key(period), after);
            let is_streak = period != 0;
            let (mut from, mut to) = (before, after);
            if is_streak {
                let date = |day: i64| Date::numbered(day as i32).unwrap();
                let days = tallies.range(key(0)..=key(i64::MAX));
                let days = days.filter(|(_, points)| **points > 0);
                let days: Vec<Date> = days.map(|((.., day), _)| date(*day)).collect();
                let pauses = paused.iter().map(|day| date(*day));
                let pauses: Vec<_> = pauses.map(|day| format!("{day}/{day}")).collect();
                let pauses = &Pauses::parse(&pauses.join(","));
                let cover = Cover { freezes, pauses };
                let unit = match id {
                    "days" => StreakUnit::Day,
                    _ => StreakUnit::Week,
                };
                let begins = before <= 0 && after > 0;
                let run = length_around(date(period), &days, unit, cover);
                (from, to) = (0, if begins { run as i64 } else { 0 });
            }
            for step in steps {
                if by_hand.contains_key(&key(*step)) {
                    continue;
                }
                if from < *step && *step <= to {
                    earned.entry(key(*step)).or_insert((change.at, change.n));
                    if known.insert(key(*step)) {
                        sent.insert(key(*step));
                    }
                }
                if id.ends_with("now") && to < *step {
                    earned.remove(&key(*step));
                }
            }
        }
    }
    (earned, tallies, sent)
}

/// Returns the statement that appends rows to the journal.
fn append(config: &Config, rows: &[Value], first: usize) -> Value {
    json!([
        "INSERT INTO journal (site, shard, id, user, entry) SELECT ?1, 0, (?3 + key) || '-0', value ->> 0, value ->> 1 \
         FROM json_each(?2) ORDER BY key",
        [
            json!(deployment_id(config)),
            json!(json!(rows).to_string()),
            json!(first)
        ]
    ])
}

const RESULT: &str = "SELECT json_group_array(json_array(0, member, achievement, step, at, n)) AS text FROM achievements_earned WHERE hand >= 0 \
    UNION ALL SELECT json_group_array(json_array(1, member, achievement, day, value)) FROM achievement_tallies \
    UNION ALL SELECT json_group_array(json_array(1, user, data, deliveries.n)) FROM deliveries \
    JOIN journal ON journal.site = deliveries.site AND journal.shard = deliveries.shard AND journal.id = deliveries.entry";

/// Returns what the database has with transactions of each of several sizes, and what the reference has.
fn scenarios(seed: u64) -> ([Vec<Vec<Value>>; 3], Reference) {
    let failing = [0, 1, 4, 6, 2, 5, 3];
    let mut random = Random(seed);
    let rules = seed.is_multiple_of(3);
    let freezes = [0, 2][seed as usize % 2];
    let config = config(freezes);
    let (entries, changes) = journal(&mut random, 110, rules);
    let results = [1, 7, 500].map(|rows| {
        let mut database = TestDatabase::new();
        // A recount that comes after steps were earned leaves them, so it is there from the beginning.
        let chunk = if rules {
            entries.len()
        } else {
            1 + random.below(60) as usize
        };
        let mut first = 0;
        database.evaluate(&config, rows, 0);
        for (index, entries) in entries.chunks(chunk).enumerate() {
            database.run(&[append(&config, entries, first)]);
            first += entries.len();
            if random.below(3) == 0 {
                let restart = "UPDATE achievements_read SET version = 'other'";
                database.run(&[json!([restart, []])]);
            }
            database.evaluate(&config, rows, failing[index % failing.len()]);
        }
        database.result()
    });
    (results, reference(&changes, freezes))
}

/// Transactions have so many rows, cron runs after any number of rows, some transactions fail, and some evaluations start from
/// the first row. A step sends one message; one that is revoked and earned again may send another one.
#[test]
fn steps_do_not_depend_on_transactions() {
    let scenarios: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..depth(2, 15))
            .map(|seed| scope.spawn(move || scenarios(seed)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    });
    let mut kinds = BTreeSet::new();
    let scenarios = scenarios
        .iter()
        .flat_map(|(results, reference)| results.iter().map(move |result| (result, reference)));
    for (index, (result, (earned, tallies, sent))) in scenarios.enumerate() {
        let rows = |index: usize| &result[index];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let found: Earned = rows(0)
            .iter()
            .map(|row| {
                let key = (text(&row[1]), text(&row[2]), row[3].as_i64().unwrap());
                (key, (row[4].as_i64().unwrap(), row[5].as_i64().unwrap()))
            })
            .collect();
        assert_eq!(found, *earned, "scenario {index}");
        let found: Vec<i64> = rows(1).iter().map(|row| row[4].as_i64().unwrap()).collect();
        assert_eq!(
            found,
            tallies.values().copied().collect::<Vec<_>>(),
            "scenario {index}"
        );
        let mut found: Vec<Key> = Vec::new();
        for row in rows(2) {
            let (achievement, step) = row[2].as_str().unwrap().split_once(' ').unwrap();
            let key = (text(&row[1]), achievement.to_owned(), step.parse().unwrap());
            if !achievement.ends_with("now") || !found.contains(&key) {
                found.push(key);
            }
        }
        found.sort();
        assert_eq!(
            found,
            sent.iter().cloned().collect::<Vec<_>>(),
            "scenario {index}"
        );
        kinds.extend(
            earned
                .keys()
                .map(|(_, achievement, step)| (achievement.clone(), *step)),
        );
    }
    assert_eq!(kinds.len(), 22, "{kinds:?}");
}

/// Returns a journal of a member with likes on these days. Day 0 is 2026-01-01.
fn likes(days: impl Iterator<Item = i32>) -> Vec<Value> {
    let likes = days.map(|day| {
        let date = first_day().plus(day);
        let at = date.local_millis().to_string();
        json!(["42", {"did": "count", "now": at, "at": at, "date": date.to_string(), "user": "42", "action": "like",
            "points": "1", "kinds": "d", "groups": "", "applied": "1"}])
    });
    likes.collect()
}

#[test]
fn concurrent_advance_leaves_all_to_the_next() {
    let (config, mut database) = (config(1), TestDatabase::new());
    database.run(&[append(&config, &likes((0..4).chain(5..6)), 0)]);
    let everything = "SELECT json_array(version, n, seen, at) AS text FROM achievements_read UNION ALL \
         SELECT json_group_array(json_array(member, achievement, day, value)) FROM achievement_tallies UNION ALL \
         SELECT json_group_array(json_array(member, achievement, step, n)) FROM achievements_earned UNION ALL \
         SELECT json_group_array(data) FROM deliveries";
    let everything = [json!([everything, []])];
    for conflict in [
        "UPDATE achievements_read SET n = n + 1",
        "UPDATE achievements_read SET version = version || '1'",
    ] {
        let batch = database.read(&config, 3);
        database.run(&[json!([conflict, []])]);
        let before = database.run(&everything);
        assert_eq!(database.advance(&config, &batch, 0), [""; 0]);
        assert_eq!(database.run(&everything), before);
        database.run(&[json!(["UPDATE achievements_read SET version = ''", []])]);
    }
    let [first, second] = [database.read(&config, 3), database.read(&config, 4)];
    assert_eq!(database.advance(&config, &first, 0), ["1"]);
    assert_eq!(database.advance(&config, &second, 0), [""; 0]);
    database.evaluate(&config, 4, 0);
    let earned = database.result().swap_remove(0);
    let days: Vec<_> = earned.iter().filter(|row| row[2] == "days").collect();
    let [second, third, fifth] = [1, 2, 5].map(|day| first_day().plus(day).local_millis());
    let expected = [(2, second, 2), (3, third, 3), (5, fifth, 5)];
    let expected = expected.map(|(step, at, n)| json!([0, "42", "days", step, at, n]));
    assert_eq!(days, expected.iter().collect::<Vec<_>>());
}

/// A step that only a join has earned sends a message, and goes when the account is detached; earlier steps come back.
#[test]
fn recount_of_accounts_moves_steps() {
    let (config, mut database) = (config(0), TestDatabase::new());
    database.evaluate(&config, 2, 0);
    let mut count = 0;
    let mut add = |rows: &[Value]| {
        let statement = append(&config, rows, count);
        count += rows.len();
        statement
    };
    let join = |of: &str| json!(["42", {"did": "account", "now": "0", "of": of, "number": "1"}]);
    let recount = |until: u32| {
        let accounts = json!({"until": until, "changed": [], "sources": {"3": 0}});
        json!(["", {"did": "accounts", "now": "0", "accounts": accounts.to_string()}])
    };
    let mut rows = likes(0..5);
    for row in &mut rows[3..] {
        row[0] = json!("9");
    }
    let own = json!([["42", 1, 1], ["42", 3, 3], ["9", 1, 4]]);
    let joined = json!([["9", 1, 1], ["9", 3, 4]]);
    let parted = json!([["42", 1, 1], ["9", 1, 4]]);
    let message = |user: &str, step: u32| json!([user, format!("likes {step}")]);
    let before = vec![message("42", 1), message("42", 3), message("9", 1)];
    let after = [before.clone(), vec![message("9", 3)]].concat();
    for (rows, expected, messages) in [
        (rows, own, before),
        (vec![join("9"), recount(6)], joined, after.clone()),
        (vec![join(""), recount(8)], parted, after),
    ] {
        database.run(&[add(&rows)]);
        for failing in [0, 3, 9] {
            database.evaluate(&config, 2, failing);
            let result = database.result();
            let likes_in = |rows: &[Value], at: [usize; 3]| -> Vec<Value> {
                let likes = rows.iter().filter(|row| row[2] == "likes");
                likes
                    .map(|row| json!(at.map(|index| &row[index])))
                    .collect()
            };
            assert_eq!(json!(likes_in(&result[0], [1, 3, 5])), expected);
            let mut sent: Vec<Value> = result[2]
                .iter()
                .filter(|row| row[2].as_str().unwrap().starts_with("likes "))
                .map(|row| json!([row[1], row[2]]))
                .collect();
            sent.sort_by_key(Value::to_string);
            assert_eq!(sent, messages);
        }
    }
}

/// 3 weeks are 21 days, and 31 more are read.
#[test]
fn streak_reads_days_of_the_longest_step() {
    let (config, mut database) = (config(1), TestDatabase::new());
    database.run(&[append(&config, &likes(0..200), 0)]);
    database.evaluate(&config, 500, 0);
    database.run(&[append(&config, &likes(200..201), 200)]);
    let mut statements = restart(&config, Instant(0));
    statements.extend(streaks::read(&config, &streaks::plain_batch(500)));
    let read = database.run(&json_of(&statements));
    let stored = read.iter().filter(|row| row.starts_with("0 0 + "));
    let days: Vec<_> = stored.map(|row| row.split(',').count()).collect();
    assert_eq!(days, [52, 52]);
}

/// Two freezes a month, and a pause from 2026-01-07 to 2026-01-09.
#[test]
fn member_has_current_streaks() {
    let (config, mut database) = (config(2), TestDatabase::new());
    let mut entries = likes((0..3).chain(5..6).chain(9..10));
    let pauses = json!({"did": "pause", "day": "2026-01-07", "pauses": "2026-01-07/2026-01-09"});
    entries.push(json!(["42", pauses]));
    database.run(&[append(&config, &entries, 0)]);
    database.evaluate(&config, 500, 0);
    let mut values = |day| {
        let today = first_day().plus(day);
        let member = member_statement(&config, ("42", today, Instant(0)));
        let rows = database.run(&json_of(&[member]));
        let rows = streaks::values_of_member(&config, today, rows);
        let is_streak = |row: &&String| row.starts_with("v days") || row.starts_with("v weeks");
        rows.iter().filter(is_streak).cloned().collect::<Vec<_>>()
    };
    assert_eq!(values(1), ["v days 2", "v weeks 1"]);
    assert_eq!(values(9), ["v days 5", "v weeks 2"]);
    assert_eq!(values(10), ["v days 5", "v weeks 2"]);
    // Both freezes of the month are used.
    assert_eq!(values(11), ["v days 0", "v weeks 2"]);
    assert_eq!(values(18), ["v days 0", "v weeks 0"]);
}
