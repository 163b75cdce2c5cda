//! Achievements: what members have done, in tallies of the journal, and the steps that they have earned.
//!
//! Each transaction evaluates the rows after the last one that it has evaluated, and advances to the last of them: a row
//! counts exactly once, whichever processes run at the same time. Window functions apply the rows one by one in their
//! order, so the steps that members earn do not depend on where a transaction ends.
//!
//! Other conditions, or a recount, start the evaluation from the first row. Tallies are deleted then, and earned steps stay:
//! after a recount of accounts, steps with `revoke`, and all steps of members with accounts, only if they are earned again.
//!
//! What a moderator awards or withdraws is a row of the journal too. From that row on, activity neither earns nor revokes
//! the step.
//!
//! Runs of streaks are computed before the transaction, see `streaks.rs`. The transaction changes nothing if another one has
//! advanced in between.

use super::accounts::{PAST, UNTIL, effective};
use crate::archive::deployment_id;
use crate::platform::budget::Cost;
use crate::platform::d1::{Database, Rows, Statement};
use crate::webhooks;
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::{ACHIEVEMENT_EARNED, Config, PLACE};
use activity_rank_core::error::Error;

/// The cost of [`evaluate`], with streaks and everything else.
pub const COST: Cost = Cost::new(2, 11);

/// The most rows of the journal that one transaction evaluates.
const ROWS: u32 = 2000;

/// Whether the position is the one for which streaks were computed, if they were.
const SEEN: &str = "IFNULL(?2 ->> 'seen' = n || ' ' || version, TRUE)";

/// The next rows of the journal. `+` keeps the database from an index that is not in their order.
const RAW: &str = "raw AS MATERIALIZED (SELECT n, shard, user, entry FROM journal \
    WHERE +site = ?1 AND n > (SELECT n FROM achievements_read WHERE site = ?1 AND {seen}) ORDER BY n \
    LIMIT ?2 ->> 'rows')";

/// The members who have or had accounts, by rows of `account`, or exclusions.
const PERSONS: &str = "SELECT user FROM account UNION SELECT member FROM account UNION \
    SELECT user FROM journal WHERE site = ?1 AND entry ->> 'did' = 'exclude'";

/// The points of an activity by the rules of the last recount after it that has its action; null for none.
const RECOUNTED: &str = "(SELECT rule.value ->> 1 FROM journal AS later \
    JOIN json_each(later.entry ->> 'rules', '$.\"' || (next.entry ->> 'action') || '\"') AS rule \
    WHERE later.site = ?1 AND later.shard = next.shard AND later.n > next.origin AND later.entry ->> 'did' = 'rules' \
    AND IFNULL(rule.value ->> 0 <= {at}, 1) ORDER BY later.n DESC, rule.key DESC LIMIT 1)";

/// The points that each row gave: an undo takes back what its record gave. An adjustment of an event (`kinds` is `e`) gave nothing
/// on other boards. `days` is the number of the day, and a multiple of 7 on a Monday.
const GAINS: &str = "gain AS MATERIALIZED (SELECT n, user, did, action, at, days, groups, \
    CASE did WHEN 'undo' THEN -1 ELSE 1 END AS sign, \
    CASE WHEN did = 'receive' THEN IFNULL(IIF(points < 0, -1, 1) * (rule ->> 'received'), points) \
    WHEN action = 'adjust' THEN IFNULL(applied ->> (kinds - 1), IFNULL(applied ->> 0, points)) \
    WHEN did = 'undo' THEN -IFNULL(rule ->> 'points', IFNULL(gave, points)) \
    ELSE IFNULL(rule ->> 'points', points) END AS points FROM (SELECT *, {rule} AS rule FROM (SELECT next.*, \
    entry ->> 'action' AS action, CAST(entry ->> 'points' AS INTEGER) AS points, \
    CAST(entry ->> 'gave' AS INTEGER) AS gave, length(entry ->> 'kinds') AS kinds, \
    '[' || replace(entry ->> 'applied', '/', ',') || ']' AS applied, \
    CAST(julianday(entry ->> 'date') + 0.5 AS INTEGER) AS days, ',' || (entry ->> 'groups') || ',' AS groups, \
    CAST(COALESCE(entry ->> iif(did = 'receive', 'changed', 'counted'), entry ->> 'at', entry ->> 'now') AS INTEGER) \
    AS at FROM next WHERE user <> '' AND did IN ('count', 'undo', 'adjust', 'receive', 'place') \
    AND entry ->> 'kinds' IS NOT 'e' AND (did NOT IN ('count', 'undo') OR entry ->> 'kinds' IS NOT '') \
    AND COALESCE(entry ->> 'applied', did) <> '') AS next))";

