//! `GET /metrics`: the state of the service in the OpenMetrics format, for Prometheus.
//!
//! Every number comes from the store and the journal's database: an isolate is one of many, and none of them
//! knows what the others did. No label names a user, a target or a group.

use super::status::VERSION;
use crate::app::RequestContext;
use crate::journal::metrics::{self as journal, JournalMetrics, SyncMetrics};
use crate::log;
use crate::platform::clock;
use crate::response::Response;
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Instant, Period};
use activity_rank_core::caller::Caller;
use activity_rank_core::config::{Config, Scope};
use activity_rank_core::error::Error;
use activity_rank_core::metrics::{MEDIA_TYPE, Metrics, Number};
use activity_rank_store::fingerprint::stamp;
use activity_rank_store::redis::CircuitState;
use activity_rank_store::status::{self, StoreStatus};

/// The boards of each kind, and their metric.
const KINDS: [(BoardKind, &str); 3] = [
    (BoardKind::Members, "board_members"),
    (BoardKind::Content, "board_targets"),
    (BoardKind::Authors, "board_authors"),
];

/// The metrics; while the store or the database does not respond, without what it knows.
pub async fn get(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    let (deployment, request) = (context.deployment, context.request);
    caller.must_be_service(Scope::Metrics)?;
    request.reject_parameters()?;
    let config = &deployment.config;
    // A response closes it.
    let circuit = deployment.store.circuit();
    let (sent, today) = (clock::millis(), context.today());
    let boards = boards(config);
    let found = match status::read(deployment, &boards, today).await {
        Ok(found) => Some((found, clock::millis() - sent)),
        Err(error @ Error::StoreUnavailable(_)) => {
            log::failure(request, &error);
            None
        }
        Err(error) => return Err(error),
    };
    let journal = match &context.app.bindings.journal {
        Some(journal) => Some(journal::read(journal, config, today).await),
        None => None,
    };
    if let Some(Err(error)) = &journal {
        log::failure(request, error);
    }
    let mut metrics = Metrics::default();
    write_deployment(&mut metrics, config, circuit, found.is_some());
    if let Some((found, latency)) = found {
        write_store(&mut metrics, &found, latency);
        write_boards(&mut metrics, &boards, &found.entries);
        write_jobs(&mut metrics, &found, config);
    }
    if let Some(found) = journal {
        let up = Some(found.is_ok().into());
        let help = "Whether the database of the journal responded.";
        metrics.gauge("journal_up", help, up);
        if let Ok(found) = found {
            write_journal(&mut metrics, &found, config);
            write_syncs(&mut metrics, &found.syncs);
        }
    }
    let response = Response::text(MEDIA_TYPE, metrics.finish());
    Ok(response.with("cache-control", "no-store"))
}

/// Returns the boards of a deployment, by kind.
fn boards(config: &Config) -> Vec<(BoardKind, Period)> {
    let mut boards = Vec::new();
    for (kind, _) in KINDS {
        let periods = match kind {
            BoardKind::Members => &config.periods,
            _ => &config.content_periods,
        };
        boards.extend(periods.iter().map(|period| (kind, *period)));
    }
    boards
}

fn write_deployment(metrics: &mut Metrics, config: &Config, circuit: CircuitState, up: bool) {
    let help = "The version of the service.";
    metrics.info("build", help, &[("version", VERSION)]);
    let help = "The settings that the stored data depends on.";
    metrics.info("schema", help, &[("fingerprint", &stamp(config))]);
    metrics.gauge("store_up", "Whether the store responded.", Some(up.into()));
    let help = "The state of the circuit breaker, in the isolate that responded.";
    metrics.describe("store_circuit", "gauge", help);
    for state in [
        CircuitState::Closed,
        CircuitState::Open,
        CircuitState::HalfOpen,
    ] {
        metrics.sample(&[("state", state.name())], (state == circuit).into());
    }
}

fn write_store(metrics: &mut Metrics, found: &StoreStatus, latency: i64) {
    let server = found.server;
    let mut gauge = |name, help, value| metrics.gauge(name, help, value);
    gauge(
        "store_latency_seconds",
        "The time that the store took to answer this request.",
        Some(Number::seconds(latency)),
    );
    gauge(
        "store_uptime_seconds",
        "The time since the store started.",
        server.uptime.map(Number::from),
    );
    gauge(
        "store_memory_bytes",
        "Memory in use.",
        server.memory.map(Number::from),
    );
    gauge(
        "store_memory_limit_bytes",
        "The most memory that the store may use; 0 for no limit.",
        server.memory_limit.map(Number::from),
    );
    metrics.counter(
        "store_commands",
        "Commands of all clients since the store started.",
        server.commands,
    );
    metrics.counter(
        "store_evicted_keys",
        "Keys that the store has evicted, with their data.",
        server.evicted,
    );
}

fn write_boards(metrics: &mut Metrics, boards: &[(BoardKind, Period)], entries: &[u64]) {
    for (kind, name) in KINDS {
        let mut is_described = false;
        for ((of_kind, period), entries) in boards.iter().zip(entries) {
            if *of_kind != kind {
                continue;
            }
            if !is_described {
                let help = "Visible entries of the current board of a period.";
                metrics.describe(name, "gauge", help);
                is_described = true;
            }
            metrics.sample(&[("period", period.name())], (*entries).into());
        }
    }
}

