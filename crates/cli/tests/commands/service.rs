//! A fake service: records requests, counts each activity once and injects faults.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// The only valid key.
pub const KEY: &str = "test-key-that-must-not-show";

/// The rules in the response of `/healthz`. The service refuses `jump` in spite of its rule.
const HEALTH: &str = r#"{"status":"ok","configured":{"decimals":0,"order_bits":30,
    "rules":{"jump":{"points":1,"once":"standing","undo":true,"by":"user","own":true},
    "wave":{"points":1,"once":"standing","undo":false,"by":"service","own":true}}}}"#;

/// A fault injected into one request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Problem document with this status, slug and `Retry-After`.
    Problem(u16, &'static str, Option<&'static str>),
    /// The connection is closed before anything is counted.
    CutBefore,
    /// Everything is counted, then the connection is closed without a response.
    CutAfter,
    /// 200 with this body.
    Body(&'static str),
    /// 307 to another host.
    Redirect,
    /// The items of this user get 503; all others are counted.
    Item(&'static str),
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    /// Method, path and query.
    pub route: String,
    /// `Authorization` header.
    pub authorization: Option<String>,
    /// Length of the body.
    pub bytes: usize,
    /// Items of the body.
    pub items: Vec<Value>,
    /// Arrival time.
    pub at: Instant,
}

/// The running service.
#[derive(Clone)]
pub struct Service {
    /// Base URL.
    pub url: String,
    state: Arc<ServiceState>,
}

#[derive(Default)]
struct ServiceState {
    received: Mutex<Vec<Received>>,
    counted: Mutex<(BTreeSet<String>, Vec<Value>)>,
    faults: Mutex<VecDeque<Option<Fault>>>,
    /// Body of every GET response.
    page: Mutex<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Starts a service. Request n, without those for `/healthz`, meets the n-th of these faults; later requests meet none.
    pub async fn with(faults: impl IntoIterator<Item = Option<Fault>>) -> std::io::Result<Self> {
        let state = Arc::new(ServiceState::default());
        lock(&state.faults).extend(faults);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(respond).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, state })
    }

    /// Starts a service without faults.
    pub async fn start() -> std::io::Result<Self> {
        Self::with([]).await
    }

    /// Sets the body of every GET response.
    pub fn with_page(self, page: &str) -> Self {
        page.clone_into(&mut lock(&self.state.page));
        self
    }

    /// Returns all requests so far, except for `/healthz`.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.state.received).clone()
    }

    /// Returns all requests so far, which are `N`.
    #[track_caller]
    pub fn requests<const N: usize>(&self) -> [Received; N] {
        let received = self.received().try_into();
        received.expect("another number of requests")
    }

    /// Returns the items of all requests so far.
    pub fn items(&self) -> Vec<Value> {
        let received = self.received().into_iter();
        received.flat_map(|request| request.items).collect()
    }

    /// Returns the counted items in the order of counting.
    pub fn counted(&self) -> Vec<Value> {
        lock(&self.state.counted).1.clone()
    }
}

async fn respond(
    State(state): State<Arc<ServiceState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization = headers
        .get(header::AUTHORIZATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    if uri.path() == "/healthz" {
        return HEALTH.into_response();
    }
    let items: Vec<Value> = serde_json::from_slice(&body).unwrap_or_default();
    lock(&state.received).push(Received {
        route: format!("{method} {uri}"),
        authorization: authorization.clone(),
        bytes: body.len(),
        items: items.clone(),
        at: Instant::now(),
    });
    let fault = lock(&state.faults).pop_front().flatten();
    match &fault {
        Some(Fault::Problem(status, slug, retry_after)) => {
            return problem(*status, slug, *retry_after);
        }
        Some(Fault::Body(body)) => return body.into_response(),
        Some(Fault::Redirect) => {
            let location = [(header::LOCATION, "https://example.org/")];
            return (StatusCode::TEMPORARY_REDIRECT, location).into_response();
        }
        // Unwinding ends the task of the connection, which closes it.
        Some(Fault::CutBefore) => std::panic::resume_unwind(Box::new(())),
        Some(Fault::CutAfter | Fault::Item(_)) | None => {}
    }
    if method == Method::GET {
        return lock(&state.page).clone().into_response();
    }
    if authorization.as_deref() != Some(&format!("Bearer {KEY}")) {
        return problem(401, "unauthenticated", None);
    }
    if items.iter().any(|item| item["target"] == "poison") {
        return problem(400, "invalid-request", None);
    }
    let results = items.iter();
    let results: Value = results
        .map(|item| result(&state, item, fault.as_ref()))
        .collect();
    if matches!(fault, Some(Fault::CutAfter)) {
        std::panic::resume_unwind(Box::new(()));
    }
    axum::Json(json!({"results": results})).into_response()
}

fn result(state: &ServiceState, item: &Value, fault: Option<&Fault>) -> Value {
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
        return match item["name"] == "refused" {
            true => json!({"error": document(400, "invalid-request")}),
            false => item.clone(),
        };
    }
    let (deduplicated, counted) = &mut *lock(&state.counted);
    if item["target"] == "capped" {
        return json!({"outcome": "capped", "reason": "daily-cap", "points": 0});
    }
    let record = json!([item["user"], item["action"], item["target"]]);
    if !deduplicated.insert(record.to_string()) {
        return json!({"outcome": "duplicate", "points": 0});
    }
    counted.push(item.clone());
    json!({"outcome": "counted", "points": 2})
}

fn problem(status: u16, slug: &str, retry_after: Option<&'static str>) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or_default();
    let mut headers = HeaderMap::new();
    let mut insert = |name, value| headers.insert(name, HeaderValue::from_static(value));
    insert(header::CONTENT_TYPE, "application/problem+json");
    if let Some(seconds) = retry_after {
        insert(header::RETRY_AFTER, seconds);
    }
    (code, headers, document(status, slug).to_string()).into_response()
}

fn document(status: u16, slug: &str) -> Value {
    json!({
        "type": format!("/problems/{slug}"), "title": slug.replace('-', " "), "status": status,
        "detail": "injected by the test",
    })
}
