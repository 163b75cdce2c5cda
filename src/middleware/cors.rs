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

#[cfg(test)]
mod tests {
    use super::{ALLOWED_HEADERS, Cors, Response, is_preflight};
    use activity_rank_core::config::{Origins, Vars};
    use activity_rank_core::error::Error;
    use serde_json::json;

    const ALLOWED: &str = "https://example.com";

    fn cors(allowed: &str, origin: Option<&str>) -> Cors {
        let vars = json!({ "ALLOWED_ORIGINS": allowed });
        let origins = Origins::parse(&Vars::new(vars.as_object().unwrap().clone())).unwrap();
        Cors::new(&origins, origin)
    }

    /// Returns `Vary` and the CORS headers, by their last words.
    fn cors_headers(response: &Response) -> Vec<(&str, &str)> {
        let names = [
            ("vary", "vary"),
            ("origin", "access-control-allow-origin"),
            ("expose", "access-control-expose-headers"),
            ("methods", "access-control-allow-methods"),
            ("headers", "access-control-allow-headers"),
            ("max-age", "access-control-max-age"),
            ("credentials", "access-control-allow-credentials"),
        ];
        let present = |(short, name)| response.header(name).map(|value| (short, value));
        names.into_iter().filter_map(present).collect()
    }

    #[test]
    fn allowed_origin_is_echoed() {
        let response = cors(ALLOWED, Some(ALLOWED)).add(Response::no_content());
        assert_eq!(
            cors_headers(&response),
            [("vary", "Origin"), ("origin", ALLOWED)]
        );
    }

    #[test]
    fn other_origins_receive_vary_only() {
        for origin in [None, Some("https://evil.example"), Some("null"), Some("*")] {
            let response = cors(ALLOWED, origin).add(Response::no_content());
            assert_eq!(cors_headers(&response), [("vary", "Origin")], "{origin:?}");
        }
    }

    #[test]
    fn without_origins_no_header_is_added() {
        let cors = cors("", Some(ALLOWED));
        assert_eq!(cors_headers(&cors.add(Response::no_content())), []);
        assert_eq!(cors_headers(&cors.add(cors.preflight("GET"))), []);
    }

    #[test]
    fn present_headers_are_exposed() {
        let board = Response::text("text/plain", "a")
            .with_etag()
            .with("age", "1");
        let busy = Response::problem(&Error::StoreUnavailable(String::new()));
        let busy = busy.with("x-request-id", "1");
        for (response, exposed) in [(board, "age, etag"), (busy, "retry-after, x-request-id")] {
            let response = cors(ALLOWED, Some(ALLOWED)).add(response);
            let expected = [("vary", "Origin"), ("origin", ALLOWED), ("expose", exposed)];
            assert_eq!(cors_headers(&response), expected);
        }
    }

    #[test]
    fn preflight_permits_allowed_origin_only() {
        let page = cors(ALLOWED, Some(ALLOWED));
        let response = page.add(page.preflight("GET, HEAD"));
        let expected = [
            ("vary", "Origin"),
            ("origin", ALLOWED),
            ("methods", "GET, HEAD"),
            ("headers", ALLOWED_HEADERS),
            ("max-age", "7200"),
        ];
        assert_eq!((response.status, &*response.body), (204, ""));
        assert_eq!(cors_headers(&response), expected);

        let other = cors(ALLOWED, Some("https://evil.example"));
        let response = other.add(other.preflight("GET, HEAD"));
        assert_eq!(
            (response.status, cors_headers(&response)),
            (204, vec![("vary", "Origin")])
        );
    }

    #[test]
    fn preflight_needs_origin_and_method() {
        let both = ["origin", "access-control-request-method"];
        assert!(is_preflight("OPTIONS", |name| both.contains(&name)));
        for only in both {
            assert!(!is_preflight("OPTIONS", |name| name == only));
        }
        assert!(!is_preflight("POST", |_| true));
    }
}
