//! A service that keeps what it receives, counts each activity once, and fails when told to.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// The only key it knows.
pub const KEY: &str = "test-key-that-must-not-show";

/// What happens to a request instead of an answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A problem with this status, slug and Retry-After.
    Problem(u16, &'static str, Option<&'static str>),
    /// The connection is cut before anything is counted.
    CutBefore,
    /// All is counted, then the connection is cut.
    CutAfter,
    /// 200 with this body.
    Body(&'static str),
    /// 307 to somewhere else.
    Redirect,
    /// Every item is counted but those of this user, which get 503.
    Item(&'static str),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// Method, path and query.
    pub route: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The body's length.
    pub bytes: usize,
    /// The body's items.
    pub items: Vec<Value>,
    /// When.
    pub at: Instant,
}

/// The running service.
#[derive(Clone)]
pub struct Service {
    /// Where it listens.
    pub url: String,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    received: Mutex<Vec<Received>>,
    counted: Mutex<(BTreeSet<String>, Vec<Value>)>,
    faults: Mutex<VecDeque<Option<Fault>>>,
    /// What GET answers.
    page: Mutex<String>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// A service whose first requests meet these faults, one each; later ones meet none.
    pub async fn with(faults: impl IntoIterator<Item = Option<Fault>>) -> std::io::Result<Self> {
        let seen = Arc::new(Seen::default());
        locked(&seen.faults).extend(faults);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(answer).with_state(seen.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, seen })
    }

    /// A service without faults.
    pub async fn sound() -> std::io::Result<Self> {
        Self::with([]).await
    }

    /// The same service, now answering every GET with this body.
    pub fn showing(self, page: &str) -> Self {
        page.clone_into(&mut locked(&self.seen.page));
        self
    }

    /// All requests so far.
    pub fn received(&self) -> Vec<Received> {
        locked(&self.seen.received).clone()
    }

    /// The items that were counted, in the order in which that happened.
    pub fn counted(&self) -> Vec<Value> {
        locked(&self.seen.counted).1.clone()
    }
}

async fn answer(
    State(seen): State<Arc<Seen>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization = headers
        .get(header::AUTHORIZATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let items: Vec<Value> = serde_json::from_slice(&body).unwrap_or_default();
    locked(&seen.received).push(Received {
        route: format!("{method} {uri}"),
        authorization: authorization.clone(),
        bytes: body.len(),
        items: items.clone(),
        at: Instant::now(),
    });
    let fault = locked(&seen.faults).pop_front().flatten();
    match &fault {
        Some(Fault::Problem(status, slug, retry_after)) => {
            return problem(*status, slug, *retry_after);
        }
        Some(Fault::Body(body)) => return body.into_response(),
        Some(Fault::Redirect) => {
            return (
                StatusCode::TEMPORARY_REDIRECT,
                [(header::LOCATION, "https://example.org/")],
            )
                .into_response();
        }
        // Unwinding ends the connection's task, and the connection with it.
        Some(Fault::CutBefore) => std::panic::resume_unwind(Box::new(())),
        Some(Fault::CutAfter | Fault::Item(_)) | None => {}
    }
    if method == Method::GET {
        return locked(&seen.page).clone().into_response();
    }
    if authorization.as_deref() != Some(&format!("Bearer {KEY}")) {
        return problem(401, "unauthenticated", None);
    }
    if items.iter().any(|item| item["target"] == "poison") {
        return problem(400, "invalid-request", None);
    }
    let results: Vec<Value> = items
        .iter()
        .map(|item| result(&seen, item, fault.as_ref()))
        .collect();
    if matches!(fault, Some(Fault::CutAfter)) {
        std::panic::resume_unwind(Box::new(()));
    }
    axum::Json(json!({"results": results})).into_response()
}

fn result(seen: &Seen, item: &Value, fault: Option<&Fault>) -> Value {
    if matches!(fault, Some(Fault::Item(user)) if item["user"] == **user) {
        return json!({"error": document(503, "store-unavailable")});
    }
    if item["action"] == "jump" {
        let mut problem = document(422, "unknown-action");
        problem["errors"] =
            json!([{"pointer": "/action", "detail": "no rule is named \u{1b}[31mjump"}]);
        return json!({"error": problem});
    }
    if item.get("action").is_none() {
        return if item["name"] == "" {
            json!({"error": document(400, "invalid-request")})
        } else {
            item.clone()
        };
    }
    let (marks, counted) = &mut *locked(&seen.counted);
    if !marks.insert(format!(
        "{} {} {}",
        item["user"], item["action"], item["target"]
    )) {
        return json!({"outcome": "duplicate", "points": 0});
    }
    counted.push(item.clone());
    json!({"outcome": "counted", "points": 2})
}

fn problem(status: u16, slug: &str, retry_after: Option<&'static str>) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or_default();
    let headers = [(header::CONTENT_TYPE, "application/problem+json")];
    let mut response = (code, headers, document(status, slug).to_string()).into_response();
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(
            header::RETRY_AFTER,
            header::HeaderValue::from_static(seconds),
        );
    }
    response
}

fn document(status: u16, slug: &str) -> Value {
    json!({
        "type": format!("/problems/{slug}"), "title": slug.replace('-', " "), "status": status,
        "detail": "as the test wants it",
    })
}
