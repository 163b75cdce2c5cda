//! Deletes events.

use super::shard_ids;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::board::event_board_name;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Deletes the board of an event.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn delete_event(archive: &Database, config: &Config, id: &str) -> Result<(), Error> {
    let boards = "FROM boards WHERE site IN (SELECT value FROM json_each(?1)) AND name = ?2";
    let values = vec![shard_ids(config).into(), event_board_name(id).into()];
    let statements = [
        format!("DELETE FROM places WHERE board IN (SELECT id {boards})"),
        format!("DELETE {boards}"),
    ];
    let statements = statements.map(|sql| Statement::new(&sql, values.clone()));
    archive.run(&statements).await.map(|_| ())
}
