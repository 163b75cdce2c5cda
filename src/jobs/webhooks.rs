//! Sends messages to webhooks, and makes the ones about periods that have ended and events that are final.

use crate::app::CronRun;
use crate::archive::{self, settled_before};
use crate::log;
use crate::platform::budget::Cost;
use crate::platform::{clock, webhooks as sender};
use crate::webhooks::{self, Attempt, Due, message};
use activity_rank_core::board::{
    BoardId, BoardKind, BoardQuery, BoardSlice, Heading, PeriodView, WINNERS,
};
use activity_rank_core::calendar::{Calendar, Date, Instant, Period};
use activity_rank_core::config::{ACHIEVEMENT_EARNED, Config, LEVEL_REACHED};
use activity_rank_core::error::Error;
use activity_rank_core::event::Event;
use activity_rank_core::profile::Profile;
use activity_rank_core::webhook::{data_of_achievement, data_of_board, data_of_level, render};
use activity_rank_store::boards::read_tops;
use activity_rank_store::{events, profiles};
use serde_json::{Value, json};

/// The cost of a run without its messages: it claims deliveries, reads boards from Redis and the archive, profiles and
/// points, and records the attempts; three requests for events. Two requests more for a store that does not know a
/// script, and to check fingerprints.
const OTHERS: Cost = Cost::new(11, 15);

/// The part of the budget that other jobs leave: enough to send 5 messages.
const RESERVED: Cost = Cost::new(OTHERS.requests + 5, OTHERS.queries);

/// The kind of a message about a period that has ended.
const PERIOD_CLOSED: &str = "period.closed";

/// The kind of a message about an event that is final.
const EVENT_FINAL: &str = "event.final";

/// The most rows of a message about an event.
const EVENT_ROWS: u32 = 100;

/// The most messages of a run.
const MAX_MESSAGES: u32 = 100;

/// A period or an event makes a message for so many milliseconds after it has settled.
const CLOSED_FOR: i64 = 24 * 3_600_000;

/// The parts of messages that come from the store.
struct Context<'a> {
    boards: Vec<BoardId>,
    /// The first rows of each board; empty if they could not be read.
    slices: Vec<BoardSlice>,
    /// All events with messages, and their first rows; empty if they could not be read.
    events: Vec<(Event, BoardSlice)>,
    has_events: bool,
    users: Vec<&'a str>,
    /// The profile and the points of all time of each user; empty if they could not be read. A user without points is
    /// hidden or erased.
    members: Vec<(Option<Profile>, Option<u64>)>,
}

/// Returns the part of the budget that other jobs leave for this one.
#[must_use]
pub fn reserved(config: &Config) -> Cost {
    match config.webhooks.is_empty() {
        true => Cost::default(),
        false => RESERVED,
    }
}

