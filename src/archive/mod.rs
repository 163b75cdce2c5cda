//! The archive: closed boards and boards of final events in a D1 database, for when Redis has dropped them.
//!
//! The migrations in `migrations/archive` describe the tables. As in Redis, scores of hidden users
//! are negative.

mod events;
mod history;
mod read;
mod totals;
mod users;
mod winners;
mod write;

pub use events::delete_event;
pub use history::read_points;
pub use read::read;
pub use totals::add_totals;
pub use users::{erase, set_target_visibility, set_visibility};
pub use winners::read_winners;
pub use write::{
    ArchivedBoard, BoardName, KEPT, acquire, archived_names, finish, read_boards, release,
    shards_by_last_run, write_boards,
};

use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::config::Config;
use activity_rank_store::fingerprint::settings_id;

/// Milliseconds after its end when a board is archived: by then most late activity has arrived.
/// Later activity archives the board again.
pub const SETTLED: i64 = 3 * 3_600_000;

/// Returns the id of a deployment in the databases. Data under another prefix, or with other settings
/// that scores depend on, belongs to another deployment.
#[must_use]
pub fn deployment_id(config: &Config) -> String {
    format!("{} {}", config.prefix, settings_id(config))
}

/// Returns the first day whose boards have not all settled at an instant.
#[must_use]
pub fn settled_before(calendar: &Calendar, now: Instant) -> Date {
    calendar.date_at(Instant(now.0 - SETTLED))
}

/// Returns the id of a shard; each shard is archived separately. Ids sort in the order of shards.
#[must_use]
pub fn shard_id(config: &Config, shard: u32) -> String {
    match config.shards {
        1 => deployment_id(config),
        _ => format!("{} {shard:02}", deployment_id(config)),
    }
}

/// Returns the ids of all shards as a JSON array.
fn shard_ids(config: &Config) -> String {
    let ids = (0..config.shards).map(|shard| shard_id(config, shard));
    serde_json::to_string(&ids.collect::<Vec<_>>()).unwrap_or_default()
}
