//! `activity-rank rebuild`.

use std::process::ExitCode;

use tokio::time::Instant;

use super::begin::{begin, first_page, start_over};
use super::compare::findings::Findings;
use super::compare::look::{counted_again, told, while_it_counts};
use super::compare::{audit, everything};
use super::journal::{Journal, Page};
use super::place::Place;
use super::replay::Replay;
use super::state::{Phase, State};
use super::swap::swap;
use crate::args::{RebuildArgs, ServiceArgs};
use crate::count::count;
use crate::failure::{DIFFERENT, Failure};
use crate::screen::Screen;

/// Makes a site anew from its journal.
///
/// # Errors
///
/// [`Failure`] where service or store do not answer, or there is another site.
pub async fn run(service: &ServiceArgs, args: &RebuildArgs) -> Result<ExitCode, Failure> {
    let place = Place::new(&args.store).await?;
    let journal = Journal::new(service, args.store.retries)?;
    let first = first_page(&place, &journal, &args.store.prefix).await?;
    if args.fresh {
        start_over(&place, &first.stamp).await?;
    }
    let state = begin(&place, &first.stamp).await?;
    let owner = State::copy(&state);
    let run = Rebuild {
        place: &place,
        start: Instant::now(),
        discard: args.discard,
    };
    let done = tokio::select! {
        done = run.go(journal, first, state) => done,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    place.live.progress.finish();
    if done.is_err() {
        // Whatever it was, nobody is kept from writing who does not have to be.
        let finishing = owner.let_go(&place).await.unwrap_or(false);
        if finishing {
            Screen::complain(
                "the rebuild is bringing everything to its place: run it again to finish it; until \
                 then the service holds what it is sent",
            );
        } else {
            Screen::complain("run it again to go on with it");
        }
    }
    done
}

/// One rebuild.
struct Rebuild<'a> {
    place: &'a Place,
    start: Instant,
    discard: bool,
}

impl Rebuild<'_> {
    async fn go(
        &self,
        journal: Journal,
        first: Page,
        mut state: State,
    ) -> Result<ExitCode, Failure> {
        let place = self.place;
        if matches!(state.phase, Phase::Delete | Phase::Rename) {
            swap(place, &mut state).await?;
            place.live.progress.finish();
            Screen::print("finished a rebuild that had broken off")?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut replay = Replay::resume(place, journal, first, state).await?;
        if replay.state().phase == Phase::Replay {
            let (findings, unsure) = while_it_counts(place, &mut replay).await?;
            let again = counted_again(place).await?;
            if let Some(code) = self.refused(findings, unsure, &again)? {
                return Ok(code);
            }
            replay.state().turn(place, Phase::Held, false).await?;
        }
        let held = Instant::now();
        while !replay.catch_up(place).await?.is_empty() || is_waiting(place).await? {}
        let mut findings = Findings::default();
        everything(place, &mut findings).await?;
        let again = counted_again(place).await?;
        let report = told(&findings, 0, &again);
        if let Some(code) = self.refused(findings, 0, &again)? {
            replay.state().turn(place, Phase::Replay, false).await?;
            return Ok(code);
        }
        let keeps_audit = audit::is_whole(place).await?;
        replay
            .state()
            .turn(place, Phase::Delete, keeps_audit)
            .await?;
        swap(place, replay.state()).await?;
        place.live.progress.finish();
        Screen::print(&format!(
            "{report}\nrebuilt from {}; writes were held for {:.1} s",
            replay.figures(self.start),
            held.elapsed().as_secs_f64()
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Says that there is more than the journal tells, and ends with that, unless it may be lost.
    fn refused(
        &self,
        mut findings: Findings,
        unsure: usize,
        again: &[String],
    ) -> Result<Option<ExitCode>, Failure> {
        findings.explained(again);
        if findings.more.is_empty() || self.discard {
            return Ok(None);
        }
        self.place.live.progress.finish();
        let more = findings.more.len().try_into().unwrap_or(u64::MAX);
        Screen::print(&told(&findings, unsure, again))?;
        Screen::print("The store holds what the journal does not tell, and a rebuild would lose:")?;
        for difference in findings.more.iter().take(20) {
            Screen::print(&difference.to_string())?;
        }
        Screen::complain(&format!(
            "nothing was changed: {} would be lost; --discard goes on all the same, --fresh begins anew",
            count(more, "value")
        ));
        Ok(Some(ExitCode::from(DIFFERENT)))
    }
}

/// Whether something is not in the journal yet.
async fn is_waiting(place: &Place) -> Result<bool, Failure> {
    let outbox = place.live_keys().outbox();
    let entries: u64 = place.live.ask(&["XLEN", &outbox]).await?;
    Ok(entries > 0)
}
