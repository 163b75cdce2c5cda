//! Saves a snapshot of the current boards, for while the store is unavailable.

use crate::archive::deployment_id;
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::snapshots::Snapshots;
use activity_rank_core::board::{BoardId, BoardQuery};
use activity_rank_core::error::Error;
use activity_rank_store::boards;
use activity_rank_store::deployment::Deployment;

/// Rows saved of each board.
const ROWS: BoardQuery<'_> = BoardQuery::Page {
    offset: 0,
    limit: 1000,
};

/// Returns the most that one run sends: a request for each period, one write, one request that checks
/// the fingerprints of the shards, and two more for a store that does not know the script or refuses
/// its flags.
#[must_use]
pub fn cost(deployment: &Deployment) -> Cost {
    Cost::new(deployment.config.periods.len() as u32 + 4, 0)
}

/// Saves the boards of all users, one of each period.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the namespace fails.
pub async fn run(
    deployment: &Deployment,
    snapshots: &Snapshots,
    budget: &Budget,
) -> Result<(), Error> {
    let now = clock::now();
    let date = deployment.calendar.date_at(now);
    let mut saved = Vec::new();
    for period in &deployment.config.periods {
        let board = BoardId {
            period: *period,
            date,
            group: None,
        };
        let stored = boards::read(deployment, &board, &ROWS).await?;
        saved.push((board.name(), stored.slice));
    }
    budget.spend(Cost::new(1, 0))?;
    let id = deployment_id(&deployment.config);
    snapshots.save(&id, now, &saved).await
}
