//! The routes: path, methods, who may call, which responses are shared, and what handles them.

use super::pages::Page;
use super::{
    activity, card, digest, events, health, journal, live, metrics, moderation, pages, points,
    ranking, standings, stats, status, targets, users, webhooks,
};
use crate::app::{App, RequestContext};
use crate::middleware::authentication::{authenticate, limit_public_read};
use crate::request::{Body, Request};
use crate::response::Response;
use activity_rank_core::board::BoardKind::{Authors, Content, Event, Members};
use activity_rank_core::caller::Caller;
use activity_rank_core::card::CardFormat;
use activity_rank_core::digest::FeedFormat;
use activity_rank_core::error::Error;
use percent_encoding::percent_decode_str;
use std::pin::Pin;

/// A route.
pub struct Route {
    /// The path with the names of its parameters, as in the OpenAPI document.
    pub pattern: &'static str,
    /// Whether requests that are sent at the same time share a response.
    pub sharing: Sharing,
    handlers: &'static [(&'static str, Handler)],
}

/// Whether requests without credentials that one isolate has at the same time share a response, see
/// `single_flight.js`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// They do not.
    None,
    /// A cache may store the response.
    Cached,
    /// No cache may store the response: no request shares one that a write precedes.
    Current,
}

/// The values of a path's parameters in their order, percent-decoded but not validated; empty
/// beyond their number.
pub type Values = [String; 2];

/// What a handler returns. Boxed: otherwise the future of a request would have room for each.
pub type Handling<'a> = Pin<Box<dyn Future<Output = Result<Response, Error>> + 'a>>;

/// A function that handles a method of a route. The kind says who may call, and what limits them.
#[derive(Clone, Copy)]
pub enum Handler {
    /// Anyone, even while the configuration is invalid; counted against the address.
    Unconfigured(for<'a> fn(&'a App, &'a Request) -> Handling<'a>),
    /// Anyone, without a limit: it does not need the store.
    File(for<'a> fn(RequestContext<'a>, &'a Values) -> Handling<'a>),
    /// Anyone; counted against the address, unless a service calls.
    Public(for<'a> fn(RequestContext<'a>, &'a Values) -> Handling<'a>),
    /// Anyone, who may learn more with credentials; counted as by [`authenticate`].
    Identified(for<'a> fn(RequestContext<'a>, &'a Values, Result<Caller, Error>) -> Handling<'a>),
    /// Callers with credentials; counted as by [`authenticate`].
    Authenticated(for<'a> fn(RequestContext<'a>, &'a Values, Caller) -> Handling<'a>),
    /// The same, with a body whose size and media type are checked before.
    WithBody(for<'a> fn(RequestContext<'a>, &'a Values, Caller, Body<'a>) -> Handling<'a>),
}

use Handler::{Authenticated, File, Identified, Public, Unconfigured, WithBody};
use Sharing::{Cached, Current};

const GET: &str = "GET";
const PUT: &str = "PUT";
const POST: &str = "POST";
const DELETE: &str = "DELETE";

/// Returns a route whose responses are not shared.
const fn route(pattern: &'static str, handlers: &'static [(&'static str, Handler)]) -> Route {
    shared(Sharing::None, pattern, handlers)
}

const fn shared(
    sharing: Sharing,
    pattern: &'static str,
    handlers: &'static [(&'static str, Handler)],
) -> Route {
    Route {
        pattern,
        sharing,
        handlers,
    }
}

