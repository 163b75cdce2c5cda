//! Published versions of the rules: points and caps that hold from an instant, in the place of the values in `RULES`.
//!
//! Each shard holds the versions in the definitions that its counting script compares, see
//! [`crate::event::Definitions`]. A version is one line: `#3 1795132800000 0 like.points=3,like.daily_cap=-`: its number;
//! the instant from which it holds, Unix ms; the number of the version that it takes back, 0 for none; the changes, points
//! in smallest steps, `-` for a removed cap, and `-` alone without any. Versions apply in the order of their instants, then
//! of their numbers, and each changes only the fields that it names. A version that takes another one back ends it.

mod list;
mod publication;

pub use list::{StoredVersion, VersionList};
pub use publication::{PreviewRequest, Publication, TakeBack};

use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::config::Rule;
use crate::event::RULES_MARKER;

/// The shortest time from a publication to the instant from which it holds, ms. An activity may be dated
/// [`CLOCK_TOLERANCE`] ahead, so one that a shard has counted before it had the version is older than that instant; the
/// rest is for the calls to all shards, and for clocks that differ.
pub const LEAD: i64 = CLOCK_TOLERANCE + 15_000;

/// The most versions of a deployment, taken back or not: an activity may be of any age.
pub const MAX_VERSIONS: usize = 500;

/// The most bytes of all versions: every counting call reads them in the store, which takes about 20 µs for so many.
pub const MAX_BYTES: usize = 16_384;

/// The values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Points in smallest steps.
    Points,
    /// Points in smallest steps, or no cap.
    Cap,
    /// Seconds, or no limit.
    Seconds,
}

/// A field of a rule that a version may change.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub kind: FieldKind,
    get: fn(&Rule) -> Option<u64>,
    set: fn(&mut Rule, Option<u64>),
}

/// Returns a field of [`FIELDS`].
macro_rules! field {
    ($name:ident, Points) => {
        Field {
            name: stringify!($name),
            kind: FieldKind::Points,
            get: |rule| Some(rule.$name),
            set: |rule, value| rule.$name = value.unwrap_or(rule.$name),
        }
    };
    ($name:ident, $kind:ident) => {
        Field {
            name: stringify!($name),
            kind: FieldKind::$kind,
            get: |rule| rule.$name,
            set: |rule, value| rule.$name = value,
        }
    };
}

/// The fields that a version may change. The others are the same for all time.
pub static FIELDS: [Field; 6] = [
    field!(points, Points),
    field!(daily_cap, Cap),
    field!(member_cap, Cap),
    field!(pair_cap, Cap),
    field!(cooldown, Seconds),
    field!(received, Points),
];

impl Field {
    /// Returns a field by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Returns the value that a rule has.
    #[must_use]
    pub fn value(&self, rule: &Rule) -> Option<u64> {
        (self.get)(rule)
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A change of one field of one action.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The action.
    pub action: String,
    /// The field.
    pub field: &'static Field,
    /// Its value; `None` removes a cap.
    pub value: Option<u64>,
}

/// A version of the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// Its number, from 1.
    pub number: u32,
    /// The instant from which it holds.
    pub from: Instant,
    /// The version that it takes back.
    pub takes_back: Option<u32>,
    /// Its changes.
    pub changes: Vec<Change>,
}

impl Version {
    /// Parses a line; `None` if it is not one.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(RULES_MARKER)?.split(' ');
        let number = words.next()?.parse().ok()?;
        let from = Instant(words.next()?.parse().ok()?);
        let takes_back = Some(words.next()?.parse().ok()?).filter(|number| *number > 0);
        let changes = words.next()?.split(',');
        let changes = changes.filter(|change| *change != "-").map(|change| {
            let (name, value) = change.split_once('=')?;
            let (action, field) = name.split_once('.')?;
            Some(Change {
                action: action.to_owned(),
                field: Field::named(field)?,
                value: match value {
                    "-" => None,
                    value => Some(value.parse().ok()?),
                },
            })
        });
        Some(Self {
            number,
            from,
            takes_back,
            changes: changes.collect::<Option<_>>()?,
        })
    }

    /// Returns its line.
    #[must_use]
    pub fn line(&self) -> String {
        let changes = self.changes.iter().map(|change| {
            let value = change
                .value
                .map_or("-".to_owned(), |value| value.to_string());
            format!("{}.{}={value}", change.action, change.field.name)
        });
        let mut changes = changes.collect::<Vec<_>>().join(",");
        if changes.is_empty() {
            "-".clone_into(&mut changes);
        }
        let (name, from) = (self.name(), self.from.0);
        format!("{name} {from} {} {changes}", self.takes_back.unwrap_or(0))
    }

    /// Returns the first word of its line, which names it in the store and in the journal.
    #[must_use]
    pub fn name(&self) -> String {
        Self::name_of(self.number)
    }

    /// Returns the name of the version with a number.
    #[must_use]
    pub fn name_of(number: u32) -> String {
        format!("{RULES_MARKER}{number}")
    }
}

