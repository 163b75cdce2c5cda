//! Results of sync runs: the table `syncs` beside the journal.

use crate::archive::deployment_id;
use crate::platform::d1::Statement;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::sync::SyncReport;

/// A result as responses have it.
macro_rules! view {
    () => {
        "json_object('source', source, 'state', state, 'detail', detail, \
    'reported_at', strftime('%Y-%m-%dT%H:%M:%SZ', reported / 1000, 'unixepoch'), \
    'completed_at', strftime('%Y-%m-%dT%H:%M:%SZ', completed / 1000, 'unixepoch'), \
    'differences', differences, 'mended', mended, 'refused', json(refused)) AS text"
    };
}

/// Returns the statement that stores a report, and returns the result as JSON: no row if the source is new and there are 100
/// others. The report of a run that is not done keeps the result of the last one that was.
pub fn upsert(config: &Config, report: &SyncReport, now: Instant) -> Statement {
    let sql = concat!(
        "REPLACE INTO syncs SELECT ?1, ?2, report ->> 'state', report ->> 'detail', ?4, iif(is_done, ?4, completed), \
         iif(is_done, report ->> 'differences', differences), iif(is_done, IFNULL(report ->> 'mended', 0), mended), \
         iif(is_done, IFNULL(report ->> 'refused', '{}'), refused) \
         FROM (SELECT ?3 AS report, ?3 ->> 'state' = 'done' AS is_done) LEFT JOIN syncs ON site = ?1 AND source = ?2 \
         WHERE source IS NOT NULL OR (SELECT COUNT(*) FROM syncs WHERE site = ?1) < 100 RETURNING ",
        view!()
    );
    let (source, json) = (report.source.as_str(), report.json.as_str());
    let values = vec![
        deployment_id(config).into(),
        source.into(),
        json.into(),
        now.0.into(),
    ];
    Statement::new(sql, values)
}

/// Returns the statement that reads the results as JSON, in the order of their sources.
pub fn select(config: &Config) -> Statement {
    let sql = concat!(
        "SELECT ",
        view!(),
        " FROM syncs WHERE site = ?1 ORDER BY source"
    );
    Statement::new(sql, vec![deployment_id(config).into()])
}

/// Returns the statement that deletes the result of a source.
pub fn delete(config: &Config, source: &str) -> Statement {
    let sql = "DELETE FROM syncs WHERE site = ?1 AND source = ?2";
    Statement::new(sql, vec![deployment_id(config).into(), source.into()])
}
