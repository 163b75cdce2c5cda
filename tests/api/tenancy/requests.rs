//! Random requests: every route and method, with arbitrary text in every parameter and field.

use std::fmt;

use fastrand::Rng;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use test_support::{Method, Value, json};

use super::strings::{self, pick};

/// One request. A failure prints its `Debug` form.
pub struct Request {
    pub method: Method,
    /// Path and query.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub form: Form,
}

/// The encoding of path and query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Every value is percent-encoded, as the OpenAPI document says. URL parsers change nothing.
    Documented,
    /// Some characters are percent-encoded, also in literal segments.
    Encoded,
    /// Nothing is encoded. No HTTP client library sends such requests.
    Raw,
}

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::DELETE,
    Method::PATCH,
    Method::OPTIONS,
];

/// Path template, supported methods and query parameters of each route. Duplicates are sent more
/// often.
const ROUTES: [(&str, &[Method], &[&str]); 16] = [
    ("/v1/activity", &[Method::POST], &[]),
    ("/v1/activity", &[Method::POST], &[]),
    ("/v1/activity", &[Method::POST], &[]),
    (
        "/v1/ranking/{period}",
        &[Method::GET],
        &["limit", "offset", "date", "group"],
    ),
    (
        "/v1/ranking/{period}/users/{user}",
        &[Method::GET],
        &["around", "date", "group", "movement"],
    ),
    (
        "/v1/ranking/{period}/users",
        &[Method::GET],
        &["ids", "followed_by", "date", "group", "movement"],
    ),
    ("/v1/users/{user}/activity", &[Method::GET], &["days"]),
    (
        "/v1/users/{user}/points",
        &[Method::GET],
        &["limit", "before"],
    ),
    (
        "/v1/users/{user}/done",
        &[Method::GET],
        &["action", "targets"],
    ),
    (
        "/v1/users/{user}/standings",
        &[Method::GET],
        &["groups", "friends", "movement"],
    ),
    (
        "/v1/users/{user}",
        &[Method::GET, Method::PUT, Method::PUT, Method::DELETE],
        &[],
    ),
    ("/v1/users", &[Method::PUT], &[]),
    ("/healthz", &[Method::GET], &[]),
    ("/openapi.json", &[Method::GET], &[]),
    ("/", &[Method::GET], &[]),
    ("/docs", &[Method::GET], &[]),
];

impl Request {
    pub fn random(random: &mut Rng) -> Self {
        let (template, methods, parameters) = ROUTES[random.usize(..ROUTES.len())];
        let method = match random.u8(..8) {
            0 => METHODS[random.usize(..METHODS.len())].clone(),
            _ => methods[random.usize(..methods.len())].clone(),
        };
        let form = match random.u8(..8) {
            0 => Form::Raw,
            1 | 2 => Form::Encoded,
            _ => Form::Documented,
        };
        let mut path = path(random, template, form);
        path += &query(random, parameters, form);
        let mut headers = Vec::new();
        let body = match method {
            Method::POST | Method::PUT => body(random, template),
            _ => Vec::new(),
        };
        if !body.is_empty() && random.u8(..30) > 0 {
            headers.push(("content-type", "application/json".to_owned()));
        }
        if random.u8(..20) == 0 {
            let name = ["if-none-match", "origin", "content-type"][random.usize(..3)];
            headers.push((name, header(random)));
        }
        Self {
            method,
            path,
            headers,
            body,
            form,
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            method,
            path,
            headers,
            body,
            ..
        } = self;
        write!(f, "{method} {path:?}\n{headers:?}\n{}", body.escape_ascii())
    }
}

/// Returns text that is valid in a header.
fn header(random: &mut Rng) -> String {
    let text = strings::any(random);
    text.chars()
        .filter(char::is_ascii_graphic)
        .take(500)
        .collect()
}

fn path(random: &mut Rng, template: &str, form: Form) -> String {
    let mut path = String::new();
    for part in template.split('/').skip(1) {
        let value = match part {
            "{period}" if random.u8(..8) > 0 => {
                pick(random, &["day", "week", "month", "year", "all"]).to_owned()
            }
            "{user}" if random.bool() => strings::id(random),
            "{period}" | "{user}" => short(random),
            literal => literal.to_owned(),
        };
        path.push('/');
        path += &match form {
            Form::Documented if part != value => segment(&value),
            Form::Encoded if part != value || random.u8(..20) == 0 => {
                strings::encoded(random, &value)
            }
            Form::Documented | Form::Encoded | Form::Raw => value,
        };
    }
    path
}

