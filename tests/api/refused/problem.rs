//! Problem documents as they are expected.

use test_support::{Value, json};

/// What an id must be.
pub const ID: &str = "must be 1 to 64 of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";

/// A problem, and the header that comes with it.
#[derive(Clone, Debug)]
pub struct Problem {
    slug: &'static str,
    detail: String,
    errors: Vec<(String, String)>,
    /// Name and value.
    pub header: Option<(&'static str, &'static str)>,
}

/// Slug, status and title.
const KINDS: [(&str, u16, &str); 9] = [
    ("invalid-request", 400, "The request is not valid"),
    ("unauthenticated", 401, "The caller is not known"),
    ("not-found", 404, "There is nothing here"),
    ("method-not-allowed", 405, "This route has no such method"),
    ("too-large", 413, "The body is too large"),
    (
        "unsupported-media-type",
        415,
        "The body is not declared as JSON",
    ),
    ("unknown-action", 422, "No rule names this action"),
    ("not-undoable", 422, "This action cannot be undone"),
    ("score-overflow", 422, "The score would grow too large"),
];

impl Problem {
    /// A problem told in one sentence.
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

    pub fn slug(&self) -> &str {
        self.slug
    }

    /// Where the errors are.
    pub fn pointers(&self) -> Vec<String> {
        self.errors
            .iter()
            .map(|(pointer, _)| pointer.clone())
            .collect()
    }

    pub fn status(&self) -> u16 {
        self.kind().0
    }

    /// The whole body.
    pub fn body(&self) -> Value {
        let (status, title) = self.kind();
        let mut body = json!({"type": format!("/problems/{}", self.slug), "title": title,
            "status": status, "detail": self.detail});
        if !self.errors.is_empty() {
            let error = |(pointer, detail)| json!({"pointer": pointer, "detail": detail});
            body["errors"] = self.errors.iter().map(|(a, b)| error((a, b))).collect();
        }
        body
    }

    fn kind(&self) -> (u16, &'static str) {
        let kind = KINDS
            .iter()
            .find(|(slug, ..)| *slug == self.slug)
            .expect("a known slug");
        (kind.1, kind.2)
    }
}

/// 400 for a body or request as a whole.
pub fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new("invalid-request", detail)
}

/// 400 for one field or parameter.
pub fn fault(field: &str, detail: &str) -> Problem {
    Problem::with_errors(
        "invalid-request",
        format!("{field}: {detail}"),
        &[(field, detail)],
    )
}

/// 400 for several fields or parameters.
pub fn faults(errors: &[(&str, &str)]) -> Problem {
    let detail = format!("{} things are wrong with this request.", errors.len());
    Problem::with_errors("invalid-request", detail, errors)
}

/// 401.
pub fn unauthenticated(detail: &str) -> Problem {
    Problem {
        header: Some(("www-authenticate", "Bearer")),
        ..Problem::new("unauthenticated", detail)
    }
}

/// 404 for a path.
pub fn no_route() -> Problem {
    Problem::new("not-found", "No route has this path.")
}

/// 405.
pub fn only(allow: &'static str) -> Problem {
    let detail = format!("Allowed here: {allow}.");
    Problem {
        header: Some(("allow", allow)),
        ..Problem::new("method-not-allowed", detail)
    }
}

/// 415.
pub fn not_json() -> Problem {
    Problem::new(
        "unsupported-media-type",
        "Send the header Content-Type: application/json.",
    )
}

/// 422 for an action without a rule.
pub fn unknown_action() -> Problem {
    let detail = "must be one of bookmark, comment, follow, jackpot, like, once, publish, visit";
    Problem::with_errors(
        "unknown-action",
        format!("action: {detail}"),
        &[("action", detail)],
    )
}

/// 422 for an action without an undo.
pub fn not_undoable(action: &str) -> Problem {
    let detail = format!("{action} cannot be undone");
    Problem::with_errors(
        "not-undoable",
        format!("undo: {detail}"),
        &[("undo", &detail)],
    )
}
