//! `GET /healthz`: whether Redis answers, what is configured, what to look after.

use super::answer::Answer;
use super::call::Call;
use super::log;
use crate::calendar::{Date, Period};
use crate::config::Config;
use crate::error::Error;
use crate::redis::{Command, Failure, Pipeline, Reply};
use crate::score::ORDERS;
use crate::site::Site;
use serde_json::{Value, json};

/// From so many of a board's order numbers on there is a warning: 80 %.
const WARN_FROM: u64 = ORDERS / 5 * 4;

/// 200 when Redis answers, else 503; a wrong configuration is told here too.
pub async fn answer(site: Result<&Site, Error>, call: &Call) -> Answer {
    if let Err(error) = call.no_parameters() {
        return Answer::problem(&error);
    }
    let site = match site {
        Ok(site) => site,
        Err(error) => return unwell(call, "misconfigured", &error, None),
    };
    let configured = configured(&site.config);
    let today = site.calendar.date_at(call.now);
    match look(site, today).await {
        Ok(warnings) => {
            Answer::json(&json!({"status": "ok", "configured": configured, "warnings": warnings}))
        }
        Err(error @ Error::Misconfigured(..)) => {
            unwell(call, "misconfigured", &error, Some(configured))
        }
        Err(error) => unwell(call, "store-unavailable", &error, Some(configured)),
    }
}

fn unwell(call: &Call, status: &str, error: &Error, configured: Option<Value>) -> Answer {
    log::failure(call, error);
    let problem = error.problem();
    let body =
        json!({"status": status, "problem": problem, "configured": configured, "warnings": []});
    let mut answer = Answer::json(&body);
    answer.status = 503;
    answer.with("retry-after", "1")
}

/// Asks Redis, and returns the warnings.
async fn look(site: &Site, today: Date) -> Result<Vec<String>, Error> {
    let keys = site.config.keys();
    let fixed = [
        Command::new("GET").arg(&keys.stamp()),
        Command::new("INFO").arg("memory"),
    ];
    let periods = &site.config.periods;
    // In this range there can only be the counter: it lies under all users.
    let (low, high) = (WARN_FROM.to_string(), (ORDERS - 1).to_string());
    let counters = periods.iter().map(|period| {
        Command::new("ZCOUNT")
            .arg(&keys.board(*period, today, None))
            .arg(&low)
            .arg(&high)
    });
    let pipeline = Pipeline::new(fixed.into_iter().chain(counters).collect());
    let mut replies = site.store.run_each(&pipeline).await?.into_iter();
    let mut next = || {
        replies
            .next()
            .unwrap_or_else(|| Err(Failure::Unavailable("no reply".into())))
    };
    site.check_stamp(&next()?)?;
    let mut warnings = Vec::new();
    // Not every store tells: what cannot be known is no warning.
    if let Ok(Reply::Text(memory)) = next() {
        warnings.extend(eviction(&memory));
    }
    for period in periods {
        if next()?.integer()? > 0 {
            warnings.push(order_used_up(*period));
        }
    }
    if site.config.service_keys.is_empty() && !site.config.tokens.are_taken() {
        warnings.push(
            "Neither SERVICE_KEYS nor JWT_SECRET nor JWKS_URL are configured: nothing can be counted."
                .to_owned(),
        );
    }
    Ok(warnings)
}

fn eviction(memory: &str) -> Option<String> {
    let mut lines = memory.lines();
    let policy = lines
        .find_map(|line| line.strip_prefix("maxmemory_policy:"))?
        .trim();
    let warning = format!(
        "The store's maxmemory-policy is {policy}: when full it would drop boards and marks. Set noeviction."
    );
    (policy != "noeviction").then_some(warning)
}

fn order_used_up(period: Period) -> String {
    format!(
        "The {} board has used 80 % of its order numbers or more; after the last, equals tie by id.",
        period.name()
    )
}

fn configured(config: &Config) -> Value {
    let names = |period: &Period| period.name();
    json!({
        "timezone": config.timezone,
        "periods": config.periods.iter().map(names).collect::<Vec<_>>(),
        "actions": config.rules.actions().collect::<Vec<_>>(),
        "decimals": config.decimals,
        "board_max_age": config.board_max_age,
        "store_timeout_ms": config.store_timeout,
        "prefix": config.prefix,
        "shards": 1,
        "service_keys": config.service_keys.len(),
        "user_tokens": config.tokens.configured(),
        "allowed_origins": config.allowed_origins,
    })
}
