//! Messages to webhooks: the table `deliveries` beside the journal.
//!
//! A message has a kind, an instant, and what identifies what it is about: a subject, or an entry of the journal. For each
//! endpoint that wants its kind there is a delivery, whose id is the `webhook-id`. Inserting a message a second time has
//! no effect. [`crate::jobs::webhooks`] sends deliveries; their bodies are made only then, because a member may have been
//! hidden or erased since.
//!
//! To add a kind: list it in `crates/core/src/config/webhooks.rs`, insert its [`message`], and return its data either
//! from the SQL of [`claim`] or in [`crate::jobs::webhooks`]. `src/platform/webhooks.js` has its text for Discord and
//! Slack.

mod changes;
mod deliveries;

#[cfg(test)]
pub(crate) use changes::{forget_levels, record_levels};
pub use changes::{reads_levels, statements_of_changes};
pub use deliveries::{
    Attempt, Due, claim, delete_old, deliveries_of_claims, read_page, record, retry,
};

use crate::archive::deployment_id;
use crate::journal::fair_play::IS_KNOWN;
use crate::platform::d1::Statement;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use serde_json::Value;

/// Milliseconds in which a delivery is attempted.
const ATTEMPTED_FOR: i64 = 48 * 3_600_000;

/// Returns a new message: its kind, a subject that is unique within the kind, when it happened, and the data that the
/// subject does not contain. More values may follow: shard and id of the journal's entry that it is about; then a member and
/// the level before, as `data` is the level after. Such a message is inserted only if no higher level is known.
#[must_use]
pub fn message(kind: &str, subject: String, at: Instant, data: Value) -> Vec<Value> {
    vec![kind.into(), subject.into(), data, at.0.into()]
}

/// Returns the statement that inserts deliveries of new messages, a JSON array.
#[must_use]
pub fn insert(config: &Config, messages: String, now: Instant) -> Statement {
    let sql = "INSERT INTO deliveries (site, id, endpoint, kind, subject, data, at, shard, entry, state, due, until) \
        SELECT ?1, 'msg_' || lower(hex(randomblob(16))), wanted.value ->> 0, new.value ->> 0, new.value ->> 1, \
        IFNULL(new.value ->> 2, ''), new.value ->> 3, new.value ->> 4, new.value ->> 5, 'pending', ?4, ?4 + ?5 \
        FROM json_each(?2) AS new JOIN json_each(?3) AS wanted ON new.value ->> 0 GLOB wanted.value ->> 1 \
        WHERE new.value ->> 6 IS NULL OR new.value ->> 2 > IFNULL((SELECT steps FROM levels WHERE site = ?1 \
        AND member = new.value ->> 6), new.value ->> 7) ORDER BY new.key ON CONFLICT DO NOTHING";
    let values = vec![
        deployment_id(config).into(),
        messages.into(),
        config.webhooks.wanted().into(),
        now.0.into(),
        ATTEMPTED_FOR.into(),
    ];
    Statement::new(sql, values)
}

/// Returns the statement that inserts deliveries of messages about achievements. `found` selects `achievement`, `member`,
/// `step`, `at`, and the row `n` of the journal that the message is about; `?1` is the deployment and `?4` is now, the next
/// values are [`last_values`].
#[must_use]
pub fn insert_earned(with: &str, found: &str) -> String {
    format!(
        "{with} INSERT INTO deliveries (site, id, endpoint, kind, subject, data, at, shard, entry, state, due, until) \
         SELECT ?1, 'msg_' || lower(hex(randomblob(16))), wanted.value ->> 0, wanted.value ->> 1, \
         shard || ' ' || journal.id || ' ' || achievement || ' ' || step, achievement || ' ' || step, at, shard, journal.id, \
         'pending', ?4, ?4 + ?6 FROM ({found}) AS found JOIN journal USING (n) JOIN json_each(?5) AS wanted \
         ON wanted.value ->> 1 = 'achievement.earned' WHERE NOT EXISTS (SELECT 1 FROM achievements_earned AS earned \
         WHERE earned.site = ?1 AND earned.member = found.member AND earned.achievement = found.achievement \
         AND earned.step = found.step) ORDER BY n ON CONFLICT DO NOTHING"
    )
}

/// Returns the statement that inserts deliveries of the message about a decision, before it is stored. `values` are the
/// values of the statement that stores it, see [`decide`](crate::journal::fair_play::decide). A decision that changes nothing has no
/// message, as a request may be repeated, and a case that stays open was not decided.
#[must_use]
pub fn insert_decided(config: &Config, values: Vec<Value>) -> Statement {
    let sql = format!(
        "INSERT INTO deliveries (site, id, endpoint, kind, subject, data, at, state, due, until) \
        SELECT ?1, 'msg_' || lower(hex(randomblob(16))), wanted.value ->> 0, wanted.value ->> 1, \
        cases.id || ' ' || CAST(?6 AS INTEGER), json_object('case', json_object('id', cases.id, 'kind', kind, \
        'before', state, 'state', ?3), 'actor', iif(?5 = '', NULL, json_object('key', ?5))), \
        ?6, 'pending', ?6, ?6 + ?14 FROM cases JOIN json_each(?13) AS wanted ON wanted.value ->> 1 = 'case.decided' \
        WHERE {IS_KNOWN} AND (state <> 'open' OR ?3 <> 'open') \
        AND (state, reason, since, until, public) IS NOT (?3, ?4, ?7, ?8, ?9)"
    );
    let values = values.into_iter().chain(last_values(config));
    Statement::new(&sql, values.collect())
}

/// Returns the last values of [`insert_earned`] and [`insert_decided`].
#[must_use]
pub fn last_values(config: &Config) -> [Value; 2] {
    [config.webhooks.wanted().into(), ATTEMPTED_FOR.into()]
}
