//! Sums of the journal by day and action: the tables `sums` and `summed`.
//!
//! Each transaction adds the rows after the last one that is in the sums, and advances to the last of
//! them: a row counts exactly once, whichever processes run at the same time.

use crate::archive::deployment_id;
use crate::platform::budget::Cost;
use crate::platform::d1::{Database, Rows, Statement};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::stats::{Sum, Sums};

/// The cost of [`add`].
pub const COST: Cost = Cost::new(1, 2);

/// The most rows that one transaction adds.
const ROWS: u32 = 20_000;

/// The next rows of the journal. `+` keeps the database from an index that is not in their order.
const NEXT: &str = "(SELECT n, user, entry FROM journal WHERE +site = ?1 \
    AND n > IFNULL((SELECT n FROM summed WHERE site = ?1), 0) ORDER BY n LIMIT ?2)";

/// Earlier rows of the user of a row, of certain kinds.
const EARLIER: &str = "FROM journal AS earlier WHERE earlier.site = ?1 AND earlier.user <> '' \
    AND earlier.user = next.user AND earlier.n < next.n AND earlier.entry ->> '$.did'";

/// The change of the board of the day, in smallest steps.
const APPLIED: &str = "CAST(entry ->> '$.applied' AS INTEGER)";

/// The points of a row, in smallest steps.
const POINTS: &str = "CAST(IFNULL(CASE entry ->> '$.did' WHEN 'adjust' THEN entry ->> '$.applied' END, \
    entry ->> '$.points') AS INTEGER)";

/// The start of a day is at most so many milliseconds before that of the day in UTC.
const EARLIEST_ZONE: i64 = 14 * 3_600_000;

/// Returns the statements that add the next rows to the sums; `until` is the instant until which the
/// journal has all changes, if that is known.
///
/// An undo takes back the points of the row that it undoes. These are the points of its rule, unless
/// the rule has changed or a board had fewer: only then that row is looked up. If adjustments had taken
/// points from the board of the day, they shrink by the difference, as in the user's history. A board that
/// may have expired does not show a difference. Activity of a visitor (`kinds` is empty) is on no board: it counts without
/// points, and a visitor is no member. An adjustment of an event (`kinds` is `e`) is on no board of a day.
#[must_use]
pub fn statements(config: &Config, until: Option<Instant>) -> [Statement; 2] {
    let sums = format!(
        "WITH next AS {NEXT}, changes AS (SELECT entry ->> '$.did' AS did, \
         entry ->> '$.date' AS date, entry ->> '$.action' AS action, {APPLIED} AS applied, \
         entry ->> '$.now' - strftime('%s', entry ->> '$.date') * 1000 < ?3 AS kept, \
         (entry ->> '$.kinds' IS NOT '') * CASE WHEN entry ->> '$.did' <> 'undo' THEN {POINTS} \
         WHEN entry ->> '$.applied' = '-' || (entry ->> '$.points') THEN {APPLIED} \
         ELSE -IFNULL((SELECT {POINTS} {EARLIER} IN ('count', 'adjust') \
         AND earlier.entry ->> '$.mark' = next.entry ->> '$.mark' ORDER BY earlier.n DESC LIMIT 1), \
         {POINTS}) END AS points FROM next WHERE entry ->> '$.kinds' IS NOT 'e' \
         AND (entry ->> '$.did' IN ('count', 'adjust') \
         OR entry ->> '$.did' = 'undo' AND entry ->> '$.applied' <> '')) \
         INSERT INTO sums (site, date, action, count, points) \
         SELECT ?1, date, action, SUM(count), SUM(points) FROM (\
         SELECT date, action, CASE did WHEN 'undo' THEN -1 ELSE 1 END AS count, \
         CASE WHEN did = 'undo' AND action = 'adjust' AND kept THEN applied ELSE points END \
         AS points FROM changes \
         UNION ALL SELECT date, 'adjust', 0, applied - points FROM changes \
         WHERE did = 'undo' AND action <> 'adjust' AND kept AND applied > points \
         UNION ALL SELECT entry ->> '$.date', '', 1, 0 FROM next WHERE entry ->> '$.did' = 'count' \
         AND entry ->> '$.kinds' IS NOT '' AND NOT EXISTS (SELECT 1 {EARLIER} = 'count')) GROUP BY date, action \
         ON CONFLICT DO UPDATE SET count = count + excluded.count, points = points + excluded.points"
    );
    let position = format!(
        "INSERT INTO summed (site, n, at) SELECT ?1, MAX(n), COALESCE(\
         CASE WHEN COUNT(*) < ?2 THEN ?3 END, CAST(entry ->> '$.now' AS INTEGER), 0) \
         FROM {NEXT} HAVING COUNT(*) > 0 \
         ON CONFLICT DO UPDATE SET n = excluded.n, at = MAX(at, excluded.at) RETURNING CAST(at AS TEXT) AS text"
    );
    let seconds = config.keep.day * 86_400;
    let kept = i64::try_from(seconds * 1000).unwrap_or(i64::MAX) - EARLIEST_ZONE;
    let until = until.map(|until| until.0);
    let values = |last| vec![deployment_id(config).into(), ROWS.into(), last];
    [
        Statement::new(&sums, values(kept.into())),
        Statement::new(&position, values(until.into())),
    ]
}

/// Adds the next rows to the sums. Returns whether there may be more.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; then nothing was added.
pub async fn add(
    journal: &Database,
    config: &Config,
    until: Option<Instant>,
) -> Result<bool, Error> {
    let statements = statements(config, until);
    let results = journal.run(&statements).await?;
    let added = results.last().map_or(Ok(Vec::new()), Rows::texts)?;
    let until = until.map(|until| until.0.to_string());
    Ok(added.first().is_some_and(|at| Some(at) != until.as_ref()))
}

/// Reads the sums of some days.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read(
    journal: &Database,
    config: &Config,
    (first, last): (String, String),
) -> Result<Sums, Error> {
    let site = deployment_id(config);
    let sums = "SELECT date || ' ' || action || ' ' || count || ' ' || points AS text FROM sums \
        WHERE site = ?1 AND date BETWEEN ?2 AND ?3 ORDER BY date, action";
    let position = "SELECT CAST(at AS TEXT) AS text FROM summed WHERE site = ?1";
    let values = vec![site.as_str().into(), first.into(), last.into()];
    let statements = [
        Statement::new(sums, values),
        Statement::new(position, vec![site.into()]),
    ];
    let results = journal.run(&statements).await?;
    let rows = results.first().map_or(Ok(Vec::new()), Rows::texts)?;
    let position = results.last().map_or(Ok(Vec::new()), Rows::texts)?;
    let as_of = position.first().and_then(|at| at.parse().ok());
    Ok(Sums {
        rows: rows.iter().filter_map(|row| decode(row)).collect(),
        as_of: as_of.map(Instant),
    })
}

/// Decodes a row; an action has no space.
fn decode(row: &str) -> Option<Sum> {
    let mut parts = row.split(' ');
    let mut next = || parts.next();
    Some(Sum {
        date: next()?.to_owned(),
        action: next()?.to_owned(),
        count: next()?.parse().ok()?,
        steps: next()?.parse().ok()?,
    })
}
