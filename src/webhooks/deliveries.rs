//! Deliveries: which are due, how their attempts went, and the pages that list them.

use super::ATTEMPTED_FOR;
use crate::archive::deployment_id;
use crate::platform::d1::{Database, Rows, Statement};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::json;
use activity_rank_core::webhook::DeliveriesRequest;
use serde_json::Value;

/// Milliseconds for which a run of cron claims a delivery: others leave it out until then.
const CLAIMED_FOR: i64 = 120_000;

/// Milliseconds between the end of all attempts and the deletion: 30 days after the message.
const KEPT_FOR: i64 = 28 * 86_400_000;

/// Minutes until the next attempt after each one. The last one repeats.
const BACK_OFF: [i64; 7] = [1, 5, 30, 2 * 60, 5 * 60, 10 * 60, 12 * 60];

/// A delivery as responses have it.
const VIEW: &str = "json_object('id', id, 'type', kind, 'endpoint', substr(endpoint, 1, instr(endpoint, ' ') - 1), \
    'state', state, 'attempts', attempts, 'status', status, 'error', error, \
    'at', strftime('%Y-%m-%dT%H:%M:%SZ', at / 1000, 'unixepoch'), \
    'attempted', strftime('%Y-%m-%dT%H:%M:%SZ', attempted / 1000, 'unixepoch'), \
    'due', CASE state WHEN 'pending' THEN strftime('%Y-%m-%dT%H:%M:%SZ', due / 1000, 'unixepoch') END) AS text";

/// The data of a message about an entry of the journal, or that needs no more than its row: JSON, null if there is
/// nothing to send, because the user of the entry was erased. Moderators see members by their ids alone, because
/// hidden ones are among them. An id of a target has a second `#` in the journal if it begins with one.
const DATA: &str = "WHEN kind = 'journal.lagging' \
    THEN json_object('oldest', strftime('%Y-%m-%dT%H:%M:%SZ', data / 1000, 'unixepoch')) \
    WHEN entry ->> 'did' = 'erase' THEN json_object('user', NULL) \
    WHEN kind = 'member.joined' THEN json_object('user', json_object('id', nullif(entry ->> 'of', '')), \
    'account', json_object('id', entry ->> 'user')) \
    WHEN kind NOT GLOB 'moderation.*' THEN data \
    WHEN entry ->> 'target' <> '' THEN json_object('target', json_object('id', \
    substr(entry ->> 'target', 1 + (entry ->> 'target' GLOB '##*'))), 'reason', entry ->> 'reason') \
    WHEN entry ->> 'user' <> '' THEN json_patch(json_object('user', json_object('id', entry ->> 'user'), \
    'reason', entry ->> 'reason'), CASE kind WHEN 'moderation.adjusted' THEN json_object(\
    iif(entry ->> 'kinds' = 'e', 'event', 'date'), entry ->> iif(entry ->> 'kinds' = 'e', 'groups', 'date'), \
    'points', json(printf('%.15g', 1.0 * CASE entry ->> 'did' WHEN 'undo' THEN CAST(entry ->> 'applied' AS INTEGER) ELSE entry ->> 'points' END / ?7))) \
    ELSE '{}' END) END";

/// The data of a message about a decision. Members and reason come from the case when it is sent, because a member may have been
/// erased since; a deleted case has no data.
const DECIDED: &str = "WHEN kind = 'case.decided' THEN (SELECT json_set(data, '$.members', json(members), \
    '$.reason', iif(decided = at, reason, NULL)) FROM cases WHERE cases.site = deliveries.site \
    AND cases.id = data ->> '$.case.id') ";

/// A delivery that is due.
#[derive(Clone, Debug)]
pub struct Due {
    n: i64,
    /// The `webhook-id`.
    pub id: String,
    /// The name of the endpoint.
    pub endpoint: String,
    /// The kind.
    pub kind: String,
    /// The subject of the message.
    pub subject: String,
    /// The data of the message, or what it needs; empty if there is nothing to send.
    pub data: String,
    /// The user of the journal's entry that the message is about; empty for none, and after an erasure.
    pub user: String,
    /// When the message happened.
    pub at: Instant,
    attempts: i64,
    until: i64,
}

