//! Counts activities, undoes them and adjusts points, by `count.lua` and `adjust.lua`.
//!
//! A [`Plan`] collects the operations of one shard. One call applies those of a user in one atomic step, in their order;
//! the calls of several users share a request. An undo of an activity that counted on other boards needs a second call,
//! because a script must declare every key: the first call changes nothing and replies with the record.

mod call;
mod operation;
mod plan;
mod record;
mod reply;

pub use call::{CallHeader, Lifetimes, UserCall};
pub use operation::{
    AuditDetails, Operation, Receiver, RuleSnapshot, TimestampSource, UserOperations, Verb,
};
pub use plan::{Plan, Registrations, Ruled};
pub use record::{ActiveRecord, BoardSet, FoundRecord};
pub use reply::FROZEN;

use crate::accounts;
use crate::boards::{Ranked, rank_among_all};
use crate::deployment::{Changed, Deployment};
use crate::keys::Keys;
use crate::redis::{Command, Reply};
use crate::targets::{self, Registration};
use activity_rank_core::activity::{
    Activity, Counted, EventStandingView, Outcome, RuledActivity, StandingView,
};
use activity_rank_core::actor::Actor;
use activity_rank_core::board::{BoardKind, board_name, event_board_name};
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::Rule;
use activity_rank_core::error::Error;
use activity_rank_core::id::is_visitor;
use activity_rank_core::moderation::Adjustment;
use activity_rank_core::object::Object;
use activity_rank_core::score::Points;
use reply::{CountReply, ShardStanding};

/// The most requests of a call: an undo needs a second one for the boards of its record, and one more each time that the
/// record changes in between.
const MAX_ATTEMPTS: usize = 16;

/// The reply to the calls of plans.
#[derive(Default)]
struct Applied {
    /// The outcomes of the items of the request.
    outcomes: Vec<Option<Result<Outcome, Error>>>,
    /// The standings of the first operation's user: by period, then by event.
    standings: Vec<ShardStanding>,
    /// The events of the standings.
    events: Vec<String>,
}

/// Counts one activity, with or without the user's standings afterwards. The request also runs `also`,
/// another command for the same user.
///
/// # Errors
///
/// [`Error::ScoreOverflow`], [`Error::Forbidden`] for a frozen user, and those of
/// [`Deployment::run_script`].
pub async fn count_one(
    deployment: &Deployment,
    ruled: &RuledActivity,
    also: Option<Command>,
    now: Instant,
    standings: bool,
) -> Result<Counted, Error> {
    let (config, activity) = (&deployment.config, &ruled.0);
    let standings = standings && !is_visitor(&activity.user);
    let shard = config.shard_of(&activity.user);
    let mut plan = Plan::new(config, &deployment.calendar, now, shard);
    let item = (activity, ruled.1);
    let (_, rule) = versioned(deployment, item);
    let (registrations, first) = register(deployment, &[(activity, rule)], now).await?;
    plan.add(0, activity, rule, &registrations);
    plan.set_known_accounts(deployment);
    apply_one(deployment, plan, &[item], first, also, standings).await
}