/// The changes of tallies by each row.
const CHANGES: &str = "change AS MATERIALIZED (SELECT achievement, kind, def, user AS member, n, at, \
    iif(kind IN ('days', 'weeks'), days, 0) AS day, \
    CASE kind WHEN 'count' THEN sign WHEN 'place' THEN 1 WHEN 'since' THEN at ELSE points END AS delta FROM gain \
    JOIN (SELECT value AS def, value ->> 0 AS achievement, \
    iif(value ->> 1 GLOB 'since-*', 'since', value ->> 1) AS kind FROM json_each(?3)) \
    ON CASE kind WHEN 'count' THEN did <> 'receive' AND action = def ->> 2 WHEN 'received' THEN did = 'receive' \
    WHEN 'since' THEN did = 'count' WHEN 'place' THEN did = 'place' AND action = def ->> 2 AND points <= def ->> 8 \
    ELSE did NOT IN ('receive', 'place') END \
    WHERE IFNULL(at >= def ->> 3, 1) AND IFNULL(at < def ->> 4, 1) AND (def ->> 5 IS NULL OR EXISTS \
    (SELECT 1 FROM json_each(def -> 5) AS wanted WHERE instr(groups, ',' || wanted.value || ','))))";

/// Each tally before and after each row. A sum never falls below zero: an undo may take back what the journal does not
/// have.
const RUNNING: &str = "running AS MATERIALIZED (SELECT *, LAG(after, 1, base) OVER \
    (PARTITION BY achievement, member, day ORDER BY n) AS before FROM (SELECT *, sum - MIN(0, MIN(sum) OVER \
    (PARTITION BY achievement, member, day ORDER BY n)) AS after FROM (SELECT change.*, IFNULL(value, 0) AS base, \
    IFNULL(value, 0) + SUM(delta) OVER (PARTITION BY change.achievement, change.member, change.day ORDER BY n) \
    AS sum FROM change LEFT JOIN achievement_tallies AS tally ON tally.site = ?1 AND tally.member = change.member \
    AND tally.achievement = change.achievement AND tally.day = change.day WHERE kind <> 'since')))";

/// The steps that the next rows reach.
const REACHED: &str = "reached AS (SELECT achievement, member, step.value AS step, at, n FROM running \
    JOIN json_each(def -> 6) AS step ON before < step.value AND step.value <= after \
    WHERE kind NOT IN ('days', 'weeks') UNION ALL \
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?2, '$.reached') \
    WHERE EXISTS (SELECT 1 FROM next))";

/// The steps that the next rows give or take: `hand` is 1 if a moderator awards the step, -1 if one withdraws it, else 0.
const STEPS: &str = "step AS MATERIALIZED (SELECT achievement, member, step, at, n, 0 AS hand FROM reached UNION ALL \
    SELECT entry ->> 'achievement', user, given.value, CAST(entry ->> 'now' AS INTEGER), n, iif(did = 'award', 1, -1) \
    FROM next JOIN json_each(entry ->> 'steps') AS given WHERE user <> '' AND did IN ('award', 'withdraw'))";

/// The anniversaries of members in the time since the last run, and of the next rows' members, until `?4`. A year of 365
/// days and one of 366 differ by a day.
const ANNIVERSARIES: &str = "wanted AS (SELECT def.value ->> 0 AS achievement, step.value AS step, \
    step.value || ' ' || substr(def.value ->> 1, 7) AS age FROM json_each(?3) AS def, json_each(def.value -> 6) AS step \
    WHERE def.value ->> 1 GLOB 'since-*'), \
    due AS (SELECT wanted.*, member, value FROM wanted CROSS JOIN achievements_read AS last ON last.site = ?1 AND {seen} \
    CROSS JOIN achievement_tallies AS tally ON tally.site = ?1 AND tally.achievement = wanted.achievement AND day = -1 \
    AND value > strftime('%s', last.at / 1000, 'unixepoch', '-' || age, iif(age GLOB '*years', '-1 days', '-0 days')) * 1000 \
    AND value <= (strftime('%s', ?4 / 1000, 'unixepoch', '-' || age) + 1) * 1000 \
    UNION SELECT wanted.*, tally.member, value FROM wanted JOIN change ON change.achievement = wanted.achievement \
    CROSS JOIN achievement_tallies AS tally ON tally.site = ?1 AND tally.member = change.member \
    AND tally.achievement = change.achievement AND tally.day = -1), \
    anniversary AS (SELECT * FROM (SELECT due.*, value % 1000 + strftime('%s', value / 1000, 'unixepoch', '+' || age) \
    * 1000 AS at FROM due) WHERE at <= ?4)";