/// The changes that hold from an instant until the next one.
#[derive(Clone, Debug)]
struct Span {
    version: Version,
    /// Whether its version holds at the last instant of the timeline.
    holds: bool,
    changes: Vec<Change>,
}

/// The changes by the versions at each instant.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    spans: Vec<Span>,
}

impl Timeline {
    /// Returns the timeline of some versions.
    #[must_use]
    pub fn new(versions: Vec<Version>) -> Self {
        // A sort would add 3 KB to the Worker.
        let mut ordered: Vec<Version> = Vec::new();
        for version in versions {
            let order = |version: &Version| (version.from, version.number);
            let index = ordered.partition_point(|other| order(other) < order(&version));
            ordered.insert(index, version);
        }
        let mut timeline = Self::default();
        for version in ordered {
            timeline.push(version);
        }
        timeline
    }

    /// Adds a version after the others.
    fn push(&mut self, version: Version) {
        let mut changes = self.changes(self.spans.len().checked_sub(1)).to_vec();
        // A version ends that has taken back another one: that one holds again.
        let (mut other, mut holds) = (version.takes_back, false);
        while let Some(span) = other.and_then(|number| self.span_mut(number)) {
            span.holds = holds;
            (other, holds) = (span.version.takes_back, !holds);
        }
        if version.takes_back.is_some() {
            changes.clear();
            for span in self.spans.iter().filter(|span| span.holds) {
                merge(&mut changes, &span.version.changes);
            }
        }
        merge(&mut changes, &version.changes);
        self.spans.push(Span {
            version,
            holds: true,
            changes,
        });
    }

    fn span_mut(&mut self, number: u32) -> Option<&mut Span> {
        let mut spans = self.spans.iter_mut();
        spans.find(|span| span.version.number == number)
    }

    /// Returns the timeline of the versions among the lines of definitions.
    #[must_use]
    pub fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        Self::new(lines.filter_map(Version::parse).collect())
    }

    /// Returns whether there are no versions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the rule of an action at an instant, where `RULES` has this one.
    #[must_use]
    pub fn rule(&self, action: &str, at: Instant, configured: Rule) -> Rule {
        let begun = self.spans.partition_point(|span| span.version.from <= at);
        changed(self.changes(begun.checked_sub(1)), action, configured)
    }

    /// Returns the rule of an action before a version and from it on, where `RULES` has this one; of a version that is not
    /// in the timeline as if it were its last one at that instant.
    #[must_use]
    pub fn around(&self, version: &Version, action: &str, configured: Rule) -> [Rule; 2] {
        let mut spans = self.spans.iter();
        let Some(index) = spans.position(|span| span.version.number == version.number) else {
            let before = self.rule(action, version.from, configured);
            return [before, changed(&version.changes, action, before)];
        };
        let before = index.checked_sub(1);
        [before, Some(index)].map(|index| changed(self.changes(index), action, configured))
    }

    fn changes(&self, index: Option<usize>) -> &[Change] {
        let span = index.and_then(|index| self.spans.get(index));
        span.map_or(&[], |span| &span.changes)
    }
}

/// Returns a rule with changes.
fn changed(changes: &[Change], action: &str, mut rule: Rule) -> Rule {
    for change in changes.iter().filter(|change| change.action == action) {
        (change.field.set)(&mut rule, change.value);
    }
    rule
}

/// Adds changes, and removes earlier ones of the same fields.
fn merge(changes: &mut Vec<Change>, later: &[Change]) {
    for change in later {
        let is_same =
            |other: &Change| (&other.action, other.field) == (&change.action, change.field);
        changes.retain(|other| !is_same(other));
        changes.push(change.clone());
    }
}

#[cfg(test)]
mod tests;
