//! `GET /v1/ranking/…`.

use super::answer::Answer;
use super::cache::{self, Stored};
use super::call::Call;
use super::log;
use crate::error::Error;
use crate::ranking::{Board, Comparison, PeriodView, StandingQuery, Which};
use crate::redis::{Command, Reply};
use crate::site::Site;
use worker::Context;

/// How long a closed board may be served from a cache, in seconds: a late undo may change it.
const CLOSED_MAX_AGE: u32 = 300;

/// The top of a board, from the edge cache where it is fresh.
pub async fn board(
    site: &Site,
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
    let url = format!("{}{}", call.origin, board.normal_form());
    let stored = match cache::find(&url).await {
        Some(stored) => stored,
        None => {
            let reply = site.ask(board.command(&site.config)).await?;
            let view = board.view(&reply, period, site.config.decimals)?;
            let body = serde_json::to_string(&view).unwrap_or_default();
            let stored = Stored {
                body,
                made: call.now.0,
            };
            if let Err(error) = cache::keep(context, url, &stored, max_age) {
                log::debug(&format!("cache: {error}"));
            }
            stored
        }
    };
    let age = (call.now.0 - stored.made).max(0) / 1000;
    let control = format!("public, max-age={max_age}, stale-if-error=86400");
    let mut answer = Answer::text("application/json", stored.body)
        .with("cache-control", control)
        .tagged();
    if stored.made != call.now.0 {
        answer = answer.with("age", age.to_string());
    }
    Ok(answer.unless_known(call.header("if-none-match")))
}

/// One standing.
pub async fn standing(site: &Site, call: &Call, period: &str, user: &str) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = StandingQuery::read(period, user, &call.query, &site.config, today)?;
    let (period, reply) = look_up(site, call, &query.which, query.command(&site.config)).await?;
    Ok(Answer::json(&query.view(
        &reply,
        period,
        site.config.decimals,
    )?))
}

/// Several standings.
pub async fn comparison(site: &Site, call: &Call, period: &str) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = Comparison::read(period, &call.query, &site.config, today)?;
    let (period, reply) = look_up(site, call, &query.which, query.command(&site.config)).await?;
    Ok(Answer::json(&query.view(
        &reply,
        period,
        site.config.decimals,
    )?))
}

async fn look_up(
    site: &Site,
    call: &Call,
    which: &Which,
    command: Command,
) -> Result<(PeriodView, Reply), Error> {
    let reply = site.ask(command).await?;
    Ok((which.view(&site.calendar, call.now), reply))
}