/// The first counted activity of a member, as a row of the journal.
const FIRST: &str = "(SELECT n FROM journal WHERE site = ?1 AND user <> '' AND user = member \
    AND entry ->> 'did' = 'count' ORDER BY CAST(COALESCE(entry ->> 'at', \
    CASE entry ->> 'did' WHEN 'receive' THEN entry ->> 'changed' END, entry ->> 'now') AS INTEGER), n LIMIT 1)";

/// Returns the statements that start the evaluation from the first row if a condition has changed.
#[must_use]
pub fn restart(config: &Config, now: Instant) -> Vec<Statement> {
    let site = || deployment_id(config).into();
    vec![
        Statement::new(
            &format!(
                "WITH {PAST} UPDATE achievements_earned SET n = -1 WHERE site = ?1 AND hand = 0 \
                 AND EXISTS (SELECT 1 FROM json_each(?2) AS def, json_each(def.value -> 6) AS given \
                 WHERE def.value ->> 0 = achievement AND given.value = step AND (def.value ->> 7 OR member IN ({PERSONS}))) \
                 AND EXISTS (SELECT 1 FROM achievements_read, past WHERE site = ?1 AND version NOT GLOB '* accounts ' || until)"
            ),
            vec![site(), config.achievements.definitions().into()],
        ),
        // A first evaluation begins: the rows that the journal has already send no messages.
        Statement::new(
            &format!(
                "INSERT INTO achievements_read (site, version, n, seen, at) SELECT ?1, ?2 || ' ' || IFNULL(MAX(n), 0) \
                 || IFNULL(' accounts ' || {UNTIL}, ''), 0, (SELECT IFNULL(MAX(n), 0) FROM journal), ?3 FROM journal \
                 WHERE site = ?1 AND entry ->> 'did' = 'rules' ON CONFLICT DO UPDATE SET version = excluded.version, n = 0, \
                 joined = iif(excluded.version GLOB '* accounts *' AND version NOT GLOB '* accounts ' || {UNTIL}, seen, joined) \
                 WHERE version <> excluded.version"
            ),
            vec![site(), config.achievements.version().into(), now.0.into()],
        ),
        Statement::new(
            "DELETE FROM achievement_tallies WHERE site = ?1 \
             AND (SELECT n FROM achievements_read WHERE site = ?1) = 0",
            vec![site()],
        ),
    ]
}

/// Returns the common table expressions of the changes of tallies.
fn changes() -> String {
    let rule = RECOUNTED.replace("{at}", "at");
    format!(
        "WITH {}, next AS MATERIALIZED (SELECT * FROM effective), {}, {CHANGES}",
        effective(&RAW.replace("{seen}", SEEN)),
        GAINS.replace("{rule}", &rule)
    )
}

