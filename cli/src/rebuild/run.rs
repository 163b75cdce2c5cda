//! `activity-rank rebuild`.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Duration;

use tokio::time::Instant;

use super::begin::{Begun, Shard, begin};
use super::compare::audit;
use super::compare::look::Look;
use super::place::Place;
use super::replay::{Replay, figures};
use super::state::Phase;
use super::swap::{forget, swap};
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
    let begun = begin(service, &args.store, args.fresh).await?;
    let run = Rebuild {
        begun: &begun,
        start: Instant::now(),
        discard: args.discard,
        at: Cell::new(None),
    };
    let done = tokio::select! {
        done = run.go() => done,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    begun.finish_progress();
    if done.is_err() {
        run.let_go().await;
    }
    done
}

/// One rebuild.
struct Rebuild<'a> {
    begun: &'a Begun,
    start: Instant,
    discard: bool,
    /// The shard whose writes are held, or may be.
    at: Cell<Option<&'a Shard>>,
}

/// What became of the shards.
#[derive(Default)]
struct Made {
    /// What was found while they were held.
    look: Look,
    /// By this run.
    now: u64,
    /// By one that had broken off.
    before: u64,
    /// Entries of the journal that this run has done.
    entries: u64,
    /// How long writes of a shard were held at most.
    held: Duration,
}

impl<'a> Rebuild<'a> {
    async fn go(&self) -> Result<ExitCode, Failure> {
        let mut made = Made::default();
        let of_phases = |phases: &'static [Phase]| {
            let shards = self.begun.shards.iter();
            shards.filter(|shard| phases.contains(&shard.state.phase))
        };
        made.before += of_phases(&[Phase::Done]).map(|_| 1).sum::<u64>();
        // Whose writes are held comes first.
        for shard in of_phases(&[Phase::Delete, Phase::Rename]) {
            self.at.set(Some(shard));
            swap(&shard.place, &mut shard.state.clone(), self.begun.written).await?;
            made.before += 1;
        }
        for shard in of_phases(&[Phase::Held]) {
            self.at.set(Some(shard));
            let mut replay = Replay::resume(self.begun, shard).await?;
            if let Some(code) = self.take_place(shard, &mut replay, &mut made).await? {
                return Ok(code);
            }
        }
        // All are compared before anything is held.
        let (mut look, mut replays) = (Look::default(), Vec::new());
        for shard in of_phases(&[Phase::Replay]) {
            let mut replay = Replay::resume(self.begun, shard).await?;
            look.while_it_counts(&shard.place, &mut replay).await?;
            replays.push((shard, replay));
        }
        if let Some(code) = self.refused(&look, &made)? {
            return Ok(code);
        }
        for (shard, mut replay) in replays {
            if let Some(code) = self.take_place(shard, &mut replay, &mut made).await? {
                return Ok(code);
            }
        }
        self.at.set(None);
        forget(&self.begun.shards).await?;
        self.begun.finish_progress();
        Screen::print(&self.told(&made))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Holds the writes of a shard, brings over what came meanwhile, compares, and puts all of it in its
    /// place.
    async fn take_place(
        &self,
        shard: &'a Shard,
        replay: &mut Replay,
        made: &mut Made,
    ) -> Result<Option<ExitCode>, Failure> {
        let place = &shard.place;
        self.at.set(Some(shard));
        if replay.state().phase == Phase::Replay {
            replay.draw_near(place).await?;
            replay.state().turn(place, Phase::Held, false).await?;
        }
        let held = Instant::now();
        while !replay.catch_up(place).await?.is_empty() || is_waiting(place).await? {}
        made.entries += replay.entries();
        made.look.while_held(place).await?;
        if let Some(code) = self.refused(&made.look, made)? {
            replay.state().turn(place, Phase::Replay, false).await?;
            return Ok(Some(code));
        }
        let keeps_audit = audit::is_whole(place).await?;
        replay
            .state()
            .turn(place, Phase::Delete, keeps_audit)
            .await?;
        swap(place, replay.state(), self.begun.written).await?;
        made.now += 1;
        made.held = made.held.max(held.elapsed());
        Ok(None)
    }

    fn told(&self, made: &Made) -> String {
        if made.now == 0 {
            return "finished a rebuild that had broken off".to_owned();
        }
        let held = made.held.as_secs_f64();
        let held = match self.begun.shards.len() {
            1 => format!("writes were held for {held:.1} s"),
            _ => format!("writes of a shard were held for {held:.1} s at most"),
        };
        let (look, figures) = (made.look.told(), figures(made.entries, self.start));
        let mut told = format!("{look}\nrebuilt from {figures}; {held}");
        if made.before > 0 {
            let shards = count(made.before, "shard");
            told.push_str(&format!("\n{shards} had been rebuilt before it broke off"));
        }
        told
    }

    /// Says that there is more than the journal tells, and ends with that, unless it may be lost.
    fn refused(&self, look: &Look, made: &Made) -> Result<Option<ExitCode>, Failure> {
        let more = &look.findings.more;
        if more.is_empty() || self.discard {
            return Ok(None);
        }
        self.begun.finish_progress();
        Screen::print(&look.told())?;
        Screen::print("The store holds what the journal does not tell, and a rebuild would lose:")?;
        for difference in more.iter().take(20) {
            Screen::print(&difference.to_string())?;
        }
        let changed = match made.now + made.before {
            0 => "nothing was changed".to_owned(),
            done => format!(
                "{done} of {} shards are rebuilt, and nothing else was changed",
                self.begun.shards.len()
            ),
        };
        let more = count(more.len().try_into().unwrap_or(u64::MAX), "value");
        Screen::complain(&format!(
            "{changed}: {more} would be lost; --discard goes on all the same, --fresh begins anew"
        ));
        Ok(Some(ExitCode::from(DIFFERENT)))
    }

    /// Whatever it was that went wrong, nobody is kept from writing who does not have to be.
    async fn let_go(&self) {
        let finishing = match self.at.get() {
            Some(Shard { place, state }) => state.clone().let_go(place).await.unwrap_or(false),
            None => false,
        };
        Screen::complain(match finishing {
            true => {
                "the rebuild is bringing everything to its place: run it again to finish it; until \
                 then the service holds what it is sent"
            }
            false => "run it again to go on with it",
        });
    }
}

/// Whether something is not in the journal yet.
async fn is_waiting(place: &Place) -> Result<bool, Failure> {
    let outbox = place.live_keys().outbox();
    let entries: u64 = place.live.ask(&["XLEN", &outbox]).await?;
    Ok(entries > 0)
}