/// Sends the messages that are due, within a budget. `all_entries` is whether the journal has every entry.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; the next run continues.
pub async fn run(run: &CronRun, all_entries: bool) -> Result<(), Error> {
    let config = &run.deployment.config;
    let (endpoints, now) = (config.webhooks.endpoints(), clock::now());
    let limit = run
        .budget
        .unreserved_requests()
        .saturating_sub(OTHERS.requests);
    let Some(journal) = run
        .journal
        .as_ref()
        .filter(|_| !endpoints.is_empty() && limit > 0)
    else {
        return Ok(());
    };
    let limit = limit.min(MAX_MESSAGES);
    let endpoint_limit = (limit / endpoints.len() as u32).max(1);
    let mut closed = closed_periods(config, &run.deployment.calendar, now);
    if config.webhooks.want(EVENT_FINAL) {
        closed.extend(final_events(run, now).await?);
    }
    let closed = Value::Array(closed);
    let mut statements = vec![
        webhooks::insert(config, closed.to_string(), now),
        webhooks::delete_old(config, now),
    ];
    for endpoint in endpoints {
        statements.push(webhooks::claim(
            config,
            &endpoint.name,
            (endpoint_limit, all_entries),
            now,
        ));
    }
    let results = journal.run(&statements).await?;
    let mut due = webhooks::deliveries_of_claims(results.get(2..).unwrap_or_default())?;
    // There may be more endpoints than the budget allows messages.
    due.truncate(limit as usize);
    if due.is_empty() {
        return Ok(());
    }
    let context = Context::read(run, &due).await;
    let (mut attempts, mut sent, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    for due in &due {
        let endpoint = endpoints
            .iter()
            .find(|endpoint| endpoint.name == due.endpoint);
        let Some(endpoint) = endpoint else { continue };
        match context.data(run, due, now) {
            Some(data) if data.is_empty() => attempts.push((due, Attempt::Dropped)),
            Some(data) => {
                let body = render(&due.kind, due.at, &data);
                messages.push(json!([endpoint.url, endpoint.secret, due.id, body]));
                sent.push(due);
            }
            // The store could not be read: the claim ends by itself.
            None => (),
        }
    }
    if !sent.is_empty() {
        run.budget.spend(Cost::new(sent.len() as u32, 0))?;
        let results = sender::send(&Value::Array(messages).to_string()).await;
        for (due, result) in sent.into_iter().zip(results.split(' ')) {
            match result.parse() {
                Ok(status) => attempts.push((due, Attempt::Status(status))),
                Err(_) if result == "-" => attempts.push((due, Attempt::Unsent)),
                Err(_) => attempts.push((due, Attempt::Error(result.to_owned()))),
            }
        }
    }
    if attempts.is_empty() {
        return Ok(());
    }
    webhooks::record(journal, &attempts, clock::now()).await
}

/// Returns the messages about the last period of each kind, if it has settled within a day.
pub fn closed_periods(config: &Config, calendar: &Calendar, now: Instant) -> Vec<Value> {
    let settled = settled_before(calendar, now);
    let mut closed = Vec::new();
    for period in &config.periods {
        let Some((end, _)) = period.days(settled) else {
            continue;
        };
        let Some((first, _)) = period.days(end.plus(-1)) else {
            continue;
        };
        let at = calendar.start_of(end);
        if settled_before(calendar, Instant(now.0 - CLOSED_FOR)) < end {
            let subject = format!("{}{first}", period.letter());
            closed.push(message(PERIOD_CLOSED, subject, at, Value::Null).into());
        }
    }
    closed
}

/// Returns the messages about events that have become final within a day.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store fails.
pub async fn final_events(run: &CronRun, now: Instant) -> Result<Vec<Value>, Error> {
    let definitions = events::read_definitions(&run.deployment).await?;
    let settled = definitions
        .events()
        .filter(|event| event.final_at <= now && now.0 < event.final_at.0 + CLOSED_FOR);
    let messages = settled.map(|event| {
        let (subject, at) = (format!("{} {}", event.final_at.0, event.id), event.final_at);
        message(EVENT_FINAL, subject, at, Value::Null).into()
    });
    Ok(messages.collect())
}

/// Returns the board that the subject of a message names.
pub fn board_of(subject: &str) -> Option<BoardId> {
    let (letter, first) = subject.split_at_checked(1)?;
    Some(BoardId {
        kind: BoardKind::Members,
        period: Period::from_letter(letter.chars().next()?)?,
        date: Date::parse(first)?,
        group: None,
    })
}

impl<'a> Context<'a> {
    /// Reads the parts of deliveries that come from the store. A failure is logged.
    async fn read(run: &CronRun, due: &'a [Due]) -> Self {
        let mut context = Self {
            boards: Vec::new(),
            slices: Vec::new(),
            events: Vec::new(),
            has_events: false,
            users: Vec::new(),
            members: Vec::new(),
        };
        for due in due {
            if due.kind == PERIOD_CLOSED {
                let board = board_of(&due.subject);
                context
                    .boards
                    .extend(board.filter(|board| !context.boards.contains(board)));
            } else if is_about_member(due) && !context.users.contains(&due.user.as_str()) {
                context.users.push(&due.user);
            }
        }
        if !context.boards.is_empty() {
            match read_boards(run, &context.boards, WINNERS).await {
                Ok(slices) => context.slices = slices,
                Err(error) => log::job(&error),
            }
        }
        if due.iter().any(|due| due.kind == EVENT_FINAL) {
            match read_events(run, due).await {
                Ok(events) => (context.events, context.has_events) = (events, true),
                Err(error) => log::job(&error),
            }
        }
        if !context.users.is_empty() {
            match profiles::read_profiles_and_points(&run.deployment, &context.users).await {
                Ok(members) => context.members = members,
                Err(error) => log::job(&error),
            }
        }
        context
    }

    /// Returns the data of a delivery: empty if there is nothing to send, `None` if a part of it could not be read.
    fn data(&self, run: &CronRun, due: &Due, now: Instant) -> Option<String> {
        let (config, calendar) = (&run.deployment.config, &run.deployment.calendar);
        if due.kind == PERIOD_CLOSED {
            let board = board_of(&due.subject)?;
            let index = self.boards.iter().position(|other| *other == board)?;
            let slice = self.slices.get(index)?;
            let view = PeriodView::new(board.period, board.date, calendar, now);
            return Some(match slice.rows.is_empty() {
                true => String::new(),
                false => data_of_board(&Heading::Period(view), slice, config.layout),
            });
        }
        if due.kind == EVENT_FINAL {
            let mut events = self.events.iter();
            let found = events.find(|(event, _)| due.subject == subject_of(event));
            let Some((event, slice)) = found else {
                // Deleted since, if all were read.
                return self.has_events.then(String::new);
            };
            let heading = Heading::Event(event.view(now));
            return Some(data_of_board(&heading, slice, config.layout));
        }
        if is_about_member(due) {
            let index = self.users.iter().position(|user| *user == due.user)?;
            let (profile, points) = self.members.get(index)?;
            let (user, profile) = (due.user.as_str(), profile.as_ref());
            let data = match due.data.split_once(' ') {
                Some((id, step)) => {
                    let step = step.parse().unwrap_or_default();
                    let achievement = config.achievements.get(id);
                    achievement.map(|found| data_of_achievement(user, profile, found, step))
                }
                None => {
                    let level = config.levels.at(due.data.parse().unwrap_or_default());
                    level.map(|level| data_of_level(user, profile, level))
                }
            };
            // Levels are of members with points; a moderator may award an achievement to another one.
            let least = u64::from(due.kind == LEVEL_REACHED);
            let is_sent = !user.is_empty() && points.is_some_and(|points| points >= least);
            return Some(data.filter(|_| is_sent).unwrap_or_default());
        }
        Some(due.data.clone())
    }
}

/// Returns whether a delivery is about a member who has reached something.
fn is_about_member(due: &Due) -> bool {
    due.kind == LEVEL_REACHED || due.kind == ACHIEVEMENT_EARNED
}

/// Returns the subject of the message about an event.
fn subject_of(event: &Event) -> String {
    format!("{} {}", event.final_at.0, event.id)
}

/// Reads the events of messages, and the rows of each that have prizes, at least as many as winners.
async fn read_events(run: &CronRun, due: &[Due]) -> Result<Vec<(Event, BoardSlice)>, Error> {
    let mut events = events::read_all(&run.deployment).await?;
    events.retain(|event| due.iter().any(|due| due.subject == subject_of(event)));
    let boards = events
        .iter()
        .map(|event| BoardId::for_event(event.id.clone()));
    let boards: Vec<BoardId> = boards.collect();
    let tops = match boards.as_slice() {
        [] => Vec::new(),
        boards => read_tops(&run.deployment, boards, EVENT_ROWS).await?,
    };
    let rows = events.into_iter().zip(tops).map(|(event, top)| {
        let mut slice = top.slice();
        slice
            .rows
            .truncate(event.last_prize().max(WINNERS) as usize);
        (event, slice)
    });
    Ok(rows.collect())
}

/// Reads the first rows of boards, from the archive if Redis no longer has a board.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the archive fails.
pub async fn read_boards(
    run: &CronRun,
    boards: &[BoardId],
    limit: u32,
) -> Result<Vec<BoardSlice>, Error> {
    let deployment = &run.deployment;
    let mut slices = Vec::new();
    for (board, top) in boards
        .iter()
        .zip(read_tops(deployment, boards, limit).await?)
    {
        let mut slice = top.slice();
        let archive = run.archive.as_ref().filter(|_| slice.rows.is_empty());
        if let Some(archive) = archive {
            let query = BoardQuery::Page { offset: 0, limit };
            let archived = archive::read(archive, &deployment.config, (board, ""), &query).await?;
            slice = archived.map_or(slice, |(slice, _)| slice);
            let users: Vec<&str> = slice.rows.iter().map(|row| row.user.as_str()).collect();
            let profiles = profiles::read_profiles(deployment, &users).await?;
            for (row, profile) in slice.rows.iter_mut().zip(profiles) {
                row.profile = profile;
            }
        }
        slices.push(slice);
    }
    Ok(slices)
}
