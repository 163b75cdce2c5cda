//! The SQL on SQLite, compared with an evaluation of the rows one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::query_plans::{run_node, schema};
use activity_rank_core::calendar::{Date, Utc};
use activity_rank_core::config::Vars;
use serde_json::{Value, json};

/// Runs the steps of each scenario: arrays of statements, as text and values, in one transaction. A step repeats while its
/// last statement returns 1. Before that, a transaction fails after so many statements as `failing` has for the step.
const SCRIPT: &str = "const { DatabaseSync } = require('node:sqlite')
    const { schema, scenarios, failing } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
    console.log(JSON.stringify(scenarios.map((steps) => {
      const database = new DatabaseSync(':memory:')
      database.exec(schema)
      let rows
      const run = ([sql, values]) => database.prepare(sql).all(...values)
      steps.forEach((step, index) => {
        database.exec('BEGIN')
        step.slice(0, failing[index % failing.length]).forEach(run)
        database.exec('ROLLBACK')
        do {
          database.exec('BEGIN')
          for (const statement of step) rows = run(statement)
          database.exec('COMMIT')
        } while (rows[0]?.text === '1')
      })
      return rows
    })))";

/// Runs scenarios on databases of their own. Returns the rows of the last statement of each.
fn run(scenarios: &[Vec<Value>]) -> Vec<Value> {
    let failing = [0, 1, 4, 6, 2, 5, 3];
    let input = json!({"schema": schema(&["journal"]), "scenarios": scenarios, "failing": failing});
    serde_json::from_value(run_node(SCRIPT, &input)).unwrap()
}

fn config() -> Config {
    let named = |fields: Value| {
        let mut fields = fields;
        fields["name"] = json!("A");
        fields
    };
    let vars = json!({
        "UPSTASH_REDIS_REST_URL": "https://store",
        "UPSTASH_REDIS_REST_TOKEN": "token",
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
/// is the achievement, and the points are the step.
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
        let mut change = match random.below(22) {
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

/// Evaluates changes one by one. Returns the steps that members have, the tallies, and the steps that sent a message.
fn reference(changes: &[Change]) -> (Earned, BTreeMap<Key, i64>, BTreeSet<Key>) {
    let mut earned = Earned::new();
    let mut tallies: BTreeMap<Key, i64> = BTreeMap::new();
    let (mut by_hand, mut known, mut sent) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let start = first_day().local_millis();
    for change in changes {
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
        // Thursday, 1970-01-01, is day 3 of a week.
        let day = change.at.div_euclid(DAY);
        let week = (day + 3).div_euclid(7);
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
            ("weeks", !received, week, change.points, &[2, 3]),
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
                let has_points =
                    |period: &i64| tallies.get(&key(*period)).is_some_and(|points| *points > 0);
                let run = (period..).take_while(has_points).count()
                    + (0..period).rev().take_while(has_points).count();
                let begins = before <= 0 && after > 0;
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
    json!([[
        "INSERT INTO journal (site, shard, id, user, entry) SELECT ?1, 0, (?3 + key) || '-0', value ->> 0, value ->> 1 \
         FROM json_each(?2) ORDER BY key",
        [
            json!(deployment_id(config)),
            json!(json!(rows).to_string()),
            json!(first)
        ]
    ]])
}

const RESULT: &str = "SELECT json_group_array(json_array(0, member, achievement, step, at, n)) AS text FROM achievements_earned WHERE hand >= 0 \
    UNION ALL SELECT json_group_array(json_array(1, member, achievement, day, value)) FROM achievement_tallies \
    UNION ALL SELECT json_group_array(json_array(1, user, data, deliveries.n)) FROM deliveries \
    JOIN journal ON journal.site = deliveries.site AND journal.shard = deliveries.shard AND journal.id = deliveries.entry";

/// Transactions have so many rows, cron runs after any number of rows, some transactions fail, and some evaluations start from
/// the first row. A step sends one message; one that is revoked and earned again may send another one.
#[test]
fn steps_do_not_depend_on_transactions() {
    let config = config();
    let (mut scenarios, mut expected) = (Vec::new(), Vec::new());
    for seed in 0..15 {
        let mut random = Random(seed);
        let rules = seed % 3 == 0;
        let (entries, changes) = journal(&mut random, 110, rules);
        for rows in [1, 5, 17, 500] {
            let mut steps = Vec::new();
            // A recount that comes after steps were earned leaves them, so it is there from the beginning.
            let chunk = if rules {
                entries.len()
            } else {
                1 + random.below(60) as usize
            };
            let mut first = 0;
            let evaluation = |rows| {
                let statements = statements(&config, Instant(0), rows);
                statements.iter().map(Statement::json).collect()
            };
            steps.push(evaluation(rows));
            for entries in entries.chunks(chunk) {
                steps.push(append(&config, entries, first));
                first += entries.len();
                if random.below(3) == 0 {
                    let restart = "UPDATE achievements_read SET version = 'other'";
                    steps.push(json!([[restart, []]]));
                }
                steps.push(evaluation(rows));
            }
            steps.push(json!([[RESULT, []]]));
            scenarios.push(steps);
            expected.push(reference(&changes));
        }
    }
    let mut kinds = BTreeSet::new();
    for (index, (result, (earned, tallies, sent))) in
        run(&scenarios).iter().zip(&expected).enumerate()
    {
        let rows = |index: usize| -> Vec<Value> {
            serde_json::from_str(result[index]["text"].as_str().unwrap()).unwrap()
        };
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
