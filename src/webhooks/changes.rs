//! The messages about changes that a batch of the outbox brings to the journal.

use super::{insert, message};
use crate::archive::deployment_id;
use crate::log;
use crate::platform::clock;
use crate::platform::d1::Statement;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::{Config, LEVEL_REACHED};
use activity_rank_core::event;
use activity_rank_core::point_changes::steps_of_longest_period;
use activity_rank_core::shard::fnv_64;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::OutboxEntry;
use activity_rank_store::profiles;
use serde_json::Value;

/// Milliseconds after which a change that is not in the journal makes a message.
const LAGGING: i64 = 15 * 60_000;

/// The points that the entries of a batch gave a member for all time.
struct Gained<'a> {
    user: &'a str,
    steps: i64,
    /// The last entry.
    entry: &'a OutboxEntry,
}

/// Returns the statements that insert the messages about entries, in the transaction that writes them. `oldest` is the
/// first of them that is new.
///
/// The level of a member before the entries follows from the points of all time and the points that the entries gave.
/// Later changes, which wait in the outbox, count as made before. The highest level of a member is stored from then on, and
/// a message needs a higher one. If the store does not return the points, the next entries of the member make up for it.
pub async fn statements_of_changes(
    deployment: &Deployment,
    shard: u32,
    entries: &[OutboxEntry],
    oldest: Option<&OutboxEntry>,
) -> Vec<Statement> {
    let config = &deployment.config;
    if config.webhooks.is_empty() {
        return Vec::new();
    }
    let now = clock::now();
    let mut messages: Vec<Value> = Vec::new();
    let lag = oldest.map(|oldest| written_at(&oldest.id));
    if let Some(lag) = lag.filter(|lag| lag.0 < now.0 - LAGGING) {
        let day = deployment.calendar.date_at(now).to_string();
        messages.push(message("journal.lagging", day, now, lag.0.into()).into());
    }
    for entry in entries {
        let kinds = moderation_kinds(entry);
        messages.extend(kinds.map(|kind| about_entry(kind, Value::Null, shard, entry).into()));
    }
    let gained = match reads_levels(config) {
        true => gained(entries),
        false => Vec::new(),
    };
    let users: Vec<&str> = gained.iter().map(|gained| gained.user).collect();
    let points = match users.is_empty() {
        true => Vec::new(),
        false => profiles::read_profiles_and_points(deployment, &users)
            .await
            .unwrap_or_else(|error| {
                log::job(&error);
                Vec::new()
            }),
    };
    let level = |steps: u64| {
        let level = config.levels.at(steps);
        level.map_or(-1, |level| i64::try_from(level.steps).unwrap_or(i64::MAX))
    };
    let thresholds = config.levels.thresholds();
    for (gained, (_, after)) in gained.iter().zip(points) {
        let after = after.unwrap_or_default();
        let before = after.saturating_add_signed(-gained.steps);
        let mut message = about_entry(LEVEL_REACHED, level(after).into(), shard, gained.entry);
        let member = member(&thresholds, gained.user);
        message.extend([Value::from(member), level(before).into()]);
        messages.push(message.into());
    }
    if messages.is_empty() {
        return Vec::new();
    }
    let messages = Value::Array(messages).to_string();
    let mut statements = vec![insert(config, messages.clone(), now)];
    if !gained.is_empty() {
        statements.push(record_levels(config, messages));
    }
    statements.extend(forget_levels(config, entries));
    statements
}

/// Returns the statement that records the levels of messages, a JSON array.
pub(crate) fn record_levels(config: &Config, messages: String) -> Statement {
    let sql = "INSERT INTO levels (site, member, steps) SELECT ?1, value ->> 6, MAX(value ->> 2, value ->> 7) \
        FROM json_each(?2) WHERE value ->> 6 IS NOT NULL \
        ON CONFLICT DO UPDATE SET steps = excluded.steps WHERE excluded.steps > steps";
    let values = vec![deployment_id(config).into(), messages.into()];
    Statement::new(sql, values)
}

