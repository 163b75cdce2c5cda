//! Reads the totals of archived boards.

use super::shard_ids;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::board::board_name;
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Completes the totals of boards, by shard: the archive has the boards that Redis has dropped.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn add_totals(
    archive: &Database,
    config: &Config,
    boards: &[(Period, Date)],
    totals: &mut [Vec<Option<u64>>],
) -> Result<(), Error> {
    if !totals.iter().flatten().any(Option::is_none) {
        return Ok(());
    }
    let sql = "SELECT shard.key || ' ' || board.key || ' ' || total AS text \
        FROM json_each(?1) AS shard CROSS JOIN json_each(?2) AS board \
        CROSS JOIN boards ON site = shard.value AND name = board.value AND done = 1";
    let names = boards.iter();
    let names = names.map(|(period, date)| board_name(*period, *date, None));
    let names = serde_json::to_string(&names.collect::<Vec<_>>()).unwrap_or_default();
    let values = vec![shard_ids(config).into(), names.into()];
    for row in archive.texts(Statement::new(sql, values)).await? {
        let mut numbers = row.split(' ').flat_map(str::parse);
        let mut next = || numbers.next().unwrap_or(usize::MAX);
        let (shard, board, total) = (next(), next(), next() as u64);
        let shard_totals = totals.get_mut(shard);
        if let Some(known) = shard_totals.and_then(|totals| totals.get_mut(board)) {
            known.get_or_insert(total);
        }
    }
    Ok(())
}
