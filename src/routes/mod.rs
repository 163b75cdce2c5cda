//! Handlers, one file for each resource: parse the request, call the store, render the response.

mod activity;
mod array;
mod card;
mod digest;
mod events;
mod health;
mod journal;
pub mod live;
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

use crate::app::{App, RequestContext};
use crate::log;
use crate::middleware::cors::{Cors, is_preflight};
use crate::middleware::{authentication, security_headers};
use crate::request::Request;
use crate::response::Response;
use activity_rank_core::error::Error;
use table::Route;

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

async fn handle(app: &App, request: &mut Request, cors: &Cors) -> Result<Response, Error> {
    let route = Route::parse(&request.path)?;
    request.route = route.pattern();
    let request = &*request;
    if is_preflight(&request.method, |name| request.header(name).is_some()) {
        return Ok(cors.preflight(route.allow()));
    }
    route.check_method(&request.method)?;
    if route.is_public() && request.is_read() {
        authentication::limit_public_read(app, request).await?;
    }
    if route == Route::Health {
        return Ok(health::get(app, request).await);
    }
    let context = RequestContext::new(app, request)?;
    match route {
        Route::Activity => activity::post(context).await,
        Route::Board(kind, period) => ranking::page(context, kind, &period).await,
        Route::Hot => ranking::hot(context).await,
        Route::Winners(period) => ranking::winners(context, &period).await,
        Route::Live(kind, period) => live::open(context, kind, &period).await,
        Route::Comparison(kind, period) => ranking::comparison(context, kind, &period).await,
        Route::Events => events::list(context).await,
        Route::Event(event) => events::event(context, &event).await,
        Route::EventRecount(event) => events::recount(context, &event).await,
        Route::Standing(kind, period, id) => ranking::standing(context, kind, &period, &id).await,
        Route::Targets => targets::put_all(context).await,
        Route::Target(id) => targets::target(context, &id).await,
        Route::TargetModeration(id) => targets::moderation(context, &id).await,
        Route::Profiles => users::put_profiles(context).await,
        Route::Profile(user) => users::profile(context, &user).await,
        Route::History(user) => users::history(context, &user).await,
        Route::Points(user) => points::get(context, &user).await,
        Route::Standings(user) => standings::get(context, &user).await,
        Route::Card(format, user) => card::get(context, format, &user).await,
        Route::UserTargets(user) => targets::list(context, &user).await,
        Route::Moderation(user) => moderation::state(context, &user).await,
        Route::Adjustments(user) => moderation::adjust(context, &user).await,
        Route::AuditLog => moderation::audit_log(context).await,
        Route::Journal => journal::get(context).await,
        Route::WebhookDeliveries => webhooks::list(context).await,
        Route::WebhookRetry(id) => webhooks::retry(context, &id).await,
        Route::Stats => stats::get(context).await,
        Route::Status => status::get(context).await,
        Route::Metrics => metrics::get(context).await,
        Route::Digest(week) => digest::get(context, &week).await,
        Route::Feed(format) => digest::feed(context, format).await,
        Route::Health | Route::OpenApi => pages::openapi(app, request).await,
        Route::Page(page) => pages::get(context, &page).await,
    }
}
