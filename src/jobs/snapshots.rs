//! Saves a snapshot of the current boards, for while the store is unavailable.

use crate::archive::deployment_id;
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::snapshots::Snapshots;
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery};
use activity_rank_core::calendar::Period;
use activity_rank_core::error::Error;
use activity_rank_store::boards::{self, Others};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::progress::{self, Progress};

/// Rows saved of each board.
const LIMIT: u32 = 1000;
const ROWS: BoardQuery<'_> = BoardQuery::Page {
    offset: 0,
    limit: LIMIT,
};

/// Milliseconds after which a snapshot is written again, although no board has changed: its value
/// expires after a day.
const RENEWAL: i64 = 12 * 3_600_000;

/// Milliseconds after a change in which a snapshot does not count as final. The request that hides or
/// erases a user invalidates the snapshots only after its change of the store.
const MARGIN: i64 = 60_000;

/// Returns the most that one run sends: one or two requests for each period, one write, one request that
/// checks the fingerprints of the shards, two more for each script that the store does not know or whose
/// flags it refuses, and with a journal one that records the snapshot.
#[must_use]
pub fn cost(deployment: &Deployment) -> Cost {
    let config = &deployment.config;
    let records = u32::from(config.bound.journal);
    let reads = boards::page_requests(config, LIMIT);
    Cost::new((config.periods.len() as u32 + 2) * reads + 2 + records, 0)
}

/// Saves the boards of all users, one of each period, unless the last snapshot has the same.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the namespace fails.
pub async fn run(
    deployment: &Deployment,
    snapshots: &Snapshots,
    progress: &[Progress],
    budget: &Budget,
) -> Result<(), Error> {
    let now = clock::now();
    let date = deployment.calendar.date_at(now);
    let board = |period: &Period| BoardId {
        kind: BoardKind::Members,
        period: *period,
        date,
        group: None,
    };
    let mut names = String::new();
    for period in &deployment.config.periods {
        names.push_str(&board(period).name());
        names.push(' ');
    }
    let is_current = |progress: &Progress| is_current(progress, &names, now.0).unwrap_or(false);
    if progress.iter().all(is_current) {
        return Ok(());
    }
    let mut saved = Vec::new();
    for period in &deployment.config.periods {
        let board = board(period);
        let stored = boards::read(deployment, &board, &ROWS, &Others::default()).await?;
        saved.push((board.name(), stored.slice));
    }
    budget.spend(Cost::new(1, 0))?;
    let id = deployment_id(&deployment.config);
    snapshots.save(&id, now, &saved).await?;
    let mut contents = Vec::new();
    for progress in progress {
        let Some(outbox) = &progress.outbox else {
            return Ok(());
        };
        contents.push(format!("{} {} {names}", now.0, outbox.last));
    }
    progress::record_snapshot(deployment, &contents).await
}

/// Returns whether the last snapshot has these boards, and no change of the shard came after it or
/// shortly before; `None` if that is unknown.
fn is_current(progress: &Progress, names: &str, now: i64) -> Option<bool> {
    let last = progress.outbox.as_ref()?.last.as_str();
    let (made, content) = progress.snapshot.split_once(' ')?;
    let made: i64 = made.parse().ok()?;
    let changed = last.split('-').next()?.parse().unwrap_or(0);
    let same = content.split_once(' ')? == (last, names);
    Some(same && now - made < RENEWAL && made - changed >= MARGIN)
}
