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
use crate::app::{App, RequestContext};
use crate::log;
use crate::middleware::cors::{Cors, is_preflight};
use crate::middleware::security_headers;
use crate::request::Request;
use crate::response::Response;
use activity_rank_core::error::Error;

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
    live::read(app, &request, &period, forms).await
}

async fn handle(app: &App, request: &mut Request, cors: &Cors) -> Result<Response, Error> {
    let (route, values) = table::find(&request.path)?;
    request.route = route.pattern;
    if is_preflight(&request.method, |name| request.header(name).is_some()) {
        return Ok(cors.preflight(&route.allow()));
    }
    let handler = route.handler(&request.method)?;
    handler.handle(app, request, &values).await
}
