//! The facts that `doctor` requests from a deployment.

use std::time::{Duration, Instant};

use reqwest::header::{AGE, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;

use activity_rank_sync::platform::Response;

use crate::client::Client;
use crate::printable::printable;
use crate::problem::Problem;
use crate::request_error::RequestError;

/// Requests for the same board: the first may be answered by an isolate that has just started.
const CACHE_REQUESTS: usize = 3;

/// What was found out about a deployment.
#[derive(Debug)]
pub struct Facts {
    /// The address that was checked.
    pub url: Url,
    /// The response of `/healthz`.
    pub health: Result<Health, Unusable>,
    /// The time of that request.
    pub round_trip: Duration,
    /// Whether pages of the origin in question may call, and the origin.
    pub origin: Option<(String, bool)>,
    /// The response of `/v1/status` to the key.
    pub status: StatusResponse,
    /// Whether a repeated request for a board came from a cache; `None` if it failed.
    pub is_cached: Option<bool>,
}

/// Why an address is no deployment.
#[derive(Debug, PartialEq, Eq)]
pub enum Unusable {
    /// No response, with the cause.
    NoResponse(String),
    /// A response of something else.
    OtherService(String),
}

/// The response of `/healthz`.
#[derive(Debug, Deserialize)]
pub struct Health {
    /// `ok`, `misconfigured` or `store-unavailable`.
    pub status: String,
    /// The version of the service.
    pub version: String,
    /// Why it is not `ok`.
    pub problem: Option<Problem>,
    /// The configuration; absent if it is invalid.
    pub configured: Option<Configured>,
    /// What needs the operator's attention.
    pub warnings: Vec<String>,
}

/// The settings that `doctor` checks.
#[derive(Debug, Deserialize)]
pub struct Configured {
    /// The boards.
    pub periods: Vec<String>,
    /// Seconds that a board may be cached.
    pub board_max_age: u32,
    /// Subrequests of a run of cron.
    pub cron_budget: u32,
    /// The number of shards.
    pub shards: u32,
    /// The number of service keys.
    pub service_keys: usize,
    /// The variables of user tokens that are set.
    pub user_tokens: Vec<String>,
    /// The origins whose pages may call.
    pub allowed_origins: Vec<String>,
    /// The optional bindings that exist.
    pub bound: Vec<String>,
}

/// The response of `/v1/status`.
#[derive(Debug)]
pub enum StatusResponse {
    /// There was no key to send.
    NoKey,
    /// The key was refused, or there was no usable response.
    Refused(Option<StatusCode>),
    /// The state.
    Known(Status),
}

/// The state of store and jobs.
#[derive(Debug, Deserialize)]
pub struct Status {
    /// The store.
    pub store: Store,
    /// The outbox of the journal, where one is bound.
    pub outbox: Option<Outbox>,
}

/// The state of the store.
#[derive(Debug, Deserialize)]
pub struct Store {
    /// Milliseconds of one request from the Worker to the store.
    pub latency_ms: Option<u64>,
}

/// The changes that wait for the journal.
#[derive(Debug, Deserialize)]
pub struct Outbox {
    /// Their number.
    pub entries: u64,
    /// The instant of the oldest one.
    pub oldest: Option<jiff::Timestamp>,
}

impl Facts {
    /// Requests the facts. Without a deployment at the address, the others are absent.
    pub async fn read(client: &Client, url: &Url, has_key: bool, origin: Option<&str>) -> Self {
        let sent = Instant::now();
        let health = read_health(client).await;
        let round_trip = sent.elapsed();
        let mut facts = Self {
            url: url.clone(),
            health,
            round_trip,
            origin: None,
            status: StatusResponse::NoKey,
            is_cached: None,
        };
        let Ok(health) = &facts.health else {
            return facts;
        };
        if let Some(origin) = origin {
            facts.origin = Some((origin.to_owned(), may_call(client, origin).await));
        }
        if has_key {
            facts.status = read_status(client).await;
        }
        let period = health
            .configured
            .as_ref()
            .and_then(|set| set.periods.first());
        if let (Some(period), "ok") = (period, &*health.status) {
            facts.is_cached = is_cached(client, period).await;
        }
        facts
    }
}

async fn get(client: &Client, path: &[&str], headers: HeaderMap) -> Result<Response, RequestError> {
    client
        .request(Method::GET, &client.url(path), headers)
        .await
}

async fn read_health(client: &Client) -> Result<Health, Unusable> {
    let response = get(client, &["healthz"], HeaderMap::new())
        .await
        .map_err(|error| Unusable::NoResponse(error.to_string()))?;
    serde_json::from_slice(&response.body).map_err(|_| {
        let begin: Vec<u8> = response.body.iter().copied().take(60).collect();
        let begin = printable(String::from_utf8_lossy(&begin).trim());
        Unusable::OtherService(format!("status {}: {begin}", response.status.as_u16()))
    })
}

/// Returns whether a page of an origin may send activity, by the response to its preflight.
async fn may_call(client: &Client, origin: &str) -> bool {
    let Ok(value) = HeaderValue::from_str(origin) else {
        return false;
    };
    let headers = [
        (ORIGIN, value.clone()),
        (
            HeaderName::from_static("access-control-request-method"),
            HeaderValue::from_static("POST"),
        ),
    ];
    let url = client.url(&["v1", "activity"]);
    let response = client
        .request(Method::OPTIONS, &url, headers.into_iter().collect())
        .await;
    response
        .is_ok_and(|response| response.headers.get("access-control-allow-origin") == Some(&value))
}

async fn read_status(client: &Client) -> StatusResponse {
    match client.get_with_key(&client.url(&["v1", "status"])).await {
        Ok(body) => serde_json::from_slice(&body)
            .map_or(StatusResponse::Refused(None), StatusResponse::Known),
        Err(RequestError::Refused { problem, .. }) => {
            StatusResponse::Refused(StatusCode::from_u16(problem.status).ok())
        }
        Err(_) => StatusResponse::Refused(None),
    }
}

async fn is_cached(client: &Client, period: &str) -> Option<bool> {
    for _ in 0..CACHE_REQUESTS {
        let response = get(client, &["v1", "ranking", period], HeaderMap::new())
            .await
            .ok()?;
        if !response.status.is_success() {
            return None;
        }
        if response.headers.contains_key(AGE) {
            return Some(true);
        }
    }
    Some(false)
}
