//! The activities that count on the boards, read from the journal of the deployment.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Once;
use activity_rank_core::content::id_of_member;
use activity_rank_store::count::Verb;
use activity_rank_store::stream::Received;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::journal::account::Exclusions;
use crate::journal::{Activity, Change, Entry, Journal, Registration};
use crate::platform::Progress;
use crate::request_error::RequestError;
use crate::sha1_hex;

/// The characters of a hash that exclusions name.
const SHORT_HASH: usize = 12;

/// The part of the boards that a source accounts for.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Prefixes of targets.
    pub prefixes: Vec<String>,
    /// Actions.
    pub actions: BTreeSet<String>,
    /// Actions and prefixes of targets that do not belong to it: the source has no data about them.
    pub unread: Vec<(String, String)>,
}

impl Scope {
    /// Returns whether an activity belongs to it.
    pub fn contains(&self, action: &str, target: &str) -> bool {
        let mut unread = self.unread.iter();
        let is_unread =
            unread.any(|(unread, prefix)| unread == action && target.starts_with(prefix));
        self.actions.contains(action) && self.has_target(target) && !is_unread
    }

    /// Returns whether a target belongs to it.
    pub fn has_target(&self, target: &str) -> bool {
        let mut prefixes = self.prefixes.iter();
        prefixes.any(|prefix| target.starts_with(prefix.as_str()))
    }
}

/// Users, activities and targets, as the journal has them.
#[derive(Debug, Default)]
pub struct Board {
    /// Records by user, action and target.
    pub records: BTreeMap<(String, String, String), Record>,
    /// Registrations by target.
    pub registrations: HashMap<String, Registered>,
    /// Profiles by user.
    pub profiles: HashMap<String, Map<String, Value>>,
    members: HashMap<String, String>,
    frozen: HashSet<String>,
    erased: HashMap<String, i64>,
    exclusions: Exclusions,
    events: Vec<Event>,
    recount: Option<Recount>,
    senders: HashMap<(String, String), String>,
    /// Number of the last entry.
    last: u64,
    is_outdated: bool,
    /// Numbers of receipts that took points from an author, by target, action and instant of the record.
    pub taken_back: HashMap<(String, String, i64), usize>,
}

/// A record of a user, action and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The activity that counts.
    pub active: Option<Active>,
    /// The instant of the last change: an older activity is stale.
    pub changed: i64,
    /// Why the last activity did not count, and its instant.
    pub refusal: Option<(String, i64)>,
    /// When the last entry was written, by the clock of the journal.
    pub applied_at: i64,
}

/// An activity that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// When it happened.
    pub at: i64,
    /// When it was counted.
    pub applied_at: i64,
    /// The target that receives for it; `None` if nothing does.
    pub receiver: Option<Receiver>,
}

/// The target that receives for an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Number of the registration of the target.
    pub number: String,
    /// Number of its authorship; empty without an author.
    pub authorship: String,
    /// The target, if it is not that of the activity.
    pub on: Option<String>,
}

/// A registered target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registered {
    /// Its number.
    pub number: String,
    /// The number of its authorship; empty without an author.
    pub authorship: String,
    /// The author; empty for none.
    pub author: String,
    /// When it was registered, by the clock of the journal.
    pub registered_at: i64,
    /// When it got its author.
    pub authored_at: i64,
    /// Title and links.
    pub fields: Map<String, Value>,
}

/// An entry of an activity in the scope.
#[derive(Debug)]
struct Event {
    number: u64,
    user: String,
    /// The account that sent it, or the user.
    sender: String,
    action: String,
    target: String,
    at: i64,
    applied_at: i64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Count(Option<Receiver>),
    Undo,
    Refused(String),
}

/// The last recount of accounts.
#[derive(Debug)]
struct Recount {
    until: u64,
    members: HashMap<String, String>,
}

impl Board {
    /// Reads the journal.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service does not respond, or has no journal.
    pub async fn read(
        journal: &Journal,
        scope: &Scope,
        progress: &dyn Progress,
    ) -> Result<Self, Failure> {
        let mut board = Self::default();
        board.read_on(journal, scope, progress).await?;
        board.fold();
        Ok(board)
    }

