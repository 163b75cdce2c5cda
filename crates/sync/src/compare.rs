//! Compares the facts of the source with the boards.

use std::collections::{BTreeMap, BTreeSet};

use activity_rank_core::calendar::Instant;
use activity_rank_core::config::{Once, Rule, Rules};

use crate::board::{Active, Board, Record, Scope};
use crate::facts::{Fact, Facts, Key};

/// Refusals that a later activity of the same record need not share: facts decide these again.
const NOT_LASTING: [&str; 5] = [
    "stale",
    "duplicate",
    "own-target",
    "frozen",
    "unknown-action",
];

/// Facts or records by person, action and target.
type ByPerson<'a, T> = BTreeMap<(&'a str, &'a str, &'a str), Vec<T>>;

/// The input of a comparison.
pub struct Basis<'a> {
    /// The content of the source.
    pub facts: &'a Facts,
    /// The activities that count.
    pub board: &'a Board,
    /// The rules of the service.
    pub rules: &'a Rules,
    /// The part of the boards that the source accounts for.
    pub scope: &'a Scope,
    /// Whether the deployment has boards of content.
    pub has_content: bool,
    /// The instant of the comparison.
    pub now: Instant,
    /// When the source began to be read. It need not have what changed since then, nor lack it.
    pub read_at: Instant,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Differences, in the order of users.
    pub differences: Vec<Difference>,
    /// Activities that rules refuse, by reason.
    pub refused: BTreeMap<String, Vec<Key>>,
    /// Activities of erased users.
    pub erased: u64,
    /// Activities of accounts from before they were joined, which only a recount of accounts takes to their members.
    pub awaiting_recount: u64,
    /// Activities that count once a day: they cannot be undone, and are not compared.
    pub daily: u64,
    /// Differences of what changed while the source was read, by webhooks: a later run compares it.
    pub changed: Vec<Difference>,
}

/// A difference: the activity, and the instant of the last change of its record, or the target and its authors.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the variants document the fields")]
pub enum Difference {
    /// The source has it, and it does not count.
    Missing { key: Key, changed: Option<i64> },
    /// It counts, and the source does not have it.
    Excess {
        key: Key,
        changed: i64,
        /// Whether the source has its target no more.
        is_gone: bool,
    },
    /// It counts, and another target or author receives for it, or nothing does.
    Receiver {
        key: Key,
        /// The user of the record, of whom the user of the source may be an account.
        stored: String,
        changed: i64,
    },
    /// The target has another author, or none.
    Author {
        target: String,
        found: Option<String>,
        expected: String,
    },
}

