//! `GET /healthz`: whether the store responds, the configuration, and warnings for the operator.

use super::status::VERSION;
use crate::app::App;
use crate::journal::drain::cron_entries;
use crate::journal::metrics::last_number;
use crate::log;
use crate::request::Request;
use crate::response::Response;
use activity_rank_core::calendar::{Instant, Period};
use activity_rank_core::config::{Config, LevelView, Origins, RuleView};
use activity_rank_core::error::{Error, Problem};
use activity_rank_core::object::Object;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::health::{self, StoreHealth};
use serde::Serialize;

/// The warning of a deployment without an edge cache.
const WORKERS_DEV: &str = "The Cache API stores nothing under workers.dev: each isolate caches boards for itself, and there are no cached copies while the store is unavailable. Use a domain of your own.";

#[derive(Serialize)]
struct View<'a> {
    status: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
    configured: Option<Configured<'a>>,
    warnings: Vec<String>,
}

/// The configuration, without secrets.
#[derive(Serialize)]
struct Configured<'a> {
    timezone: &'a str,
    periods: Vec<&'static str>,
    content_periods: Vec<&'static str>,
    actions: Vec<&'a str>,
    rules: Object<&'a str, RuleView>,
    levels: Vec<LevelView<'a>>,
    public_stats: bool,
    playground: bool,
    decimals: u32,
    order_bits: u32,
    board_max_age: u32,
    store_timeout_ms: u32,
    cron_budget: u32,
    prefix: &'a str,
    shards: u32,
    service_keys: usize,
    user_tokens: Vec<&'static str>,
    allowed_origins: &'a Origins,
    bound: Vec<&'static str>,
}

/// 200 if the store responds, else 503. Reports a misconfiguration too.
pub async fn get(app: &App, request: &Request) -> Result<Response, Error> {
    let deployment = match app.deployment() {
        Ok(deployment) => deployment,
        Err(error) => return Ok(unhealthy(request, "misconfigured", &error, None)),
    };
    let configured = Configured::new(&deployment.config, request.now);
    let today = deployment.calendar.date_at(request.now);
    Ok(match health::check(deployment, today).await {
        Ok(health) => {
            let mut warnings = warnings(deployment, &health);
            if health.is_empty {
                warnings.extend(lost_data(app, request, deployment).await);
            }
            if request.origin.ends_with(".workers.dev") {
                warnings.push(WORKERS_DEV.to_owned());
            }
            Response::json(&View {
                status: "ok",
                version: VERSION,
                problem: None,
                configured: Some(configured),
                warnings,
            })
        }
        Err(error @ Error::Misconfigured(..)) => {
            unhealthy(request, "misconfigured", &error, Some(configured))
        }
        Err(error) => unhealthy(request, "store-unavailable", &error, Some(configured)),
    })
}

fn unhealthy(
    request: &Request,
    status: &'static str,
    error: &Error,
    configured: Option<Configured<'_>>,
) -> Response {
    log::failure(request, error);
    let mut response = Response::json(&View {
        status,
        version: VERSION,
        problem: Some(error.problem()),
        configured,
        warnings: Vec::new(),
    });
    response.status = 503;
    response.outcome = status;
    response.with("retry-after", "1")
}

/// Returns the warning of an empty store whose journal has entries.
async fn lost_data(app: &App, request: &Request, deployment: &Deployment) -> Option<String> {
    let journal = app.bindings.journal.as_ref()?;
    match last_number(journal, &deployment.config).await {
        Ok(0) => None,
        Ok(entries) => Some(format!(
            "The store is empty, but the journal has {entries} entries: run activity-rank rebuild."
        )),
        Err(error) => {
            log::warning(request, &error.cause().unwrap_or_default());
            None
        }
    }
}

fn warnings(deployment: &Deployment, health: &StoreHealth) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(policy) = &health.eviction_policy
        && policy != "noeviction"
    {
        warnings.push(format!(
            "The store's maxmemory-policy is {policy}: a full store would evict boards and deduplication records. Set noeviction."
        ));
    }
    let moved = cron_entries(&deployment.config);
    let outbox_limit = moved / 4 * 3;
    if health.outbox_length > outbox_limit {
        warnings.push(format!(
            "More than {outbox_limit} entries wait in the outbox of the journal, and each minute moves at most {moved}. Check its cron trigger and its database; on the paid plan, raise CRON_BUDGET."
        ));
    }
    for period in &health.nearly_full {
        warnings.push(format!(
            "The {} board has used 80 % of its order numbers or more; after the last one, equal scores are ordered by user id.",
            period.name()
        ));
    }
    for period in &health.near_maximum {
        warnings.push(format!(
            "A user of the {} board has 80 % of the maximum points or more; activity that would exceed the maximum is refused. Fewer ORDER_BITS or POINT_DECIMALS raise it, under another PREFIX.",
            period.name()
        ));
    }
    let config = &deployment.config;
    if !config.tokens.are_enabled() {
        let warning = if config.service_keys.is_empty() {
            "None of SERVICE_KEYS, JWT_SECRET and JWKS_URL is configured: nothing can be counted."
        } else {
            "Neither JWT_SECRET nor JWKS_URL is configured: members cannot call, only services."
        };
        warnings.push(warning.to_owned());
    }
    if config.allowed_origins.is_empty() {
        warnings.push(
            "ALLOWED_ORIGINS is not configured: no page of another origin may embed a board or call."
                .to_owned(),
        );
    }
    warnings
}

impl<'a> Configured<'a> {
    fn new(config: &'a Config, now: Instant) -> Self {
        let names = |periods: &[Period]| periods.iter().map(|period| period.name()).collect();
        Self {
            timezone: &config.timezone,
            periods: names(&config.periods),
            content_periods: names(&config.content_periods),
            actions: config.rules.actions().collect(),
            rules: Object(config.rules.current(now, config.layout).collect()),
            levels: config.levels.views(config.layout).collect(),
            public_stats: config.public_stats,
            playground: config.playground,
            decimals: config.layout.decimals,
            order_bits: config.layout.order_bits,
            board_max_age: config.board_max_age,
            store_timeout_ms: config.store_timeout,
            cron_budget: config.cron_budget,
            prefix: &config.prefix,
            shards: config.shards,
            service_keys: config.service_keys.len(),
            user_tokens: config.tokens.configured(),
            allowed_origins: &config.allowed_origins,
            bound: config.bound.names().collect(),
        }
    }
}
