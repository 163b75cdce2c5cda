//! What a deployment is bound to besides the store.

/// Which bindings there are. They are no variables: whoever has them says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Holds back what the store does not take.
    pub queue: bool,
    /// Keeps boards that have closed.
    pub archive: bool,
    /// Keeps what was done.
    pub journal: bool,
    /// Keeps the boards of now for while the store is away.
    pub snapshots: bool,
    /// Reads boards for all who watch them.
    pub live: bool,
}

impl Bound {
    /// What tells a script whether to write what changes to the journal's outbox.
    #[must_use]
    pub fn journals(self) -> &'static str {
        flag(self.journal)
    }

    /// What tells a script whether an erasure leaves a tombstone: what was done before may come
    /// later only from a queue, or from the journal.
    #[must_use]
    pub fn buries(self) -> &'static str {
        flag(self.queue || self.journal)
    }

    /// The names of those there are.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("queue", self.queue),
            ("archive", self.archive),
            ("journal", self.journal),
            ("snapshots", self.snapshots),
            ("live", self.live),
        ];
        all.into_iter()
            .filter_map(|(name, bound)| bound.then_some(name))
    }
}

fn flag(set: bool) -> &'static str {
    if set { "1" } else { "0" }
}
