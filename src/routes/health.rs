//! `GET /healthz`: whether the store responds, the configuration, and warnings for the operator.

use super::status::VERSION;
use crate::app::App;
use crate::jobs::outbox;
use crate::log;
use crate::request::Request;
use crate::response::Response;
use activity_rank_core::calendar::{Instant, Period};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::object::Object;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::health::{self, StoreHealth};
use serde_json::{Value, json};

/// The warning of a deployment without an edge cache.
const WORKERS_DEV: &str = "The Cache API stores nothing under workers.dev: each isolate caches boards for itself, and there are no cached copies while the store is unavailable. Use a domain of your own.";

/// 200 if the store responds, else 503. Reports a misconfiguration too.
pub async fn get(app: &App, request: &Request) -> Response {
    if let Err(error) = request.reject_parameters() {
        return Response::problem(&error);
    }
    let deployment = match app.deployment() {
        Ok(deployment) => deployment,
        Err(error) => return unhealthy(request, "misconfigured", &error, None),
    };
    let configured = configured(&deployment.config, request.now);
    let today = deployment.calendar.date_at(request.now);
    match health::check(deployment, today).await {
        Ok(health) => {
            let mut warnings = warnings(deployment, &health);
            if request.origin.ends_with(".workers.dev") {
                warnings.push(WORKERS_DEV.to_owned());
            }
            let body = json!({"status": "ok", "version": VERSION, "configured": configured, "warnings": warnings});
            Response::json(&body)
        }
        Err(error @ Error::Misconfigured(..)) => {
            unhealthy(request, "misconfigured", &error, Some(configured))
        }
        Err(error) => unhealthy(request, "store-unavailable", &error, Some(configured)),
    }
}

fn unhealthy(
    request: &Request,
    status: &str,
    error: &Error,
    configured: Option<Value>,
) -> Response {
    log::failure(request, error);
    let problem = error.problem();
    let body = json!({
        "status": status,
        "version": VERSION,
        "problem": problem,
        "configured": configured,
        "warnings": [],
    });
    let mut response = Response::json(&body);
    response.status = 503;
    response.with("retry-after", "1")
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
    let moved = outbox::cron_entries(&deployment.config);
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
    if config.service_keys.is_empty() && !config.tokens.are_enabled() {
        warnings.push(
            "None of SERVICE_KEYS, JWT_SECRET and JWKS_URL is configured: nothing can be counted."
                .to_owned(),
        );
    }
    warnings
}

fn configured(config: &Config, now: Instant) -> Value {
    let names = |period: &Period| period.name();
    json!({
        "timezone": config.timezone,
        "periods": config.periods.iter().map(names).collect::<Vec<_>>(),
        "content_periods": config.content_periods.iter().map(names).collect::<Vec<_>>(),
        "actions": config.rules.actions().collect::<Vec<_>>(),
        "rules": Object(config.rules.current(now, config.layout).collect()),
        "levels": config.levels.views(config.layout).collect::<Vec<_>>(),
        "public_stats": config.public_stats,
        "playground": config.playground,
        "decimals": config.layout.decimals,
        "order_bits": config.layout.order_bits,
        "board_max_age": config.board_max_age,
        "store_timeout_ms": config.store_timeout,
        "cron_budget": config.cron_budget,
        "prefix": config.prefix,
        "shards": config.shards,
        "service_keys": config.service_keys.len(),
        "user_tokens": config.tokens.configured(),
        "allowed_origins": config.allowed_origins,
        "bound": config.bound.names().collect::<Vec<_>>(),
    })
}
