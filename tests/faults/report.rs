//! The report of a run, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use test_support::{Value, json};

use crate::compare::Comparison;
use crate::in_flight::FaultEffect;
use crate::injection::{FaultKind, InjectedFaults};
use crate::load::Load;
use crate::metrics::{Counts, LIMIT, quantile};
use crate::tracker::QueueFigures;

/// The resources of reads. Scripts read boards and standings; a replica may serve the others.
const RESOURCES: [&str; 5] = [
    "boards",
    "standings",
    "histories",
    "own profile",
    "remote profile",
];

/// All results of a run.
pub struct Report {
    pub seed: u64,
    /// The duration of load and faults.
    pub duration: Duration,
    /// The time until the queue was empty afterwards.
    pub drained: Duration,
    pub load: Load,
    pub counts: Counts,
    pub queue: QueueFigures,
    pub injected: InjectedFaults,
    pub faults: Vec<FaultEffect>,
    pub comparison: Comparison,
    /// The machine's load average before and after.
    pub load_average: [f64; 2],
}

/// The sums of all faults of one kind.
#[derive(Default)]
struct FaultTotals {
    injected: u64,
    /// Faults that affected at least one request.
    effective: u64,
    in_flight: u64,
    affected: u64,
}

impl Report {
    /// Returns the number of faults that affected at least one request.
    pub fn effective_faults(&self) -> u64 {
        self.fault_totals()
            .values()
            .map(|totals| totals.effective)
            .sum()
    }

    fn fault_totals(&self) -> BTreeMap<FaultKind, FaultTotals> {
        let mut all: BTreeMap<FaultKind, FaultTotals> = BTreeMap::new();
        for (kind, number) in &self.injected {
            let (totals, effect) = (all.entry(*kind).or_default(), &self.faults[*number]);
            totals.injected += 1;
            totals.effective += u64::from(effect.affected > 0);
            totals.in_flight += effect.in_flight;
            totals.affected += effect.affected;
        }
        all
    }

    /// Returns the 99.9th percentile of this process's wake-up delay, which the machine adds to every
    /// response time.
    pub fn lag(&self) -> Duration {
        quantile(&self.counts.lags, 999)
    }

    fn slowest(&self) -> Duration {
        let durations = self.counts.durations.iter();
        durations.max().copied().unwrap_or_default()
    }

    fn slowest_worker_down(&self) -> Duration {
        let durations = self.counts.late_worker_down.iter();
        durations.max().copied().unwrap_or_default()
    }

    /// Returns the number of reads of a resource by result.
    fn reads(&self, resource: &str) -> impl Iterator<Item = (&'static str, u64)> {
        let reads = self.counts.reads.iter();
        reads
            .filter(move |((of, _), _)| *of == resource)
            .map(|((_, result), count)| (*result, *count))
    }

