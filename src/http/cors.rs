//! Which pages from elsewhere may call: what browsers are told of it on every answer.
//!
//! No answer allows credentials: the only ones there are come in the header `Authorization`,
//! which a page has to know and send itself.

use super::answer::Answer;
use crate::config::Origins;

/// Request headers that a page may set, beyond those it always may.
const SENDABLE: &str = "Authorization, Content-Type, If-None-Match, Last-Event-ID";

/// Response headers that a page may read where they are there, beyond those it always may.
const READABLE: [&str; 4] = ["age", "etag", "retry-after", "x-request-id"];

/// Seconds that a browser may remember a preflight; no browser remembers it longer.
const REMEMBERED: &str = "7200";

/// What one request's answer says to browsers.
#[derive(Clone, Debug)]
pub struct Cors {
    /// Whether answers differ by origin, which shared caches must know.
    varies: bool,
    /// The origin of the request, where it is allowed.
    allowed: Option<String>,
}

impl Cors {
    /// For a request with this `Origin`.
    pub fn of(origins: &Origins, origin: Option<&str>) -> Self {
        let allowed = origin.filter(|origin| origins.allow(origin));
        Self {
            varies: !origins.is_empty(),
            allowed: allowed.map(str::to_owned),
        }
    }

    /// The answer to a preflight, but for what [`Cors::sign`] adds. A page that is not allowed
    /// gets it too, only without permission: so a browser names the true reason to its developer.
    #[must_use]
    pub fn preflight(&self, methods: &str) -> Answer {
        let answer = Answer::nothing();
        if self.allowed.is_none() {
            return answer;
        }
        answer
            .with("access-control-allow-methods", methods)
            .with("access-control-allow-headers", SENDABLE)
            .with("access-control-max-age", REMEMBERED)
    }

    /// An answer of any kind with what browsers are to know of it.
    #[must_use]
    pub fn sign(&self, answer: Answer) -> Answer {
        let mut answer = answer;
        if self.varies {
            answer = answer.with("vary", "Origin");
        }
        let Some(origin) = &self.allowed else {
            return answer;
        };
        let there = |name: &&str| answer.header(name).is_some();
        let readable: Vec<&str> = READABLE.into_iter().filter(there).collect();
        if !readable.is_empty() {
            answer = answer.with("access-control-expose-headers", readable.join(", "));
        }
        answer.with("access-control-allow-origin", origin)
    }
}

/// Whether a browser asks what it may send, of a request with this method and these headers.
pub fn is_preflight(method: &str, has: impl Fn(&str) -> bool) -> bool {
    method == "OPTIONS" && has("origin") && has("access-control-request-method")
}

#[cfg(test)]
mod tests {
    use super::{Answer, Cors, SENDABLE, is_preflight};
    use crate::config::{Origins, Vars};
    use crate::error::Error;
    use serde_json::json;

    const HERS: &str = "https://example.com";

    fn cors(allowed: &str, origin: Option<&str>) -> Cors {
        let vars = json!({ "ALLOWED_ORIGINS": allowed });
        let origins = Origins::read(&Vars::new(vars.as_object().unwrap().clone())).unwrap();
        Cors::of(&origins, origin)
    }

    /// `Vary`, and the headers of CORS by their last words.
    fn told(answer: &Answer) -> Vec<(&str, &str)> {
        let names = [
            ("vary", "vary"),
            ("origin", "access-control-allow-origin"),
            ("expose", "access-control-expose-headers"),
            ("methods", "access-control-allow-methods"),
            ("headers", "access-control-allow-headers"),
            ("max-age", "access-control-max-age"),
            ("credentials", "access-control-allow-credentials"),
        ];
        let told = |(short, name)| answer.header(name).map(|value| (short, value));
        names.into_iter().filter_map(told).collect()
    }

    #[test]
    fn an_allowed_origin_is_echoed() {
        let answer = cors(HERS, Some(HERS)).sign(Answer::nothing());
        assert_eq!(told(&answer), [("vary", "Origin"), ("origin", HERS)]);
    }

    #[test]
    fn any_other_and_none_only_know_that_it_matters() {
        for origin in [None, Some("https://evil.example"), Some("null"), Some("*")] {
            let answer = cors(HERS, origin).sign(Answer::nothing());
            assert_eq!(told(&answer), [("vary", "Origin")], "{origin:?}");
        }
    }

    #[test]
    fn where_none_is_allowed_nothing_is_said() {
        let cors = cors("", Some(HERS));
        assert_eq!(told(&cors.sign(Answer::nothing())), []);
        assert_eq!(told(&cors.sign(cors.preflight("GET"))), []);
    }

    #[test]
    fn headers_are_readable_where_they_are() {
        let board = Answer::text("text/plain", "a").tagged().with("age", "1");
        let same = board.clone().unless_known(Some("*"));
        let busy = Answer::problem(&Error::StoreUnavailable(String::new()));
        let busy = busy.with("x-request-id", "1");
        for (answer, readable) in [
            (board, "age, etag"),
            (same, "age, etag"),
            (busy, "retry-after, x-request-id"),
        ] {
            let answer = cors(HERS, Some(HERS)).sign(answer);
            let expected = [("vary", "Origin"), ("origin", HERS), ("expose", readable)];
            assert_eq!(told(&answer), expected);
        }
    }

    #[test]
    fn a_preflight_tells_methods_and_headers_to_those_allowed() {
        let page = cors(HERS, Some(HERS));
        let answer = page.sign(page.preflight("GET, HEAD"));
        let expected = [
            ("vary", "Origin"),
            ("origin", HERS),
            ("methods", "GET, HEAD"),
            ("headers", SENDABLE),
            ("max-age", "7200"),
        ];
        assert_eq!((answer.status, &*answer.body), (204, ""));
        assert_eq!(told(&answer), expected);

        let other = cors(HERS, Some("https://evil.example"));
        let answer = other.sign(other.preflight("GET, HEAD"));
        assert_eq!(
            (answer.status, told(&answer)),
            (204, vec![("vary", "Origin")])
        );
    }

    #[test]
    fn a_preflight_has_an_origin_and_names_a_method() {
        let both = ["origin", "access-control-request-method"];
        assert!(is_preflight("OPTIONS", |name| both.contains(&name)));
        for only in both {
            assert!(!is_preflight("OPTIONS", |name| name == only));
        }
        assert!(!is_preflight("POST", |_| true));
    }
}
