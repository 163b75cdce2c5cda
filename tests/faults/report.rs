//! What a run has shown, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use test_support::{Value, json};

use crate::compare::Compared;
use crate::figures::{Counts, LIMIT, quantile};
use crate::flights::Hits;
use crate::ledger::Held;
use crate::load::Load;
use crate::strikes::{Part, Struck};

/// Everything there is to say.
pub struct Report {
    pub seed: u64,
    /// How long load and faults lasted, and then the queue.
    pub lasted: Duration,
    pub drained: Duration,
    pub load: Load,
    pub counts: Counts,
    pub held: Held,
    pub struck: Struck,
    pub hits: Vec<Hits>,
    pub compared: Compared,
    /// Of this machine, before and after.
    pub load_average: [f64; 2],
}

/// Faults of one kind.
#[derive(Default)]
struct Faults {
    struck: u64,
    hit: u64,
    in_flight: u64,
    hurt: u64,
}

impl Report {
    /// How many faults have hit requests in flight.
    pub fn hit(&self) -> u64 {
        self.faults().values().map(|faults| faults.hit).sum()
    }

    fn faults(&self) -> BTreeMap<Part, Faults> {
        let mut all: BTreeMap<Part, Faults> = BTreeMap::new();
        for (part, number) in &self.struck {
            let (faults, hits) = (all.entry(*part).or_default(), &self.hits[*number]);
            faults.struck += 1;
            faults.hit += u64::from(hits.hurt > 0);
            faults.in_flight += hits.in_flight;
            faults.hurt += hits.hurt;
        }
        all
    }

    /// How late tasks of this process itself are woken, but for one in a thousand: what the machine
    /// adds to every answer. Where it is long nobody can say how soon the service answers.
    pub fn lag(&self) -> Duration {
        quantile(&self.counts.lags, 999)
    }

    fn slowest(&self) -> Duration {
        self.counts.took.iter().max().copied().unwrap_or_default()
    }

    fn slowest_waiting(&self) -> Duration {
        let waited = self.counts.waited_for_workerd.iter();
        waited.max().copied().unwrap_or_default()
    }