/// Returns text that fits into a URL, even percent-encoded.
fn short(random: &mut Rng) -> String {
    strings::any(random).chars().take(300).collect()
}

/// Encodes a path segment. `.` and `..` are replaced, because URL parsers resolve them.
fn segment(value: &str) -> String {
    match value {
        "" | "." | ".." => "%5F".to_owned(),
        other => utf8_percent_encode(other, NON_ALPHANUMERIC).to_string(),
    }
}

fn query(random: &mut Rng, parameters: &[&str], form: Form) -> String {
    let mut pairs = Vec::new();
    for name in parameters.iter().copied() {
        if random.u8(..3) == 0 {
            let value = match (name, random.u8(..3)) {
                (_, 0) => short(random),
                ("date", _) => pick(random, &["2026-11-20", "2026-01-01", "1999-12-31"]).to_owned(),
                ("group" | "ids", _) => strings::id(random),
                _ => random.u8(1..30).to_string(),
            };
            pairs.push((name.to_owned(), value));
        }
    }
    if random.u8(..15) == 0 {
        pairs.push((short(random), short(random)));
    }
    let mut query = String::new();
    for (name, value) in pairs {
        query.push(if query.is_empty() { '?' } else { '&' });
        query += &match form {
            Form::Raw => format!("{name}={value}"),
            Form::Documented | Form::Encoded => {
                let name = strings::encoded(random, &name);
                format!("{name}={}", strings::encoded(random, &value)).replace('#', "%23")
            }
        };
    }
    query
}

fn body(random: &mut Rng, template: &str) -> Vec<u8> {
    let item: fn(&mut Rng) -> Value = match template {
        "/v1/activity" => activity,
        "/v1/users" => |random| profile(random, true),
        _ => |random| profile(random, false),
    };
    let array = template == "/v1/users" || (template == "/v1/activity" && random.u8(..4) == 0);
    let value = match array {
        true => (0..random.usize(..6)).map(|_| item(random)).collect(),
        false => item(random),
    };
    let mut text = value.to_string();
    match random.u8(..40) {
        0 => text = strings::any(random),
        1 => text.truncate(text.char_indices().map(|(at, _)| at).nth(20).unwrap_or(1)),
        // Half a surrogate pair is not valid UTF-8, so no Rust string has it.
        2 => text = text.replacen("\":\"", "\":\"\\udc00", 1),
        // A duplicate field.
        3 => text = text.replacen('{', "{\"user\":\"42\",", 1),
        4 => text = format!("{}{text}{}", "[".repeat(200), "]".repeat(200)),
        // A body over the size limit.
        5 => text.insert_str(0, &" ".repeat(256 * 1024)),
        _ => {}
    }
    text.into_bytes()
}

fn activity(random: &mut Rng) -> Value {
    let mut activity = json!({
        "user": strings::id(random),
        "action": pick(random, &["visit", "like", "bookmark", "follow", "comment", "publish"]),
        "target": format!("/{}", strings::any(random).replace(char::is_control, "")),
    });
    if random.u8(..4) == 0 {
        activity["undo"] = json!(true);
    }
    if random.u8(..4) == 0 {
        let ids = (0..random.usize(..4)).map(|_| strings::id(random));
        activity["groups"] = ids.collect();
    }
    if random.u8(..4) == 0 {
        activity["at"] = json!(format!(
            "20{}-0{}-0{}T08:00:00Z",
            random.u8(10..26),
            random.u8(1..10),
            random.u8(1..10)
        ));
    }
    corrupt(
        random,
        activity,
        &["user", "action", "target", "undo", "at", "groups"],
    )
}

fn profile(random: &mut Rng, named: bool) -> Value {
    let mut profile = json!({"name": pick(random, &["Ada", "<b>Eve</b>", "李", "{mine2:0}p"])});
    if named {
        profile["id"] = json!(strings::id(random));
    }
    if random.bool() {
        profile["url"] = json!(format!(
            "https://example.com/{}",
            segment(&strings::any(random))
        ));
    }
    corrupt(random, profile, &["id", "name", "avatar", "url"])
}

/// Replaces a field by an arbitrary value in half of the items.
fn corrupt(random: &mut Rng, mut item: Value, fields: &[&str]) -> Value {
    if random.bool() {
        let text = strings::any(random);
        let value = match random.u8(..10) {
            0 => json!(null),
            1 | 2 => json!([text]),
            3 => json!({"a": text}),
            4 => json!(random.i64(..)),
            5 => json!(random.f64()),
            _ => json!(text),
        };
        let field = match random.u8(..12) {
            0 => strings::any(random),
            _ => pick(random, fields).to_owned(),
        };
        item[field] = value;
    }
    item
}
