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

/// From so many entries in the outbox on there is a warning: cron brings 25,000 a minute away.
const WARN_WAITING: i64 = 100_000;

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
    let periods = &site.config.periods;
    // In this range there can only be the counter: it lies under all users.
    let (low, high) = (WARN_FROM.to_string(), (ORDERS - 1).to_string());
    let mut commands = vec![Command::new("INFO").arg("memory")];
    for shard in 0..site.config.shards {
        let keys = site.config.keys(shard);
        commands.push(Command::new("GET").arg(&keys.stamp()));
        commands.extend(periods.iter().map(|period| {
            let counter = Command::new("ZCOUNT").arg(&keys.board(*period, today, None));
            counter.arg(&low).arg(&high)
        }));
        if site.config.bound.journal {
            commands.push(Command::new("XLEN").arg(&keys.outbox()));
        }
    }
    let replies = site.store.run_each(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    let mut next = || {
        replies
            .next()
            .unwrap_or_else(|| Err(Failure::Unavailable("no reply".into())))
    };
    let mut warnings = Vec::new();
    // Not every store tells: what cannot be known is no warning.
    if let Ok(Reply::Text(memory)) = next() {
        warnings.extend(eviction(&memory));
    }
    let (mut full, mut waiting): (Vec<&Period>, i64) = (Vec::new(), 0);
    for _ in 0..site.config.shards {
        site.check_stamp(&next()?)?;
        for period in periods {
            if next()?.integer()? > 0 && !full.contains(&period) {
                full.push(period);
            }
        }
        if site.config.bound.journal {
            waiting += next()?.integer()?;
        }
    }
    if waiting > WARN_WAITING {
        warnings.push(
            "More than 100,000 entries wait for the journal: is its cron running, and its database there?"
                .to_owned(),
        );
    }
    warnings.extend(full.into_iter().map(order_used_up));
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

fn order_used_up(period: &Period) -> String {
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
        "shards": config.shards,
        "service_keys": config.service_keys.len(),
        "user_tokens": config.tokens.configured(),
        "allowed_origins": config.allowed_origins,
        "bound": config.bound.names().collect::<Vec<_>>(),
    })
}