    /// Of boards or standings, how many were answered how.
    fn reads(&self, what: &str) -> Value {
        let reads = self.counts.reads.iter().filter(|((of, _), _)| *of == what);
        reads
            .map(|((_, how), number)| ((*how).to_owned(), json!(number)))
            .collect()
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let Self {
            counts,
            held,
            load,
            compared,
            ..
        } = self;
        let ms = |took: Duration| (took.as_secs_f64() * 10_000.0).round() / 10.0;
        let faults = |(part, faults): (Part, Faults)| {
            let told = json!({
                "struck": faults.struck, "hit": faults.hit,
                "in_flight": faults.in_flight, "hurt": faults.hurt,
            });
            (part.name().to_owned(), told)
        };
        let seconds = self.lasted.as_secs_f64();
        json!({
            "seed": self.seed,
            "seconds": seconds.round(),
            "load_average": self.load_average,
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "lag_p999_ms": ms(self.lag()),
            "load": {
                "activities": load.activities, "per_second": (load.activities as f64 / seconds).round(),
                "deeds": load.deeds.len(), "repeats": load.repeats, "undos": load.undos,
            },
            "outcomes": counts.outcomes,
            "answers": {
                "limit_ms": ms(LIMIT), "in_time": counts.share_in_time(),
                "answered": counts.took.len(), "unanswered": counts.unanswered,
                "late": counts.took.iter().filter(|took| **took > LIMIT).count(),
                "p50_ms": ms(quantile(&counts.took, 500)), "p99_ms": ms(quantile(&counts.took, 990)),
                "p999_ms": ms(quantile(&counts.took, 999)), "slowest_ms": ms(self.slowest()),
            },
            "without_workerd": {
                "unanswered": counts.worker_dead, "late": counts.waited_for_workerd.len(),
                "slowest_ms": ms(self.slowest_waiting()),
            },
            "sent_again": { "requests": counts.sent_again, "deeds_lost_in_queue": held.sent_again },
            "queue": {
                "taken": held.taken, "done": held.done, "lost_with_workerd": held.lost,
                "waiting": held.waiting, "drained_seconds": self.drained.as_secs_f64().round(),
            },
            "reads": { "boards": self.reads("boards"), "standings": self.reads("standings") },
            "faults": self.faults().into_iter().map(faults).collect::<Value>(),
            "faults_hit": self.hit(),
            "compared": {
                "boards": compared.boards, "members": compared.members, "points": compared.points,
                "history_days": compared.days, "marks": compared.marks,
                "differences": compared.differences.len(),
            },
            "wrong": counts.wrong.len(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            counts,
            held,
            load,
            compared,
            ..
        } = self;
        let [before, after] = self.load_average;
        let seconds = self.lasted.as_secs_f64();
        writeln!(
            f,
            "fault run: SEED={}, {seconds:.0} s, load average {before} before, {after} after",
            self.seed
        )?;
        writeln!(
            f,
            "load       {} activities ({:.0}/s), {} of them repeats, {} undos; {} deeds",
            load.activities,
            load.activities as f64 / seconds,
            load.repeats,
            load.undos,
            load.deeds.len()
        )?;
        let outcomes = counts
            .outcomes
            .iter()
            .map(|(name, number)| format!("{number} {name}"));
        writeln!(f, "outcomes   {}", outcomes.collect::<Vec<_>>().join(", "))?;
        writeln!(
            f,
            "in time    {:.3} % of {} requests within {} ms; {} unanswered; half in {} ms, 99 % in {}, 99.9 % in {}, the slowest {}",
            counts.share_in_time() * 100.0,
            counts.took.len() as u64 + counts.unanswered,
            LIMIT.as_millis(),
            counts.unanswered,
            quantile(&counts.took, 500).as_millis(),
            quantile(&counts.took, 990).as_millis(),
            quantile(&counts.took, 999).as_millis(),
            self.slowest().as_millis(),
        )?;
        writeln!(
            f,
            "machine    tasks woken up to {} ms late, but for one in a thousand",
            self.lag().as_millis()
        )?;
        writeln!(
            f,
            "apart      {} requests died with workerd or found none; {} waited for one and were late, the slowest {} ms",
            counts.worker_dead,
            counts.waited_for_workerd.len(),
            self.slowest_waiting().as_millis(),
        )?;
        writeln!(
            f,
            "sent again {} requests not answered; {} deeds of the {} messages that died in the queue with workerd",
            counts.sent_again, held.sent_again, held.lost
        )?;
        writeln!(
            f,
            "queue      {} messages taken, {} done; drained in {:.0} s",
            held.taken,
            held.done,
            self.drained.as_secs_f64()
        )?;
        for what in ["boards", "standings"] {
            let reads = counts.reads.iter().filter(|((of, _), _)| *of == what);
            let reads: Vec<_> = reads.map(|((_, how), number)| (*how, *number)).collect();
            let all: u64 = reads.iter().map(|(_, number)| number).sum();
            let share = |(how, number): &(&str, u64)| {
                format!("{:.2} % {how}", 100.0 * *number as f64 / all as f64)
            };
            let shares: Vec<String> = reads.iter().map(share).collect();
            writeln!(f, "{what:<10} {all} reads: {}", shares.join(", "))?;
        }
        for (part, faults) in self.faults() {
            writeln!(
                f,
                "fault      {:<20} {:>3} struck, {:>3} hit: {} of {} requests in flight",
                part.name(),
                faults.struck,
                faults.hit,
                faults.hurt,
                faults.in_flight
            )?;
        }
        writeln!(
            f,
            "compared   {} boards with {} members and {} points, {} days of histories, {} marks: {} differences",
            compared.boards,
            compared.members,
            compared.points,
            compared.days,
            compared.marks,
            compared.differences.len()
        )?;
        for line in compared.differences.iter().chain(&counts.wrong).take(20) {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}
