//! Reads the points of a user on archived boards of days.

use super::shard_id;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::calendar::Date;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::history::HistoryRequest;
use activity_rank_core::score::Score;

/// Reads the points of a user, hidden or not, on the older days of a request that the archive has, in smallest steps, the
/// latest first.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_points(
    archive: &Database,
    config: &Config,
    request: &HistoryRequest,
) -> Result<Vec<(Date, i64)>, Error> {
    let sql = "SELECT day || ' ' || ABS(score) AS text FROM places JOIN boards ON id = board \
        WHERE user = ?1 AND site = ?2 AND kind = 'd' AND crowd = '' AND done = 1 \
        AND day BETWEEN ?3 AND ?4 ORDER BY day DESC";
    let (first, last) = request.older_days();
    let shard = config.shard_of(&request.user);
    let values = vec![
        request.user.as_str().into(),
        shard_id(config, shard).into(),
        first.to_string().into(),
        last.to_string().into(),
    ];
    let rows = archive.texts(Statement::new(sql, values)).await?;
    let points = rows.iter().filter_map(|row| {
        let (day, score) = row.split_once(' ')?;
        let points = config.layout.points(Score(score.parse().ok()?));
        Some((Date::parse(day)?, i64::try_from(points).ok()?))
    });
    Ok(points.collect())
}
