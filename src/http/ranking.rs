//! `GET /v1/ranking/…`.

use super::answer::Answer;
use super::cache;
use super::call::Call;
use super::copies;
use super::kept::{self, Kept};
use crate::archive::Lookup;
use crate::calendar::Instant;
use crate::error::Error;
use crate::ranking::{Board, Comparison, Copy, StandingQuery, Which, Winners};
use crate::redis::{Command, Failure, Reply};
use crate::site::Site;
use serde::Serialize;
use worker::Context;

/// How long a closed board may be served from a cache, in seconds: a late undo may change it.
const CLOSED_MAX_AGE: u32 = 300;

/// What is asked of one board.
struct Asked<'a> {
    which: &'a Which,
    closed: bool,
    lookup: Lookup<'a>,
}

/// The top of a board, from the edge cache where it is fresh, or while the store is away.
pub async fn board(
    site: &Site,
    kept: &Kept,
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
    let asked = Asked {
        which: &board.which,
        closed: period.closed,
        lookup: board.lookup(),
    };
    let command = board.command(&site.config);
    let decimals = site.config.decimals;
    let tell = |reply: &Reply| told(board.view(reply, period.clone(), decimals));
    let read = async { tell(&asked.look_up(site, kept, command).await?) };
    let known = async |oldest| asked.known(site, kept, oldest, &tell).await;
    let url = board.normal_form();
    cached(site, kept, call, (context, &url, max_age), read, known).await
}

/// The first three of past boards, kept as those are.
pub async fn winners(
    site: &Site,
    kept: &Kept,
    call: &Call,
    context: &Context,
    period: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let winners = Winners::read(period, &call.query, &site.config, today)?;
    let read = read_winners(site, kept, call, &winners);
    let known = async |_| Ok(None);
    let (url, max_age) = (winners.normal_form(), CLOSED_MAX_AGE);
    cached(site, kept, call, (context, &url, max_age), read, known).await
}

/// What is in the edge cache while it is fresh, else what is read, and while that cannot be done
/// what was known last: there, or of itself.
async fn cached(
    site: &Site,
    kept: &Kept,
    call: &Call,
    (context, normal_form, max_age): (&Context, &str, u32),
    read: impl Future<Output = Result<String, Error>>,
    known: impl AsyncFnOnce(Instant) -> Result<Option<Copy>, Error>,
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
            Err(error) => {
                let look = async {
                    let oldest = kept.since_hiding(site, call).await?;
                    let copied = cache::find(&url, oldest).await;
                    let known = known(oldest).await?;
                    Ok(copied.into_iter().chain(known).max_by_key(|copy| copy.made))
                };
                let answer = copies::in_spite_of(call, error, look).await?;
                let answer = answer.with("cache-control", "public, max-age=1");
                return Ok(answer.tagged().unless_known(call.header("if-none-match")));
            }
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

/// The first of past boards, from the store and the archive.
async fn read_winners(
    site: &Site,
    kept: &Kept,
    call: &Call,
    winners: &Winners,
) -> Result<String, Error> {
    let reply = site.ask(winners.command(&site.config)).await?;
    let archived = match &kept.archive {
        Some(archive) => archive.run(&[winners.statement(&site.config)]).await?,
        None => Vec::new(),
    };
    let none = Reply::List(Vec::new());
    let mut boards = winners.boards(&reply, archived.first().unwrap_or(&none))?;
    let mut users = Vec::new();
    for board in &boards {
        users.extend(board.nameless()?);
    }
    let profiles = kept::look_up(site, &site.config.keys().profiles(), &users).await?;
    let mut profiles = profiles.into_iter();
    for board in &mut boards {
        board.name(&mut profiles);
    }
    told(winners.view(&boards, &site.calendar, call.now, site.config.decimals))
}

/// One standing.
pub async fn standing(
    site: &Site,
    kept: &Kept,
    call: &Call,
    period: &str,
    user: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = StandingQuery::read(period, user, &call.query, &site.config, today)?;
    let period = query.which.view(&site.calendar, call.now);
    let asked = Asked {
        which: &query.which,
        closed: period.closed,
        lookup: query.lookup(),
    };
    let command = query.command(&site.config);
    let decimals = site.config.decimals;
    let tell = |reply: &Reply| told(query.view(reply, period.clone(), decimals));
    asked.answer(site, kept, call, command, &tell).await
}

/// Several standings.
pub async fn comparison(
    site: &Site,
    kept: &Kept,
    call: &Call,
    period: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = Comparison::read(period, &call.query, &site.config, today)?;
    let period = query.which.view(&site.calendar, call.now);
    let asked = Asked {
        which: &query.which,
        closed: period.closed,
        lookup: query.lookup(),
    };
    let command = query.command(&site.config);
    let decimals = site.config.decimals;
    let tell = |reply: &Reply| told(query.view(reply, period.clone(), decimals));
    asked.answer(site, kept, call, command, &tell).await
}

impl Asked<'_> {
    /// What is now, or while the store is away what was known last; nobody may store it.
    async fn answer(
        &self,
        site: &Site,
        kept: &Kept,
        call: &Call,
        command: Command,
        tell: &dyn Fn(&Reply) -> Result<String, Error>,
    ) -> Result<Answer, Error> {
        let answer = match self.look_up(site, kept, command).await {
            Ok(reply) => Answer::text("application/json", tell(&reply)?),
            Err(error) => {
                let look = async {
                    let oldest = kept.since_hiding(site, call).await?;
                    self.known(site, kept, oldest, tell).await
                };
                copies::in_spite_of(call, error, look).await?
            }
        };
        Ok(answer.with("cache-control", "no-store"))
    }

    /// What the store says, or where it has no such board that has closed, the archive.
    async fn look_up(&self, site: &Site, kept: &Kept, command: Command) -> Result<Reply, Error> {
        let reply = site.ask(command).await?;
        if !self.closed || reply.at(1)?.some().is_some() {
            return Ok(reply);
        }
        let Some(found) = kept.find(site, self.which, &self.lookup).await? else {
            return Ok(reply);
        };
        let users = self.lookup.users(&found);
        let profiles = kept::look_up(site, &site.config.keys().profiles(), &users).await?;
        Ok(self.lookup.reply(&found, &profiles))
    }

    /// What is known without the store, of an instant or after.
    async fn known(
        &self,
        site: &Site,
        kept: &Kept,
        oldest: Instant,
        tell: &dyn Fn(&Reply) -> Result<String, Error>,
    ) -> Result<Option<Copy>, Error> {
        let board = (self.which, self.closed);
        let Some((reply, made)) = kept.known(site, board, &self.lookup, oldest).await? else {
            return Ok(None);
        };
        let body = tell(&reply)?;
        Ok(Some(Copy { body, made }))
    }
}

fn told(view: Result<impl Serialize, Failure>) -> Result<String, Error> {
    Ok(serde_json::to_string(&view?).unwrap_or_default())
}