/// Returns whether a batch needs the points of its members.
#[must_use]
pub fn reads_levels(config: &Config) -> bool {
    config.webhooks.want(LEVEL_REACHED) && !config.levels.is_empty()
}

/// Returns when an entry was written, from its id.
fn written_at(id: &str) -> Instant {
    let millis = id.split('-').next().and_then(|millis| millis.parse().ok());
    Instant(millis.unwrap_or(i64::MAX))
}

/// Returns a message about an entry.
fn about_entry(kind: &str, data: Value, shard: u32, entry: &OutboxEntry) -> Vec<Value> {
    let now = entry.field("now").parse();
    let at = now.map_or_else(|_| written_at(&entry.id), Instant);
    let mut message = message(kind, format!("{shard} {}", entry.id), at, data);
    message.extend([shard.into(), entry.id.as_str().into()]);
    message
}

/// Returns the kinds of messages about what moderators did, and about a joined account.
fn moderation_kinds(entry: &OutboxEntry) -> impl Iterator<Item = &'static str> {
    let is_adjustment = entry.field("action") == "adjust" && !entry.field("applied").is_empty();
    let changes = match entry.field("did") {
        "moderate" => entry.field("changed"),
        "moderate-target" => entry.field("verb"),
        "erase" => "erase",
        "account" if !entry.field("of").is_empty() => "join",
        "adjust" | "undo" if is_adjustment => "adjust",
        _ => "",
    };
    changes.split(' ').filter_map(|change| match change {
        "hide" | "h" => Some("moderation.hidden"),
        "unhide" | "u" => Some("moderation.shown"),
        "freeze" => Some("moderation.frozen"),
        "unfreeze" => Some("moderation.unfrozen"),
        "adjust" => Some("moderation.adjusted"),
        "erase" => Some("moderation.erased"),
        "join" => Some("member.joined"),
        _ => None,
    })
}

/// Returns the members who have more points of all time after the entries than before, by user.
fn gained(entries: &[OutboxEntry]) -> Vec<Gained<'_>> {
    let mut all: Vec<Gained<'_>> = Vec::new();
    for entry in entries {
        let is_activity = ["count", "undo", "adjust"].contains(&entry.field("did"));
        // An undo that found nothing changed no board, and the adjustment of an event no other.
        let is_event = entry.field("kinds") == event::LETTER;
        if !is_activity || is_event || entry.field("applied").is_empty() {
            continue;
        }
        let Some(steps) = steps_of_longest_period(&|name| entry.field(name)) else {
            continue;
        };
        let user = entry.field("user");
        let index = all.partition_point(|gained| gained.user < user);
        match all.get_mut(index).filter(|gained| gained.user == user) {
            Some(gained) => {
                gained.steps += steps;
                gained.entry = entry;
            }
            None => all.insert(index, Gained { user, steps, entry }),
        }
    }
    all.retain(|gained| gained.steps > 0);
    all
}

/// Returns the id of a member in the table of levels. With other thresholds, no level of a member is known.
fn member(thresholds: &str, user: &str) -> String {
    format!("{:016x}", fnv_64(&[thresholds, user]))
}

/// Returns the statement that removes the levels of members whom entries erase.
pub(crate) fn forget_levels(config: &Config, entries: &[OutboxEntry]) -> Option<Statement> {
    let erased = entries.iter().filter(|entry| entry.field("did") == "erase");
    let thresholds = config.levels.thresholds();
    let mut members = Vec::new();
    for entry in erased {
        members.push(Value::from(member(&thresholds, entry.field("user"))));
    }
    if members.is_empty() {
        return None;
    }
    let members = Value::Array(members).to_string();
    let sql = "DELETE FROM levels WHERE site = ?1 AND member IN (SELECT value FROM json_each(?2))";
    let values = vec![deployment_id(config).into(), members.into()];
    Some(Statement::new(sql, values))
}