/// Returns the statements that evaluate the next rows. The last one returns whether there are more, and nothing if streaks were
/// computed for another position.
#[must_use]
pub fn statements(config: &Config, now: Instant, batch: &str) -> Vec<Statement> {
    let achievements = &config.achievements;
    let definitions = achievements.definitions();
    let values = |count: usize| {
        let mut values = vec![
            deployment_id(config).into(),
            batch.into(),
            definitions.as_str().into(),
            now.0.into(),
        ];
        values.truncate(count);
        values
    };
    let (changes, raw) = (changes(), RAW.replace("{seen}", SEEN));
    let steps = format!("{changes}, {RUNNING}, {REACHED}, {STEPS}");
    let statement = |sql: &str, count: usize| Statement::new(sql, values(count));
    let sends = config.webhooks.want(ACHIEVEMENT_EARNED);
    let send = |with: &str, found: &str| {
        let mut values = values(4);
        values.extend(webhooks::last_values(config));
        Statement::new(&webhooks::insert_earned(with, found), values)
    };
    let mut statements = Vec::new();
    if sends {
        // A step that a later row of the same transaction gives again sends no second message.
        let found = "SELECT * FROM (SELECT achievement, member, step, at, MIN(n) AS n, hand FROM step \
             GROUP BY achievement, member, step) \
             WHERE hand >= 0 AND n > (SELECT iif(member IN ({PERSONS}) AND joined >= n, 0, seen) \
             FROM achievements_read AS last WHERE last.site = ?1)";
        statements.push(send(&steps, &found.replace("{PERSONS}", PERSONS)));
    }
    let earned = format!(
        "{steps} INSERT INTO achievements_earned (site, member, achievement, step, at, n, hand) \
         SELECT ?1, member, achievement, step, at, n, hand FROM step WHERE TRUE ORDER BY n \
         ON CONFLICT DO UPDATE SET at = excluded.at, n = excluded.n, hand = excluded.hand \
         WHERE CASE excluded.hand WHEN 0 THEN hand = 0 AND (n < 0 OR excluded.n > n \
         AND achievement IN (SELECT value ->> 0 FROM json_each(?3) WHERE value ->> 7)) \
         ELSE excluded.hand <> hand AND (hand = 0 OR excluded.n > n) END"
    );
    let tallies = format!(
        "{changes}, {RUNNING} INSERT INTO achievement_tallies (site, member, achievement, day, value) \
         SELECT ?1, member, achievement, day, after FROM (SELECT member, achievement, day, after, MAX(n) \
         FROM running GROUP BY member, achievement, day) UNION ALL SELECT ?1, member, achievement, -1, MIN(at) \
         FROM change WHERE kind = 'since' GROUP BY member, achievement ON CONFLICT DO UPDATE \
         SET value = iif(day = -1, MIN(value, excluded.value), excluded.value)"
    );
    statements.extend([statement(&earned, 3), statement(&tallies, 3)]);
    if achievements.has_anniversaries() {
        let anniversaries = format!("{changes}, {}", ANNIVERSARIES.replace("{seen}", SEEN));
        if sends {
            let found = format!(
                "SELECT achievement, member, step, at, {FIRST} AS n FROM anniversary \
                 WHERE at > (SELECT at FROM achievements_read WHERE site = ?1)"
            );
            statements.push(send(&anniversaries, &found));
        }
        let earned = format!(
            "{anniversaries} INSERT INTO achievements_earned (site, member, achievement, step, at, n) \
             SELECT ?1, member, achievement, step, at, 0 FROM anniversary WHERE TRUE \
             ON CONFLICT DO UPDATE SET at = excluded.at, n = 0 WHERE hand = 0 AND (n < 0 OR excluded.at < at)"
        );
        statements.push(statement(&earned, 4));
    }
    if achievements.has_revoked() {
        let revoked = format!(
            "{changes} DELETE FROM achievements_earned WHERE site = ?1 AND (member, achievement) IN \
             (SELECT member, achievement FROM change WHERE def ->> 7) AND hand = 0 \
             AND n BETWEEN 0 AND (SELECT MAX(n) FROM next) \
             AND step > IFNULL((SELECT value FROM achievement_tallies AS tally WHERE tally.site = ?1 \
             AND tally.member = achievements_earned.member \
             AND tally.achievement = achievements_earned.achievement AND day = 0), 0)"
        );
        statements.push(statement(&revoked, 3));
    }
    let hidden = format!(
        "WITH {raw} INSERT INTO achievement_hidden (site, member, did, hidden, n) \
         SELECT ?1, user, entry ->> 'did' AS did, entry ->> 'hidden', MAX(n) FROM raw WHERE user <> '' \
         AND did IN ('moderate', 'profile') AND entry ->> 'hidden' <> '' GROUP BY user, did \
         ON CONFLICT DO UPDATE SET hidden = excluded.hidden, n = excluded.n WHERE excluded.n > n"
    );
    statements.push(statement(&hidden, 2));
    let lost = format!(
        "WITH {raw} DELETE FROM achievements_earned INDEXED BY achievements_pending WHERE site = ?1 AND n < 0 \
         AND (SELECT COUNT(*) FROM raw) < ?2 ->> 'rows' AND (SELECT {SEEN} FROM achievements_read WHERE site = ?1)"
    );
    statements.push(statement(&lost, 2));
    // Rows of other deployments are not read again.
    let position = format!(
        "WITH {raw} UPDATE achievements_read SET n = last, seen = MAX(seen, last), at = MAX(at, ?3) \
         FROM (SELECT iif(COUNT(*) < ?2 ->> 'rows', (SELECT IFNULL(MAX(n), 0) FROM journal), MAX(n)) AS last FROM raw) \
         WHERE site = ?1 AND {SEEN} RETURNING CAST(n < (SELECT IFNULL(MAX(n), 0) FROM journal) AS TEXT) AS text"
    );
    let values = vec![deployment_id(config).into(), batch.into(), now.0.into()];
    statements.push(Statement::new(&position, values));
    statements
}

