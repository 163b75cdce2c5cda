//! Saves snapshots of the current boards, for while the store is unavailable.

use crate::archive::deployment_id;
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::snapshots::{HIDING_MARGIN, Snapshots};
use activity_rank_core::board::BoardId;
use activity_rank_core::board::snapshot::{
    GROUP_BOARDS, Plan, State, ValueState, chosen_events, content_of, encode, render_events,
    render_groups,
};
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::error::Error;
use activity_rank_store::boards::{
    LARGEST_GROUPS_REQUESTS, largest_group_boards, read_tops, tops_requests,
};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::events;
use activity_rank_store::progress::{self, Progress};
use std::hash::{DefaultHasher, Hasher};

const HOUR: i64 = 3_600_000;

/// Values that a run writes at most: with a run every five minutes, 864 a day. Cloudflare's free plan allows 1,000
/// writes a day.
const VALUES_PER_RUN: usize = 3;

/// Milliseconds after which a value is written again, although no board has changed: it expires after a
/// day.
const RENEWAL: i64 = 12 * HOUR;

/// Milliseconds after a change in which a snapshot does not count as final. The request that hides or
/// erases a user invalidates the snapshots only after its change of the store.
const MARGIN: i64 = 60_000;

/// Milliseconds for which a value of groups is not read again: 20 boards take 80 commands.
const GROUPS_INTERVAL: i64 = HOUR;

/// Milliseconds for which a choice of groups holds: a day, and an hour while there is room for more.
const FULL_CHOICE: i64 = 24 * HOUR;
const CHOICE: i64 = HOUR;

/// Returns the most that a run sends for the first value: what reads its boards, one write, one read of the last
/// hiding, one request that checks the fingerprints of the shards, two more for each script that the store does not
/// know or whose flags it refuses, and one or two that read and record the progress.
#[must_use]
pub fn cost(deployment: &Deployment) -> Cost {
    let today = deployment.calendar.date_at(clock::now());
    let plan = Plan::new(&deployment.config, today, &[], "");
    let boards = plan.values.first().map(Vec::as_slice).unwrap_or_default();
    let progress = if deployment.config.bound.journal {
        1
    } else {
        2
    };
    cost_of(deployment, boards).plus(Cost::new(3 + progress, 0))
}

/// Returns the most that a run sends for a further value.
fn cost_of(deployment: &Deployment, boards: &[BoardId]) -> Cost {
    let config = &deployment.config;
    let reads = tops_requests(config, boards.len(), config.snapshot_members);
    Cost::new(reads + 2, 0)
}

/// Saves the current boards: of members, of content and of authors, then the largest ones of groups, then boards of
/// events. A value that has not changed is not written.
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
    let (config, now) = (&deployment.config, clock::now());
    let (definitions, stored) = match progress.first() {
        Some(first) if config.bound.journal => (first.definitions.clone(), first.snapshots.clone()),
        Some(_) | None => progress::read_snapshots(deployment).await?,
    };
    let mut job = Job {
        deployment,
        snapshots,
        budget,
        id: deployment_id(config),
        now,
        today: deployment.calendar.date_at(now),
        source: None,
        state: State::parse(&stored),
    };
    let mut plan = job.plan();
    job.source = source(progress, &plan, config.snapshot_members);
    if job.state.values.iter().all(|value| job.is_current(value)) {
        return Ok(());
    }
    let events = chosen_events(config, &definitions, now);
    if job.choose(plan.calendar_values, events).await? {
        plan = job.plan();
    }
    let mut result = Ok(());
    for index in 0..VALUES_PER_RUN {
        let Some(number) = job.next(&plan) else {
            break;
        };
        let boards = plan
            .values
            .get(number)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let is_reserved = index == 0 && number < plan.period_values;
        if !is_reserved && !budget.allows(cost_of(deployment, boards)) {
            break;
        }
        result = job.save(number, boards).await;
        if result.is_err() {
            break;
        }
    }
    let state = job.state.render();
    if state != stored {
        progress::record_snapshots(deployment, &state).await?;
    }
    result
}

/// Returns a hash of the boards of all users and of the last change of each shard, and when that was, Unix ms; `None`
/// if nothing shows a change.
fn source(progress: &[Progress], plan: &Plan, members: u32) -> Option<(i64, i64)> {
    let boards = plan.values.iter().take(plan.calendar_values).flatten();
    let mut hasher = DefaultHasher::new();
    let mut changed = 0;
    for board in boards {
        hasher.write(board.name().as_bytes());
    }
    hasher.write_u32(members);
    for progress in progress {
        let last = progress.outbox.as_ref()?.last.as_str();
        hasher.write(last.as_bytes());
        changed = changed.max(last.split('-').next()?.parse().unwrap_or(0));
    }
    Some((hasher.finish().cast_signed(), changed))
}

