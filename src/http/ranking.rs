//! `GET /v1/ranking/…`.

use super::answer::{Answer, More};
use super::cache;
use super::call::Call;
use super::copies;
use super::kept::{self, Kept};
use crate::calendar::Instant;
use crate::error::Error;
use crate::keys::Keys;
use crate::ranking::{Board, Comparison, Copy, PeriodView, Question, StandingQuery, Winners, read};
use crate::redis::Reply;
use crate::site::Site;

/// How long a closed board may be served from a cache, in seconds: a late undo may change it.
const CLOSED_MAX_AGE: u32 = 300;

/// A question about one board, and what answers it.
pub struct Asked<'a> {
    site: &'a Site,
    kept: &'a Kept,
    call: &'a Call,
    question: &'a dyn Question,
    period: PeriodView,
}

/// The top of a board, from the edge cache where it is fresh, or while the store is away.
pub async fn board(site: &Site, kept: &Kept, call: &Call, period: &str) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let board = Board::read(period, &call.query, &site.config, today)?;
    let asked = Asked::new(site, kept, call, &board);
    let max_age = if asked.period.closed {
        CLOSED_MAX_AGE
    } else {
        site.config.board_max_age
    };
    let read = async { asked.tell(&asked.look_up().await?) };
    let known = async |oldest| asked.known(oldest).await;
    let url = board.normal_form();
    cached(site, kept, call, (&url, max_age), read, known).await
}

/// The first three of past boards, kept as those are.
pub async fn winners(site: &Site, kept: &Kept, call: &Call, period: &str) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let winners = Winners::read(period, &call.query, &site.config, today)?;
    let read = read_winners(site, kept, call, &winners);
    let known = async |_| Ok(None);
    let (url, max_age) = (winners.normal_form(), CLOSED_MAX_AGE);
    cached(site, kept, call, (&url, max_age), read, known).await
}

/// What is in the edge cache while it is fresh, else what is read, and while that cannot be done
/// what was known last: there, or of itself.
async fn cached(
    site: &Site,
    kept: &Kept,
    call: &Call,
    (normal_form, max_age): (&str, u32),
    read: impl Future<Output = Result<String, Error>>,
    known: impl AsyncFnOnce(Instant) -> Result<Option<Copy>, Error>,
) -> Result<Answer, Error> {
    let url = format!("{}{normal_form}", call.origin);
    let oldest = Instant(call.now.0 - i64::from(max_age) * 1000 + 1);
    let found = cache::find(&url, oldest).await;
    let age = found.as_ref().map(|copy| copy.age(call.now).to_string());
    let (body, more) = match found {
        Some(Copy { body, made }) => {
            // A question that names no day means another board from midnight on.
            let tomorrow = site.calendar.date_at(call.now).next();
            let midnight = site.calendar.start_of(tomorrow);
            let until = Instant(made.0 + i64::from(max_age) * 1000).min(midnight);
            (body, More::Hold(made, until))
        }
        None => match read.await {
            Ok(body) => (body, More::Keep(call.now, url)),
            Err(error) => {
                let look = last_known(site, kept, call, &url, known);
                let answer = copies::in_spite_of(call, error, look).await?;
                let answer = answer.with("cache-control", "public, max-age=1");
                return Ok(answer.tagged().unless_known(call.header("if-none-match")));
            }
        },
    };
    let control = format!("public, max-age={max_age}, stale-if-error=86400");
    let mut answer = Answer::text("application/json", body)
        .with("cache-control", control)
        .tagged();
    answer.more = more;
    if let Some(age) = age {
        answer = answer.with("age", age);
    }
    Ok(answer.unless_known(call.header("if-none-match")))
}

