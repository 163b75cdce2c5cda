//! The routes: path, methods, who may call, which responses are shared, and what handles them.

use super::credentials::Document;
use super::pages::Page;
use super::syncs::Operation as Syncs;
use super::users::may_see_hidden;
use super::{
    accounts, achievements, activity, card, cases, credentials, digest, events, health, journal,
    live, metrics, moderation, pages, pauses, points, ranking, rules, standings, stats, status,
    syncs, targets, token, users, visitors, webhooks,
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
use activity_rank_store::profiles;
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
/// `shared.js`.
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
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Response, Error>> + 'a>>;

/// A function that handles a method of a route. The kind says who may call, and what limits them.
#[derive(Clone, Copy)]
pub enum Handler {
    /// Anyone, even while the configuration is invalid; counted against the address.
    Unconfigured(for<'a> fn(&'a App, &'a Request) -> Responding<'a>),
    /// Anyone, without a limit: it does not need the store.
    File(for<'a> fn(RequestContext<'a>, &'a Values) -> Responding<'a>),
    /// Anyone; counted against the address, unless a service calls.
    Public(for<'a> fn(RequestContext<'a>, &'a Values) -> Responding<'a>),
    /// Anyone, who may learn more with credentials; counted as by [`authenticate`].
    Identified(for<'a> fn(RequestContext<'a>, &'a Values, Result<Caller, Error>) -> Responding<'a>),
    /// Callers with credentials; counted as by [`authenticate`].
    Authenticated(for<'a> fn(RequestContext<'a>, &'a Values, Caller) -> Responding<'a>),
    /// The same, with a body whose size and media type are checked before.
    WithBody(for<'a> fn(RequestContext<'a>, &'a Values, Caller, Body<'a>) -> Responding<'a>),
}

const GET: &str = "GET";

/// The parameter of paths that names a user.
const USER: &str = "{user}";

/// Returns routes from lines of pattern, sharing, and for each method the kind of handler and its call.
macro_rules! routes {
    ($($pattern:literal $sharing:ident {
        $($method:ident $kind:ident |$($argument:pat_param),*| $call:expr;)+
    })+) => {
        &[$(Route {
            pattern: $pattern,
            sharing: Sharing::$sharing,
            handlers: &[
                $((stringify!($method), Handler::$kind(|$($argument),*| Box::pin($call)))),+
            ],
        }),+]
    };
}

/// The routes: a path takes the first that matches. `GET` includes `HEAD`.
///
/// A router of the registry (`matchit`) is as exact, but adds 6.7 KB to the compressed Worker.
pub const ROUTES: &[Route] = routes! {
    "/v1/activity" None {
        POST WithBody |c, _, caller, body| activity::post(c, caller, body);
    }
    "/" None {
        GET File |c, _| pages::get(c, Page::Home);
    }
    "/u/{user}" None {
        GET Public |c, [user, _]| pages::get(c, Page::Member(user));
    }
    "/u/{user}/share.svg" Cached {
        GET Public |c, [user, _]| card::get(c, CardFormat::Share, user);
    }
    "/u/{user}/{period}" None {
        GET Public |c, [user, period]| pages::get(c, Page::Recap(user, period));
    }
    "/try" None {
        GET File |c, _| pages::get(c, Page::Playground);
    }
    "/status" None {
        GET File |c, _| pages::get(c, Page::Status);
    }
    "/admin" None {
        GET File |c, _| pages::get(c, Page::Admin);
    }
    "/gallery" None {
        GET File |c, _| pages::get(c, Page::Gallery);
    }
    "/docs" None {
        GET File |c, _| pages::get(c, Page::Docs);
    }
    "/site.webmanifest" None {
        GET File |c, _| pages::manifest(c);
    }
    "/openapi.json" None {
        GET File |c, _| pages::openapi(c);
    }
    "/healthz" None {
        GET Unconfigured |app, request| health::get(app, request);
    }
    "/metrics" None {
        GET Authenticated |c, _, caller| metrics::get(c, caller);
    }
    "/v1/ranking/{period}" Cached {
        GET Public |c, [period, _]| ranking::page(c, Members, period);
    }
    "/v1/ranking/{period}/live" None {
        GET Public |c, [period, _]| live::open(c, Members, period);
    }
    "/v1/ranking/{period}/winners" Cached {
        GET Public |c, [period, _]| ranking::winners(c, period);
    }
    "/v1/ranking/{period}/users" Current {
        GET Public |c, [period, _]| ranking::comparison(c, Members, period);
    }
    "/v1/ranking/{period}/users/{user}" Current {
        GET Public |c, [period, user]| ranking::standing(c, Members, period, user);
    }
    "/v1/content/hot" Cached {
        GET Public |c, _| ranking::hot(c);
    }
    "/v1/content/counts" Cached {
        GET Public |c, _| visitors::counts(c);
    }
    "/v1/visitors" None {
        POST Public |c, _| visitors::post(c);
    }
    "/v1/content/{period}" Cached {
        GET Public |c, [period, _]| ranking::page(c, Content, period);
    }
    "/v1/content/{period}/live" None {
        GET Public |c, [period, _]| live::open(c, Content, period);
    }
    "/v1/content/{period}/targets/{target}" Current {
        GET Public |c, [period, target]| ranking::standing(c, Content, period, target);
    }
    "/v1/authors/{period}" Cached {
        GET Public |c, [period, _]| ranking::page(c, Authors, period);
    }
    "/v1/authors/{period}/live" None {
        GET Public |c, [period, _]| live::open(c, Authors, period);
    }
    "/v1/authors/{period}/users/{user}" Current {
        GET Public |c, [period, user]| ranking::standing(c, Authors, period, user);
    }
    "/v1/achievements" Cached {
        GET Public |c, _| achievements::list(c);
    }
    "/v1/events" Cached {
        GET Public |c, _| events::list(c);
    }
    "/v1/events/{event}" None {
        GET Public |c, [event, _]| events::get(c, event);
        PUT WithBody |c, [event, _], caller, body| events::put(c, event, caller, body);
        DELETE Authenticated |c, [event, _], caller| events::delete(c, event, caller);
    }
    "/v1/events/{event}/recount" None {
        POST WithBody |c, [event, _], caller, body| events::recount(c, event, caller, body);
    }
    "/v1/rules" None {
        GET Identified |c, _, caller| rules::get(c, caller);
        POST WithBody |c, _, caller, body| rules::publish(c, caller, body);
    }
    "/v1/rules/preview" None {
        GET Authenticated |c, _, caller| rules::get_preview(c, caller);
        POST WithBody |c, _, caller, body| rules::start_preview(c, caller, body);
        DELETE Authenticated |c, _, caller| rules::cancel_preview(c, caller);
    }
    "/v1/rules/{version}" None {
        DELETE Authenticated |c, [version, _], caller| rules::take_back(c, version, caller);
    }
    "/v1/events/{event}/ranking" Cached {
        GET Public |c, [event, _]| ranking::page(c, Event, event);
    }
    "/v1/events/{event}/live" None {
        GET Public |c, [event, _]| live::open(c, Event, event);
    }
    "/v1/events/{event}/ranking/users" Current {
        GET Public |c, [event, _]| ranking::comparison(c, Event, event);
    }
    "/v1/events/{event}/ranking/users/{user}" Current {
        GET Public |c, [event, user]| ranking::standing(c, Event, event, user);
    }
    "/v1/targets" None {
        PUT WithBody |c, _, caller, body| targets::put_all(c, caller, body);
    }
    "/v1/targets/{target}" None {
        GET Public |c, [target, _]| targets::get(c, target);
        PUT WithBody |c, [target, _], caller, body| targets::put(c, target, caller, body);
        DELETE Authenticated |c, [target, _], caller| targets::delete(c, target, caller);
    }
    "/v1/targets/{target}/moderation" None {
        GET Authenticated |c, [target, _], caller| targets::get_state(c, target, caller);
        PUT WithBody |c, [target, _], caller, body| targets::put_state(c, target, caller, body);
    }
    "/v1/users" None {
        PUT WithBody |c, _, caller, body| users::put_profiles(c, caller, body);
    }
    "/v1/users/{user}" None {
        GET Public |c, [user, _]| users::get_profile(c, user);
        PUT WithBody |c, [user, _], caller, body| users::put_profile(c, user, caller, body);
        DELETE Authenticated |c, [user, _], caller| users::erase(c, user, caller);
    }
    "/v1/users/{user}/activity" None {
        GET Identified |c, [user, _], caller| users::history(c, user, caller);
    }
    "/v1/users/{user}/points" None {
        GET Authenticated |c, [user, _], caller| points::get(c, user, caller);
    }
    "/v1/users/{user}/done" None {
        GET Authenticated |c, [user, _], caller| users::done(c, user, caller);
    }
    "/v1/users/{user}/standings" None {
        GET Authenticated |c, [user, _], caller| standings::get(c, user, caller);
    }
    "/v1/users/{user}/achievements" None {
        GET Public |c, [user, _]| achievements::get(c, user);
    }
    "/v1/users/{user}/achievements/{achievement}" None {
        PUT WithBody |c, [user, id], caller, body| achievements::award(c, [user, id], caller, body);
        DELETE Authenticated |c, [user, id], caller| achievements::withdraw(c, [user, id], caller);
    }
    "/v1/users/{user}/achievements/{achievement}/credential" None {
        GET Public |c, [user, achievement]| credentials::get(c, user, achievement);
    }
    "/v1/issuer" None {
        GET Public |c, _| credentials::issuer(c, Document::Profile);
    }
    "/v1/issuer/keys" None {
        GET Public |c, _| credentials::issuer(c, Document::Keys);
    }
    "/v1/issuer/keys/{key}" None {
        GET Public |c, [key, _]| credentials::issuer(c, Document::Key(key));
    }
    "/v1/users/{user}/card" Cached {
        GET Public |c, [user, _]| card::get(c, CardFormat::Json, user);
    }
    "/v1/users/{user}/card.svg" Cached {
        GET Public |c, [user, _]| card::get(c, CardFormat::Card, user);
    }
    "/v1/users/{user}/badge.svg" Cached {
        GET Public |c, [user, _]| card::get(c, CardFormat::Badge, user);
    }
    "/v1/users/{user}/targets" None {
        GET Public |c, [user, _]| targets::list(c, user);
    }
    "/v1/users/{user}/moderation" None {
        GET Authenticated |c, [user, _], caller| moderation::get_state(c, user, caller);
        PUT WithBody |c, [user, _], caller, body| moderation::put_state(c, user, caller, body);
    }
    "/v1/users/{user}/pause" None {
        GET Authenticated |c, [user, _], caller| pauses::get(c, user, caller);
        PUT WithBody |c, [user, _], caller, body| pauses::put(c, user, caller, body);
        DELETE Authenticated |c, [user, _], caller| pauses::delete(c, user, caller);
    }
    "/v1/token" None {
        GET Authenticated |c, _, caller| async move { token::get(c, &caller) };
    }
    "/v1/users/{user}/account" None {
        GET Authenticated |c, [user, _], caller| accounts::get(c, user, caller);
        PUT WithBody |c, [user, _], caller, body| accounts::put(c, user, caller, body);
        DELETE Authenticated |c, [user, _], caller| accounts::delete(c, user, caller);
    }
    "/v1/users/{user}/adjustments" None {
        POST WithBody |c, [user, _], caller, body| moderation::adjust(c, user, caller, body);
    }
    "/v1/moderation" None {
        GET Authenticated |c, _, caller| moderation::audit_log(c, caller);
    }
    "/v1/cases" None {
        GET Authenticated |c, _, caller| cases::list(c, caller);
        POST WithBody |c, _, caller, body| cases::open(c, caller, body);
    }
    "/v1/cases/search" None {
        POST Authenticated |c, _, caller| cases::search(c, caller);
    }
    "/v1/cases/{id}" None {
        GET Authenticated |c, [id, _], caller| cases::get(c, id, caller);
        PUT WithBody |c, [id, _], caller, body| cases::put(c, id, caller, body);
    }
    "/v1/syncs" None {
        GET Authenticated |c, _, caller| syncs::handle(c, caller, Syncs::List);
    }
    "/v1/syncs/{source}" None {
        PUT WithBody |c, [source, _], caller, body| syncs::handle(c, caller, Syncs::Put(source, body));
        DELETE Authenticated |c, [source, _], caller| syncs::handle(c, caller, Syncs::Delete(source));
    }
    "/v1/journal" None {
        GET Authenticated |c, _, caller| journal::get(c, caller);
    }
    "/v1/webhooks/deliveries" None {
        GET Authenticated |c, _, caller| webhooks::list(c, caller);
    }
    "/v1/webhooks/deliveries/{id}/retry" None {
        POST Authenticated |c, [id, _], caller| webhooks::retry(c, id, caller);
    }
    "/v1/stats" None {
        GET Identified |c, _, caller| stats::get(c, caller);
    }
    "/v1/status" None {
        GET Authenticated |c, _, caller| status::get(c, caller);
    }
    "/v1/digest/{week}" Cached {
        GET Public |c, [week, _]| digest::get(c, week);
    }
    "/v1/feed.atom" Cached {
        GET Public |c, _| digest::feed(c, FeedFormat::Atom);
    }
    "/v1/feed.json" Cached {
        GET Public |c, _| digest::feed(c, FeedFormat::Json);
    }
};

/// Finds the route of a percent-encoded path, and the values of its parameters.
///
/// # Errors
///
/// [`Error::NotFound`].
pub fn find(path: &str) -> Result<(&'static Route, Values), Error> {
    let mut routes = ROUTES.iter();
    let route = routes.find(|route| route.matches(path));
    let unknown = "No route has this path: see /docs. In an id, / is %2F, also behind a proxy.";
    let route = route.ok_or_else(|| Error::NotFound(unknown.to_owned()))?;
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
        if let Self::Public(_) | Self::Unconfigured(_) = self {
            limit_public_read(app, request).await?;
        }
        if let Self::Unconfigured(handle) = self {
            return handle(app, request).await;
        }
        let context = RequestContext::new(app, request)?;
        let body = match self {
            Self::WithBody(_) => Some(request.body()?),
            _ => None,
        };
        let caller = match self {
            Self::Identified(_) => Some(authenticate(context).await),
            Self::Authenticated(_) | Self::WithBody(_) => Some(Ok(authenticate(context).await?)),
            Self::Unconfigured(_) | Self::File(_) | Self::Public(_) => None,
        };
        let member = match self.run(context, values, caller.clone(), body).await {
            Err(Error::AccountOf(member)) => member,
            result => return result,
        };
        // The handler has changed nothing.
        let index = request
            .route
            .split('/')
            .filter(|part| part.starts_with('{'));
        let index = index.take_while(|part| *part != USER).count();
        let account = values.get(index).cloned().unwrap_or_default();
        let values_of = |user: &str| {
            let mut values = values.clone();
            if let Some(value) = values.get_mut(index) {
                user.clone_into(value);
            }
            values
        };
        let flags = profiles::read_flags(context.deployment, &[&member]).await?;
        let known = RequestContext {
            account: &account,
            ..context
        };
        if flags.iter().any(|flags| flags.is_hidden()) && !may_see_hidden(known, &member).await {
            // To others the account is a user who never existed, as the one whose id is that of the request.
            let unknown = &request.id;
            let response = self.run(context, &values_of(unknown), caller, body).await;
            return match response {
                Ok(response) => Ok(response.with_user(unknown, &account)),
                Err(Error::NotFound(detail)) => {
                    Err(Error::NotFound(detail.replace(unknown, &account)))
                }
                Err(error) => Err(error),
            };
        }
        let (context, values) = (known, values_of(&member));
        let caller = caller.map(|caller| Ok(caller?.acting_for(&account, &member)));
        let response = self.run(context, &values, caller, body).await?;
        Ok(response.with_account_of(&member))
    }

    /// Runs the function, with a caller and a body if its kind needs them.
    async fn run(
        self,
        context: RequestContext<'_>,
        values: &Values,
        caller: Option<Result<Caller, Error>>,
        body: Option<Body<'_>>,
    ) -> Result<Response, Error> {
        let none = || Err(Error::Unauthenticated(""));
        let caller = caller.unwrap_or_else(none);
        match (self, body) {
            (Self::Unconfigured(handle), _) => handle(context.app, context.request),
            (Self::File(handle) | Self::Public(handle), _) => handle(context, values),
            (Self::Identified(handle), _) => handle(context, values, caller),
            (Self::Authenticated(handle), _) => handle(context, values, caller?),
            (Self::WithBody(handle), Some(body)) => handle(context, values, caller?, body),
            (Self::WithBody(_), None) => return Err(Error::UnsupportedMediaType),
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
            for method in ["GET", "PUT", "POST", "DELETE"] {
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
                let demands = matches!(handler, Handler::Authenticated(_) | Handler::WithBody(_));
                ((route.pattern.to_owned(), (*method).to_owned()), demands)
            })
        });
        assert_eq!(operations.collect::<BTreeMap<_, _>>(), documented());
    }

    #[test]
    fn only_reads_are_shared() {
        for route in ROUTES.iter().filter(|route| route.sharing != Sharing::None) {
            assert_eq!(route.allow(), "GET, HEAD", "{}", route.pattern);
        }
    }
}
