//! Handlers, one file for each resource: parse the request, call the store, render the response.

mod accounts;
mod achievements;
mod activity;
mod array;
mod card;
mod cases;
mod credentials;
mod digest;
mod events;
mod health;
mod journal;
mod live;
mod metrics;
mod moderation;
mod pages;
mod pauses;
mod points;
mod ranking;
mod rules;
mod standings;
mod stats;
mod status;
mod syncs;
pub mod table;
mod targets;
mod token;
mod users;
mod visitors;
mod webhooks;

use self::pages::Page;
use self::table::Responding;
use crate::app::{App, RequestContext};
use crate::log;
use crate::middleware::cors::{Cors, is_preflight};
use crate::middleware::security_headers;
use crate::request::Request;
use crate::response::{Handling, Response};
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;

/// Largest number of times that a response is made. The shards of a rebuild are replaced within milliseconds.
const MAX_READS: u32 = 4;

/// Responds to a request. Every error becomes a problem document.
pub async fn respond(app: &App, mut request: Request) -> String {
    let cors = Cors::new(&app.origins, request.header("origin"));
    let mut result = handle(app, &mut request, &cors).await;
    if let Err(Error::NotFound(_)) = result
        && request.wants_page()
        && let Ok(context) = RequestContext::new(app, &request)
    {
        result = pages::get(context, Page::Missing).await;
    }
    let response = result.unwrap_or_else(|error| {
        log::failure(&request, &error);
        Response::problem(&error)
    });
    cors.add(security_headers::add(response, &request))
        .serialize(request.route)
}

/// Reads the board of a live route, see `live.rs`.
pub async fn read_live(app: &App, mut request: Request, forms: &str) -> String {
    let Ok((route, [period, _])) = table::find(&request.path) else {
        return String::new();
    };
    request.route = route.pattern;
    let response = consistent_response(app, true, &|| {
        let read = live::read(app, &request, &period, forms);
        Box::pin(async { Ok(Response::text("", read.await)) })
    })
    .await;
    response.map(|response| response.body).unwrap_or_default()
}

async fn handle(app: &App, request: &mut Request, cors: &Cors) -> Result<Response, Error> {
    let (route, values) = table::find(&request.path)?;
    request.route = route.pattern;
    if is_preflight(&request.method, |name| request.header(name).is_some()) {
        return Ok(cors.preflight(&route.allow()));
    }
    let handler = route.handler(&request.method)?;
    let request: &Request = request;
    consistent_response(app, request.is_read(), &|| {
        Box::pin(handler.handle(app, request, &values))
    })
    .await
}

/// Makes the response to a read again while a rebuild replaces the data.
async fn consistent_response<'a>(
    app: &App,
    is_read: bool,
    respond: &dyn Fn() -> Responding<'a>,
) -> Result<Response, Error> {
    let reading = app.deployment.as_ref().ok().filter(|_| is_read);
    let mut attempts = 1;
    loop {
        let seen = reading.map_or(0, Deployment::replacements);
        let response = respond().await?;
        let may_mix = match (reading, &response.handling) {
            // The object of a stream has read its board, and the stream is open.
            (_, Handling::Stream(_)) => Ok(false),
            (Some(deployment), _) if attempts < MAX_READS => deployment.may_mix(seen).await,
            _ => Ok(false),
        };
        // The store may be unavailable, and this a copy.
        if !may_mix.unwrap_or_default() {
            return Ok(response);
        }
        attempts += 1;
    }
}