impl Basis<'_> {
    /// Compares the facts with the boards.
    pub fn compare(&self) -> Comparison {
        let mut found = Comparison::default();
        let authors = self.compare_authors(&mut found);
        let mut wanted: ByPerson<'_, (&Key, &Fact)> = BTreeMap::new();
        for (key, fact) in &self.facts.activities {
            if key.daily.is_some() {
                found.daily += 1;
                continue;
            }
            if self.board.is_erased(&key.user, fact.at) {
                found.erased += 1;
                continue;
            }
            let person = self.board.person(&key.user);
            let facts = wanted
                .entry((person, &key.action, &key.target))
                .or_default();
            facts.push((key, fact));
        }
        let mut standing: ByPerson<'_, (Key, &Record)> = BTreeMap::new();
        for ((user, action, target), record) in &self.board.records {
            let person = self.board.person(user);
            let key = Key {
                user: user.clone(),
                action: action.clone(),
                target: target.clone(),
                daily: None,
            };
            let records = standing.entry((person, action, target)).or_default();
            records.push((key, record));
        }
        for (who, facts) in &wanted {
            let records = standing.get(who).map_or(&[][..], Vec::as_slice);
            self.compare_wanted(who.0, facts, records, &authors, &mut found);
        }
        let known: BTreeSet<&str> = self.known_targets();
        for (who, records) in &standing {
            if wanted.contains_key(who) || self.facts.kept.contains(who.2) {
                continue;
            }
            for (key, record) in records {
                if record.active.is_none() {
                    continue;
                }
                if self.board.is_frozen(who.0) {
                    found.refuse("frozen", key);
                } else if self.rule(key, None).is_some_and(|rule| !rule.undo) {
                    found.refuse("not-undoable", key);
                } else if key.user != who.0 && !self.board.is_recounted(&key.user) {
                    found.awaiting_recount += 1;
                } else {
                    let excess = Difference::Excess {
                        key: key.clone(),
                        changed: record.changed,
                        is_gone: !known.contains(key.target.as_str()),
                    };
                    self.add(&mut found, excess, record.applied_at);
                }
            }
        }
        found
    }

    /// Adds a difference. `applied_at` is the last change of its record, by the clock of the journal.
    fn add(&self, found: &mut Comparison, difference: Difference, applied_at: i64) {
        match applied_at >= self.read_at.0 {
            true => found.changed.push(difference),
            false => found.differences.push(difference),
        }
    }

    /// Compares the facts of one person, action and target with the records.
    fn compare_wanted(
        &self,
        person: &str,
        facts: &[(&Key, &Fact)],
        records: &[(Key, &Record)],
        authors: &BTreeSet<&str>,
        found: &mut Comparison,
    ) {
        let own = |(key, _): &&(Key, &Record)| key.user == person;
        let mut active = records.iter().filter(|(_, record)| record.active.is_some());
        let standing = active.clone().find(own).or_else(|| active.next());
        // The first one counts for the person.
        let public = facts.iter().filter(|(_, fact)| !fact.is_private);
        let Some((key, fact)) = public.min_by_key(|(_, fact)| fact.at) else {
            return;
        };
        match standing {
            Some((stored, record)) => {
                let Some(active) = &record.active else {
                    return;
                };
                let is_other = self.has_other_receiver(key, fact, active, authors);
                if !is_other || self.board.is_frozen(person) {
                    return;
                }
                if stored.user != person && !self.board.is_recounted(&stored.user) {
                    found.awaiting_recount += 1;
                    return;
                }
                let receiver = Difference::Receiver {
                    key: (*key).clone(),
                    stored: stored.user.clone(),
                    changed: record.changed,
                };
                self.add(found, receiver, record.applied_at);
            }
            None => {
                let own = records.iter().find(own).or_else(|| records.first());
                let record = own.map(|(_, record)| *record);
                match self.refusal(person, key, fact, record) {
                    Some(reason) => found.refuse(&reason, key),
                    None => {
                        let missing = Difference::Missing {
                            key: (*key).clone(),
                            changed: record.map(|record| record.changed),
                        };
                        let applied_at = record.map_or(i64::MIN, |record| record.applied_at);
                        self.add(found, missing, applied_at);
                    }
                }
            }
        }
    }

    /// Adds targets whose author differs. Returns them.
    fn compare_authors(&self, found: &mut Comparison) -> BTreeSet<&str> {
        let mut others = BTreeSet::new();
        if !self.has_content {
            return others;
        }
        for target in self.facts.targets.keys() {
            let Some(expected) = self.author(target) else {
                continue;
            };
            let registered = self.board.registrations.get(target);
            let author = registered.map_or("", |registered| registered.author.as_str());
            if self.board.person(author) != self.board.person(expected) {
                others.insert(target.as_str());
                let difference = Difference::Author {
                    target: target.clone(),
                    found: Some(author.to_owned()).filter(|author| !author.is_empty()),
                    expected: expected.to_owned(),
                };
                let authored_at = registered.map_or(i64::MIN, |registered| registered.authored_at);
                self.add(found, difference, authored_at);
            }
        }
        others
    }

    /// Returns the author that the source has of a target, unless the author was erased.
    fn author(&self, target: &str) -> Option<&str> {
        let author = self.facts.targets.get(target)?.author.as_deref()?;
        (!self.board.is_erased(author, None)).then_some(author)
    }

    /// Returns whether something else receives for a standing activity than would if it counted now.
    fn has_other_receiver(
        &self,
        key: &Key,
        fact: &Fact,
        active: &Active,
        authors: &BTreeSet<&str>,
    ) -> bool {
        let rule = self.rule(key, fact.at);
        // A second count within the cooldown would be refused.
        let mends = |rule: &&Rule| rule.received > 0 && rule.undo && rule.cooldown.is_none();
        if !self.has_content || rule.filter(mends).is_none() {
            return false;
        }
        let target = fact.on.as_deref().unwrap_or(&key.target);
        if authors.contains(target) {
            return true;
        }
        let registered = self.board.registrations.get(target);
        match (&active.receiver, registered) {
            (None, None) => self.facts.targets.contains_key(target),
            (None, Some(registered)) => active.applied_at < registered.registered_at,
            (Some(receiver), _) if receiver.number.is_empty() => false,
            (Some(receiver), _) if receiver.on != fact.on => true,
            (Some(receiver), Some(registered)) => {
                // A target that was deleted and registered again starts at zero.
                receiver.number == registered.number
                    && receiver.authorship.is_empty()
                    && !registered.author.is_empty()
                    && active.applied_at < registered.authored_at
            }
            (Some(_), None) => false,
        }
    }

    /// Returns why rules refuse an activity that does not count; `None` if it is missing.
    fn refusal(
        &self,
        person: &str,
        key: &Key,
        fact: &Fact,
        record: Option<&Record>,
    ) -> Option<String> {
        if self.board.is_frozen(person) {
            return Some("frozen".to_owned());
        }
        let receiver = fact.on.as_deref().unwrap_or(&key.target);
        let author = self.author(receiver).or_else(|| {
            let registered = self.board.registrations.get(receiver)?;
            Some(registered.author.as_str()).filter(|author| !author.is_empty())
        });
        let author = author.filter(|_| self.has_content);
        let persons = [Some(key.target.as_str()), fact.on.as_deref(), author];
        let mut persons = persons.into_iter().flatten();
        let is_own = persons.any(|other| self.board.person(other) == person);
        if is_own && self.rule(key, fact.at).is_some_and(|rule| !rule.own) {
            return Some("own-target".to_owned());
        }
        let at = fact.at.unwrap_or(self.now);
        let gives_to = author.map(|author| self.board.person(author));
        if gives_to.is_some_and(|other| self.board.is_excluded(person, other, at)) {
            return Some("pair-cap".to_owned());
        }
        let (reason, refused_at) = record?.refusal.as_ref()?;
        let is_later = fact.at.is_none_or(|at| *refused_at >= at.0);
        (is_later && !NOT_LASTING.contains(&reason.as_str())).then(|| reason.clone())
    }

    fn rule(&self, key: &Key, at: Option<Instant>) -> Option<&Rule> {
        self.rules.get(&key.action, at.unwrap_or(self.now))
    }

    /// Returns the targets that the source still has.
    fn known_targets(&self) -> BTreeSet<&str> {
        let activities = self.facts.activities.iter();
        let named =
            activities.flat_map(|(key, fact)| [Some(key.target.as_str()), fact.on.as_deref()]);
        let targets = self.facts.targets.keys().chain(&self.facts.excluded);
        let targets = targets.map(String::as_str);
        targets.chain(named.flatten()).collect()
    }

    /// Returns the first fact that the comparison cannot see, because its target is out of the scope.
    pub fn out_of_scope(&self) -> Option<&Key> {
        let mut keys = self.facts.activities.keys();
        keys.find(|key| key.daily.is_none() && !self.scope.contains(&key.action, &key.target))
    }
}

