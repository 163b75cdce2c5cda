//! The two storage layouts: ours, written by our script, and that of `peers/posts.js`.

use super::Result;
use super::activities::Activity;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::config::Once;
use activity_rank_core::event::Definitions;
use activity_rank_store::count::{
    BoardSet, CallHeader, Lifetimes, Operation, Receiver, RuleSnapshot, TimestampSource,
    UserOperations, Verb,
};
use activity_rank_store::keys::Keys;
use activity_rank_store::outbox::OutboxEntry;
use activity_rank_store::receive::{Call, Change};
use activity_rank_store::scripts::{COUNT, RECEIVE};
use redis::{Connection, FromRedisValue, Value, cmd, pipe};
use std::collections::HashSet;
use test_support::RedisServer;

/// The number of operations per script call.
const SCRIPT_BATCH: usize = 200;
/// The number of activities per pipeline.
const PIPELINE_BATCH: usize = 1000;
/// The instant of registrations, Unix ms.
const REGISTERED: i64 = 1_795_132_800_000;
/// A day in seconds.
const DAY: u64 = 86_400;

/// Loads the scripts, so that their text is not part of the measurement.
pub fn load_scripts(redis: &RedisServer) -> Result<()> {
    for script in [&COUNT, &RECEIVE] {
        let sha: String = cmd("SCRIPT")
            .arg("LOAD")
            .arg(script.text())
            .query(&mut redis.connection())?;
        if sha != script.plain_sha {
            return Err(format!("the script is {sha}").into());
        }
    }
    Ok(())
}

/// Boards to keep.
#[derive(Clone, Copy, Debug)]
pub struct Boards<'a> {
    /// The periods of boards of members.
    pub members: &'a [Period],
    /// The periods of boards of content and of authors.
    pub content: &'a [Period],
}

/// Counts activities on these boards, and returns the number that counted. With boards of content, every post is
/// registered with an author, and both receive points.
pub fn write_ours(
    redis: &RedisServer,
    activities: &[Activity],
    boards: Boards<'_>,
    now: i64,
) -> Result<u64> {
    let mut connection = redis.connection();
    let header = CallHeader {
        keys: Keys::new("ar", 0, 1),
        fingerprint: "memory".to_owned(),
        now: Instant(now),
        effective: Instant(now),
        lifetimes: Lifetimes {
            days: Keys::SPAN_SECONDS,
            records: 401 * DAY,
            boards: [31 * DAY, 91 * DAY, 366 * DAY, 731 * DAY, 0],
        },
        standings: false,
        journal: false,
        content: !boards.content.is_empty(),
        refused: false,
        definitions: Definitions::default(),
    };
    let (mut counted, mut posts) = (0, HashSet::new());
    for activities in activities.chunks(SCRIPT_BATCH) {
        let mut users: Vec<UserOperations> = Vec::new();
        for activity in activities {
            let receiver = receiver(activity, boards);
            if let Receiver::Target { id, .. } = &receiver
                && posts.insert(id.clone())
            {
                register(&mut connection, &header.keys, id, posts.len())?;
            }
            let operation = operation(activity, boards, receiver);
            match users.iter_mut().find(|known| known.user == activity.user) {
                Some(known) => known.operations.push(operation),
                None => users.push(UserOperations::new(&activity.user, vec![operation])),
            }
        }
        for user in &mut users {
            for outcome in outcomes(&mut connection, user, &header)? {
                match outcome.as_str() {
                    "counted" => counted += 1,
                    "duplicate" | "undone" | "nothing-to-undo" | "stale" => {}
                    other => return Err(format!("unexpected outcome {other}").into()),
                }
            }
        }
        receive(&mut connection, &header)?;
    }
    Ok(counted)
}

/// Registers a post with an author.
fn register(connection: &mut Connection, keys: &Keys, post: &str, number: usize) -> Result<()> {
    let author = author_of(post);
    let mut writes = pipe();
    let registration = format!("{number};{REGISTERED};1;{author};{{}}");
    writes
        .cmd("HSET")
        .arg(keys.register())
        .arg(post)
        .arg(registration);
    let list = writes.cmd("ZADD").arg(keys.targets_of(&author));
    list.arg(REGISTERED).arg(post);
    Ok(writes.exec(connection)?)
}

/// Gives others what they receive by the stream, and empties it.
fn receive(connection: &mut Connection, header: &CallHeader) -> Result<()> {
    let (keys, boards) = (header.keys.clone(), header.lifetimes.boards);
    let stream = keys.outbox();
    let mut call = Call::new(keys, 0, header.now, boards, false);
    let entries: Vec<(String, Vec<(String, String)>)> = cmd("XRANGE")
        .arg(&stream)
        .arg("-")
        .arg("+")
        .query(connection)?;
    for (id, fields) in entries {
        let entry = OutboxEntry { id, fields };
        if let Some(change) = Change::decode(&entry, false) {
            call.push(&entry.id, change, false);
        }
    }
    if call.is_empty() {
        return Ok(());
    }
    let (keys, json) = call.encode();
    let reply: Vec<Value> = cmd("EVALSHA")
        .arg(RECEIVE.plain_sha)
        .arg(keys.len())
        .arg(keys)
        .arg(&header.fingerprint)
        .arg(json)
        .query(connection)?;
    let [_, Value::Array(errors), _] = &reply[..] else {
        return Err(format!("unexpected reply {reply:?}").into());
    };
    if !errors.is_empty() {
        return Err(format!("unexpected errors {errors:?}").into());
    }
    let _: u64 = cmd("DEL").arg(stream).query(connection)?;
    Ok(())
}