/// How the attempt of a delivery went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// A status code.
    Status(u16),
    /// No status code: `timeout` or `network`.
    Error(String),
    /// There is nothing to send any more.
    Dropped,
    /// None: the one of an earlier message failed, or the time of the run was over.
    Unsent,
}

/// Returns the statement that deletes old deliveries.
#[must_use]
pub fn delete_old(config: &Config, now: Instant) -> Statement {
    let sql = "DELETE FROM deliveries WHERE site = ?1 AND until < ?2";
    let values = vec![deployment_id(config).into(), (now.0 - KEPT_FOR).into()];
    Statement::new(sql, values)
}

/// Returns the statement that claims the first due deliveries of an endpoint. Those about an entry of the journal are left
/// out unless the journal has `all_entries`: an erasure may be among the others.
#[must_use]
pub fn claim(
    config: &Config,
    endpoint: &str,
    (limit, all_entries): (u32, bool),
    now: Instant,
) -> Statement {
    let decided = config.fair_play.map_or("", |_| DECIDED);
    let sql = format!(
        "UPDATE deliveries SET due = ?5 WHERE n IN (SELECT n FROM deliveries WHERE site = ?1 \
        AND endpoint = ?2 AND state = 'pending' AND due <= ?3 AND (?6 OR entry IS NULL) ORDER BY due, n LIMIT ?4) \
        RETURNING (SELECT json_array(deliveries.n, id, endpoint, kind, subject, '' || CASE {decided}{DATA}, at, attempts, until, \
        entry ->> 'user') FROM (SELECT (SELECT entry FROM journal WHERE journal.site = deliveries.site \
        AND journal.shard = deliveries.shard AND journal.id = deliveries.entry) AS entry)) AS text"
    );
    let values = vec![
        deployment_id(config).into(),
        endpoint.into(),
        now.0.into(),
        limit.into(),
        (now.0 + CLAIMED_FOR).into(),
        u32::from(all_entries).into(),
        config.layout.unit().into(),
    ];
    Statement::new(&sql, values)
}

