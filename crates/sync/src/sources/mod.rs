//! The sources. Each is an adapter, in a file of its own, that reads the software's data into [`Facts`]. Adapters of files
//! are in `crates/cli/src/sync`.
//!
//! An adapter needs the same ids as the recipe of its software, see `recipes/*/mapping.json`, so that history and webhooks
//! meet: a prefix for [`Adapter::ID_PREFIX`], and bare ids such as `7` or `topic:12` in its rows. It gives the
//! instant, the receiver and the author of each activity as the webhook does. To add one: the file, a variant of
//! `SourceArgs` with its options, its line in `sync::run`, its section in `docs/sync.md`.

pub mod api;
pub mod discourse;
pub mod discourse_api;
pub mod ghost;
pub mod github;
pub mod wordpress;

use crate::facts::{Facts, Mapping, Row};
use crate::failure::Failure;
use crate::platform::Progress;

/// A source of facts.
pub trait Adapter {
    /// Prefix of users and targets; empty if the members have the same ids.
    const ID_PREFIX: &'static str;
    /// The types of activity and their actions; empty for one that `--map` must name. A type that is not here is an action.
    const TYPES: &'static [(&'static str, &'static str)];
    /// The unit of [`Row::place`].
    const UNIT: &'static str;

    /// Returns how the targets of the source begin, after the prefix of ids.
    fn target_prefixes(&self) -> Vec<String> {
        vec![String::new()]
    }

    /// Reads what the source has now.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the source cannot be read. An invalid row is a fault of the facts.
    fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> impl Future<Output = Result<(), Failure>>;
}

/// Where an adapter puts what it reads.
pub struct Collector<'a> {
    /// The facts.
    pub facts: &'a mut Facts,
    /// The file of `--users`.
    pub mapping: &'a Mapping,
    /// Whether an action counts once a day.
    pub is_daily: &'a dyn Fn(&str) -> bool,
}

impl Collector<'_> {
    /// Adds an activity.
    pub fn activity(&mut self, row: Row<'_>) {
        self.facts.activity(row, self.is_daily);
    }
}
