//! Counts activities: plan, ask, and for an undo of other days ask once more.

use super::{Activity, Outcome, Outcomes, Plan, Standing};
use crate::calendar::{Instant, Period};
use crate::config::Rule;
use crate::error::Error;
use crate::keys::Keys;
use crate::moderation::Adjustment;
use crate::pairs::Pairs;
use crate::ranking::{Ranked, rank_among_all};
use crate::redis::{Command, Reply};
use crate::score::{Points, Score};
use crate::site::{MOST_CALLS, Site};
use serde::Serialize;

/// What became of one activity, as answered.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    points: Points,
    #[serde(skip_serializing_if = "Option::is_none")]
    standings: Option<Pairs<&'static str, StandingView>>,
}

/// A standing on the board of one kind of period.
#[derive(Clone, Debug, Serialize)]
struct StandingView {
    id: String,
    score: Points,
    rank: Option<u64>,
}

/// An activity that was read, with the rule it counts by.
pub type Ruled = (Activity, Rule);

/// Counts one activity; in the same request goes what else there is to write about its user.
///
/// # Errors
///
/// [`Error::ScoreOverflow`], and what the store can fail with.
pub async fn count_one(
    site: &Site,
    (activity, rule): &Ruled,
    also: Option<Command>,
    now: Instant,
) -> Result<Counted, Error> {
    let shard = site.config.shard_of(&activity.user);
    let mut plan = Plan::new(&site.config, &site.calendar, now, shard);
    plan.add(activity, *rule);
    one(site, plan, also).await
}

/// Adjusts a user's points, or takes an adjustment back.
///
/// # Errors
///
/// As [`count_one`].
pub async fn adjust(site: &Site, adjustment: Adjustment, now: Instant) -> Result<Counted, Error> {
    let plan = Plan::of_adjustment(&site.config, &site.calendar, now, adjustment);
    one(site, plan, None).await
}

async fn one(site: &Site, plan: Plan<'_>, also: Option<Command>) -> Result<Counted, Error> {
    let mut plans = [plan];
    let mut done = carry_out(site, &mut plans, also, true).await?;
    let [plan] = &plans;
    let Done(outcomes, mut standings) = done.pop().unwrap_or_default();
    let first = outcomes.into_iter().next();
    let outcome = first.ok_or_else(|| Error::StoreUnavailable("no outcome".to_owned()))??;
    let mut counted = Counted::new(outcome, site.config.decimals);
    let Some((date, kinds)) = plan.standings_of() else {
        return Ok(counted);
    };
    let names = kinds.iter().map(|kind| Keys::board_name(*kind, date, None));
    rank(
        site,
        plan.shard(),
        &mut standings,
        &names.collect::<Vec<_>>(),
    )
    .await?;
    let view = |(kind, standing): (&Period, &Standing)| {
        let points = standing.score.map_or(0, Score::points);
        let view = StandingView {
            id: kind.id(date),
            score: Points::of(points, site.config.decimals),
            rank: standing.rank,
        };
        (kind.name(), view)
    };
    counted.standings = Some(Pairs(kinds.iter().zip(&standings).map(view).collect()));
    Ok(counted)
}

/// Ranks standings that are known on one shard among all.
async fn rank(
    site: &Site,
    shard: u32,
    standings: &mut [Standing],
    boards: &[String],
) -> Result<(), Error> {
    let mut ranked = Vec::new();
    for (board, standing) in standings.iter().enumerate() {
        if let (Some(Score(score)), Some(rank)) = (standing.score, standing.rank) {
            ranked.push(Ranked {
                board,
                shard,
                score,
                rank,
            });
        }
    }
    rank_among_all(site, &mut ranked, boards).await?;
    for one in ranked {
        if let Some(standing) = standings.get_mut(one.board) {
            standing.rank = Some(one.rank);
        }
    }
    Ok(())
}