impl Comparison {
    fn refuse(&mut self, reason: &str, key: &Key) {
        let refused = self.refused.entry(reason.to_owned()).or_default();
        refused.push(key.clone());
    }

    /// Takes the differences that an earlier comparison could not decide.
    pub fn leave_changed(&mut self, earlier: &Self) {
        let is_changed = |difference: &Difference| {
            let mut changed = earlier.changed.iter();
            changed.any(|other| difference.is_of(other))
        };
        let differences = std::mem::take(&mut self.differences);
        let (changed, left) = differences.into_iter().partition(is_changed);
        self.differences = left;
        self.changed = changed;
    }

    /// Takes the differences that rules have refused in this run.
    pub fn refuse_all(&mut self, refused: &BTreeMap<Key, String>) {
        let (known, left) =
            std::mem::take(&mut self.differences)
                .into_iter()
                .partition(|difference| {
                    difference
                        .key()
                        .is_some_and(|key| refused.contains_key(key))
                });
        self.differences = left;
        let known: Vec<Difference> = known;
        for key in known.iter().filter_map(Difference::key) {
            if let Some(reason) = refused.get(key) {
                self.refuse(reason, key);
            }
        }
    }
}

impl Difference {
    /// Returns whether both are about the same activity, or about the author of the same target.
    fn is_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Author { target, .. }, Self::Author { target: other, .. }) => target == other,
            (first, second) => first.key().is_some() && first.key() == second.key(),
        }
    }

    /// Returns the activity; `None` for an author.
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Missing { key, .. } | Self::Excess { key, .. } | Self::Receiver { key, .. } => {
                Some(key)
            }
            Self::Author { .. } => None,
        }
    }
}

/// Returns whether an action counts once a day.
pub fn is_daily(rules: Option<&Rules>, action: &str, now: Instant) -> bool {
    let rule = rules.and_then(|rules| rules.get(action, now));
    rule.is_some_and(|rule| rule.once == Once::Day)
}
