//! Cross-origin requests (CORS): which pages of other origins may call, announced to browsers on every
//! response.
//!
//! No response allows credentials: a page sends the header `Authorization` itself.

use crate::response::Response;
use activity_rank_core::config::Origins;

/// Request headers that a page may set, in addition to the safelisted ones. The last four are added by tools that trace
/// requests of a page; the Worker ignores them.
const ALLOWED_HEADERS: &str = "Authorization, Content-Type, If-None-Match, Last-Event-ID, Prefer, \
    Baggage, Sentry-Trace, Traceparent, Tracestate";

/// Response headers that a page may read, in addition to the safelisted ones.
const EXPOSED_HEADERS: [&str; 5] = [
    "age",
    "etag",
    "preference-applied",
    "retry-after",
    "x-request-id",
];

/// Seconds that a browser may cache a preflight: the maximum that browsers accept.
const MAX_AGE: &str = "7200";

/// The CORS headers of one response.
#[derive(Clone, Debug)]
pub struct Cors {
    /// Whether responses differ by origin, which shared caches must know.
    varies: bool,
    /// The origin of the request, if it is allowed.
    allowed: Option<String>,
}

impl Cors {
    /// Returns the headers for a request with this `Origin`.
    pub fn new(origins: &Origins, origin: Option<&str>) -> Self {
        let allowed = origin.filter(|origin| origins.allow(origin));
        Self {
            varies: !origins.is_empty(),
            allowed: allowed.map(str::to_owned),
        }
    }

    /// Returns the response to a preflight, without the headers that [`Cors::add`] adds.
    ///
    /// A page that is not allowed receives it without permissions: then the browser reports the
    /// true reason to its developer.
    #[must_use]
    pub fn preflight(&self, methods: &str) -> Response {
        let response = Response::no_content();
        if self.allowed.is_none() {
            return response;
        }
        response
            .with("access-control-allow-methods", methods)
            .with("access-control-allow-headers", ALLOWED_HEADERS)
            .with("access-control-max-age", MAX_AGE)
    }

    /// Adds the CORS headers to a response.
    #[must_use]
    pub fn add(&self, response: Response) -> Response {
        let mut response = response;
        if self.varies {
            response = response.with("vary", "Origin");
        }
        let Some(origin) = &self.allowed else {
            return response;
        };
        let present = |name: &&str| response.header(name).is_some();
        let exposed: Vec<&str> = EXPOSED_HEADERS.into_iter().filter(present).collect();
        if !exposed.is_empty() {
            response = response.with("access-control-expose-headers", exposed.join(", "));
        }
        response.with("access-control-allow-origin", origin)
    }
}

/// Returns whether a request with this method and these headers is a preflight.
pub fn is_preflight(method: &str, has: impl Fn(&str) -> bool) -> bool {
    method == "OPTIONS" && has("origin") && has("access-control-request-method")
}