    /// Renders the report as JSON.
    pub fn json(&self) -> Value {
        let Self {
            counts,
            queue,
            load,
            comparison,
            ..
        } = self;
        let ms = |duration: Duration| (duration.as_secs_f64() * 10_000.0).round() / 10.0;
        let late = counts
            .durations
            .iter()
            .filter(|took| **took > LIMIT)
            .count();
        let faults = |(kind, totals): (FaultKind, FaultTotals)| {
            let totals = json!({
                "injected": totals.injected, "effective": totals.effective,
                "in_flight": totals.in_flight, "affected": totals.affected,
            });
            (kind.name().to_owned(), totals)
        };
        let reads = |resource| -> Value {
            let reads = self.reads(resource);
            reads
                .map(|(result, count)| (result.to_owned(), json!(count)))
                .collect()
        };
        let seconds = self.duration.as_secs_f64();
        json!({
            "seed": self.seed,
            "seconds": seconds.round(),
            "load_average": self.load_average,
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "lag_p999_ms": ms(self.lag()),
            "load": {
                "activities": load.activities, "per_second": (load.activities as f64 / seconds).round(),
                "operations": load.operations.len(), "repeats": load.repeats, "undos": load.undos,
            },
            "outcomes": counts.outcomes,
            "responses": {
                "limit_ms": ms(LIMIT), "in_time": counts.share_in_time(),
                "received": counts.durations.len(), "missing": counts.unanswered, "late": late,
                "p50_ms": ms(quantile(&counts.durations, 500)),
                "p99_ms": ms(quantile(&counts.durations, 990)),
                "p999_ms": ms(quantile(&counts.durations, 999)), "slowest_ms": ms(self.slowest()),
            },
            "without_workerd": {
                "missing": counts.worker_down, "late": counts.late_worker_down.len(),
                "slowest_ms": ms(self.slowest_worker_down()),
            },
            "aborted": { "requests": counts.aborted, "counted": counts.counted_aborted },
            "sent_again": { "requests": counts.retries, "operations_lost_in_queue": queue.sent_again },
            "queue": {
                "accepted": queue.accepted, "acknowledged": queue.acknowledged,
                "lost_with_workerd": queue.lost, "waiting": queue.waiting,
                "drained_seconds": self.drained.as_secs_f64().round(),
            },
            "reads": RESOURCES.map(|resource| (resource.to_owned(), reads(resource)))
                .into_iter().collect::<Value>(),
            "faults": self.fault_totals().into_iter().map(faults).collect::<Value>(),
            "effective_faults": self.effective_faults(),
            "compared": {
                "boards": comparison.boards, "entries": comparison.entries,
                "points": comparison.points, "history_days": comparison.days,
                "records": comparison.records, "differences": comparison.differences.len(),
                "damaged_users": comparison.damaged.len(),
            },
            "unexpected": counts.unexpected.len(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            counts,
            queue,
            load,
            comparison,
            ..
        } = self;
        let [before, after] = self.load_average;
        let seconds = self.duration.as_secs_f64();
        let percentile = |thousandths| quantile(&counts.durations, thousandths).as_millis();
        writeln!(
            f,
            "fault run: SEED={}, {seconds:.0} s, load average {before} before, {after} after",
            self.seed
        )?;
        writeln!(
            f,
            "load       {} activities ({:.0}/s) of {} operations, {} repeats, {} undos",
            load.activities,
            load.activities as f64 / seconds,
            load.operations.len(),
            load.repeats,
            load.undos,
        )?;
        let outcomes = counts.outcomes.iter();
        let outcomes: Vec<_> = outcomes
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        writeln!(f, "outcomes   {}", outcomes.join(", "))?;
        writeln!(
            f,
            "in time    {:.3} % of {} requests within {} ms; {} unanswered; p50 {} ms, p99 {} ms, p99.9 {} ms, slowest {} ms",
            counts.share_in_time() * 100.0,
            counts.durations.len() as u64 + counts.unanswered,
            LIMIT.as_millis(),
            counts.unanswered,
            percentile(500),
            percentile(990),
            percentile(999),
            self.slowest().as_millis(),
        )?;
        writeln!(
            f,
            "machine    p99.9 of the wake-up delay {} ms",
            self.lag().as_millis()
        )?;
        writeln!(
            f,
            "no workerd {} requests unanswered, {} late, slowest {} ms",
            counts.worker_down,
            counts.late_worker_down.len(),
            self.slowest_worker_down().as_millis(),
        )?;
        writeln!(
            f,
            "sent again {} unanswered or aborted requests; {} operations of {} messages lost with workerd",
            counts.retries, queue.sent_again, queue.lost
        )?;
        writeln!(
            f,
            "queue      {} messages accepted, {} acknowledged; drained in {:.0} s",
            queue.accepted,
            queue.acknowledged,
            self.drained.as_secs_f64()
        )?;
        writeln!(
            f,
            "aborted    {} requests with new activities; {} of them had counted when they were sent again",
            counts.aborted, counts.counted_aborted
        )?;
        for resource in RESOURCES {
            let total: u64 = self.reads(resource).map(|(_, count)| count).sum();
            let share = |(result, count): (&str, u64)| {
                format!("{:.2} % {result}", 100.0 * count as f64 / total as f64)
            };
            let shares: Vec<String> = self.reads(resource).map(share).collect();
            writeln!(f, "{resource:<17} {total} reads: {}", shares.join(", "))?;
        }
        for (kind, totals) in self.fault_totals() {
            writeln!(
                f,
                "fault      {:<20} {:>3} injected, {:>3} effective: {} of {} requests in flight affected",
                kind.name(),
                totals.injected,
                totals.effective,
                totals.affected,
                totals.in_flight
            )?;
        }
        writeln!(
            f,
            "compared   {} boards with {} entries and {} points, {} days of histories, {} records: {} differences; without {} users whose boards may be wrong after refused writes, as the log says",
            comparison.boards,
            comparison.entries,
            comparison.points,
            comparison.days,
            comparison.records,
            comparison.differences.len(),
            comparison.damaged.len()
        )?;
        for line in comparison
            .differences
            .iter()
            .chain(&counts.unexpected)
            .take(20)
        {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}