/// Decodes the results of claims, the oldest delivery of each first.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] for other columns.
pub fn deliveries_of_claims(results: &[Rows<'_>]) -> Result<Vec<Due>, Error> {
    let mut deliveries: Vec<Due> = Vec::new();
    for result in results {
        let first = deliveries.len();
        for text in result.texts()? {
            let Some(due) = decode(&text) else { continue };
            let claimed = deliveries.get(first..).unwrap_or_default();
            let index = claimed.partition_point(|other| other.n < due.n);
            deliveries.insert(first + index, due);
        }
    }
    Ok(deliveries)
}

fn decode(text: &str) -> Option<Due> {
    let row = json::read(text.as_bytes()).ok()?;
    let text = |index: usize| row.get(index)?.as_str().map(str::to_owned);
    let integer = |index: usize| row.get(index)?.as_i64();
    Some(Due {
        n: integer(0)?,
        id: text(1)?,
        endpoint: text(2)?,
        kind: text(3)?,
        subject: text(4)?,
        data: text(5).unwrap_or_default(),
        at: Instant(integer(6)?),
        attempts: integer(7)?,
        until: integer(8)?,
        user: text(9).unwrap_or_default(),
    })
}

/// Records attempts, and makes deliveries without one due at once, in one transaction.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; then the deliveries are sent again.
pub async fn record(
    journal: &Database,
    attempts: &[(&Due, Attempt)],
    now: Instant,
) -> Result<(), Error> {
    let (mut rows, mut unsent) = (Vec::new(), Vec::new());
    for (due, attempt) in attempts {
        let next = next_attempt(due, now);
        let pending = next.map_or(("failed", due.until), |next| ("pending", next));
        let (state, next) = match attempt {
            Attempt::Status(200..=299) => ("delivered", 0),
            // Gone: the receiver wants no more attempts.
            Attempt::Status(410) => ("failed", 0),
            Attempt::Dropped => ("dropped", 0),
            Attempt::Status(_) | Attempt::Error(_) => pending,
            Attempt::Unsent => {
                unsent.push(due.n);
                continue;
            }
        };
        let (status, error) = match attempt {
            Attempt::Status(status) => (Some(*status), None),
            Attempt::Error(error) => (None, Some(error.as_str())),
            Attempt::Dropped | Attempt::Unsent => (None, None),
        };
        let row: Vec<Value> = vec![
            due.n.into(),
            state.into(),
            next.into(),
            status.into(),
            error.into(),
        ];
        rows.push(Value::from(row));
    }
    // Another run may have delivered it meanwhile.
    let sql = "UPDATE deliveries SET state = value ->> 1, due = value ->> 2, status = value ->> 3, error = value ->> 4, \
        attempts = attempts + (value ->> 1 <> 'dropped'), \
        attempted = CASE value ->> 1 WHEN 'dropped' THEN attempted ELSE ?2 END \
        FROM json_each(?1) WHERE n = value ->> 0 AND state = 'pending'";
    let values = vec![Value::Array(rows).to_string().into(), now.0.into()];
    let recorded = Statement::new(sql, values);
    let sql =
        "UPDATE deliveries SET due = ?2 FROM json_each(?1) WHERE n = value AND state = 'pending'";
    let values = vec![Value::from(unsent).to_string().into(), now.0.into()];
    journal
        .run(&[recorded, Statement::new(sql, values)])
        .await?;
    Ok(())
}

/// Returns when a delivery is attempted again after an attempt that failed; `None` if it was the last one.
fn next_attempt(due: &Due, now: Instant) -> Option<i64> {
    let index = usize::try_from(due.attempts).unwrap_or(usize::MAX);
    let minutes = BACK_OFF.get(index).or(BACK_OFF.last())?;
    let next = (now.0 + minutes * 60_000).min(due.until);
    (now.0 < due.until).then_some(next)
}

/// Reads a page of deliveries as JSON, newest first.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_page(
    journal: &Database,
    config: &Config,
    request: &DeliveriesRequest,
) -> Result<Vec<String>, Error> {
    // `+` keeps the database from an index that is not in the order of the page.
    let filter = match request.state.as_str() {
        "" => "+site = ?1 AND ?2 = ''",
        _ => "site = ?1 AND state = ?2",
    };
    let sql = format!(
        "SELECT {VIEW} FROM deliveries WHERE {filter} AND n < CASE ?3 WHEN '' THEN 9e15 \
        ELSE (SELECT n FROM deliveries WHERE id = ?3) END ORDER BY n DESC LIMIT ?4"
    );
    let values = vec![
        deployment_id(config).into(),
        request.state.as_str().into(),
        request.before.as_str().into(),
        request.limit.into(),
    ];
    journal.texts(Statement::new(&sql, values)).await
}

/// Makes a delivery due again, with as many attempts as a new one. Returns it as JSON; `None` if there is none.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn retry(
    journal: &Database,
    config: &Config,
    id: &str,
    now: Instant,
) -> Result<Option<String>, Error> {
    let sql = format!(
        "UPDATE deliveries SET state = 'pending', due = ?3, until = ?3 + ?4, attempts = 0 \
        WHERE site = ?1 AND id = ?2 RETURNING {VIEW}"
    );
    let values = vec![
        deployment_id(config).into(),
        id.into(),
        now.0.into(),
        ATTEMPTED_FOR.into(),
    ];
    let mut found = journal.texts(Statement::new(&sql, values)).await?;
    Ok(found.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attempts of a delivery whose receiver always fails at once, in minutes after the message.
    #[test]
    fn attempts_back_off_until_two_days_have_passed() {
        let text =
            r#"[1, "msg_", "a 0", "period.closed", "d2026-11-20", "", 0, 0, 172800000, null]"#;
        let mut due = decode(text).unwrap();
        let (mut minutes, mut now) = (Vec::new(), 0);
        while let Some(next) = next_attempt(&due, Instant(now)) {
            minutes.push(next / 60_000);
            now = next;
            due.attempts += 1;
        }
        assert_eq!(minutes, [1, 6, 36, 156, 456, 1056, 1776, 2496, 2880]);
    }
}
