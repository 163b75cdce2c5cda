//! The findings of `doctor`: each from facts alone.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{StatusCode, Url};

use super::facts::{Configured, Facts, Health, Status, StatusResponse, Unusable};
use crate::printable::printable;

/// A request of the Worker to a store nearby takes a few milliseconds.
const FAR_STORE: u64 = 40; // ms
/// Cron moves the outbox to the journal every minute.
const LATE_OUTBOX: Duration = Duration::from_mins(10);
/// `CRON_BUDGET` of the free plan.
const FREE_PLAN_BUDGET: u32 = 50;
/// Redis commands of a like with all periods and one shard, and with `Prefer: return=minimal`; the figures of
/// docs/costs.md.
const LIKE_COMMANDS: (u32, u32) = (22, 17);
/// Redis commands of cron in an hour in which nothing happens, for each shard, from the same page.
const CRON_WITH_JOURNAL: u32 = 100;
const CRON_READING_BOARDS: u32 = 5616;
const CRON: u32 = 84;
const HOURS_OF_A_MONTH: u32 = 24 * 30;
/// What each optional binding is for.
const BINDINGS: [(&str, &str); 5] = [
    (
        "journal",
        "no rebuild, no webhooks, no exact numbers of the site",
    ),
    (
        "archive",
        "boards expire after KEEP_DAYS, activity is shown for 31 days",
    ),
    ("snapshots", "no standings during an outage of the store"),
    ("queue", "activity is refused during an outage of the store"),
    ("live", "pages poll instead of receiving each change"),
];

/// One result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// How it ended.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing to do.
    Ok,
    /// For information.
    Note,
    /// Something works less well than it could, or not for everyone.
    Warning,
    /// Something does not work.
    Error,
}

impl State {
    /// Returns the name in the output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Returns the findings; the deployment itself comes first.
#[must_use]
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let health = match &facts.health {
        Ok(health) => health,
        Err(unusable) => return vec![service_error(&facts.url, unusable)],
    };
    let mut findings = vec![service(facts, health), store(health)];
    findings.extend(lost_data(&facts.url, health));
    findings.extend(transport(&facts.url));
    if let Some(configured) = &health.configured {
        findings.extend(keys(configured, &facts.status));
        findings.push(tokens(configured));
        findings.push(origins(configured, facts.origin.as_ref()));
        findings.push(cache(&facts.url, configured, facts.is_cached));
        findings.push(bindings(configured));
        findings.extend(placement(&facts.status));
        findings.extend(cron(&facts.status));
        findings.push(cost(configured));
    }
    findings.extend(warnings(&facts.url, health));
    findings
}

fn finding(check: &'static str, state: State, detail: impl Into<String>) -> Finding {
    Finding {
        check,
        state,
        detail: detail.into(),
        remedy: None,
    }
}