    /// Reads what has been added to the journal. After an erasure or a recount of accounts, which concern earlier
    /// entries, it is read again.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub async fn update(
        &mut self,
        journal: &Journal,
        scope: &Scope,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        self.is_outdated = false;
        self.read_on(journal, scope, progress).await?;
        match self.is_outdated {
            true => *self = Self::read(journal, scope, progress).await?,
            false => self.fold(),
        }
        Ok(())
    }

    async fn read_on(
        &mut self,
        journal: &Journal,
        scope: &Scope,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let notify = |error: &RequestError, wait| progress.retrying(&error.to_string(), wait);
        let mut next = Some(self.last);
        while let Some(after) = next {
            let page = journal.page(None, after, notify).await?;
            for entry in page.entries {
                self.last = self.last.max(entry.number);
                self.add(entry, scope);
            }
            progress.advance(0, format!("entry {} of the journal", self.last));
            next = page.next;
        }
        Ok(())
    }

    fn add(&mut self, entry: Entry, scope: &Scope) {
        let Entry {
            number, applied_at, ..
        } = entry;
        match entry.change {
            Change::Activity(activity) => {
                let kind = match activity.verb {
                    Verb::Count | Verb::CountOld => {
                        Kind::Count(activity.received.as_deref().and_then(receiver))
                    }
                    Verb::Undo => Kind::Undo,
                    Verb::Adjust | Verb::RefuseOwn => return,
                };
                self.add_event(number, applied_at, activity, kind, scope);
            }
            Change::Refused(activity) if activity.verb == Verb::Count => {
                let kind = Kind::Refused(activity.refusal.clone().unwrap_or_default());
                self.add_event(number, applied_at, activity, kind, scope);
            }
            Change::Receive(receipt) if receipt.points < 0 && !receipt.user.is_empty() => {
                let target = match receipt.target.as_str() {
                    "" => receipt.listed,
                    target => target.to_owned(),
                };
                if let Some((action, changed)) = receipt.activity {
                    let target = id_of_member(&target).to_owned();
                    *self
                        .taken_back
                        .entry((target, action, changed.0))
                        .or_default() += 1;
                }
            }
            Change::Target(registration) => self.register(registration, applied_at),
            Change::ModerateTarget { target, verb, .. } if verb == "e" => {
                self.registrations.remove(id_of_member(&target));
            }
            Change::Profile { user, json, .. } => {
                let fields = serde_json::from_str(&json).unwrap_or_default();
                self.profiles.insert(user, fields);
            }
            Change::Moderate { user, frozen, .. } => {
                match frozen == "1" {
                    true => self.frozen.insert(user),
                    false => self.frozen.remove(&user),
                };
            }
            Change::Account {
                user, of, account, ..
            } => match of.is_empty() {
                true => {
                    self.members.remove(&user);
                }
                false => {
                    let sender = (of.clone(), account);
                    self.senders.insert(sender, user.clone());
                    self.members.insert(user, of);
                }
            },
            Change::Exclude {
                user,
                case,
                excluded,
                ..
            } => {
                self.exclusions.set(&user, &case, &excluded);
            }
            Change::Erase { hash, .. } => {
                self.is_outdated = true;
                self.erased.insert(hash, applied_at);
            }
            Change::Accounts(recount) => {
                self.is_outdated = true;
                self.recount = Some(Recount {
                    until: recount.until,
                    members: self.members.clone(),
                });
            }
            Change::Refused(_)
            | Change::Receive(_)
            | Change::List { .. }
            | Change::ModerateTarget { .. }
            | Change::Pause { .. }
            | Change::Award { .. }
            | Change::Case { .. }
            | Change::Event { .. }
            | Change::Rules(_)
            | Change::Nothing => {}
        }
    }

    fn add_event(
        &mut self,
        number: u64,
        applied_at: i64,
        activity: Activity,
        kind: Kind,
        scope: &Scope,
    ) {
        let Some((action, target)) = activity.record.split_once(':') else {
            return;
        };
        if activity.rule.once != Once::Standing || !scope.contains(action, target) {
            return;
        }
        let account = (activity.user.clone(), activity.account);
        let sender = self.senders.get(&account);
        self.events.push(Event {
            number,
            sender: sender.unwrap_or(&activity.user).clone(),
            action: action.to_owned(),
            target: target.to_owned(),
            user: activity.user,
            at: activity.at.0,
            applied_at,
            kind,
        });
    }

    fn register(&mut self, registration: Registration, applied_at: i64) {
        let mut parts = registration.text.splitn(5, ';');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (number, _, authorship, author, json) = (part(), part(), part(), part(), part());
        let target = id_of_member(&registration.target).to_owned();
        let known = self.registrations.entry(target).or_default();
        if known.number != number {
            known.registered_at = applied_at;
        }
        if known.number != number || known.author != author {
            known.authored_at = applied_at;
        }
        known.number = number;
        known.authorship = authorship;
        known.author = author;
        known.fields = serde_json::from_str(&json).unwrap_or_default();
    }

    /// Applies the activities in their order. The last recount of accounts has given the ones before it to the members of
    /// that time, as if one person had done everything.
    fn fold(&mut self) {
        let (until, members) = match self.recount.as_ref() {
            Some(recount) => (recount.until, &recount.members),
            None => (0, &HashMap::new()),
        };
        for event in std::mem::take(&mut self.events) {
            let is_recounted = event.number <= until;
            let user = match is_recounted {
                true => members.get(&event.sender).unwrap_or(&event.sender),
                false => &event.user,
            };
            let key = (user.clone(), event.action, event.target);
            let record = self.records.entry(key).or_insert(Record {
                active: None,
                changed: i64::MIN,
                refusal: None,
                applied_at: event.applied_at,
            });
            record.applied_at = record.applied_at.max(event.applied_at);
            let active = |receiver| Active {
                at: event.at,
                applied_at: event.applied_at,
                receiver,
            };
            match event.kind {
                Kind::Count(receiver) => {
                    // After a loss of Redis the journal may have an activity twice.
                    record.active.get_or_insert_with(|| active(receiver));
                    record.refusal = None;
                    record.changed = record.changed.max(event.at);
                }
                Kind::Undo => {
                    (record.active, record.refusal) = (None, None);
                    record.changed = record.changed.max(event.at);
                }
                Kind::Refused(outcome) if is_recounted && outcome == "duplicate" => {
                    record.active.get_or_insert_with(|| active(None));
                }
                Kind::Refused(outcome) => record.refusal = Some((outcome, event.at)),
            }
        }
    }

    /// Returns the number of activities that count.
    pub fn standing(&self) -> usize {
        let records = self.records.values();
        records.filter(|record| record.active.is_some()).count()
    }

    /// Returns the member whom a user counts for.
    pub fn person<'a>(&'a self, user: &'a str) -> &'a str {
        self.members.get(user).map_or(user, String::as_str)
    }

    /// Returns whether the last recount of accounts knows that a user is an account.
    pub fn is_recounted(&self, user: &str) -> bool {
        let member = |members: &HashMap<String, String>| members.get(user).cloned();
        let recount = self.recount.as_ref();
        recount.and_then(|recount| member(&recount.members)) == member(&self.members)
    }

    /// Returns whether the member is frozen.
    pub fn is_frozen(&self, person: &str) -> bool {
        self.frozen.contains(person)
    }

    /// Returns whether an erasure covers activity of an instant; without one, any erasure does.
    pub fn is_erased(&self, user: &str, at: Option<Instant>) -> bool {
        let erased = self.erased.get(&sha1_hex(user));
        erased.is_some_and(|erased| at.is_none_or(|at| at.0 <= *erased))
    }

    /// Returns whether a case excludes what a person gives a receiver at an instant.
    pub fn is_excluded(&self, person: &str, receiver: &str, at: Instant) -> bool {
        let hash = sha1_hex(receiver);
        let short = hash.get(..SHORT_HASH).unwrap_or_default();
        self.exclusions.contain(person, short, at)
    }
}

/// Returns the target of what others receive: the end of an active record.
fn receiver(received: &str) -> Option<Receiver> {
    let received = Received::parse(received)?;
    Some(Receiver {
        number: received.number.to_owned(),
        authorship: received.authorship.to_owned(),
        on: received.on.map(|on| id_of_member(on).to_owned()),
    })
}