fn write_jobs(metrics: &mut Metrics, found: &StoreStatus, config: &Config) {
    let (outbox, cron) = (found.outbox, found.cron);
    metrics.counter(
        "changes",
        "Changes that were written to the outbox.",
        outbox.and_then(|outbox| outbox.added),
    );
    let mut gauge = |name, help, value| metrics.gauge(name, help, value);
    gauge(
        "outbox_entries",
        "Changes that are not in the journal yet.",
        outbox.map(|outbox| outbox.entries.into()),
    );
    gauge(
        "outbox_oldest_timestamp_seconds",
        "When the oldest of these changes was made; absent if there is none.",
        outbox.and_then(|outbox| outbox.oldest).map(timestamp),
    );
    gauge(
        "pending_changes",
        "Changes of visibility and erasures that are not complete on all boards.",
        Some(found.pending_changes.into()),
    );
    gauge(
        "waiting_receipts",
        "Entries of streams that targets and authors have not received yet, of the first few hundred of each shard.",
        Some(found.waiting_receipts.into()),
    );
    let queue = found.delivery.filter(|_| config.bound.queue);
    gauge(
        "queue_delivery_timestamp_seconds",
        "When queued activity was last counted; absent if it never was.",
        queue.map(|queue| timestamp(queue.delivered)),
    );
    gauge(
        "queue_delay_seconds",
        "How long the oldest activity of that delivery had been queued.",
        queue.map(|queue| Number::seconds(queue.delivered.0 - queue.oldest.0)),
    );
    gauge(
        "cron_run_timestamp_seconds",
        "When the last recorded run of cron began; absent if there was none.",
        cron.map(|run| timestamp(run.began)),
    );
    gauge(
        "cron_run_duration_seconds",
        "How long that run took.",
        cron.map(|run| Number::seconds(run.duration)),
    );
    gauge(
        "cron_run_success",
        "Whether no job of that run failed.",
        cron.map(|run| run.succeeded.into()),
    );
}

fn write_journal(metrics: &mut Metrics, found: &JournalMetrics, config: &Config) {
    let mut gauge = |name, help, value| metrics.gauge(name, help, value);
    gauge(
        "journal_entry_timestamp_seconds",
        "When the last change in the journal was made; absent if there is none.",
        found.last.map(timestamp),
    );
    gauge(
        "journal_sums_timestamp_seconds",
        "All changes until then are in the sums of the journal; absent before the first.",
        found.summed.map(timestamp),
    );
    gauge(
        "webhook_messages",
        "Messages to webhooks that wait.",
        Some(Number::new(found.messages, 0)),
    );
    gauge(
        "webhook_oldest_timestamp_seconds",
        "When the oldest of these messages happened; absent if there is none.",
        found.oldest.map(timestamp),
    );
    // Those of today, after those of which nothing has counted today.
    let mut sums: Vec<(&str, i64, i64)> = Vec::new();
    for action in config.rules.actions() {
        if found.sums.iter().all(|(other, ..)| other != action) {
            sums.push((action, 0, 0));
        }
    }
    let mut new_members = 0;
    for (action, count, steps) in &found.sums {
        match action.as_str() {
            "" => new_members = *count,
            action => sums.push((action, *count, *steps)),
        }
    }
    gauge(
        "day_new_members",
        "Members whose first activity counted today.",
        Some(Number::new(new_members, 0)),
    );
    let help = "Activities that counted today, less those that were undone.";
    metrics.describe("day_activities", "gauge", help);
    for (action, count, _) in &sums {
        metrics.sample(&[("action", action)], Number::new(*count, 0));
    }
    metrics.describe("day_points", "gauge", "Net points of today.");
    let decimals = config.layout.decimals;
    for (action, _, steps) in &sums {
        metrics.sample(&[("action", action)], Number::new(*steps, decimals));
    }
}

fn write_syncs(metrics: &mut Metrics, syncs: &[SyncMetrics]) {
    type Value = fn(&SyncMetrics) -> Option<Number>;
    let families: [(&str, &str, Value); 3] = [
        (
            "sync_differences",
            "Differences at the end of the last completed sync run of a source; absent if there was none.",
            |sync| Some(Number::new(sync.differences?, 0)),
        ),
        (
            "sync_completed_timestamp_seconds",
            "When the last completed sync run of a source ended; absent if there was none.",
            |sync| sync.completed.map(timestamp),
        ),
        (
            "sync_failed",
            "Whether the last sync run of a source failed.",
            |sync| Some(sync.has_failed.into()),
        ),
    ];
    for (name, help, value) in families {
        let mut is_described = false;
        for sync in syncs {
            let Some(value) = value(sync) else { continue };
            if !is_described {
                metrics.describe(name, "gauge", help);
                is_described = true;
            }
            metrics.sample(&[("source", &sync.source)], value);
        }
    }
}

fn timestamp(instant: Instant) -> Number {
    Number::seconds(instant.0)
}
