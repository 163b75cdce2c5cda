//! The report of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::compare::Comparison;
use crate::in_flight::FaultEffect;
use crate::injection::{FaultKind, InjectedFaults};
use crate::load::Load;
use crate::metrics::{Counts, limit, quantile};
use crate::tracker::QueueFigures;

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
}

impl Report {
    /// Returns the number of faults that affected at least one request.
    pub fn effective_faults(&self) -> usize {
        let faults = self
            .injected
            .iter()
            .map(|(_, number)| &self.faults[*number]);
        faults.filter(|fault| fault.affected > 0).count()
    }

    /// Returns the numbers of injected and of effective faults, and of affected requests, by kind.
    fn faults_by_kind(&self) -> BTreeMap<FaultKind, [u64; 3]> {
        let mut all: BTreeMap<FaultKind, [u64; 3]> = BTreeMap::new();
        for (kind, number) in &self.injected {
            let affected = self.faults[*number].affected;
            let totals = all.entry(*kind).or_default();
            for (total, more) in totals
                .iter_mut()
                .zip([1, u64::from(affected > 0), affected])
            {
                *total += more;
            }
        }
        all
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
        let seconds = self.duration.as_secs_f64();
        let [p50, p99, p999] =
            [500, 990, 999].map(|thousandths| quantile(&counts.durations, thousandths).as_millis());
        writeln!(f, "fault run: SEED={}, {seconds:.0} s", self.seed)?;
        writeln!(
            f,
            "load       {} activities of {} operations, {} repeats, {} undos; {:?}",
            load.activities,
            load.operations.len(),
            load.repeats,
            load.undos,
            counts.outcomes,
        )?;
        writeln!(
            f,
            "in time    {:.3} % within {} ms; {} unanswered; p50 {p50} ms, p99 {p99} ms, p99.9 {p999} ms",
            counts.share_in_time() * 100.0,
            limit().as_millis(),
            counts.unanswered,
        )?;
        writeln!(
            f,
            "no workerd {} requests unanswered, {} late; {} of {} lost messages sent again",
            counts.worker_down,
            counts.late_worker_down.len(),
            queue.sent_again,
            queue.lost,
        )?;
        writeln!(
            f,
            "queue      {} messages accepted, {} acknowledged; drained in {:.0} s",
            queue.accepted,
            queue.acknowledged,
            self.drained.as_secs_f64(),
        )?;
        writeln!(
            f,
            "aborted    {} requests, of which {} had counted; {} sent again",
            counts.aborted, counts.counted_aborted, counts.retries
        )?;
        writeln!(f, "reads      {:?}", counts.reads)?;
        for (kind, [injected, effective, affected]) in self.faults_by_kind() {
            writeln!(
                f,
                "fault      {kind:?}: {injected} injected, {effective} effective, {affected} requests affected"
            )?;
        }
        writeln!(
            f,
            "compared   {} boards with {} entries and {} points, {} days of histories, {} records, without {} users \
             whose boards may be wrong after refused writes",
            comparison.boards,
            comparison.entries,
            comparison.points,
            comparison.days,
            comparison.records,
            comparison.damaged.len(),
        )
    }
}
