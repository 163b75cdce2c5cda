//! Our layout, written by our script.

use super::deed::Deed;
use activity_rank::activity::{self, Dated, Head, Lifetimes, Operations, Place, Worth};
use activity_rank::calendar::{Date, Instant, Period};
use activity_rank::config::Once;
use activity_rank::keys::Keys;
use activity_rank::scripts::COUNT;
use redis::{Connection, FromRedisValue, Value, cmd};
use test_support::RedisServer;

/// Operations of a call.
const AT_ONCE: usize = 200;
/// A day in seconds.
const DAY: u64 = 86_400;

/// Makes the script known, so that its text is no part of what is measured.
pub fn load(redis: &RedisServer) -> Result<(), String> {
    let sha: String = cmd("SCRIPT")
        .arg("LOAD")
        .arg(COUNT.text)
        .query(&mut redis.connection())
        .map_err(|error| error.to_string())?;
    (sha == COUNT.sha)
        .then_some(())
        .ok_or_else(|| format!("the script is {sha}"))
}

/// Counts all, on boards of these kinds, and says how many counted.
pub fn write(
    redis: &RedisServer,
    deeds: &[Deed],
    kinds: &[Period],
    now: i64,
) -> Result<u64, String> {
    let mut connection = redis.connection();
    let head = Head {
        keys: Keys::new("ar", 0),
        stamp: "memory".to_owned(),
        now: Instant(now),
        then: Instant(now),
        lifetimes: Lifetimes {
            days: Keys::SPAN_SECONDS,
            marks: 400 * DAY,
            undos: Keys::SPAN_SECONDS,
            boards: [31 * DAY, 91 * DAY, 366 * DAY, 731 * DAY, 0],
        },
        standings: false,
        journals: "0",
    };
    let mut counted = 0;
    for deeds in deeds.chunks(AT_ONCE) {
        let mut operations = Operations::default();
        for deed in deeds {
            push(&mut operations, deed, kinds);
        }
        for outcome in outcomes(&mut connection, &mut operations, &head)? {
            match outcome.as_str() {
                "counted" => counted += 1,
                "duplicate" | "undone" | "nothing-to-undo" | "stale" => {}
                other => return Err(format!("an activity is {other}")),
            }
        }
    }
    Ok(counted)
}

fn push(operations: &mut Operations, deed: &Deed, kinds: &[Period]) {
    let (action, points, once_a_day) = deed.rule();
    operations.push(activity::Deed {
        user: &deed.user,
        worth: Worth {
            action: action.to_owned(),
            once: if once_a_day {
                Once::Day
            } else {
                Once::Standing
            },
            points,
            daily_cap: 0,
            cooldown: 0,
        },
        place: Place {
            date: Date::of_local_millis(deed.at),
            kinds: kinds.to_vec(),
            groups: Vec::new(),
        },
        verb: if deed.undo { "undo" } else { "do" },
        mark: format!("{action}:{}", deed.target),
        at: Instant(deed.at),
        dated: Dated::ByCaller,
    });
}

/// What became of each. An undo may be of another day: that is asked for.
fn outcomes(
    connection: &mut Connection,
    operations: &mut Operations,
    head: &Head,
) -> Result<Vec<String>, String> {
    loop {
        let (keys, arguments) = operations.call(head);
        let reply: Vec<Value> = cmd("EVALSHA")
            .arg(COUNT.sha)
            .arg(keys.len())
            .arg(keys)
            .arg(arguments)
            .query(connection)
            .map_err(|error| error.to_string())?;
        let [_, missing, results, _] = &reply[..] else {
            return Err(format!("the script replies {reply:?}"));
        };
        for row in rows(missing)? {
            let [op, mark] = &row[..] else {
                return Err(format!("the script asks for {row:?}"));
            };
            let op: u64 = op.parse().map_err(|_| format!("no number: {op}"))?;
            let added = operations.add_place_of_mark(op, mark);
            added.map_err(|_| format!("no mark: {mark}"))?;
        }
        let results = rows(results)?;
        if !results.is_empty() {
            return Ok(results.into_iter().filter_map(first).collect());
        }
    }
}

fn first(row: Vec<String>) -> Option<String> {
    row.into_iter().next()
}

/// Lists of texts and numbers.
fn rows(value: &Value) -> Result<Vec<Vec<String>>, String> {
    Vec::from_redis_value_ref(value).map_err(|error| error.to_string())
}
