//! Evaluates achievements from the journal.

use super::webhooks;
use crate::app::CronRun;
use crate::journal::achievements::{COST, ClosedBoard, evaluate, find_unknown, insert_places};
use crate::platform::budget::Cost;
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::board::BoardId;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use std::slice::from_ref;

/// In the place of the letter of a period: boards of events.
const EVENTS: &str = "E";

/// Returns the part of the budget that other jobs leave for this one.
#[must_use]
pub fn reserved(config: &Config) -> Cost {
    match config.achievements.is_empty() {
        true => Cost::default(),
        false => COST,
    }
}

/// The cost of [`add_places`]: two queries that read and write the journal and one of the archive for each board, the
/// definitions of events, boards and profiles.
const PLACES_COST: Cost = Cost::new(9, 12);

/// Adds the first places on boards that have settled and of final events to the journal, once.
async fn add_places(run: &CronRun, journal: &Database) -> Result<(), Error> {
    let (config, now) = (&run.deployment.config, clock::now());
    let last_place = |kind: &str| config.achievements.last_place(kind);
    let mut closed = webhooks::closed_periods(config, &run.deployment.calendar, now);
    if last_place(EVENTS).is_some() {
        closed.extend(webhooks::final_events(run, now).await?);
    }
    let boards = closed.iter().filter_map(|message| {
        let id = message.get(1)?.as_str()?;
        let (kind, board) = match id.split_once(' ') {
            Some((_, event)) => (EVENTS, BoardId::for_event(event.to_owned())),
            None => (id.get(..1)?, webhooks::board_of(id)?),
        };
        let at = Instant(message.get(3)?.as_i64()?);
        let (id, kind) = (id.to_owned(), kind.to_owned());
        let places = last_place(&kind)?;
        Some((ClosedBoard { id, kind, at }, board, places))
    });
    let boards: Vec<_> = boards.collect();
    if boards.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = boards
        .iter()
        .map(|(closed, ..)| closed.id.as_str())
        .collect();
    let unknown = find_unknown(journal, config, &ids).await?;
    for (closed, board, places) in boards
        .iter()
        .filter(|(closed, ..)| unknown.contains(&closed.id))
    {
        let slices = webhooks::read_boards(run, from_ref(board), *places).await?;
        let rows = slices.iter().flat_map(|slice| &slice.rows);
        let users: Vec<&str> = rows.map(|row| row.user.as_str()).collect();
        journal
            .run(&[insert_places(config, closed, &users)])
            .await?;
    }
    Ok(())
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
    let mut kinds = ["d", "w", "m", "y", EVENTS].iter();
    let has_places = kinds.any(|kind| config.achievements.last_place(kind).is_some());
    if has_places && run.budget.allows(PLACES_COST.plus(COST)) {
        run.log_failure(add_places(run, journal).await);
    }
    while run.budget.allows(COST) && evaluate(journal, config, clock::now()).await? {}
    Ok(())
}