/// Evaluates the next rows. Returns whether there may be more.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; then nothing was evaluated.
pub async fn evaluate(journal: &Database, config: &Config, now: Instant) -> Result<bool, Error> {
    let (mut statements, mut batch) = (restart(config, now), streaks::plain_batch(ROWS));
    if let Some(read) = streaks::read(config, &batch) {
        statements.push(read);
        let results = journal.run(&statements).await?;
        let rows = results.last().map_or(Ok(Vec::new()), Rows::texts)?;
        batch = streaks::evaluate(config, ROWS, &rows);
        statements.clear();
    }
    statements.extend(self::statements(config, now, &batch));
    let results = journal.run(&statements).await?;
    let more = results.last().map_or(Ok(Vec::new()), Rows::texts)?;
    // Another process has advanced.
    Ok(more.first().is_none_or(|more| more == "1"))
}

/// A board that has settled, or of a final event.
pub struct ClosedBoard {
    /// Its id, unique among all.
    pub id: String,
    /// The letter of its period; `E` for an event.
    pub kind: String,
    /// The end of its period, or when the event became final.
    pub at: Instant,
}

/// Returns the ids among some of the boards whose places are not in the journal.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn find_unknown(
    journal: &Database,
    config: &Config,
    ids: &[&str],
) -> Result<Vec<String>, Error> {
    let sql = "SELECT value AS text FROM json_each(?2) WHERE NOT EXISTS (SELECT 1 FROM journal \
         WHERE site = ?1 AND shard = 0 AND id = '0-0 ' || value)";
    let ids = serde_json::to_string(ids).unwrap_or_default();
    let values = vec![deployment_id(config).into(), ids.into()];
    journal.texts(Statement::new(sql, values)).await
}

/// Returns the statement that adds the places on a board to the journal: a row for the board, and one for each user. A board
/// whose row is there is left out as a whole. The ids sort before the ids of outbox entries.
#[must_use]
pub fn insert_places(config: &Config, board: &ClosedBoard, users: &[&str]) -> Statement {
    let sql = "INSERT INTO journal (site, shard, id, user, entry) SELECT ?1, 0, '0-0 ' || ?2, '', \
         json_object('did', 'places', 'now', ?3) WHERE NOT EXISTS (SELECT 1 FROM journal WHERE site = ?1 AND shard = 0 \
         AND id = '0-0 ' || ?2) UNION ALL SELECT ?1, 0, '0-0 ' || ?2 || ' ' || (key + 1), value, json_object('did', 'place', \
         'now', ?3, 'user', value, 'action', ?4, 'points', CAST(key + 1 AS TEXT)) FROM json_each(?5) WHERE NOT EXISTS \
         (SELECT 1 FROM journal WHERE site = ?1 AND shard = 0 AND id = '0-0 ' || ?2)";
    let values = vec![
        deployment_id(config).into(),
        board.id.as_str().into(),
        board.at.0.to_string().into(),
        format!("{PLACE}{}", board.kind).into(),
        serde_json::to_string(users).unwrap_or_default().into(),
    ];
    Statement::new(sql, values)
}

/// Returns the statements that delete what is known of erased members.
#[must_use]
pub fn forget(config: &Config, members: &[&str]) -> Vec<Statement> {
    let mut statements = Vec::new();
    let members = serde_json::to_string(members).unwrap_or_default();
    for delete in [
        "DELETE FROM achievement_tallies",
        "DELETE FROM achievements_earned",
        "DELETE FROM achievement_hidden",
    ] {
        let sql =
            format!("{delete} WHERE site = ?1 AND member IN (SELECT value FROM json_each(?2))");
        let values = vec![deployment_id(config).into(), members.as_str().into()];
        statements.push(Statement::new(&sql, values));
    }
    statements
}

