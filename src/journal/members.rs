//! Finds the members whose activity stands.

use crate::archive::deployment_id;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::activity::Activity;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Returns the members who did an action to a target and have not undone it since, oldest activity first, at most
/// `limit`. An undo with an instant of its own does not concern later activity.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn find_members(
    journal: &Database,
    config: &Config,
    undo: &Activity,
    limit: usize,
) -> Result<Vec<String>, Error> {
    let sql = "SELECT user AS text FROM (SELECT user, MAX(n) AS n, entry ->> 'did' AS did, \
         CAST(entry ->> 'at' AS INTEGER) AS at FROM journal WHERE site = ?1 AND entry ->> 'mark' = ?2 \
         AND entry ->> 'once' = 's' AND entry ->> 'did' <> 'refused' GROUP BY user) \
         WHERE did = 'count' AND (?3 IS NULL OR at <= ?3) ORDER BY n LIMIT ?4";
    let values = vec![
        deployment_id(config).into(),
        format!("{}:{}", undo.action, undo.target).into(),
        undo.dated.then_some(undo.at.0).into(),
        limit.into(),
    ];
    journal.texts(Statement::new(sql, values)).await
}
