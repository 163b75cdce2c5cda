//! `GET /v1/ranking/{period}/live`: a board and each change of it, as server-sent events.
//!
//! A Durable Object for each board reads it for all who watch, however many: the binding `LIVE`.
//! What is read is here, the same as is answered to who asks for the board; who gets it when is in
//! `live.js`.

use super::Deployment;
use super::answer::{Answer, version};
use super::call::Call;
use super::copies;
use super::edge::perform;
use super::kept::Kept;
use super::ranking::{Asked, last_known};
use super::route::Route;
use crate::calendar::Instant;
use crate::config::Vars;
use crate::error::Error;
use crate::ranking::{Board, Copy};
use crate::redis::Reply;
use crate::site::Site;
use std::cell::RefCell;
use std::rc::Rc;

/// Opens a stream of a board: at once as it is, unless the caller knows it, then whenever it has
/// changed.
pub async fn open(site: &Site, kept: &Kept, call: &Call, period: &str) -> Result<Answer, Error> {
    let today = site.calendar.date_at(call.now);
    let board = Board::watched(period, &call.query, &site.config, today)?;
    if !kept.live {
        let detail = "This deployment has no live boards: LIVE is not bound.";
        return Err(Error::NotFound(detail.to_owned()));
    }
    let (period, group) = (board.which.period.name(), board.which.group.as_deref());
    let name = format!(
        "{period}/{}/{}",
        group.unwrap_or_default(),
        site.config.prefix
    );
    let url = format!("{}{}", call.origin, board.live_form());
    // One of ours, or none.
    let known = call.header("last-event-id");
    let known = known.filter(|known| known.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let known = known.unwrap_or_default();
    let opened = perform("watch", &[&name, &call.method, &url, known]).await;
    let opened = opened.map_err(|cause| Error::StoreUnavailable(format!("LIVE: {cause}")))?;
    match opened.parse() {
        Ok(stream) => Ok(Answer::stream("text/event-stream", stream)),
        Err(_) => Err(failure(opened.strip_prefix('\n').unwrap_or_default())),
    }
}

/// The error that an object met: the variable, or none, and the cause.
fn failure(told: &str) -> Error {
    let (variable, cause) = told.split_once('\n').unwrap_or_default();
    let known = Vars::NAMES.into_iter().find(|name| *name == variable);
    match known {
        Some(variable) => Error::Misconfigured(variable, cause.to_owned()),
        None => Error::StoreUnavailable(cause.to_owned()),
    }
}

/// What the store said last: of a board by its name, of so many entries, at an instant.
struct Read {
    name: String,
    limit: u32,
    reply: Reply,
    made: Instant,
}

thread_local! {
    /// Of the boards that were read here last, the newest at the end.
    static LAST: RefCell<Vec<Read>> = const { RefCell::new(Vec::new()) };
}

/// How many of them are remembered. Objects share an isolate, and tell nobody when they go.
const MOST: usize = 20;

/// The board that an object asks for, for each of some numbers of entries, in the words of
/// `live.js`: these numbers in a line, then the request.
pub async fn look(text: String) -> String {
    let (limits, request) = text.split_once('\n').unwrap_or_default();
    let looked = boards(request.to_owned(), limits).await;
    looked.unwrap_or_else(|error| match error {
        Error::Misconfigured(variable, way_out) => format!("failed\n{variable}\n{way_out}"),
        error => format!("failed\n\n{}", line(&error)),
    })
}

/// The same, of what the store says or of what is known in spite of it.
///
/// # Errors
///
/// Why the store does not tell, where nothing is known; or wrong variables.
async fn boards(request: String, limits: &str) -> Result<String, Error> {
    let deployment = Deployment::of();
    let (site, kept) = (
        deployment.site.as_ref().map_err(Error::clone)?,
        &deployment.kept,
    );
    let mut call = Call::read(request, Rc::clone(&deployment.limits));
    let route = Route::of(&call.path)?;
    call.route = route.pattern();
    let Route::Live(period) = route else {
        return Err(Error::NotFound(String::new()));
    };
    let today = site.calendar.date_at(call.now);
    let board = Board::watched(&period, &call.query, &site.config, today)?;
    let limits: Vec<u32> = limits.split(',').flat_map(str::parse).collect();
    let most = limits.iter().copied().max().unwrap_or_default();
    let longest = board.first(most);
    let looked = Asked::new(site, kept, &call, &longest).look_up().await;
    let mut told = match &looked {
        Ok(_) => "fresh\n\n".to_owned(),
        Err(error) => format!("stale\n\n{}", line(error)),
    };
    for limit in limits {
        let board = &longest.first(limit);
        let asked = Asked::new(site, kept, &call, board);
        let json = match &looked {
            Ok(reply) => asked.tell(reply)?,
            Err(error) => {
                let url = format!("{}{}", call.origin, board.normal_form());
                let known = async |oldest| match last(&asked, board, oldest)? {
                    Some(last) => Ok(Some(last)),
                    None => asked.known(oldest).await,
                };
                let look = last_known(site, kept, &call, &url, known);
                copies::in_spite_of(&call, error.clone(), look).await?.body
            }
        };
        told += &format!("\n{limit}\n{}\n{json}", version(&json));
    }
    if let Ok(reply) = looked {
        let (name, limit, made) = (board.which.name(), most, call.now);
        LAST.with_borrow_mut(|all| {
            all.retain(|known| known.name != name);
            if all.len() >= MOST {
                all.remove(0);
            }
            all.push(Read {
                name,
                limit,
                reply,
                made,
            });
        });
    }
    Ok(told)
}

/// What the store said last, if that was of this board, so much, and not before an instant.
fn last(asked: &Asked<'_>, board: &Board, oldest: Instant) -> Result<Option<Copy>, Error> {
    LAST.with_borrow(|all| {
        let fits = |last: &&Read| {
            let (name, so_much) = (board.which.name(), last.limit >= board.limit());
            last.name == name && so_much && last.made >= oldest
        };
        let copy = all.iter().find(fits).map(|Read { reply, made, .. }| {
            let (body, made) = (asked.tell(reply)?, *made);
            Ok(Copy { body, made })
        });
        copy.transpose()
    })
}

/// Why, in one line.
fn line(error: &Error) -> String {
    error.cause().unwrap_or_default().replace('\n', " ")
}