impl Finding {
    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

fn service_error(url: &Url, unusable: &Unusable) -> Finding {
    match unusable {
        Unusable::NoResponse(cause) => finding("service", State::Error, cause).remedy(
            "Check the address, and that the Worker is deployed: npx wrangler deployments list",
        ),
        Unusable::OtherService(what) => finding(
            "service",
            State::Error,
            format!("{url} is not activity-rank ({what})."),
        )
        .remedy(
            "Use the address of the deployment. A proxy in front of it must forward /healthz and every other path.",
        ),
    }
}

fn service(facts: &Facts, health: &Health) -> Finding {
    let version = printable(&health.version);
    let own = env!("CARGO_PKG_VERSION");
    let detail = format!(
        "version {version} responds in {} ms",
        facts.round_trip.as_millis()
    );
    if version == own {
        return finding("service", State::Ok, detail);
    }
    finding("service", State::Warning, detail).remedy(format!(
        "This command line has version {own}. Use the same version for import, export and rebuild."
    ))
}

fn store(health: &Health) -> Finding {
    let cause = health.problem.as_ref().map(ToString::to_string);
    let cause = cause.unwrap_or_else(|| printable(&health.status));
    match &*health.status {
        "ok" => finding("store", State::Ok, "responds and accepts writes"),
        "misconfigured" => finding("configuration", State::Error, cause)
            .remedy("Correct the variable in wrangler.toml, or with npx wrangler secret put, and deploy again."),
        _ => finding("store", State::Error, "The store does not respond, or refuses writes.").remedy(
            "Check that the store runs, and UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN. npx wrangler tail (in a \
             clone with --env production) shows the cause of each failure.",
        ),
    }
}

fn transport(url: &Url) -> Option<Finding> {
    (url.scheme() == "http" && !is_local(url)).then(|| {
        finding(
            "https",
            State::Error,
            "Keys and tokens travel without encryption.",
        )
        .remedy("Use the https address of the deployment, and redirect http to it.")
    })
}

/// Returns whether an address is on this machine.
fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

fn keys(configured: &Configured, status: &StatusResponse) -> Vec<Finding> {
    let mut findings = Vec::new();
    if configured.service_keys == 0 {
        findings.push(
            finding(
                "service keys",
                State::Warning,
                "None is set: no server can send activity, nobody can use /admin.",
            )
            .remedy(
                "openssl rand -hex 32, then npx wrangler secret put SERVICE_KEYS (in a clone with --env production)",
            ),
        );
    }
    findings.push(match status {
        StatusResponse::NoKey => finding("service keys", State::Note, "not checked: no key was given")
            .remedy("Set ACTIVITY_RANK_KEY to a key of the scope admin to check the key, the placement and cron."),
        StatusResponse::Known(_) => finding("service keys", State::Ok, "the key has the scope admin"),
        StatusResponse::Refused(Some(StatusCode::UNAUTHORIZED)) => {
            finding("service keys", State::Error, "The service does not know the key.")
                .remedy("Compare ACTIVITY_RANK_KEY with SERVICE_KEYS of this deployment; other environments have other keys.")
        }
        StatusResponse::Refused(Some(StatusCode::FORBIDDEN)) => {
            finding("service keys", State::Note, "placement and cron not checked: the key lacks the scope admin")
        }
        StatusResponse::Refused(_) => finding("service keys", State::Note, "not checked: /v1/status gave no answer"),
    });
    findings
}

fn tokens(configured: &Configured) -> Finding {
    let verified = |name: &&String| ["JWT_SECRET", "JWKS_URL"].contains(&name.as_str());
    let names: Vec<&str> = configured
        .user_tokens
        .iter()
        .filter(verified)
        .map(|name| &**name)
        .collect();
    if names.is_empty() {
        return finding(
            "user tokens",
            State::Warning,
            "Members cannot call: neither JWT_SECRET nor JWKS_URL is set.",
        )
        .remedy(
            "For pages that send activity themselves: openssl rand -hex 32, then npx wrangler secret put JWT_SECRET \
             (in a clone with --env production)",
        );
    }
    finding(
        "user tokens",
        State::Ok,
        format!("verified by {}", names.join(" and ")),
    )
}

fn origins(configured: &Configured, asked: Option<&(String, bool)>) -> Finding {
    let list = configured.allowed_origins.join(", ");
    match asked {
        Some((origin, true)) => finding("origins", State::Ok, format!("pages of {origin} may embed and call")),
        Some((origin, false)) => {
            let all: Vec<_> = configured.allowed_origins.iter().map(|allowed| printable(allowed)).chain([origin.clone()]).collect();
            let names = if list.is_empty() { "none".to_owned() } else { printable(&list) };
            finding(
                "origins",
                State::Error,
                format!("Pages of {origin} may neither embed nor call. Allowed: {names}."),
            )
            .remedy(format!(
                "Add it in wrangler.toml under [vars], in a clone under [env.production.vars]: ALLOWED_ORIGINS = \"{}\"",
                all.join(",")
            ))
        }
        None if list.is_empty() => finding(
            "origins",
            State::Warning,
            "No page of another origin may embed a board: ALLOWED_ORIGINS is not set.",
        )
        .remedy(
            "Add your site in wrangler.toml under [vars], in a clone under [env.production.vars]: ALLOWED_ORIGINS = \
             \"https://www.example.com\"",
        ),
        None => finding("origins", State::Ok, format!("pages of {} may embed and call", printable(&list)))
            .remedy("--origin https://… checks another one."),
    }
}

fn cache(url: &Url, configured: &Configured, is_cached: Option<bool>) -> Finding {
    if url
        .host_str()
        .is_some_and(|host| host.ends_with(".workers.dev"))
    {
        return finding(
            "cache",
            State::Warning,
            "The Cache API stores nothing under workers.dev: each isolate reads boards for itself.",
        )
        .remedy(
            "Give the Worker a domain of your own: Workers & Pages, Settings, Domains & Routes.",
        );
    }
    match (configured.board_max_age, is_cached) {
        (0, _) => finding(
            "cache",
            State::Warning,
            "BOARD_MAX_AGE is 0: every request reads the store.",
        )
        .remedy("Remove the variable (5 seconds), unless this deployment is for tests."),
        (_, Some(true)) => finding(
            "cache",
            State::Ok,
            format!("boards are cached for {} s", configured.board_max_age),
        ),
        (_, Some(false)) => finding(
            "cache",
            State::Warning,
            "A board that was read three times did not come from a cache.",
        )
        .remedy("Check the cache rules of the zone: none may bypass the cache for /v1/."),
        (_, None) => finding(
            "cache",
            State::Note,
            "not checked: the board could not be read",
        ),
    }
}

fn bindings(configured: &Configured) -> Finding {
    let missing: Vec<String> = BINDINGS
        .iter()
        .filter(|(name, _)| !configured.bound.iter().any(|bound| bound == name))
        .map(|(name, effect)| format!("without {name}: {effect}"))
        .collect();
    if missing.is_empty() {
        return finding("bindings", State::Ok, "all are bound");
    }
    let bound = if configured.bound.is_empty() {
        "none".to_owned()
    } else {
        printable(&configured.bound.join(", "))
    };
    finding("bindings", State::Note, format!("bound: {bound}")).remedy(missing.join("\n"))
}

fn placement(status: &StatusResponse) -> Option<Finding> {
    let StatusResponse::Known(Status { store, .. }) = status else {
        return None;
    };
    let latency = store.latency_ms?;
    let detail = format!("one request to the store takes {latency} ms");
    if latency <= FAR_STORE {
        return Some(finding("placement", State::Ok, detail));
    }
    Some(finding("placement", State::Warning, detail).remedy(
        "Run the Worker near the store: [placement] in wrangler.toml, in a clone [env.production.placement], with the cloud \
         region of the store.",
    ))
}

fn cron(status: &StatusResponse) -> Option<Finding> {
    let StatusResponse::Known(Status { outbox, .. }) = status else {
        return None;
    };
    let outbox = outbox.as_ref()?;
    let age = outbox
        .oldest
        .map(|oldest| Timestamp::now().duration_since(oldest));
    let late = age
        .and_then(|age| Duration::try_from(age).ok())
        .filter(|age| *age > LATE_OUTBOX);
    let Some(late) = late else {
        return Some(finding("cron", State::Ok, "the journal is up to date"));
    };
    let minutes = late.as_secs() / 60;
    Some(
        finding(
            "cron",
            State::Error,
            format!("{} changes wait for the journal, the oldest for {minutes} minutes.", outbox.entries),
        )
        .remedy(
            "Set crons = [\"*/5 * * * *\", \"* * * * *\"] in wrangler.toml under [triggers], in a clone under \
             [env.production.triggers], and deploy, which applies the migrations of JOURNAL: npm run deploy, in a clone \
             make deploy ENVIRONMENT=production",
        ),
    )
}

fn cost(configured: &Configured) -> Finding {
    let has = |name: &str| configured.bound.iter().any(|bound| bound == name);
    let hourly = if has("journal") {
        CRON_WITH_JOURNAL
    } else if has("archive") || has("snapshots") {
        CRON_READING_BOARDS
    } else {
        CRON
    };
    let idle = hourly * HOURS_OF_A_MONTH;
    let plan = if configured.cron_budget > FREE_PLAN_BUDGET {
        "that of the paid plan"
    } else {
        "that of the free plan, whose quotas are those of a day and of the account: 10 ms of processor time for a run, \
         1,000 writes of KV, 10,000 operations of queues"
    };
    let (like, minimal) = LIKE_COMMANDS;
    finding(
        "cost",
        State::Note,
        format!(
            "about {} Redis commands a month for cron, {like} for a like with all periods ({minimal} with Prefer: \
             return=minimal); CRON_BUDGET is {plan}",
            idle.saturating_mul(configured.shards)
        ),
    )
    .remedy("docs/costs.md computes a month, docs/limits.md lists the quotas.")
}

/// How the warning of a store begins that has lost its data.
const LOST_DATA: &str = "The store is empty";

/// Returns the finding about a store that has lost its data.
fn lost_data(url: &Url, health: &Health) -> Option<Finding> {
    let mut warnings = health.warnings.iter();
    let warning = warnings.find(|warning| warning.starts_with(LOST_DATA))?;
    let remedy = format!("activity-rank rebuild --url {url}");
    Some(finding("data", State::Error, printable(warning)).remedy(remedy))
}

/// Returns the warnings of the service that no check has reported.
fn warnings(url: &Url, health: &Health) -> Vec<Finding> {
    let is_workers_dev = url
        .host_str()
        .is_some_and(|host| host.ends_with(".workers.dev"));
    let is_reported = |warning: &str| {
        ["JWT_SECRET", "ALLOWED_ORIGINS", LOST_DATA]
            .iter()
            .any(|name| warning.contains(name))
            || is_workers_dev && warning.contains("workers.dev")
    };
    health
        .warnings
        .iter()
        .filter(|warning| !is_reported(warning))
        .map(|warning| finding("health", State::Warning, printable(warning)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use jiff::ToSpan;

    use super::super::facts::{Outbox, Store};
    use super::*;

    fn facts(url: &str) -> Result<Facts, Box<dyn Error>> {
        let configured = r#"{"periods": ["day"], "board_max_age": 5, "cron_budget": 50, "shards": 2, "service_keys": 1,
            "user_tokens": ["JWKS_URL", "JWT_ISSUER"], "allowed_origins": ["https://example.com"], "bound": ["journal"]}"#;
        let health = format!(
            r#"{{"status": "ok", "version": "{}", "configured": {configured}, "warnings": []}}"#,
            env!("CARGO_PKG_VERSION")
        );
        Ok(Facts {
            url: url.parse()?,
            health: Ok(serde_json::from_str(&health)?),
            round_trip: Duration::from_millis(12),
            origin: None,
            status: StatusResponse::NoKey,
            is_cached: Some(true),
        })
    }

    fn state(latency_ms: u64, minutes: i64) -> StatusResponse {
        StatusResponse::Known(Status {
            store: Store {
                latency_ms: Some(latency_ms),
            },
            outbox: Some(Outbox {
                entries: 7,
                oldest: Some(Timestamp::now() - minutes.minutes()),
            }),
        })
    }

    /// Returns check and detail of the findings with a state.
    fn found(facts: &Facts, state: State) -> Vec<(&'static str, String)> {
        let findings = findings(facts).into_iter();
        let matching = findings.filter(|finding| finding.state == state);
        matching
            .map(|finding| (finding.check, finding.detail))
            .collect()
    }

    #[test]
    fn cost_depends_on_shards_and_bindings() -> Result<(), Box<dyn Error>> {
        let notes = found(&facts("https://rank.example/")?, State::Note);
        let cost = "about 144000 Redis commands a month for cron, 22 for a like with all periods (17 with Prefer: \
                    return=minimal); CRON_BUDGET is that of the free plan, whose quotas are those of a day and of \
                    the account: 10 ms of processor time for a run, 1,000 writes of KV, 10,000 operations of queues";
        assert!(notes.contains(&("cost", cost.to_owned())), "{notes:?}");
        Ok(())
    }

    #[test]
    fn store_without_data_is_an_error() -> Result<(), Box<dyn Error>> {
        let mut facts = facts("https://rank.example/")?;
        let warning =
            "The store is empty, but the journal has 7 entries: run activity-rank rebuild.";
        if let Ok(health) = &mut facts.health {
            health.warnings.push(warning.to_owned());
        }
        let [.., finding] = &findings(&facts)[..3] else {
            return Err("no finding".into());
        };
        let expected = Finding {
            check: "data",
            state: State::Error,
            detail: warning.to_owned(),
            remedy: Some("activity-rank rebuild --url https://rank.example/".to_owned()),
        };
        assert_eq!(finding, &expected);
        assert_eq!(found(&facts, State::Warning), []);
        Ok(())
    }

    #[test]
    fn workers_dev_is_reported_once() -> Result<(), Box<dyn Error>> {
        let mut facts = facts("https://rank.example.workers.dev/")?;
        if let Ok(health) = &mut facts.health {
            health.warnings = vec!["The Cache API stores nothing under workers.dev: …".to_owned()];
        }
        let warnings = found(&facts, State::Warning);
        let [("cache", _)] = &*warnings else {
            return Err(format!("{warnings:?}").into());
        };
        Ok(())
    }

    #[test]
    fn unencrypted_address_is_an_error() -> Result<(), Box<dyn Error>> {
        let errors = |url| facts(url).map(|facts| found(&facts, State::Error));
        let detail = "Keys and tokens travel without encryption.".to_owned();
        assert_eq!(errors("http://rank.example/")?, [("https", detail)]);
        assert_eq!(errors("http://127.0.0.1:8787/")?, []);
        Ok(())
    }

    #[test]
    fn distant_store_and_late_cron_are_reported() -> Result<(), Box<dyn Error>> {
        let mut facts = facts("https://rank.example/")?;
        facts.status = state(FAR_STORE, 9);
        assert_eq!(found(&facts, State::Warning), []);
        assert_eq!(found(&facts, State::Error), []);
        facts.status = state(FAR_STORE + 1, 11);
        let latency = "one request to the store takes 41 ms".to_owned();
        assert_eq!(found(&facts, State::Warning), [("placement", latency)]);
        let late = "7 changes wait for the journal, the oldest for 11 minutes.";
        assert_eq!(found(&facts, State::Error), [("cron", late.to_owned())]);
        Ok(())
    }

    #[test]
    fn other_version_is_reported() -> Result<(), Box<dyn Error>> {
        let mut facts = facts("https://rank.example/")?;
        if let Ok(health) = &mut facts.health {
            health.version = "0.0.9".to_owned();
        }
        let version = "version 0.0.9 responds in 12 ms".to_owned();
        assert_eq!(found(&facts, State::Warning), [("service", version)]);
        Ok(())
    }
}
