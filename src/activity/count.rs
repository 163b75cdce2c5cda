//! Counts activities: plan, ask, and for an undo of other days ask once more.

use super::{Activity, Outcome, Outcomes, Plan, Standing};
use crate::calendar::{Instant, Period};
use crate::config::Rule;
use crate::error::Error;
use crate::moderation::Adjustment;
use crate::pairs::Pairs;
use crate::redis::{Command, Pipeline, Reply};
use crate::score::Points;
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
    let mut plan = Plan::new(&site.config, &site.calendar, now);
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

async fn one(site: &Site, mut plan: Plan<'_>, also: Option<Command>) -> Result<Counted, Error> {
    let (outcomes, standings) = carry_out(site, &mut plan, also, true).await?;
    let first = outcomes.into_iter().next();
    let outcome = first.ok_or_else(|| Error::StoreUnavailable("no outcome".to_owned()))??;
    let mut counted = Counted::new(outcome, site.config.decimals);
    counted.standings = plan.standings_of().map(|(date, kinds)| {
        let view = |(kind, standing): (&Period, Standing)| {
            let score = Points::of(standing.points, site.config.decimals);
            (
                kind.name(),
                StandingView {
                    id: kind.id(date),
                    score,
                    rank: standing.rank,
                },
            )
        };
        Pairs(kinds.iter().zip(standings).map(view).collect())
    });
    Ok(counted)
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
    let mut plan = Plan::new(&site.config, &site.calendar, now);
    for (activity, rule) in items.iter().flatten() {
        plan.add(activity, *rule);
    }
    let outcomes = if plan.is_empty() {
        Vec::new()
    } else {
        carry_out(site, &mut plan, also, false).await?.0
    };
    let mut outcomes = outcomes.into_iter();
    let mut next = || outcomes.next().unwrap_or_else(|| Err(too_few()));
    let counted = |outcome| Counted::new(outcome, site.config.decimals);
    let counted = |item: &Result<Ruled, Error>| match item {
        Ok(_) => next().map(counted),
        Err(error) => Err(error.clone()),
    };
    Ok(items.iter().map(counted).collect())
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

async fn carry_out(
    site: &Site,
    plan: &mut Plan<'_>,
    mut also: Option<Command>,
    standings: bool,
) -> Result<(Vec<Result<Outcome, Error>>, Vec<Standing>), Error> {
    for _ in 0..MOST_CALLS {
        let commands = [plan.command(standings)].into_iter().chain(also.take());
        let replies = site.ask_all(&Pipeline::new(commands.collect())).await?;
        match Outcomes::read(replies.first().unwrap_or(&Reply::Nil))? {
            Outcomes::Done(outcomes, _) if outcomes.len() != plan.len() => return Err(too_few()),
            Outcomes::Done(outcomes, standings) => return Ok((outcomes, standings)),
            Outcomes::Missing(marks) => {
                for (op, mark) in marks {
                    plan.add_place_of_mark(op, &mark)?;
                }
            }
        }
    }
    Err(Error::StoreUnavailable(
        "a mark changed between every two calls".to_owned(),
    ))
}

fn too_few() -> Error {
    Error::StoreUnavailable("another number of outcomes than of activities".to_owned())
}
