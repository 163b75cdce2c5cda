//! Expected problem documents.

use test_support::{Answer, Value, json};

/// The rule for user and group ids.
pub const ID: &str = "must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";

/// The error of a parameter on a route without parameters.
pub const NO_PARAMETERS: &str = "is unknown; this route has no parameters";

/// A problem document, and the response header it requires.
#[derive(Clone, Debug)]
pub struct Problem {
    slug: &'static str,
    detail: String,
    errors: Vec<(String, String)>,
    /// Name and value.
    pub header: Option<(&'static str, &'static str)>,
}

/// Slug, status and title of each problem type.
const TYPES: [(&str, u16, &str); 21] = [
    ("invalid-request", 400, "The request is invalid"),
    ("unauthenticated", 401, "Authentication failed"),
    ("forbidden", 403, "Forbidden"),
    ("not-found", 404, "Not found"),
    ("pause-conflict", 409, "The pauses do not allow this"),
    ("account-conflict", 409, "The accounts do not allow this"),
    ("author-conflict", 409, "The target has another author"),
    ("event-conflict", 409, "The event does not allow this"),
    ("rules-conflict", 409, "The rules do not allow this"),
    ("sync-conflict", 409, "There are too many sources"),
    ("method-not-allowed", 405, "Method not allowed"),
    ("too-large", 413, "The request body is too large"),
    ("unsupported-media-type", 415, "Unsupported media type"),
    ("unknown-action", 422, "Unknown action"),
    ("not-undoable", 422, "The action cannot be undone"),
    ("score-overflow", 422, "Score overflow"),
    ("rate-limited", 429, "Too many requests"),
    ("misconfigured", 500, "The service is misconfigured"),
    ("store-unavailable", 503, "The store is unavailable"),
    ("keys-unavailable", 503, "The key server is unavailable"),
    ("turnstile-unavailable", 503, "Turnstile is unavailable"),
];

impl Problem {
    /// A problem without an `errors` array.
    pub fn new(slug: &'static str, detail: impl Into<String>) -> Self {
        Self {
            slug,
            detail: detail.into(),
            errors: Vec::new(),
            header: None,
        }
    }

    fn with_errors(slug: &'static str, detail: String, errors: &[(&str, &str)]) -> Self {
        let owned = |(field, detail): &(&str, &str)| (format!("/{field}"), (*detail).to_owned());
        Self {
            errors: errors.iter().map(owned).collect(),
            ..Self::new(slug, detail)
        }
    }

    /// A problem of one field or parameter.
    pub fn with_error(slug: &'static str, field: &str, detail: &str) -> Self {
        Self::with_errors(slug, format!("{field}: {detail}"), &[(field, detail)])
    }

    pub fn slug(&self) -> &'static str {
        self.slug
    }

    /// The JSON pointers of the errors.
    pub fn pointers(&self) -> Vec<String> {
        let pointers = self.errors.iter().map(|(pointer, _)| pointer.clone());
        pointers.collect()
    }

    pub fn status(&self) -> u16 {
        self.kind().1
    }

    /// The complete response body.
    pub fn body(&self) -> Value {
        let (_, status, title) = self.kind();
        let mut body = json!({"type": format!("/problems/{}", self.slug), "title": title,
            "status": status, "detail": self.detail});
        if !self.errors.is_empty() {
            let error = |(pointer, detail)| json!({"pointer": pointer, "detail": detail});
            body["errors"] = self.errors.iter().map(|(a, b)| error((a, b))).collect();
        }
        body
    }

    fn kind(&self) -> (&'static str, u16, &'static str) {
        let mut types = TYPES.into_iter();
        let found = types.find(|(slug, ..)| *slug == self.slug);
        found.expect("a known slug")
    }
}

/// Returns the body of a problem without an `errors` array.
pub fn problem(slug: &'static str, detail: impl Into<String>) -> Value {
    Problem::new(slug, detail).body()
}

/// The body of a 503 while the store does not respond.
pub fn store_unavailable() -> Value {
    let detail = "Retrying the request is safe: nothing is counted twice.";
    problem("store-unavailable", detail)
}

/// Returns the columns of the lines of a table: two spaces or more are between columns.
pub fn columns<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| {
        let columns = line.split("  ").map(str::trim);
        let columns: Vec<&str> = columns.filter(|column| !column.is_empty()).collect();
        let columns = columns.try_into();
        columns.unwrap_or_else(|_| panic!("{line}: not {N} columns"))
    })
}

/// Asserts the status and the type of a problem, whatever its detail.
#[track_caller]
pub fn assert_problem(response: &Answer, slug: &'static str) {
    let status = Problem::new(slug, "").status();
    let body = &response.assert_status(status).body;
    assert_eq!(body["type"], format!("/problems/{slug}"), "{body}");
}

/// 400 for the request or its body as a whole.
pub fn invalid_request(detail: impl Into<String>) -> Problem {
    Problem::new("invalid-request", detail)
}

/// 400 for one field or parameter.
pub fn field_error(field: &str, detail: &str) -> Problem {
    Problem::with_error("invalid-request", field, detail)
}

/// 400 for several fields or parameters.
pub fn field_errors(errors: &[(&str, &str)]) -> Problem {
    let (field, detail) = errors[0];
    let detail = format!("{field}: {detail} (1 of {} errors)", errors.len());
    Problem::with_errors("invalid-request", detail, errors)
}

/// 401 with `WWW-Authenticate`.
pub fn unauthenticated(detail: &str) -> Problem {
    Problem {
        header: Some(("www-authenticate", "Bearer")),
        ..Problem::new("unauthenticated", detail)
    }
}

/// 404 for an unknown path.
pub fn unknown_path() -> Problem {
    let detail = "No route has this path: see /docs. In an id, / is %2F, also behind a proxy.";
    Problem::new("not-found", detail)
}

/// 405 with `Allow`.
pub fn method_not_allowed(allow: &'static str) -> Problem {
    Problem {
        header: Some(("allow", allow)),
        ..Problem::new("method-not-allowed", format!("Allowed methods: {allow}."))
    }
}

/// 413 for a body over the size limit.
pub fn body_too_large() -> Problem {
    Problem::new("too-large", "A body is at most 262144 bytes.")
}

/// 413 for an array over the item limit.
pub fn too_many_items() -> Problem {
    Problem::new("too-large", "An array is at most 500 items.")
}

/// 415.
pub fn unsupported_media_type() -> Problem {
    let detail = "Send the header Content-Type: application/json.";
    Problem::new("unsupported-media-type", detail)
}

/// 422 for an action without a rule.
pub fn unknown_action() -> Problem {
    let detail = "must be one of bookmark, comment, follow, jackpot, like, once, publish, visit";
    Problem::with_error("unknown-action", "action", detail)
}

/// 422 for the undo of an action that cannot be undone.
pub fn not_undoable(action: &str) -> Problem {
    Problem::with_error(
        "not-undoable",
        "undo",
        &format!("{action} cannot be undone"),
    )
}
