//! `GET /v1/ranking/…`.

use super::answer::Answer;
use super::cache;
use super::call::Call;
use super::copies;
use super::held::{self, Held};
use crate::archive::Lookup;
use crate::calendar::Instant;
use crate::error::Error;
use crate::ranking::{Board, Comparison, Copy, PeriodView, StandingQuery, Which, Winners};
use crate::redis::{Command, Reply};
use crate::site::Site;
use worker::Context;

/// How long a closed board may be served from a cache, in seconds: a late undo may change it.
const CLOSED_MAX_AGE: u32 = 300;

/// The top of a board, from the edge cache where it is fresh, or while the store is away.
pub async fn board(
    site: &Site,
    held: &Held,
    call: &Call,
    context: &Context,
    period: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let board = Board::read(period, &call.query, &site.config, today)?;
    let period = board.which.view(&site.calendar, call.now);
    let max_age = if period.closed {
        CLOSED_MAX_AGE
    } else {
        site.config.board_max_age
    };
    let url = board.normal_form();
    let read = read(site, held, &board, period);
    cached(call, context, &url, max_age, read).await
}

/// The first three of past boards, kept as those are.
pub async fn winners(
    site: &Site,
    held: &Held,
    call: &Call,
    context: &Context,
    period: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let winners = Winners::read(period, &call.query, &site.config, today)?;
    let read = read_winners(site, held, call, &winners);
    let url = winners.normal_form();
    cached(call, context, &url, CLOSED_MAX_AGE, read).await
}

/// What is in the edge cache while it is fresh, else what is read, and while that cannot be done
/// what was known.
async fn cached(
    call: &Call,
    context: &Context,
    normal_form: &str,
    max_age: u32,
    read: impl Future<Output = Result<String, Error>>,
) -> Result<Answer, Error> {
    let url = format!("{}{normal_form}", call.origin);
    let oldest = Instant(call.now.0 - i64::from(max_age) * 1000 + 1);
    let copy = match cache::find(&url, oldest).await {
        Some(copy) => copy,
        None => match read.await {
            Ok(body) => {
                let made = call.now;
                let copy = Copy { body, made };
                cache::store(context, &url, &copy);
                copy
            }
            Err(error) => return copies::board(call, &url, error).await,
        },
    };
    let control = format!("public, max-age={max_age}, stale-if-error=86400");
    let age = (copy.made != call.now).then(|| copy.age(call.now));
    let mut answer = Answer::text("application/json", copy.body)
        .with("cache-control", control)
        .tagged();
    if let Some(age) = age {
        answer = answer.with("age", age.to_string());
    }
    Ok(answer.unless_known(call.header("if-none-match")))
}

/// A board as it is now.
async fn read(
    site: &Site,
    held: &Held,
    board: &Board,
    period: PeriodView,
) -> Result<String, Error> {
    let (which, command) = (&board.which, board.command(&site.config));
    let reply = look_up(site, held, (which, period.closed), command, board.lookup()).await?;
    let view = board.view(&reply, period, site.config.decimals)?;
    Ok(serde_json::to_string(&view).unwrap_or_default())
}

/// The first of past boards, from the store and the archive.
async fn read_winners(
    site: &Site,
    held: &Held,
    call: &Call,
    winners: &Winners,
) -> Result<String, Error> {
    let reply = site.ask(winners.command(&site.config)).await?;
    let archived = match &held.archive {
        Some(archive) => archive.run(&[winners.statement(&site.config)]).await?,
        None => Vec::new(),
    };
    let none = Reply::List(Vec::new());
    let mut boards = winners.boards(&reply, archived.first().unwrap_or(&none))?;
    let mut users = Vec::new();
    for board in &boards {
        users.extend(board.nameless()?);
    }
    let profiles = held::look_up(site, &site.config.keys().profiles(), &users).await?;
    let mut profiles = profiles.into_iter();
    for board in &mut boards {
        board.name(&mut profiles);
    }
    let view = winners.view(&boards, &site.calendar, call.now, site.config.decimals)?;
    Ok(serde_json::to_string(&view).unwrap_or_default())
}

/// One standing.
pub async fn standing(
    site: &Site,
    held: &Held,
    call: &Call,
    period: &str,
    user: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = StandingQuery::read(period, user, &call.query, &site.config, today)?;
    let period = query.which.view(&site.calendar, call.now);
    let (which, command) = (&query.which, query.command(&site.config));
    let reply = look_up(site, held, (which, period.closed), command, query.lookup()).await?;
    let view = query.view(&reply, period, site.config.decimals)?;
    Ok(Answer::json(&view))
}

/// Several standings.
pub async fn comparison(
    site: &Site,
    held: &Held,
    call: &Call,
    period: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = Comparison::read(period, &call.query, &site.config, today)?;
    let period = query.which.view(&site.calendar, call.now);
    let (which, command) = (&query.which, query.command(&site.config));
    let reply = look_up(site, held, (which, period.closed), command, query.lookup()).await?;
    let view = query.view(&reply, period, site.config.decimals)?;
    Ok(Answer::json(&view))
}

/// What the store says of a board, or where it has none that has closed, the archive.
async fn look_up(
    site: &Site,
    held: &Held,
    (which, closed): (&Which, bool),
    command: Command,
    lookup: Lookup<'_>,
) -> Result<Reply, Error> {
    let reply = site.ask(command).await?;
    if !closed || reply.at(1)?.some().is_some() {
        return Ok(reply);
    }
    let Some(found) = held.find(site, which, &lookup).await? else {
        return Ok(reply);
    };
    let users = lookup.users(&found);
    let profiles = held::look_up(site, &site.config.keys().profiles(), &users).await?;
    Ok(lookup.reply(&found, &profiles))
}