/// The newest of what was known last, in the edge cache or of itself, and shows nobody who has been
/// hidden or erased since.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] where that cannot be known.
pub async fn last_known(
    site: &Site,
    kept: &Kept,
    call: &Call,
    url: &str,
    known: impl AsyncFnOnce(Instant) -> Result<Option<Copy>, Error>,
) -> Result<Option<Copy>, Error> {
    let oldest = kept.since_hiding(site, call).await?;
    let copied = cache::find(url, oldest).await;
    let known = known(oldest).await?;
    Ok(copied.into_iter().chain(known).max_by_key(|copy| copy.made))
}

/// The first of past boards, from the store and the archive.
async fn read_winners(
    site: &Site,
    kept: &Kept,
    call: &Call,
    winners: &Winners,
) -> Result<String, Error> {
    let commands = (0..site.config.shards).map(|shard| winners.command(&site.config, shard));
    let replies = site.ask_each(commands.collect()).await?;
    let archived = match &kept.archive {
        Some(archive) => archive.run(&[winners.statement(&site.config)]).await?,
        None => Vec::new(),
    };
    let none = Reply::List(Vec::new());
    let mut boards = winners.boards(&replies, archived.first().unwrap_or(&none), &site.config)?;
    let mut users = Vec::new();
    for board in &boards {
        users.extend(board.nameless()?);
    }
    let profiles = kept::look_up(site, Keys::profiles, &users).await?;
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
    kept: &Kept,
    call: &Call,
    period: &str,
    user: &str,
) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let query = StandingQuery::read(period, user, &call.query, &site.config, today)?;
    Asked::new(site, kept, call, &query).answer().await
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
    Asked::new(site, kept, call, &query).answer().await
}

impl<'a> Asked<'a> {
    /// A question asked by a call.
    #[must_use]
    pub fn new(site: &'a Site, kept: &'a Kept, call: &'a Call, question: &'a dyn Question) -> Self {
        let period = question.which().view(&site.calendar, call.now);
        Self {
            site,
            kept,
            call,
            question,
            period,
        }
    }

    /// What is now, or while the store is away what was known last; nobody may store it.
    async fn answer(&self) -> Result<Answer, Error> {
        let answer = match self.look_up().await {
            Ok(reply) => Answer::text("application/json", self.tell(&reply)?),
            Err(error) => {
                let look = async {
                    let oldest = self.kept.since_hiding(self.site, self.call).await?;
                    self.known(oldest).await
                };
                copies::in_spite_of(self.call, error, look).await?
            }
        };
        Ok(answer.with("cache-control", "no-store"))
    }

    /// The answer as JSON, from the reply to the lookup.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the reply is not one to it.
    pub fn tell(&self, reply: &Reply) -> Result<String, Error> {
        let decimals = self.site.config.decimals;
        Ok(self.question.tell(reply, self.period.clone(), decimals)?)
    }

    /// What the store says, or where it has no such board that has closed, the archive.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn look_up(&self) -> Result<Reply, Error> {
        let (which, lookup) = (self.question.which(), self.question.lookup());
        let (reply, whole) = read(self.site, which, &lookup).await?;
        if whole || !self.period.closed {
            return Ok(reply);
        }
        let found = self.kept.find(self.site, which, &lookup).await?;
        let held = reply.at(1)?.some().map(Reply::unsigned).transpose()?;
        // Of a shard that has no board nobody knows whether it ever had.
        let Some(found) = found.filter(|found| held.is_none_or(|held| held < found.total)) else {
            return Ok(reply);
        };
        let users = lookup.users(&found);
        let profiles = kept::look_up(self.site, Keys::profiles, &users).await?;
        Ok(lookup.reply(&found, &profiles))
    }

    /// What is known without the store, of an instant or after.
    ///
    /// # Errors
    ///
    /// As [`Kept::known`].
    pub async fn known(&self, oldest: Instant) -> Result<Option<Copy>, Error> {
        let board = (self.question.which(), self.period.closed);
        let lookup = self.question.lookup();
        let known = self.kept.known(self.site, board, &lookup, oldest).await?;
        let told = known.map(|(reply, made)| {
            let body = self.tell(&reply)?;
            Ok(Copy { body, made })
        });
        told.transpose()
    }
}