/// The routes: a path takes the first that matches. `GET` includes `HEAD`.
///
/// A router of the registry (`matchit`) is as exact, but adds 6.7 KB to the compressed Worker.
pub const ROUTES: &[Route] = &[
    route(
        "/",
        &[(GET, File(|c, _| Box::pin(pages::get(c, Page::Home))))],
    ),
    route(
        "/u/{user}",
        &[(
            GET,
            Public(|c, [user, _]| Box::pin(pages::get(c, Page::Member(user)))),
        )],
    ),
    route(
        "/try",
        &[(GET, File(|c, _| Box::pin(pages::get(c, Page::Playground))))],
    ),
    route(
        "/admin",
        &[(GET, File(|c, _| Box::pin(pages::get(c, Page::Admin))))],
    ),
    route(
        "/gallery",
        &[(GET, File(|c, _| Box::pin(pages::get(c, Page::Gallery))))],
    ),
    route(
        "/docs",
        &[(GET, File(|c, _| Box::pin(pages::get(c, Page::Docs))))],
    ),
    route(
        "/openapi.json",
        &[(GET, File(|c, _| Box::pin(pages::openapi(c))))],
    ),
    route(
        "/healthz",
        &[(
            GET,
            Unconfigured(|app, request| Box::pin(health::get(app, request))),
        )],
    ),
    route(
        "/metrics",
        &[(
            GET,
            Authenticated(|c, _, caller| Box::pin(metrics::get(c, caller))),
        )],
    ),
    route(
        "/v1/activity",
        &[(
            POST,
            WithBody(|c, _, caller, body| Box::pin(activity::post(c, caller, body))),
        )],
    ),
    shared(
        Cached,
        "/v1/ranking/{period}",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(ranking::page(c, Members, period))),
        )],
    ),
    route(
        "/v1/ranking/{period}/live",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(live::open(c, Members, period))),
        )],
    ),
    shared(
        Cached,
        "/v1/ranking/{period}/winners",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(ranking::winners(c, period))),
        )],
    ),
    shared(
        Current,
        "/v1/ranking/{period}/users",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(ranking::comparison(c, Members, period))),
        )],
    ),
    route(
        "/v1/ranking/{period}/users/{user}",
        &[(
            GET,
            Public(|c, [period, user]| Box::pin(ranking::standing(c, Members, period, user))),
        )],
    ),
    shared(
        Cached,
        "/v1/content/hot",
        &[(GET, Public(|c, _| Box::pin(ranking::hot(c))))],
    ),
    shared(
        Cached,
        "/v1/content/{period}",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(ranking::page(c, Content, period))),
        )],
    ),
    route(
        "/v1/content/{period}/live",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(live::open(c, Content, period))),
        )],
    ),
    route(
        "/v1/content/{period}/targets/{target}",
        &[(
            GET,
            Public(|c, [period, target]| Box::pin(ranking::standing(c, Content, period, target))),
        )],
    ),
    shared(
        Cached,
        "/v1/authors/{period}",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(ranking::page(c, Authors, period))),
        )],
    ),
    route(
        "/v1/authors/{period}/live",
        &[(
            GET,
            Public(|c, [period, _]| Box::pin(live::open(c, Authors, period))),
        )],
    ),
    route(
        "/v1/authors/{period}/users/{user}",
        &[(
            GET,
            Public(|c, [period, user]| Box::pin(ranking::standing(c, Authors, period, user))),
        )],
    ),
    shared(
        Cached,
        "/v1/events",
        &[(GET, Public(|c, _| Box::pin(events::list(c))))],
    ),
    route(
        "/v1/events/{event}",
        &[
            (GET, Public(|c, [event, _]| Box::pin(events::get(c, event)))),
            (
                PUT,
                WithBody(|c, [event, _], caller, body| {
                    Box::pin(events::put(c, event, caller, body))
                }),
            ),
            (
                DELETE,
                Authenticated(|c, [event, _], caller| Box::pin(events::delete(c, event, caller))),
            ),
        ],
    ),
    route(
        "/v1/events/{event}/recount",
        &[(
            POST,
            WithBody(|c, [event, _], caller, body| {
                Box::pin(events::recount(c, event, caller, body))
            }),
        )],
    ),
    shared(
        Cached,
        "/v1/events/{event}/ranking",
        &[(
            GET,
            Public(|c, [event, _]| Box::pin(ranking::page(c, Event, event))),
        )],
    ),
    route(
        "/v1/events/{event}/live",
        &[(
            GET,
            Public(|c, [event, _]| Box::pin(live::open(c, Event, event))),
        )],
    ),
    shared(
        Current,
        "/v1/events/{event}/ranking/users",
        &[(
            GET,
            Public(|c, [event, _]| Box::pin(ranking::comparison(c, Event, event))),
        )],
    ),
    route(
        "/v1/events/{event}/ranking/users/{user}",
        &[(
            GET,
            Public(|c, [event, user]| Box::pin(ranking::standing(c, Event, event, user))),
        )],
    ),
    route(
        "/v1/targets",
        &[(
            PUT,
            WithBody(|c, _, caller, body| Box::pin(targets::put_all(c, caller, body))),
        )],
    ),
    route(
        "/v1/targets/{target}",
        &[
            (
                GET,
                Public(|c, [target, _]| Box::pin(targets::get(c, target))),
            ),
            (
                PUT,
                WithBody(|c, [target, _], caller, body| {
                    Box::pin(targets::put(c, target, caller, body))
                }),
            ),
            (
                DELETE,
                Authenticated(|c, [target, _], caller| {
                    Box::pin(targets::delete(c, target, caller))
                }),
            ),
        ],
    ),
    route(
        "/v1/targets/{target}/moderation",
        &[
            (
                GET,
                Authenticated(|c, [target, _], caller| {
                    Box::pin(targets::get_state(c, target, caller))
                }),
            ),
            (
                PUT,
                WithBody(|c, [target, _], caller, body| {
                    Box::pin(targets::put_state(c, target, caller, body))
                }),
            ),
        ],
    ),
    route(
        "/v1/users",
        &[(
            PUT,
            WithBody(|c, _, caller, body| Box::pin(users::put_profiles(c, caller, body))),
        )],
    ),
    route(
        "/v1/users/{user}",
        &[
            (
                GET,
                Public(|c, [user, _]| Box::pin(users::get_profile(c, user))),
            ),
            (
                PUT,
                WithBody(|c, [user, _], caller, body| {
                    Box::pin(users::put_profile(c, user, caller, body))
                }),
            ),
            (
                DELETE,
                Authenticated(|c, [user, _], caller| Box::pin(users::erase(c, user, caller))),
            ),
        ],
    ),
    route(
        "/v1/users/{user}/activity",
        &[(
            GET,
            Identified(|c, [user, _], caller| Box::pin(users::history(c, user, caller))),
        )],
    ),
    route(
        "/v1/users/{user}/points",
        &[(
            GET,
            Authenticated(|c, [user, _], caller| Box::pin(points::get(c, user, caller))),
        )],
    ),
    route(
        "/v1/users/{user}/standings",
        &[(
            GET,
            Authenticated(|c, [user, _], caller| Box::pin(standings::get(c, user, caller))),
        )],
    ),
    shared(
        Cached,
        "/v1/users/{user}/card",
        &[(
            GET,
            Public(|c, [user, _]| Box::pin(card::get(c, CardFormat::Json, user))),
        )],
    ),
    shared(
        Cached,
        "/v1/users/{user}/card.svg",
        &[(
            GET,
            Public(|c, [user, _]| Box::pin(card::get(c, CardFormat::Card, user))),
        )],
    ),
    shared(
        Cached,
        "/v1/users/{user}/badge.svg",
        &[(
            GET,
            Public(|c, [user, _]| Box::pin(card::get(c, CardFormat::Badge, user))),
        )],
    ),
    route(
        "/v1/users/{user}/targets",
        &[(GET, Public(|c, [user, _]| Box::pin(targets::list(c, user))))],
    ),
    route(
        "/v1/users/{user}/moderation",
        &[
            (
                GET,
                Authenticated(|c, [user, _], caller| {
                    Box::pin(moderation::get_state(c, user, caller))
                }),
            ),
            (
                PUT,
                WithBody(|c, [user, _], caller, body| {
                    Box::pin(moderation::put_state(c, user, caller, body))
                }),
            ),
        ],
    ),
    route(
        "/v1/users/{user}/adjustments",
        &[(
            POST,
            WithBody(|c, [user, _], caller, body| {
                Box::pin(moderation::adjust(c, user, caller, body))
            }),
        )],
    ),
    route(
        "/v1/moderation",
        &[(
            GET,
            Authenticated(|c, _, caller| Box::pin(moderation::audit_log(c, caller))),
        )],
    ),
    route(
        "/v1/journal",
        &[(
            GET,
            Authenticated(|c, _, caller| Box::pin(journal::get(c, caller))),
        )],
    ),
    route(
        "/v1/webhooks/deliveries",
        &[(
            GET,
            Authenticated(|c, _, caller| Box::pin(webhooks::list(c, caller))),
        )],
    ),
    route(
        "/v1/webhooks/deliveries/{id}/retry",
        &[(
            POST,
            Authenticated(|c, [id, _], caller| Box::pin(webhooks::retry(c, id, caller))),
        )],
    ),
    route(
        "/v1/stats",
        &[(
            GET,
            Identified(|c, _, caller| Box::pin(stats::get(c, caller))),
        )],
    ),
    route(
        "/v1/status",
        &[(
            GET,
            Authenticated(|c, _, caller| Box::pin(status::get(c, caller))),
        )],
    ),
    shared(
        Cached,
        "/v1/digest/{week}",
        &[(GET, Public(|c, [week, _]| Box::pin(digest::get(c, week))))],
    ),
    shared(
        Cached,
        "/v1/feed.atom",
        &[(
            GET,
            Public(|c, _| Box::pin(digest::feed(c, FeedFormat::Atom))),
        )],
    ),
    shared(
        Cached,
        "/v1/feed.json",
        &[(
            GET,
            Public(|c, _| Box::pin(digest::feed(c, FeedFormat::Json))),
        )],
    ),
];

