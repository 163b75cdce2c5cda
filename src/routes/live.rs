//! `GET /v1/ranking/{period}/live`: a board and each of its changes as server-sent events.
//!
//! A Durable Object for each board (the binding `LIVE`) reads it on behalf of all its watchers, and
//! `live.js` sends what has changed. The object reads the board with [`read`], which returns what the
//! route of the board would.

use super::ranking::BoardReader;
use crate::app::{App, RequestContext};
use crate::cache::response::{last_copy, stale};
use crate::platform::live::{Watch, watch};
use crate::request::Request;
use crate::response::{Response, body_hash};
use activity_rank_core::board::{BoardKind, BoardSlice, PageRequest};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Vars;
use activity_rank_core::error::Error;
use activity_rank_core::query::Query;
use activity_rank_store::watch::WatchRequests;
use std::cell::RefCell;

/// Boards remembered by an isolate. Objects share isolates, and leave without notice.
const MAX_REMEMBERED: usize = 20;

/// A board as it was last read.
struct Remembered {
    name: String,
    limit: u32,
    slice: BoardSlice,
    made: Instant,
}

/// In the place of a misconfigured variable: the event of the board does not exist.
const NOT_FOUND: &str = "not-found";

thread_local! {
    /// The boards that were last read, newest last.
    static REMEMBERED: RefCell<Vec<Remembered>> = const { RefCell::new(Vec::new()) };
}

/// Opens a stream: it begins with the board, unless the caller has this version already, and
/// continues with every change.
pub async fn open(
    context: RequestContext<'_>,
    kind: BoardKind,
    period: &str,
) -> Result<Response, Error> {
    let (config, http) = (&context.deployment.config, context.request);
    let request = PageRequest::parse_live(kind, period, &http.query, config, context.today())?;
    if !context.app.bindings.live {
        let detail = "This deployment has no live boards: LIVE is not bound.";
        return Err(Error::NotFound(detail.to_owned()));
    }
    let board = &request.board;
    // `wake.js` derives it from the name of the board.
    let group = board.group.as_deref().unwrap_or_default();
    let letter = board.period.letter().to_string();
    let letter = match kind {
        BoardKind::Event => "",
        BoardKind::Members | BoardKind::Content | BoardKind::Authors => letter.as_str(),
    };
    let name = format!("{}{letter}/{group}", kind.prefix());
    let url = format!("{}{}", http.origin, request.live_normal_form());
    // Replacements of `EventSource` cannot set the header. Versions are hashes in hexadecimal digits.
    let names = ["lastEventId", "Last-Event-ID"];
    let query = Query::known(&http.query, &names);
    let parameter = names.into_iter().find_map(|name| query.get(name));
    let known = http.header("last-event-id").or(parameter);
    let known = known.filter(|known| known.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let watched = watch(
        &context.app.env,
        &name,
        &http.method,
        &url,
        known.unwrap_or_default(),
    )
    .await;
    match watched.map_err(|cause| Error::StoreUnavailable(format!("LIVE: {cause}")))? {
        Watch::Stream(stream) => Ok(Response::stream("text/event-stream", stream)),
        Watch::Failed(failure) => Err(parse_failure(&failure)),
    }
}

/// Parses the error that an object met: the variable, [`NOT_FOUND`] or nothing, and the cause.
fn parse_failure(failure: &str) -> Error {
    let (variable, cause) = failure.split_once('\n').unwrap_or_default();
    if variable == NOT_FOUND {
        return Error::NotFound(cause.to_owned());
    }
    let known = Vars::NAMES.into_iter().find(|name| *name == variable);
    match known {
        Some(variable) => Error::Misconfigured(variable, cause.to_owned()),
        None => Error::StoreUnavailable(cause.to_owned()),
    }
}

/// Reads the board of a request in each of some forms, as the lines that `live.js` parses: `fresh`,
/// `stale` or `failed`; the misconfigured variable, `not-found` or nothing; the cause; the requests of
/// [`WatchRequests`], empty unless fresh; then form, version and JSON of each board. A form is a number
/// of rows, with `m` after it for movement.
pub async fn read(app: &App, http: &Request, period: &str, forms: &str) -> String {
    let read = read_boards(app, http, period, forms).await;
    read.unwrap_or_else(|error| match error {
        Error::Misconfigured(variable, remedy) => format!("failed\n{variable}\n{remedy}"),
        Error::NotFound(detail) => format!("failed\n{NOT_FOUND}\n{detail}"),
        error => format!("failed\n\n{}", one_line(&error)),
    })
}

async fn read_boards(
    app: &App,
    http: &Request,
    period: &str,
    forms: &str,
) -> Result<String, Error> {
    let kind = BoardKind::from_path(http.path.split('/').nth(2).unwrap_or_default());
    let context = RequestContext::new(app, http)?;
    let config = &context.deployment.config;
    let request = PageRequest::parse_live(kind, period, &http.query, config, context.today())?;
    let forms = forms.split(',').filter_map(|form| {
        let limit = form.trim_end_matches('m');
        Some((form, limit.parse().ok()?, limit != form))
    });
    let forms: Vec<(&str, u32, bool)> = forms.collect();
    let limits = forms.iter().map(|(_, limit, _)| *limit);
    let movement = forms.iter().any(|(_, _, movement)| *movement);
    let longest = request.first(limits.max().unwrap_or_default(), movement);
    let slice = BoardReader::new(context, &longest).read().await;
    let mut lines = match &slice {
        Ok(slice) => {
            let requests = WatchRequests::new(context.deployment, &request.board, slice);
            format!("fresh\n\n\n{}\n{}", requests.check, requests.register)
        }
        Err(error) => format!("stale\n\n{}\n\n", one_line(error)),
    };
    for (form, limit, movement) in forms {
        let request = &longest.first(limit, movement);
        let reader = BoardReader::new(context, request);
        let json = match &slice {
            Ok(slice) => reader.render(slice),
            Err(error) => {
                let url = format!("{}{}", http.origin, request.normal_form());
                let copy = async |oldest| match remembered(request, oldest) {
                    Some((slice, made)) => Ok(Some(reader.copy_of(slice, made).await)),
                    None => reader.copy(oldest).await,
                };
                let copy = last_copy(context, &url, copy);
                stale(http, error.clone(), copy).await?.body
            }
        };
        lines += &format!("\n{form}\n{}\n{json}", body_hash(&json));
    }
    if let Ok(slice) = slice {
        remember(&longest, slice, http.now);
    }
    Ok(lines)
}

fn remember(request: &PageRequest, slice: BoardSlice, made: Instant) {
    let name = request.board.name();
    REMEMBERED.with_borrow_mut(|all| {
        all.retain(|other| other.name != name);
        if all.len() >= MAX_REMEMBERED {
            all.remove(0);
        }
        all.push(Remembered {
            name,
            limit: request.limit(),
            slice,
            made,
        });
    });
}

/// Returns the remembered board, if it has enough rows and was made at `oldest` or later.
fn remembered(request: &PageRequest, oldest: Instant) -> Option<(BoardSlice, Instant)> {
    let name = request.board.name();
    REMEMBERED.with_borrow(|all| {
        let fits = |other: &&Remembered| {
            other.name == name && other.limit >= request.limit() && other.made >= oldest
        };
        let found = all.iter().find(fits)?;
        Some((found.slice.clone(), found.made))
    })
}

fn one_line(error: &Error) -> String {
    error.cause().unwrap_or_default().replace('\n', " ")
}
