//! Activities that did not count, and why: the table `refusals` beside the journal.
//!
//! `refusals.js` adds them up in the isolate, and writes them after the response. It is best effort: the store has no part
//! in it, and a refusal that cannot be written is lost.

use crate::app::App;
use crate::archive::deployment_id;
use crate::log;
use crate::platform::clock;
use crate::platform::d1::Statement;
use crate::platform::refusals;
use activity_rank_core::activity::{Activity, Counted, RuledActivity};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::point_changes::MAX_REFUSALS;
use activity_rank_store::accounts;
use activity_rank_store::deployment::Deployment;
use serde_json::Value;

/// The reason of an activity that never reaches the store.
const UNKNOWN_ACTION: &str = "unknown-action";

/// Adds an activity that did not count to the rows of the next write, under the member for whom it would have counted. A
/// repetition has counted before, and an undo is no activity.
pub fn add(
    deployment: &Deployment,
    activity: &Activity,
    result: Result<&Counted, &Error>,
    now: Instant,
) {
    let reason = match result {
        Ok(counted) => counted.refusal(),
        Err(Error::Forbidden(_)) => Some("frozen"),
        Err(Error::ScoreOverflow(_)) => Some("score-overflow"),
        Err(Error::UnknownAction(_)) => Some(UNKNOWN_ACTION),
        Err(_) => None,
    };
    let is_kept = deployment.config.refused_days.is_some_and(|days| days > 0);
    if let Some(reason) = reason.filter(|_| is_kept && !activity.undo) {
        let at = activity.at.min(now);
        let date = deployment.calendar.date_at(at).to_string();
        let user = deployment.counted_member(&activity.user);
        let (action, target) = (&activity.action, &activity.target);
        refusals::add_refusal(&user, &date, action, reason, target, at.0 as f64);
    }
}

/// Adds the items of an array that the store has processed, as [`add`] does.
pub fn add_all(
    deployment: &Deployment,
    items: &[Result<RuledActivity, Error>],
    results: &[Result<Counted, Error>],
    now: Instant,
) {
    for (item, result) in items.iter().zip(results) {
        if let Ok((activity, _)) = item {
            add(deployment, activity, result.as_ref(), now);
        }
    }
}

/// Writes rows of `refusals.js`.
pub async fn write(app: &App, rows: String) {
    let (Ok(deployment), Some(journal)) = (app.deployment(), &app.bindings.journal) else {
        return;
    };
    let written = async {
        let rows = rows_of_members(deployment, rows).await?;
        let today = deployment.calendar.date_at(clock::now()).to_string();
        let statement = insert(&deployment.config, rows, today);
        journal.run(&[statement]).await
    };
    if let Err(error) = written.await {
        log::debug(&format!("refusals: {}", error.cause().unwrap_or_default()));
    }
}

/// Replaces accounts by their members in rows, if some are of activities that the store has not seen.
async fn rows_of_members(deployment: &Deployment, rows: String) -> Result<String, Error> {
    if !rows.contains(UNKNOWN_ACTION) {
        return Ok(rows);
    }
    let mut values: Vec<Value> = serde_json::from_str(&rows).unwrap_or_default();
    let users = values.iter().filter_map(|row| row.get(0)?.as_str());
    let members = accounts::read_members(deployment, &users.collect::<Vec<_>>()).await?;
    for (row, member) in values.iter_mut().zip(members) {
        if let (Some(user), Some(member)) = (row.get_mut(0), member) {
            *user = member.into();
        }
    }
    Ok(Value::Array(values).to_string())
}

/// Returns the statement that adds rows: a JSON array of `[user, date, action, reason, count, last instant, targets, first
/// instant, SHA-1 of the user]`, refused on a day. Leaves out activity from before an erasure of the user.
pub(crate) fn insert(config: &Config, rows: String, refused: String) -> Statement {
    let sql = "INSERT INTO refusals SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, \
        value ->> 5, value -> 6, ?3 FROM json_each(?2) WHERE NOT EXISTS (SELECT 1 FROM journal WHERE site = ?1 \
        AND entry ->> 'did' = 'erase' AND entry ->> 'hash' = value ->> 8 AND CAST(entry ->> 'now' AS INTEGER) >= value ->> 7) \
        ON CONFLICT DO UPDATE SET count = count + excluded.count, at = MAX(at, excluded.at), \
        refused = MAX(refused, excluded.refused), targets = \
        (SELECT json_group_array(target) FROM (SELECT value AS target, MIN(place) FROM (SELECT value, key AS place \
        FROM json_each(excluded.targets) UNION ALL SELECT value, key + 10 FROM json_each(refusals.targets)) \
        GROUP BY target ORDER BY 2 LIMIT 10))";
    let values = vec![deployment_id(config).into(), rows.into(), refused.into()];
    Statement::new(sql, values)
}

/// Returns the statement that reads the rows of users together, as JSON, the latest first: from `first` on, before `end`.
pub(super) fn select(config: &Config, users: &[&str], (first, end): (i64, i64)) -> Statement {
    let sql = "SELECT json_array(date, action, reason, SUM(count), MAX(at), json((SELECT json_group_array(target) FROM \
        (SELECT each.value AS target FROM refusals AS same, json_each(same.targets) AS each WHERE same.site = ?1 \
        AND same.user IN (SELECT value FROM json_each(?2)) AND same.date = refusals.date AND same.action = refusals.action \
        AND same.reason = refusals.reason GROUP BY target ORDER BY MAX(same.at) DESC, MIN(each.key) LIMIT 10)))) AS text \
        FROM refusals WHERE site = ?1 AND user IN (SELECT value FROM json_each(?2)) GROUP BY date, action, reason \
        HAVING MAX(at) >= ?3 AND MAX(at) < ?4 ORDER BY MAX(at) DESC, date, action, reason LIMIT ?5";
    let users = serde_json::to_string(users).unwrap_or_default();
    let values = vec![
        deployment_id(config).into(),
        users.into(),
        first.into(),
        end.into(),
        MAX_REFUSALS.into(),
    ];
    Statement::new(sql, values)
}

/// Returns the statement that deletes the rows of users.
pub(super) fn erase(config: &Config, users: &[&str]) -> Statement {
    let users = serde_json::to_string(users).unwrap_or_default();
    let sql = "DELETE FROM refusals WHERE site = ?1 AND user IN (SELECT value FROM json_each(?2))";
    Statement::new(sql, vec![deployment_id(config).into(), users.into()])
}

/// The rows that one run of cron deletes at most.
const MAX_DELETED: u32 = 1000;

/// Returns the statement that deletes the first rows that were refused too long ago; `None` if none was ever written.
#[must_use]
pub fn delete_old(deployment: &Deployment, now: Instant) -> Option<Statement> {
    let config = &deployment.config;
    let first = deployment
        .calendar
        .date_at(now)
        .plus(1 - i32::try_from(config.refused_days?).ok()?);
    let sql = "DELETE FROM refusals WHERE (site, user, date, action, reason) IN (SELECT site, user, date, action, reason \
        FROM refusals WHERE site = ?1 AND refused < ?2 LIMIT ?3)";
    let values = vec![
        deployment_id(config).into(),
        first.to_string().into(),
        MAX_DELETED.into(),
    ];
    Some(Statement::new(sql, values))
}
