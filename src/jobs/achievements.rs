//! Evaluates achievements from the journal.

use crate::app::CronRun;
use crate::journal::achievements::{COST, evaluate};
use crate::platform::budget::Cost;
use crate::platform::clock;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Returns the part of the budget that other jobs leave for this one.
#[must_use]
pub fn reserved(config: &Config) -> Cost {
    match config.achievements.is_empty() {
        true => Cost::default(),
        false => COST,
    }
}

/// Evaluates the rows that the journal has received since the last run, as many as the budget allows.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; the next run continues.
pub async fn run(run: &CronRun) -> Result<(), Error> {
    let config = &run.deployment.config;
    let Some(journal) = run
        .journal
        .as_ref()
        .filter(|_| !config.achievements.is_empty())
    else {
        return Ok(());
    };
    while run.budget.allows(COST) && evaluate(journal, config, clock::now()).await? {}
    Ok(())
}