/// Counts several activities in the order given; those that could not be read stay as they are.
/// Where any is counted, what else there is to write goes in the same request.
///
/// # Errors
///
/// What the store can fail with; then none is known to be counted.
pub async fn count_all(
    site: &Site,
    items: &[Result<Ruled, Error>],
    also: Option<Command>,
    now: Instant,
) -> Result<Vec<Result<Counted, Error>>, Error> {
    let ruled: Vec<&Ruled> = items.iter().flatten().collect();
    let users: Vec<&str> = ruled.iter().map(|(one, _)| one.user.as_str()).collect();
    let shards = site.config.places_by_shard(&users);
    let mut plans = Vec::new();
    for (shard, places) in &shards {
        let mut plan = Plan::new(&site.config, &site.calendar, now, *shard);
        for (activity, rule) in places.iter().filter_map(|place| ruled.get(*place)) {
            plan.add(activity, *rule);
        }
        plans.push(plan);
    }
    let done = carry_out(site, &mut plans, also, false).await?;
    let mut outcomes: Vec<Option<Result<Outcome, Error>>> = Vec::new();
    outcomes.resize_with(ruled.len(), || None);
    for ((_, places), Done(of_shard, _)) in shards.iter().zip(done) {
        for (place, outcome) in places.iter().zip(of_shard) {
            if let Some(slot) = outcomes.get_mut(*place) {
                *slot = Some(outcome);
            }
        }
    }
    let mut outcomes = outcomes.into_iter().flatten();
    let mut counted = Vec::new();
    for item in items {
        counted.push(match item {
            Ok(_) => {
                let outcome = outcomes.next().ok_or_else(too_few)?;
                outcome.map(|outcome| Counted::new(outcome, site.config.decimals))
            }
            Err(error) => Err(error.clone()),
        });
    }
    Ok(counted)
}

impl Counted {
    /// Held back, to be counted later.
    #[must_use]
    pub fn queued(decimals: u32) -> Self {
        Self {
            outcome: "queued",
            reason: None,
            points: Points { steps: 0, decimals },
            standings: None,
        }
    }

    fn new(outcome: Outcome, decimals: u32) -> Self {
        let points = Points {
            steps: outcome.steps(),
            decimals,
        };
        let (outcome, reason) = (outcome.name(), outcome.reason());
        Self {
            outcome,
            reason,
            points,
            standings: None,
        }
    }
}

/// What became of each operation of a plan, and the standings of the first one's user.
#[derive(Default)]
struct Done(Vec<Result<Outcome, Error>>, Vec<Standing>);

/// Carries out plans of several shards in one request, and in another those that must know more.
async fn carry_out(
    site: &Site,
    plans: &mut [Plan<'_>],
    mut also: Option<Command>,
    standings: bool,
) -> Result<Vec<Done>, Error> {
    let mut done: Vec<Option<Done>> = Vec::new();
    done.resize_with(plans.len(), || None);
    for _ in 0..MOST_CALLS {
        let mut commands = Vec::new();
        for (plan, _) in plans.iter().zip(&done).filter(|(_, done)| done.is_none()) {
            commands.push(plan.command(standings));
        }
        if commands.is_empty() {
            break;
        }
        commands.extend(also.take());
        site.claim().await?;
        let mut replies = site.ask_each(commands).await?.into_iter();
        for (plan, done) in plans
            .iter_mut()
            .zip(&mut done)
            .filter(|(_, done)| done.is_none())
        {
            *done = go_on(plan, &replies.next().unwrap_or(Reply::Nil))?;
        }
    }
    let changed = || Error::StoreUnavailable("a mark changed between every two calls".to_owned());
    let all: Option<Vec<Done>> = done.into_iter().collect();
    all.ok_or_else(changed)
}

/// What became of a plan; nothing yet where it must know more, which it does now.
fn go_on(plan: &mut Plan<'_>, reply: &Reply) -> Result<Option<Done>, Error> {
    match Outcomes::read(reply)? {
        Outcomes::Done(outcomes, _) if outcomes.len() != plan.len() => Err(too_few()),
        Outcomes::Done(outcomes, standings) => Ok(Some(Done(outcomes, standings))),
        Outcomes::Missing(marks) => {
            for (op, mark) in marks {
                plan.add_place_of_mark(op, &mark)?;
            }
            Ok(None)
        }
    }
}

fn too_few() -> Error {
    Error::StoreUnavailable("another number of outcomes than of activities".to_owned())
}