/// Adjusts a user's points, or undoes an adjustment.
///
/// # Errors
///
/// As [`count_one`].
pub async fn adjust(
    deployment: &Deployment,
    adjustment: Adjustment,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Counted, Error> {
    let plan = Plan::for_adjustment(deployment, now, adjustment, actor);
    apply_one(deployment, plan, &[], Vec::new(), None, true).await
}

/// Counts several activities in their order. Items that are errors stay as they are.
///
/// If there is anything to count, the request also runs `also`.
///
/// # Errors
///
/// Those of [`Deployment::run_script`]; then it is unknown which activities were counted.
pub async fn count_all(
    deployment: &Deployment,
    items: &[Result<RuledActivity, Error>],
    also: Option<Command>,
    now: Instant,
) -> Result<Vec<Result<Counted, Error>>, Error> {
    let config = &deployment.config;
    let ruled = items.iter().flatten();
    let ruled: Vec<Ruled<'_>> = ruled.map(|(activity, rule)| (activity, *rule)).collect();
    let users = ruled.iter().map(|(activity, _)| activity.user.as_str());
    let users: Vec<&str> = users.collect();
    let shards = config.indexes_by_shard(&users);
    let known = ruled.iter().map(|item| versioned(deployment, *item));
    let known: Vec<Ruled<'_>> = known.collect();
    let (registrations, first) = register(deployment, &known, now).await?;
    let mut plans = Vec::new();
    for (shard, indexes) in &shards {
        let mut plan = Plan::new(config, &deployment.calendar, now, *shard);
        for index in indexes {
            if let Some((activity, rule)) = known.get(*index) {
                plan.add(*index, activity, *rule, &registrations);
            }
        }
        plan.set_known_accounts(deployment);
        plans.push(plan);
    }
    let applied = apply(deployment, &mut plans, &ruled, first, also, false).await?;
    let mut outcomes = applied.outcomes.into_iter();
    let mut counted = Vec::new();
    for item in items {
        counted.push(match item {
            Ok(_) => {
                let outcome = outcomes.next().flatten().ok_or_else(unexpected_count)?;
                outcome.map(|outcome| Counted::new(outcome, config))
            }
            Err(error) => Err(error.clone()),
        });
    }
    Ok(counted)
}

/// Applies the plan of one operation, and adds standings to its outcome if they are wanted.
async fn apply_one(
    deployment: &Deployment,
    plan: Plan<'_>,
    items: &[Ruled<'_>],
    first: Vec<Command>,
    also: Option<Command>,
    with_standings: bool,
) -> Result<Counted, Error> {
    let layout = deployment.config.layout;
    let mut plans = [plan];
    let applied = apply(deployment, &mut plans, items, first, also, with_standings).await?;
    let [plan] = &plans;
    let Applied {
        outcomes,
        mut standings,
        events,
    } = applied;
    let outcome = outcomes.into_iter().flatten().next();
    let outcome = outcome.ok_or_else(|| Error::StoreUnavailable("no outcome".to_owned()))??;
    let mut counted = Counted::new(outcome, &deployment.config);
    let boards = plan.first_boards();
    let Some(BoardSet { date, periods, .. }) = boards.filter(|_| with_standings) else {
        return Ok(counted);
    };
    if deployment.config.shards > 1 {
        let boards = periods
            .iter()
            .map(|period| board_name(*period, *date, None));
        let event_boards = events.iter().map(|event| event_board_name(event));
        let boards: Vec<String> = boards.chain(event_boards).collect();
        let home = plan.users.first().and_then(|user| user.home);
        let shard = home.unwrap_or(plan.shard);
        rank_standings(deployment, shard, &mut standings, &boards).await?;
    }
    let score = |standing: &ShardStanding| {
        let steps = standing.score.map_or(0, |score| layout.points(score));
        Points::new(steps, layout.decimals)
    };
    let event_standings = standings.iter().skip(periods.len());
    let event_views = events.iter().zip(event_standings).map(|(event, standing)| {
        let view = EventStandingView {
            score: score(standing),
            rank: standing.rank,
        };
        (event.clone(), view)
    });
    counted.events = (!events.is_empty()).then(|| Object(event_views.collect()));
    let views = periods.iter().zip(&standings).map(|(period, standing)| {
        let view = StandingView {
            id: period.id(*date),
            score: score(standing),
            rank: standing.rank,
        };
        (period.name(), view)
    });
    counted.standings = Some(Object(views.collect()));
    Ok(counted)
}

/// Ranks standings of one shard among the users of all shards.
async fn rank_standings(
    deployment: &Deployment,
    shard: u32,
    standings: &mut [ShardStanding],
    boards: &[String],
) -> Result<(), Error> {
    let mut ranks = Vec::new();
    for (board, standing) in standings.iter().enumerate() {
        if let (Some(score), Some(rank)) = (standing.score, standing.rank) {
            ranks.push(Ranked {
                board,
                shard,
                score,
                rank,
            });
        }
    }
    rank_among_all(deployment, &mut ranks, boards).await?;
    for ranked in ranks {
        if let Some(standing) = standings.get_mut(ranked.board) {
            standing.rank = Some(ranked.rank);
        }
    }
    Ok(())
}

/// Registers the targets that activities name with an author, and with several shards reads what is known of those who
/// may receive points for activities: they may lie on others. Returns it, and with one shard the calls that register:
/// they precede those that count.
async fn register(
    deployment: &Deployment,
    activities: &[Ruled<'_>],
    now: Instant,
) -> Result<(Registrations, Vec<Command>), Error> {
    let config = &deployment.config;
    let has_shards = config.shards > 1;
    let activities = activities.iter().copied();
    let possible = PossibleReceivers::of(deployment, activities.filter(|(given, _)| !given.undo));
    let registered = |(id, author, at)| Registration {
        id,
        author: Some(author),
        shown: String::new(),
        at,
        is_author_erased: false,
    };
    let all = possible.named.iter();
    let all = all.map(|(id, author, at)| (id.as_str(), author.as_str(), *at));
    let mut all: Vec<Registration<'_>> = all.map(registered).collect();
    if !has_shards {
        let (calls, _) = targets::register_calls(deployment, &all, now);
        return Ok((Registrations::default(), calls));
    }
    if all.is_empty() {
        let registrations = Box::pin(possible.read(deployment)).await?;
        return Ok((registrations, Vec::new()));
    }
    let is_named = |id: &String| possible.named.iter().any(|(named, ..)| named == id);
    let targets = possible.targets.iter();
    let read = targets.filter(|id| !is_named(id)).map(|id| Registration {
        id,
        author: None,
        shown: String::new(),
        at: now,
        is_author_erased: false,
    });
    all.extend(read);
    targets::find_erased_authors(deployment, &mut all, now).await?;
    let stored = targets::register(deployment, &all, now).await?;
    let names = all.iter().map(|registration| registration.id.to_owned());
    let registrations = Registrations {
        targets: names.zip(stored).collect(),
        unknown: without_known(deployment, possible.users).await?,
    };
    Ok((registrations, Vec::new()))
}

/// The targets and users who may receive points for activities.
#[derive(Default)]
struct PossibleReceivers {
    targets: Vec<String>,
    /// Followed users, and the day of the activity.
    users: Vec<(String, Date)>,
    /// Targets that an activity names with an author, and its instant.
    named: Vec<(String, String, Instant)>,
}

impl PossibleReceivers {
    fn of<'a>(deployment: &Deployment, activities: impl Iterator<Item = Ruled<'a>>) -> Self {
        let (config, mut found) = (&deployment.config, Self::default());
        for (activity, rule) in activities {
            match plan::receiver(config, activity, rule) {
                Receiver::Target { id, .. } => {
                    if let Some(author) = plan::author_of(config, activity) {
                        found.named.push((id.clone(), author, activity.at));
                    }
                    found.targets.push(id);
                }
                Receiver::User { id, .. } => {
                    let date = deployment.calendar.date_at(activity.at);
                    found.users.push((id, date));
                }
                Receiver::None | Receiver::Recorded(_) => {}
            }
        }
        found.targets.sort_unstable();
        found.targets.dedup();
        found
    }

    /// Reads what is known of them: they may lie on any shard.
    async fn read(self, deployment: &Deployment) -> Result<Registrations, Error> {
        let named: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        let read = targets::read_registrations(deployment, &named).await?;
        Ok(Registrations {
            targets: self.targets.into_iter().zip(read).collect(),
            unknown: without_known(deployment, self.users).await?,
        })
    }
}

/// Returns the users who have neither a profile nor points in the longest periods that contain the day.
async fn without_known(
    deployment: &Deployment,
    mut users: Vec<(String, Date)>,
) -> Result<Vec<(String, Date)>, Error> {
    let config = &deployment.config;
    let mut commands = Vec::new();
    for (user, date) in &users {
        let keys = deployment.keys_of(user);
        let profile = Command::new("HMGET").arg(&keys.users()).arg(user);
        commands.push(profile.arg(&Keys::flags_field(user)));
        let user_board = config.periods.last();
        let user_board = user_board.map(|period| keys.board(*period, *date, None));
        let author_board = config.content_periods.last();
        let author_board =
            author_board.map(|period| keys.received_board(BoardKind::Authors, *period, *date));
        for board in [user_board, author_board] {
            let board = board.unwrap_or_default();
            commands.push(Command::new("ZSCORE").arg(&board).arg(user));
        }
    }
    if !users.is_empty() {
        let replies = deployment.run_commands(commands).await?;
        let mut values = replies.chunks(3);
        let is_unknown = |values: &[Reply]| {
            let [profile, boards @ ..] = values else {
                return false;
            };
            let is_account = profile
                .at(1)
                .is_ok_and(|flags| accounts::check_flags(flags).is_err());
            let has_profile = profile.at(0).is_ok_and(|profile| profile.some().is_some());
            !is_account && !has_profile && boards.iter().all(|board| board.some().is_none())
        };
        users.retain(|_| values.next().is_some_and(is_unknown));
    }
    Ok(users)
}

/// A call whose reply is still missing: the indexes of its plan and its user.
type Pending = (usize, usize);

/// Applies the plans of several shards: all in one request, and a second request for the users whose undos
/// need the boards of a record. The first request runs `first` before them, and `also` after them.
async fn apply(
    deployment: &Deployment,
    plans: &mut [Plan<'_>],
    items: &[Ruled<'_>],
    first: Vec<Command>,
    mut also: Option<Command>,
    standings: bool,
) -> Result<Applied, Error> {
    let mut applied = Applied::default();
    let mut pending: Vec<Pending> = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        for (index, user) in plan.users.iter().enumerate() {
            let count = applied.outcomes.len() + user.operations.len();
            applied.outcomes.resize(count, None);
            pending.push((number, index));
        }
    }
    let mut waiting = split_waiting(plans, &mut pending);
    let mut before = first;
    for _ in 0..MAX_ATTEMPTS {
        if pending.is_empty() {
            break;
        }
        apply_versions(deployment, plans, &pending, items).await?;
        while deployment.config.shards > 1 && set_receivers(deployment, plans, &pending).await? {
            // The versions may have changed while the receivers were read.
            apply_versions(deployment, plans, &pending, items).await?;
        }
        let calls = encode(deployment, plans, &pending, standings);
        let preceding = before.len();
        let commands = calls.iter().map(UserCall::command);
        let commands = before.drain(..).chain(commands).chain(also.take());
        deployment.claim().await?;
        let replies = deployment.run_scripts(commands.collect()).await?;
        let mut replies = replies.into_iter().skip(preceding);
        let (mut unanswered, mut failures) = (Vec::new(), Vec::new());
        for (place, call) in pending.into_iter().zip(calls) {
            let reply = replies.next().unwrap_or(Reply::Nil);
            let plan = plans.get_mut(place.0).ok_or_else(unexpected_count)?;
            match accept(deployment, plan, place.1, call, &reply, &mut applied) {
                Ok(true) => {}
                Ok(false) => unanswered.push(place),
                Err(error) => failures.push(error),
            }
        }
        if !failures.is_empty() {
            return Err(joined(failures));
        }
        pending = unanswered;
        pending.append(&mut waiting);
        join_members(plans, &mut pending);
        // `also` has written a profile.
        if replies
            .next()
            .is_some_and(|also| also.at(1) == Ok(&Reply::Integer(1)))
        {
            deployment.report_change();
        }
    }
    if pending.is_empty() {
        return Ok(applied);
    }
    let cause = "a deduplication record changed between every two calls";
    Err(Error::StoreUnavailable(cause.to_owned()))
}

/// Returns an activity with its rule by the versions that its shard is known to have.
fn versioned<'a>(deployment: &Deployment, (activity, configured): Ruled<'a>) -> Ruled<'a> {
    let shard = deployment.config.shard_of(&activity.user);
    let versions = deployment.rules(shard);
    let rule = versions.rule(&activity.action, activity.at, configured);
    (activity, rule)
}

/// Applies the known versions of the rules to the operations of some users. The definitions do not change between this and
/// the encoding of the calls, which have their number.
async fn apply_versions(
    deployment: &Deployment,
    plans: &mut [Plan<'_>],
    pending: &[Pending],
    items: &[Ruled<'_>],
) -> Result<(), Error> {
    let apply = |plans: &mut [Plan<'_>]| {
        let mut unread = Vec::new();
        for (number, user) in pending {
            if let Some(plan) = plans.get_mut(*number) {
                unread.extend(plan.apply_versions(deployment, *user, items));
            }
        }
        unread
    };
    let unread = apply(plans);
    if unread.is_empty() {
        return Ok(());
    }
    let unread = unread.iter().filter_map(|item| {
        let (activity, rule) = versioned(deployment, *items.get(*item)?);
        Some((*item, activity, rule))
    });
    let unread: Vec<(usize, &Activity, Rule)> = unread.collect();
    let activities = unread.iter().map(|(_, activity, rule)| (*activity, *rule));
    let possible = PossibleReceivers::of(deployment, activities);
    let registrations = Box::pin(possible.read(deployment)).await?;
    for plan in plans.iter_mut() {
        for (item, activity, rule) in &unread {
            plan.set_receiver(*item, activity, *rule, &registrations);
        }
    }
    apply(plans);
    Ok(())
}

/// Removes the members who wait for the replies to their accounts: each account moves to the member then, and the
/// activities of all of them apply in the order of the request. Returns the places of these members.
fn split_waiting(plans: &[Plan<'_>], pending: &mut Vec<Pending>) -> Vec<Pending> {
    let users = || plans.iter().flat_map(|plan| &plan.users);
    let waits = |(plan, user): &Pending| {
        let user = plans.get(*plan).and_then(|plan| plan.users.get(*user));
        let mut accounts = user.into_iter().flat_map(|user| user.accounts.list());
        accounts.any(|(_, account)| users().any(|user| user.user == account))
    };
    let (waiting, others): (Vec<Pending>, Vec<Pending>) =
        pending.iter().partition(|user| waits(user));
    match others.is_empty() {
        true => Vec::new(),
        false => {
            *pending = others;
            waiting
        }
    }
}

/// Joins the operations of accounts that have moved to one member, and the member's own, to one call.
fn join_members(plans: &mut [Plan<'_>], pending: &mut Vec<Pending>) {
    let mut index = 0;
    while let Some(place) = pending.get(index).copied() {
        index += 1;
        let user_at = |place: &Pending| plans.get(place.0)?.users.get(place.1);
        let Some(moved) = user_at(&place).filter(|user| user.home.is_some()) else {
            continue;
        };
        let is_same = |other: &&Pending| {
            **other != place && user_at(other).is_some_and(|user| user.user == moved.user)
        };
        let Some(other) = pending.iter().find(is_same).copied() else {
            continue;
        };
        let Some(plan) = plans.get_mut(place.0) else {
            continue;
        };
        let gives = plan.gives;
        let user = plan.users.get_mut(place.1);
        let moved = user.map(UserOperations::take).unwrap_or_default();
        if let Some(plan) = plans.get_mut(other.0) {
            plan.gives |= gives;
            if let Some(user) = plan.users.get_mut(other.1) {
                user.merge(moved);
            }
        }
        index -= 1;
        pending.remove(index);
    }
}

/// Reads the members who receive for operations, where a rule or an exclusion limits that. Returns whether there were any.
async fn set_receivers(
    deployment: &Deployment,
    plans: &mut [Plan<'_>],
    pending: &[Pending],
) -> Result<bool, Error> {
    let users = plans.iter_mut().enumerate().flat_map(|(number, plan)| {
        let users = plan.users.iter_mut().enumerate();
        users.map(move |(index, user)| ((number, index), user))
    });
    let users = users.filter(|(place, _)| pending.contains(place));
    let mut limited: Vec<_> = users
        .flat_map(|(_, user)| user.unknown_receivers())
        .collect();
    if limited.is_empty() {
        return Ok(false);
    }
    let users: Vec<&str> = limited.iter().map(|(user, _)| user.as_str()).collect();
    let members = accounts::read_members(deployment, &users).await?;
    for ((user, receiver), member) in limited.iter_mut().zip(members) {
        **receiver = Some(member.unwrap_or_else(|| user.clone()));
    }
    Ok(true)
}

/// Returns one error for those of several users: the log names every user whose boards may be wrong.
fn joined(failures: Vec<Error>) -> Error {
    let mut causes = Vec::new();
    for failure in failures {
        match failure {
            Error::StoreUnavailable(cause) if !causes.contains(&cause) => causes.push(cause),
            Error::StoreUnavailable(_) => {}
            other => return other,
        }
    }
    Error::StoreUnavailable(causes.join("; "))
}

/// Returns the calls of some users.
fn encode(
    deployment: &Deployment,
    plans: &[Plan<'_>],
    pending: &[Pending],
    standings: bool,
) -> Vec<UserCall> {
    let header = |plan: &Plan<'_>, shard| {
        let definitions = deployment.definitions(shard);
        let (keys, fingerprint) = (deployment.keys(shard), deployment.fingerprint(shard));
        plan.header(keys, fingerprint, standings, definitions)
    };
    let headers = plans.iter().map(|plan| header(plan, plan.shard));
    let headers: Vec<CallHeader> = headers.collect();
    let calls = pending.iter().filter_map(|(number, user)| {
        let plan = plans.get(*number)?;
        let user = plan.users.get(*user)?;
        Some(match user.home {
            Some(home) => header(plan, home).encode(user),
            None => headers.get(*number)?.encode(user),
        })
    });
    calls.collect()
}

/// Applies the reply to the call of a user. Returns whether the call was applied: if not, it is sent again.
fn accept(
    deployment: &Deployment,
    plan: &mut Plan<'_>,
    index: usize,
    call: UserCall,
    reply: &Reply,
    applied: &mut Applied,
) -> Result<bool, Error> {
    let config = &deployment.config;
    let user = plan.users.get_mut(index).ok_or_else(unexpected_count)?;
    let shard = user.home.unwrap_or(plan.shard);
    match CountReply::decode(reply, &user.user)? {
        CountReply::Applied { outcomes, .. } if outcomes.len() != user.operations.len() => {
            Err(unexpected_count())
        }
        CountReply::Applied {
            outcomes,
            standings,
            watched,
        } => {
            if user.home.is_none() {
                deployment.set_counted_member(&user.user, None);
            }
            let changed = |outcome: &Result<Outcome, Error>| {
                matches!(outcome, Ok(Outcome::Counted { .. } | Outcome::Undone(_)))
            };
            if outcomes.iter().any(changed) {
                report_boards(deployment, &call, &watched, shard, plan.now);
                if plan.gives {
                    deployment.report_receivers(shard);
                }
            }
            for (item, outcome) in user.items.iter().zip(outcomes) {
                if let Some(slot) = applied.outcomes.get_mut(*item) {
                    *slot = Some(outcome);
                }
            }
            if !standings.is_empty() {
                (applied.standings, applied.events) = (standings, call.ranked_events);
            }
            Ok(true)
        }
        CountReply::Redefined(definitions) => {
            deployment.set_definitions(shard, &definitions);
            Ok(false)
        }
        CountReply::Accounts(accounts) => {
            match accounts.member() {
                Some((number, member)) => {
                    deployment.set_counted_member(&user.user, Some(member));
                    user.move_to(member, number, config.shard_of(member));
                    user.accounts = deployment.accounts(member);
                }
                None => {
                    deployment.set_accounts(&user.user, accounts.clone());
                    user.accounts = accounts;
                }
            }
            Ok(false)
        }
        CountReply::Records(records) => {
            if !user.set_found(records) {
                let cause = "unexpected deduplication record".to_owned();
                return Err(Error::StoreUnavailable(cause));
            }
            Ok(false)
        }
        CountReply::Unregistered => Ok(false),
    }
}

/// Reports the watched boards that a call may have changed.
fn report_boards(
    deployment: &Deployment,
    call: &UserCall,
    watched: &str,
    shard: u32,
    now: Instant,
) {
    let keys = deployment.keys(shard);
    let second = now.0.div_euclid(1000);
    let mut names = Vec::new();
    let mut words = watched.split(' ');
    while let (Some(name), Some(expiry)) = (words.next(), words.next()) {
        let is_open = expiry.parse().is_ok_and(|expiry: i64| second < expiry);
        if is_open && call.keys.contains(&keys.board_named(name)) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        (deployment.on_change)(Changed::Boards(&names.join(" ")));
    }
}

fn unexpected_count() -> Error {
    Error::StoreUnavailable("unexpected number of outcomes".to_owned())
}
