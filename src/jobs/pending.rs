//! Completes changes of visibility and erasures that requests have begun.

use crate::platform::budget::{Budget, Cost};
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::deployment::pending;

/// The requests of a run besides its steps: one reads the fingerprints, and one more is needed if the
/// store does not know the script.
const OTHERS: u32 = 2;

/// The part of the budget that other jobs leave: one request for keys and five that each write 2,400
/// boards. With 20 batches of the outbox, a run stays within the 50 of Cloudflare's free plan.
pub const RESERVED: Cost = Cost::new(6 + OTHERS, 0);

/// Continues the pending changes of all shards within a budget, whose reserved part it leaves as far as
/// it has [`RESERVED`] itself.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store fails; the next run continues.
pub async fn run(deployment: &Deployment, budget: &Budget) -> Result<(), Error> {
    let requests = budget.unreserved_requests().max(RESERVED.requests) - OTHERS;
    pending::advance(deployment, requests).await.map(|_| ())
}