/// Finds the route of a percent-encoded path, and the values of its parameters.
///
/// # Errors
///
/// [`Error::NotFound`].
pub fn find(path: &str) -> Result<(&'static Route, Values), Error> {
    let mut routes = ROUTES.iter();
    let route = routes.find(|route| route.matches(path));
    let route = route.ok_or_else(|| Error::NotFound("No route has this path.".to_owned()))?;
    let segments = route.pattern.split('/').zip(path.split('/'));
    let mut values = segments.filter(|(expected, _)| expected.starts_with('{'));
    let mut next = || match values.next() {
        Some((_, value)) => percent_decode_str(value).decode_utf8_lossy().into_owned(),
        None => String::new(),
    };
    Ok((route, [next(), next()]))
}

/// Returns the patterns of the routes that share responses in a way, with spaces between them.
#[must_use]
pub fn shared_patterns(sharing: Sharing) -> String {
    let shared = ROUTES.iter().filter(|route| route.sharing == sharing);
    let patterns: Vec<&str> = shared.map(|route| route.pattern).collect();
    patterns.join(" ")
}

impl Route {
    fn matches(&self, path: &str) -> bool {
        let mut segments = path.split('/');
        let mut pattern = self.pattern.split('/');
        pattern.all(|expected| {
            let segment = segments.next();
            segment.is_some_and(|segment| segment == expected || expected.starts_with('{'))
        }) && segments.next().is_none()
    }

