//! Searches for cases once a day.

use crate::app::CronRun;
use crate::journal::fair_play::{ADD_COST, READ_COST, SEARCH_COST, add, is_searched, search};
use crate::log;
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::error::Error;

/// Searches for cases, if that has not been done on this day of UTC, as far as the budget allows; the next run continues.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; the next run continues.
pub async fn run(run: &CronRun, journal: &Database) -> Result<(), Error> {
    let (config, now) = (&run.deployment.config, clock::now());
    let Some(thresholds) = config.fair_play.filter(|_| run.budget.allows(READ_COST)) else {
        return Ok(());
    };
    if is_searched(journal, config, now).await? {
        return Ok(());
    }
    let mut more = true;
    while more && run.budget.allows(ADD_COST) {
        more = add(journal, config, &thresholds, now).await?;
    }
    if !more && run.budget.allows(SEARCH_COST) {
        let searched = search(journal, config, &thresholds, now).await?;
        if !searched.cut.is_empty() {
            let kinds = searched.cut;
            log::scheduled(&format!("the search for cases left out pairs: {kinds}"));
        }
    }
    Ok(())
}
