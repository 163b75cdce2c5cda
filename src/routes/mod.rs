//! Handlers, one file for each resource: parse the request, call the store, render the response.

mod activity;
mod array;
mod card;
mod digest;
mod events;
mod health;
mod journal;
mod live;
mod metrics;
mod moderation;
mod pages;
mod points;
mod ranking;
mod standings;
mod stats;
mod status;
pub mod table;
mod targets;
mod users;
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
    let response = handle(app, &mut request, &cors)
        .await
        .unwrap_or_else(|error| {
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
    let found = table::find(&request.path);
    if found.is_err() && request.wants_page() {
        return pages::get(RequestContext::new(app, request)?, Page::Missing).await;
    }
    let (route, values) = found?;
    request.route = route.pattern;
    if is_preflight(&request.method, |name| request.header(name).is_some()) {
        return Ok(cors.preflight(&route.allow()));
    }
    let handler = route.handler(&request.method)?;
    handler.handle(app, request, &values).await
}