    /// Returns the allowed methods, as the value of `Allow`.
    #[must_use]
    pub fn allow(&self) -> String {
        let methods = self.handlers.iter().map(|(method, _)| match *method {
            GET => "GET, HEAD",
            other => other,
        });
        methods.collect::<Vec<_>>().join(", ")
    }

    /// Returns what handles a method.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`].
    pub fn handler(&self, method: &str) -> Result<Handler, Error> {
        let method = if method == "HEAD" { GET } else { method };
        let mut handlers = self.handlers.iter();
        let found = handlers.find(|(known, _)| *known == method);
        let (_, handler) = found.ok_or_else(|| Error::MethodNotAllowed(self.allow()))?;
        Ok(*handler)
    }
}

impl Handler {
    /// Counts a request against its limits, checks its credentials as far as it needs some, and
    /// handles it.
    ///
    /// # Errors
    ///
    /// Those of [`limit_public_read`], [`RequestContext::new`], [`Request::body`],
    /// [`authenticate`] and of the handler, in this order.
    pub async fn handle(
        self,
        app: &App,
        request: &Request,
        values: &Values,
    ) -> Result<Response, Error> {
        if let Public(_) | Unconfigured(_) = self {
            limit_public_read(app, request).await?;
        }
        let context = || RequestContext::new(app, request);
        match self {
            Unconfigured(handle) => handle(app, request),
            File(handle) | Public(handle) => handle(context()?, values),
            Identified(handle) => {
                let context = context()?;
                handle(context, values, authenticate(context).await)
            }
            Authenticated(handle) => {
                let context = context()?;
                handle(context, values, authenticate(context).await?)
            }
            WithBody(handle) => {
                let (context, body) = (context()?, request.body()?);
                handle(context, values, authenticate(context).await?, body)
            }
        }
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    /// Each operation of the OpenAPI document, and whether it needs credentials.
    fn documented() -> BTreeMap<(String, String), bool> {
        let document: Value = serde_json::from_str(include_str!("../../web/openapi.json")).unwrap();
        let mut operations = BTreeMap::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in [GET, PUT, POST, DELETE] {
                let Some(operation) = item.get(method.to_lowercase()) else {
                    continue;
                };
                let security = operation.get("security").unwrap_or(&document["security"]);
                let security = security.as_array().unwrap();
                let needs = !security.is_empty() && !security.contains(&json!({}));
                operations.insert((path.clone(), method.to_owned()), needs);
            }
        }
        operations
    }

    #[test]
    fn handlers_demand_the_documented_credentials() {
        let operations = ROUTES.iter().flat_map(|route| {
            route.handlers.iter().map(|(method, handler)| {
                let demands = matches!(handler, Authenticated(_) | WithBody(_));
                ((route.pattern.to_owned(), (*method).to_owned()), demands)
            })
        });
        assert_eq!(operations.collect::<BTreeMap<_, _>>(), documented());
    }

    #[test]
    fn patterns_lead_to_their_routes() {
        for route in ROUTES {
            let (found, _) = find(&route.pattern.replace(['{', '}'], "")).unwrap();
            assert_eq!(found.pattern, route.pattern);
        }
    }

    #[test]
    fn values_are_decoded() {
        let (route, values) = find("/v1/ranking/day/users/a%2Fb").unwrap();
        assert_eq!(route.pattern, "/v1/ranking/{period}/users/{user}");
        assert_eq!(values, ["day", "a/b"]);
    }

    #[test]
    fn only_reads_are_shared() {
        for route in ROUTES.iter().filter(|route| route.sharing != Sharing::None) {
            assert_eq!(route.allow(), "GET, HEAD", "{}", route.pattern);
        }
    }
}
