//! The optional bindings of a deployment.

/// Whether each optional binding exists.
///
/// Bindings are not variables, so [`Config::parse`](super::Config::parse) leaves all of them out;
/// the Worker sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The queue, which buffers activities during an outage of the store.
    pub queue: bool,
    /// The archive of closed boards.
    pub archive: bool,
    /// The journal of activities.
    pub journal: bool,
    /// The snapshots of open boards, served during an outage of the store.
    pub snapshots: bool,
    /// Live boards, which share one store read among all watchers.
    pub live: bool,
    /// The dataset that receives a data point for each request and job.
    pub analytics: bool,
}

impl Bound {
    /// Returns the script argument that enables writes to the outbox of the journal.
    #[must_use]
    pub fn journal_flag(self) -> &'static str {
        flag(self.journal)
    }

    /// Returns the names of the bindings that exist.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("queue", self.queue),
            ("archive", self.archive),
            ("journal", self.journal),
            ("snapshots", self.snapshots),
            ("live", self.live),
            ("analytics", self.analytics),
        ];
        all.into_iter()
            .filter_map(|(name, bound)| bound.then_some(name))
    }
}

pub(super) fn flag(set: bool) -> &'static str {
    if set { "1" } else { "0" }
}