/// Reads the steps and values of a member, as rows that
/// [`render`](activity_rank_core::achievement::AchievementsRequest::render) describes.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_member(
    journal: &Database,
    config: &Config,
    of: (&str, Date, Instant),
) -> Result<Vec<String>, Error> {
    let rows = journal.texts(member_statement(config, of)).await?;
    Ok(streaks::values_of_member(config, of.1, rows))
}

/// Returns the statement that reads a member.
fn member_statement(config: &Config, (member, today, now): (&str, Date, Instant)) -> Statement {
    let sql = "WITH def AS (SELECT value ->> 0 AS id, value ->> 1 AS kind FROM json_each(?3)), \
         tally AS (SELECT kind, id, iif(kind = 'since-days', (?4 - value) / 86400000, \
         strftime('%Y', ?4 / 1000, 'unixepoch') - strftime('%Y', value / 1000, 'unixepoch') \
         - (strftime('%m%d%H%M%S', ?4 / 1000, 'unixepoch') < strftime('%m%d%H%M%S', value / 1000, 'unixepoch'))) AS age, \
         value FROM def JOIN achievement_tallies AS tally ON site = ?1 AND member = ?2 AND achievement = id \
         AND day = iif(kind GLOB 'since-*', -1, 0)) \
         SELECT 'e ' || achievement || ' ' || step || ' ' || at AS text, 0 AS n FROM achievements_earned \
         WHERE site = ?1 AND member = ?2 AND hand >= 0 \
         UNION ALL SELECT 'h ' || achievement || ' ' || step || ' 1', 0 FROM achievements_earned \
         WHERE site = ?1 AND member = ?2 AND hand = 1 \
         UNION ALL SELECT 'v ' || id || ' ' || CAST(iif(kind GLOB 'since-*', age, value) AS INTEGER), 0 FROM tally";
    let mut values = vec![
        deployment_id(config).into(),
        member.into(),
        config.achievements.definitions().into(),
        now.0.into(),
    ];
    match config.achievements.days_around() {
        None => Statement::new(sql, values),
        Some(days) => {
            values.extend([today.to_string().into(), days.into()]);
            Statement::new(&[sql, streaks::MEMBER].concat(), values)
        }
    }
}

/// Returns the number of a member's achievements.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn count(journal: &Database, config: &Config, member: &str) -> Result<usize, Error> {
    let sql = "SELECT achievement AS text FROM achievements_earned WHERE site = ?1 AND member = ?2 AND hand >= 0 \
         AND achievement IN (SELECT value ->> 0 FROM json_each(?3)) GROUP BY achievement";
    let values = vec![
        deployment_id(config).into(),
        member.into(),
        config.achievements.definitions().into(),
    ];
    let earned = journal.texts(Statement::new(sql, values)).await?;
    Ok(earned.len())
}

/// Reads the number of members with each step, in the same way. Hidden members are not counted.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_counts(journal: &Database, config: &Config) -> Result<Vec<String>, Error> {
    let sql = "SELECT 'e ' || (def.value ->> 0) || ' ' || step.value || ' ' || (SELECT COUNT(*) \
         FROM achievements_earned AS earned WHERE site = ?1 AND achievement = def.value ->> 0 AND earned.step = step.value \
         AND earned.hand >= 0 AND NOT EXISTS (SELECT 1 FROM achievement_hidden AS hidden WHERE hidden.site = ?1 \
         AND hidden.member = earned.member AND hidden.hidden = '1')) AS text \
         FROM json_each(?2) AS def, json_each(def.value -> 6) AS step";
    let definitions = config.achievements.definitions();
    let values = vec![deployment_id(config).into(), definitions.into()];
    journal.texts(Statement::new(sql, values)).await
}

/// Reads the number of rows of the journal that are still to be evaluated.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_behind(journal: &Database, config: &Config) -> Result<String, Error> {
    let sql = "SELECT CAST(IFNULL((SELECT MAX(n) FROM journal), 0) \
         - IFNULL((SELECT n FROM achievements_read WHERE site = ?1), 0) AS TEXT) AS text";
    let statement = Statement::new(sql, vec![deployment_id(config).into()]);
    let behind = journal.texts(statement).await?;
    Ok(behind.into_iter().next().unwrap_or_default())
}

mod streaks;
#[cfg(test)]
mod tests;