/// One run.
struct Job<'a> {
    deployment: &'a Deployment,
    snapshots: &'a Snapshots,
    budget: &'a Budget,
    /// The id of the deployment.
    id: String,
    now: Instant,
    today: Date,
    /// See [`source`].
    source: Option<(i64, i64)>,
    state: State,
}

impl Job<'_> {
    /// Returns the plan of the chosen groups and events, and adds what is new in it to the state.
    fn plan(&mut self) -> Plan {
        let (config, state) = (&self.deployment.config, &self.state);
        let plan = Plan::new(config, self.today, &state.groups, &state.events);
        let count = plan.values.len();
        self.state.values.resize(count, ValueState::default());
        plan
    }

    /// Returns whether a value has the last change and does not expire soon.
    fn is_current(&self, value: &ValueState) -> bool {
        let is_same = |(source, changed)| value.source == source && value.read - changed >= MARGIN;
        self.source.is_some_and(is_same) && self.now.0 - value.made < RENEWAL
    }

    /// Returns the number of the value to read next: the outdated one that was read longest ago, of groups an interval
    /// later. Returns `None` if this run has read them all.
    fn next(&self, plan: &Plan) -> Option<usize> {
        let group_values = plan.calendar_values..plan.period_values;
        let values = self.state.values.iter().enumerate();
        let unread = values.filter(|(_, value)| value.read != self.now.0);
        let outdated = unread.filter(|(_, value)| !self.is_current(value));
        let due = outdated.filter_map(|(number, value)| {
            let again = value.read + GROUPS_INTERVAL;
            match group_values.contains(&number) {
                false => Some((value.read, number)),
                true => (again <= self.now.0).then_some((again, number)),
            }
        });
        due.min().map(|(_, number)| number)
    }

    /// Chooses the groups again if it is time, and these events, and publishes the choice for readers. Returns whether it
    /// has changed: the values of other groups are then unknown.
    async fn choose(&mut self, calendar_values: usize, events: String) -> Result<bool, Error> {
        let now = self.now.0;
        let choice = match self.state.groups.len() {
            GROUP_BOARDS => FULL_CHOICE,
            _ => CHOICE,
        };
        let mut has_changed = false;
        // The list is written, and the events in it are read.
        let needed = cost(self.deployment).plus(Cost::new(LARGEST_GROUPS_REQUESTS + 2, 0));
        let is_allowed = self.budget.allows(needed);
        if now - self.state.chosen >= choice && is_allowed {
            let groups = largest_group_boards(self.deployment, self.today, self.now).await?;
            self.state.chosen = now;
            if groups != self.state.groups {
                has_changed = true;
                self.state.groups = groups;
                self.state.values.truncate(calendar_values);
            }
        }
        if events != self.state.events && is_allowed {
            has_changed = true;
            self.state.events = events;
        }
        let is_empty = self.state.groups.is_empty() && self.state.events.is_empty();
        if has_changed || !is_empty && now - self.state.listed >= RENEWAL {
            self.budget.spend(Cost::new(1, 0))?;
            let list = self.list().await?;
            self.snapshots.save_list(&self.id, list).await?;
            self.state.listed = now;
        }
        Ok(has_changed)
    }

    /// Returns the list of the chosen groups and events.
    async fn list(&self) -> Result<String, Error> {
        let mut list = render_groups(&self.state.groups);
        let ids: Vec<&str> = self.state.events.split(' ').skip(1).collect();
        if !ids.is_empty() {
            list += &render_events(&events::read_some(self.deployment, &ids).await?);
        }
        Ok(list)
    }

    /// Reads the boards of a value, and writes it if they have changed, if it expires or if a user was hidden since.
    async fn save(&mut self, number: usize, boards: &[BoardId]) -> Result<(), Error> {
        let members = self.deployment.config.snapshot_members;
        let tops = read_tops(self.deployment, boards, members).await?;
        let value = encode(self.now, &tops);
        // The rows take twice the memory of the value.
        drop(tops);
        let mut hasher = DefaultHasher::new();
        hasher.write(content_of(&value).as_bytes());
        let content = hasher.finish().cast_signed();
        let Some(known) = self.state.values.get_mut(number) else {
            return Ok(());
        };
        let mut is_stored = known.content == content && self.now.0 - known.made < RENEWAL;
        if is_stored {
            self.budget.spend(Cost::new(1, 0))?;
            // A location may know of a later hiding, which that record covered.
            let hidden = self.snapshots.hidden_until(&self.id).await?;
            is_stored = hidden.0 + HIDING_MARGIN < known.made;
        }
        if !is_stored {
            self.budget.spend(Cost::new(1, 0))?;
            self.snapshots.save(&self.id, number, value).await?;
            known.made = self.now.0;
            known.content = content;
        }
        known.read = self.now.0;
        known.source = self.source.map_or(0, |(source, _)| source);
        Ok(())
    }
}