/// Returns the receiver of points for an activity.
fn receiver(activity: &Activity, boards: Boards<'_>) -> Receiver {
    let target = |id| Receiver::Target {
        id,
        registers: false,
        claim: None,
        pair: None,
        author: None,
    };
    match activity.rule().0 {
        _ if boards.content.is_empty() => Receiver::None,
        "follow" => Receiver::User {
            id: activity.target.clone(),
            claim: None,
            pair: None,
        },
        "like" | "bookmark" | "publish" => target(activity.target.clone()),
        // A comment has its own id, or that of the post.
        "comment" => match activity.target.strip_prefix("comment-") {
            Some(number) => target(format!("post-{number}")),
            None => target(activity.target.clone()),
        },
        _ => Receiver::None,
    }
}

fn operation(activity: &Activity, boards: Boards<'_>, receiver: Receiver) -> Operation {
    let (action, points, is_daily) = activity.rule();
    Operation {
        rule: RuleSnapshot {
            action: action.to_owned(),
            once: if is_daily { Once::Day } else { Once::Standing },
            points,
            daily_cap: 0,
            pair_cap: 0,
            cooldown: 0,
            received: match action {
                "like" | "bookmark" | "follow" => 2,
                "comment" => 3,
                _ => 0,
            },
            own: true,
            is_counted: false,
        },
        boards: BoardSet {
            date: Date::from_local_millis(activity.at),
            periods: boards.members.to_vec(),
            groups: Vec::new(),
            content: boards.content.to_vec(),
            event: None,
        },
        verb: match activity.undo {
            true => Verb::Undo,
            false => Verb::Count,
        },
        record: format!("{action}:{}", activity.target),
        at: Instant(activity.at),
        timestamp: TimestampSource::Caller,
        receiver,
        audit: None,
        found: None,
        is_replayed: false,
        account: String::new(),
    }
}

/// Returns an author with three posts.
fn author_of(post: &str) -> String {
    let number = post.rsplit('-').next().and_then(|text| text.parse().ok());
    let number: u64 = number.unwrap_or(0);
    (number / 3 * 7 + 100_003).to_string()
}

/// Calls the script and returns the outcomes. For an undo of another day the script first returns the
/// record, and the call is repeated with the boards it names.
fn outcomes(
    connection: &mut Connection,
    user: &mut UserOperations,
    header: &CallHeader,
) -> Result<Vec<String>> {
    loop {
        let call = header.encode(user);
        let reply: Vec<Value> = cmd("EVALSHA")
            .arg(call.script.plain_sha)
            .arg(call.keys.len())
            .arg(call.keys)
            .arg(call.arguments)
            .query(connection)?;
        let (Some(outcomes), Some(records)) = (reply.get(1), reply.get(2)) else {
            return Err(format!("unexpected reply {reply:?}").into());
        };
        let Value::Array(outcomes) = outcomes else {
            if user.set_found(Vec::from_redis_value_ref(records)?) {
                continue;
            }
            return Err(format!("invalid records {records:?}").into());
        };
        let name = |outcome: &Value| match outcome {
            Value::Array(values) => String::from_redis_value_ref(values.first().ok_or("empty")?),
            name => String::from_redis_value_ref(name),
        };
        let names = outcomes.iter().map(|outcome| Ok(name(outcome)?));
        return names.collect();
    }
}

/// Writes the layout of `peers/posts.js` with the same keys, fields and lifetimes: a hash of each
/// user's activity of a day, a board of the day and one of the month. It has no undo. Returns the
/// number of activities that counted.
pub fn write_posts(redis: &RedisServer, activities: &[Activity]) -> Result<u64> {
    let mut connection = redis.connection();
    let mut counted = 0;
    let activities: Vec<&Activity> = activities
        .iter()
        .filter(|activity| !activity.undo)
        .collect();
    for activities in activities.chunks(PIPELINE_BATCH) {
        let mut records = pipe();
        for activity in activities {
            let (action, points, _) = activity.rule();
            let day = Date::from_local_millis(activity.at);
            let done = format!("ar:done:{}:{day}", activity.user);
            let field = format!("{action}:{}", activity.target);
            records.cmd("HSETNX").arg(&done).arg(field).arg(points);
            records.cmd("EXPIRE").arg(&done).arg(31 * DAY).ignore();
        }
        let new: Vec<bool> = records.query(&mut connection)?;
        let mut boards = pipe();
        for (activity, _) in activities.iter().zip(new).filter(|(_, new)| *new) {
            let points = activity.rule().1;
            let day = Date::from_local_millis(activity.at).to_string();
            let month = day.get(..7).unwrap_or_default();
            for (board, lifetime) in [(day.as_str(), 31 * DAY), (month, 366 * DAY)] {
                let board = format!("ar:board:{board}");
                boards
                    .cmd("ZINCRBY")
                    .arg(&board)
                    .arg(points)
                    .arg(&activity.user);
                boards.cmd("EXPIRE").arg(&board).arg(lifetime).arg("NX");
            }
            counted += 1;
        }
        boards.exec(&mut connection)?;
    }
    Ok(counted)
}
