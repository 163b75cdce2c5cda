//! Completes changes of visibility and erasures that requests have begun.

use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::deployment::pending;

/// The most requests of a run, besides the one that reads the fingerprints: with those of the outbox, a
/// run stays within the 50 of Cloudflare's free plan. Each request writes up to 4,000 boards.
const REQUESTS: u32 = 6;

/// Continues the pending changes of all shards.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store fails; the next run continues.
pub async fn run(deployment: &Deployment) -> Result<(), Error> {
    pending::advance(deployment, REQUESTS).await.map(|_| ())
}
