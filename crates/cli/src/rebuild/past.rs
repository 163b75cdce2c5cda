//! The past of accounts, as a recount changes it: activity of an account before its join counts for the member, as if one
//! person had done everything, and activity of an account that was detached counts for the account again.
//!
//! The recount decides the activity of these persons again: of two likes of a post one counts, and a like between the two
//! does not. It also decides activity that was refused, as far as the journal has it (`refused`). It writes an entry of the
//! journal with the numbers of the entries that are decided otherwise, so a rebuild needs no rules and decides nothing.
//!
//! Readers of the journal do not replay it, so the entry also says what each entry gives where that is not what it says itself.
//!
//! Entries after the recount stay as they are. An entry before it becomes one of the member, on the member's shard, or none if
//! it does not count; its receipts are made again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;

use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::{ADJUST, Once};
use activity_rank_core::content::{id_of_member, member};
use activity_rank_core::shard;
use activity_rank_store::count::{BoardSet, TimestampSource, Verb};
use activity_rank_store::stream::Received;

use super::account::Exclusions;
use super::account::{AccountRecount, AddedReceipt};
use super::journal::{Activity, Change, Entry, Receipt, Registration};
use super::rules::PublishedRules;
use super::store::sha1_hex;

/// Decides whether an activity counts.
pub enum Decision<'a> {
    /// By rules.
    Rules(PublishedRules<'a>),
    /// As a recount has decided.
    Recount(&'a AccountRecount),
}

/// The accounts of members.
#[derive(Debug, Default)]
pub struct Links {
    /// The member of an account.
    members: HashMap<String, String>,
    /// The user of each account that a member has had, by its number.
    users: HashMap<(String, String), String>,
    /// Users who are or have been an account, and their members; members who have or have had exclusions.
    persons: HashSet<String>,
    exclusions: Exclusions,
}

impl Links {
    /// Adds an entry of the journal.
    pub fn add(&mut self, entry: &Entry) {
        let (user, of, account) = match &entry.change {
            Change::Account {
                user, of, account, ..
            } => (user, of, account),
            Change::Exclude {
                user,
                case,
                excluded,
                ..
            } => {
                self.exclusions.set(user, case, excluded);
                self.persons.insert(user.clone());
                return;
            }
            _ => return,
        };
        if of.is_empty() {
            self.members.remove(user);
            return;
        }
        self.members.insert(user.clone(), of.clone());
        self.users
            .insert((of.clone(), account.clone()), user.clone());
        self.persons.extend([user.clone(), of.clone()]);
    }

    /// Returns whether a user is or has been an account of a member.
    fn has_had(&self, member: &str, user: &str) -> bool {
        let mut users = self.users.iter();
        users.any(|((of, _), account)| of == member && account == user)
    }

    /// Returns the person whose activity it is: of an account the member, also of one that has left since it was sent.
    fn person<'a>(&'a self, user: &'a str, account: &str) -> &'a str {
        let sender = match account {
            "" => user,
            account => {
                let key = (user.to_owned(), account.to_owned());
                self.users.get(&key).map_or(user, String::as_str)
            }
        };
        self.members.get(sender).map_or(sender, String::as_str)
    }
}

/// An activity of a person, or its undo.
struct Item {
    number: u64,
    original: u64,
    shard: u32,
    applied_at: i64,
    activity: Activity,
}

/// The decision about an item.
#[derive(Default)]
struct Decided {
    is_refused: bool,
    transfer: Option<Transfer>,
    /// Of an activity that counts: what others receive, as in the active record.
    received: Option<String>,
    /// The number of the entry whose points it gives or takes back; 0 if it changes nothing.
    source: u64,
    /// Whether an undo takes back what its entry says.
    is_as_written: bool,
}

/// Points that others receive by an activity, or lose by an undo.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Transfer {
    action: String,
    /// The instant of the activity.
    at: Instant,
    date: Date,
    is_undo: bool,
    /// As in the active record.
    received: String,
    /// The member of the target of the activity.
    target: String,
}

/// The identity of a receipt: action and instant of the activity, day, whether it is taken back, and the receiver.
type ReceiptKey = (String, Instant, Date, bool, Receiver);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Receiver {
    Target(String),
    /// The author of a target, in an entry of the author's shard.
    AuthorOf(String),
    User(String),
}

/// The registration of a target at an instant.
#[derive(Debug)]
struct Registered {
    from: i64,
    entry: u64,
    number: String,
    authorship: String,
    author: String,
}

/// The registrations of each target in their order.
#[derive(Debug, Default)]
struct Registry(HashMap<String, Vec<Registered>>);

impl Registry {
    fn add(&mut self, (from, entry): (i64, u64), registration: &Registration) {
        let mut parts = registration.text.splitn(4, ';').skip(2);
        let authorship = parts.next().unwrap_or_default().to_owned();
        let all = self.0.entry(registration.target.clone()).or_default();
        all.push(Registered {
            from,
            entry,
            number: registration.number.clone(),
            authorship,
            author: registration.user.clone(),
        });
    }

    fn at(&self, target: &str, instant: i64) -> Option<&Registered> {
        let all = self.0.get(target)?;
        all.iter().rev().find(|known| known.from <= instant)
    }
}

/// Collects what a recount needs of the journal.
pub struct Reader {
    links: Links,
    until: u64,
    shards: u32,
    items: Vec<Item>,
    times: Times,
    registry: Registry,
    follows: Follows,
    /// When each person was frozen: from which instant on, or not any more.
    frozen: HashMap<String, Vec<(i64, bool)>>,
    /// When the users of these hashes were erased.
    erased: HashMap<String, i64>,
}

/// The standing record of an activity.
struct Record {
    entry: u64,
    at: Instant,
    last: Instant,
    points: i64,
    boards: BoardSet,
    received: String,
}

/// The activity of a person until now.
#[derive(Default)]
struct Done {
    records: HashMap<String, Record>,
    undone: HashMap<String, Instant>,
    days: HashSet<(String, Date)>,
    last: HashMap<String, Instant>,
    points: HashMap<(String, Date), i64>,
    pairs: BTreeMap<Pair, i64>,
}

/// The entries that a recount of accounts changes.
#[derive(Debug, Default)]
pub struct Past {
    /// The number of the last entry that it has read.
    until: u64,
    links: Links,
    shards: u32,
    times: Times,
    /// The entries that replace one of a shard.
    replaced: HashMap<u32, BTreeMap<u64, Vec<Entry>>>,
    /// Entries from other shards that follow an entry of a shard.
    added: HashMap<u32, BTreeMap<u64, Vec<Added>>>,
}

/// An entry, with the instant at which it was applied and the number of its origin: they order entries that follow the same
/// one.
type Added = (i64, u64, Entry);

/// When the entries of each shard were applied, and their numbers.
#[derive(Debug, Default)]
struct Times(HashMap<u32, Vec<(i64, u64)>>);

impl Times {
    fn add(&mut self, shard: u32, applied_at: i64, number: u64) {
        let all = self.0.entry(shard).or_default();
        let last = all.last().map_or(applied_at, |(last, _)| *last);
        all.push((applied_at.max(last), number));
    }

    /// Returns the number of the entry of a shard after which an entry of another one is applied.
    fn place(&self, shard: u32, applied_at: i64) -> u64 {
        let all = self.0.get(&shard).map_or(&[][..], Vec::as_slice);
        let earlier = all.partition_point(|(at, _)| *at <= applied_at);
        match earlier.checked_sub(1).and_then(|index| all.get(index)) {
            Some((_, number)) => *number,
            None => all.first().map_or(1, |(_, first)| (first - 1).max(1)),
        }
    }
}

/// When others followed persons and stopped that, with the number of the entry and the user who was followed: by action,
/// instant of the follow, and whether it is undone.
type Follows = HashMap<(String, Instant, bool), BTreeSet<(i64, u64, String)>>;

/// The receipts that are left to read.
#[derive(Debug, Default)]
pub struct Receipts {
    past: Past,
    registry: Registry,
    follows: Follows,
    /// The numbers of the activities whose receipts are left out, by the keys of these.
    removed: HashMap<ReceiptKey, HashSet<u64>>,
    /// When an activity with such a key was applied, its number, and whether its receipt is left out. Receipts have the order
    /// of the activities.
    waiting: HashMap<ReceiptKey, BTreeSet<(i64, u64, bool)>>,
    /// The receipts of such keys, and their users.
    found: Vec<(ReceiptKey, Entry, String)>,
    /// The changes of the recount.
    recount: AccountRecount,
    /// The receipts of users that are made again or left out.
    gifts: HashMap<Gift, Receipted>,
}

/// The receipts of a user for one activity and its undo.
#[derive(Debug, Default)]
struct Receipted {
    /// Receipts that are made again: their points, the activity or undo, and as the recount has them.
    made: Vec<(i64, u64, AddedReceipt)>,
    /// Receipts that are left out: their points, the activity or undo, and the entry.
    left_out: Vec<(i64, u64, u64)>,
}

impl Receipted {
    /// Returns whether the entries that are left out say what is made.
    fn is_as_written(&self) -> bool {
        let made = self.made.iter().map(|(points, from, _)| (*points, *from));
        let left_out = self
            .left_out
            .iter()
            .map(|(points, from, _)| (*points, *from));
        made.collect::<BTreeSet<_>>() == left_out.collect()
    }
}

/// Adds the decision about an item to a recount, if it is not that of its entry.
fn decide(recount: &mut AccountRecount, item: &Item, decided: &Decided) {
    let was_refused = item.activity.refusal.is_some();
    if decided.is_refused != was_refused {
        recount.changed.insert(item.original);
    }
    let is_as_written = match (was_refused, item.activity.verb) {
        (true, _) => decided.source == 0,
        (false, Verb::Undo) => decided.is_as_written,
        (false, _) => decided.source != 0,
    };
    // An undo before its source has to be moved.
    if !is_as_written || decided.source > item.original {
        recount.sources.insert(item.original, decided.source);
    }
}

/// The activity of a receipt and its user: action, instant, day, user.
type Gift = (String, Instant, Date, String);

/// Returns the activity of a receipt, with this user.
fn gift(receipt: &Receipt, user: &str) -> Option<Gift> {
    let (action, at) = receipt.activity.clone().filter(|_| !user.is_empty())?;
    Some((action, at, receipt.boards.date, user.to_owned()))
}

impl Reader {
    /// Returns a reader of the entries up to a number, with the joins and leaves among them.
    #[must_use]
    pub fn new(links: Links, until: u64, shards: u32) -> Self {
        Self {
            links,
            until,
            shards,
            items: Vec::new(),
            times: Times::default(),
            registry: Registry::default(),
            follows: Follows::new(),
            frozen: HashMap::new(),
            erased: HashMap::new(),
        }
    }

    /// Adds an entry.
    pub fn add(&mut self, entry: Entry) {
        let Entry {
            number,
            original,
            shard,
            applied_at,
            change,
            ..
        } = entry;
        if original > self.until {
            return;
        }
        self.times.add(shard, applied_at, number);
        match change {
            Change::Activity(activity) | Change::Refused(activity) => {
                if let Some(transfer) = former_transfer(&activity)
                    && let Some((Received { number: "", .. }, user)) = transfer.received()
                    && self.links.persons.contains(user)
                {
                    let follow = (applied_at, number, user.to_owned());
                    let key = (transfer.action, transfer.at, transfer.is_undo);
                    self.follows.entry(key).or_default().insert(follow);
                }
                let is_of_person = self.links.persons.contains(&activity.user);
                // Adjustments stay with whom the audit log names.
                if is_of_person && activity.rule.action != ADJUST {
                    self.items.push(Item {
                        number,
                        original,
                        shard,
                        applied_at,
                        activity,
                    });
                }
            }
            Change::Erase { hash, .. } => {
                self.erased.insert(hash, applied_at);
            }
            Change::Target(registration) => {
                self.registry.add((applied_at, number), &registration);
            }
            Change::Moderate { user, frozen, .. } if self.links.persons.contains(&user) => {
                let changes = self.frozen.entry(user).or_default();
                changes.push((applied_at, frozen == "1"));
            }
            _ => {}
        }
    }

    fn is_frozen(&self, person: &str, at: i64) -> bool {
        let changes = self.frozen.get(person).map_or(&[][..], Vec::as_slice);
        let last = changes.iter().rev().find(|(from, _)| *from <= at);
        last.is_some_and(|(_, frozen)| *frozen)
    }

    /// Returns what others receive by an activity that counts: as the journal has it, or by the registration of then.
    fn received(&self, item: &Item) -> String {
        let activity = &item.activity;
        let given = activity.received.clone().unwrap_or_default();
        let is_complete = given.is_empty() || given.split(';').count() > 2;
        if activity.refusal.is_none() || is_complete && activity.on.is_empty() {
            return given;
        }
        let on = match activity.on.as_str() {
            "" => String::new(),
            on => format!(";{on}"),
        };
        if is_complete {
            return match given.as_str() {
                "" => given,
                given => format!("{given}{on}"),
            };
        }
        let registered = self.registry.at(&receiver_of(activity), item.applied_at);
        registered.map_or_else(String::new, |registered| {
            let authorship = match registered.author.as_str() {
                "" => "",
                _ => &registered.authorship,
            };
            format!("{given}{};{authorship}{on}", registered.number)
        })
    }

    /// Returns whether the target of an activity is the person, or has the person as its author.
    fn is_own(&self, person: &str, item: &Item) -> bool {
        let target = target_of(&item.activity);
        let receiver = receiver_of(&item.activity);
        let registered = self.registry.at(&receiver, item.applied_at);
        let author = registered.map_or("", |registered| registered.author.as_str());
        let ids = [target, id_of_member(&receiver), author];
        let is_person = |id: &&str| self.links.person(id, "") == person;
        ids.iter().any(is_person)
    }

    /// Returns whether an exclusion of the person is about the one who receives for an activity.
    fn is_excluded(&self, person: &str, item: &Item, rules: &PublishedRules<'_>) -> bool {
        let activity = &item.activity;
        let rule = rules.get(&activity.rule.action, activity.at);
        let gives = rule.is_some_and(|rule| rule.received > 0);
        if activity.verb == Verb::Undo || !gives {
            return false;
        }
        let receiver = receiver_of(activity);
        let registered = self.registry.at(&receiver, item.applied_at);
        let user = match (activity.rule.action.as_str(), registered) {
            ("follow", _) => receiver.as_str(),
            (_, Some(registered)) => registered.author.as_str(),
            (_, None) => "",
        };
        let hash = sha1_hex(self.links.person(user, ""));
        let hash = hash.get(..12).unwrap_or_default();
        !user.is_empty() && self.links.exclusions.contain(person, hash, activity.at)
    }

    /// Decides what counts.
    #[must_use]
    pub fn decide(mut self, decision: &Decision<'_>) -> Receipts {
        let mut persons: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for item in std::mem::take(&mut self.items) {
            let activity = &item.activity;
            let person = self.links.person(&activity.user, &activity.account);
            persons.entry(person.to_owned()).or_default().push(item);
        }
        let mut receipts = Receipts::default();
        receipts.past.times = std::mem::take(&mut self.times);
        for (person, mut items) in persons {
            let home = shard::of(&person, self.shards);
            items.sort_by_key(|item| match item.shard == home {
                true => (item.number, false, item.applied_at, item.number),
                false => {
                    let place = receipts.past.times.place(home, item.applied_at);
                    (place, true, item.applied_at, item.number)
                }
            });
            let mut done = Done::default();
            for item in items {
                let decided = self.decide_item(decision, &person, &mut done, &item);
                decide(&mut receipts.recount, &item, &decided);
                self.replace((&person, home), item, decided, &mut receipts);
            }
        }
        receipts.recount.until = self.until;
        let past = &mut receipts.past;
        past.until = self.until;
        past.links = self.links;
        past.shards = self.shards;
        receipts.registry = self.registry;
        receipts.follows = self.follows;
        receipts
    }

    /// Decides whether an activity counts after what the person has done, and what others receive by it.
    fn decide_item(
        &self,
        decision: &Decision<'_>,
        person: &str,
        done: &mut Done,
        item: &Item,
    ) -> Decided {
        let activity = &item.activity;
        let was_refused = activity.refusal.is_some();
        let is_refused = match decision {
            Decision::Recount(recount) => was_refused != recount.changed.contains(&item.original),
            Decision::Rules(rules) => {
                self.is_frozen(person, item.applied_at)
                    || self.is_erased(person, activity)
                    || self.is_excluded(person, item, rules)
                    || done.refuses(activity, rules, || self.is_own(person, item))
            }
        };
        if is_refused {
            done.repeat(activity);
            return Decided {
                is_refused,
                ..Decided::default()
            };
        }
        if activity.verb == Verb::Undo {
            let Some(record) = done.undo(activity) else {
                return Decided::default();
            };
            return Decided {
                source: record.entry,
                is_as_written: activity.undone == Some((record.at, record.points))
                    && activity.boards == record.boards,
                transfer: Some(Transfer {
                    action: activity.rule.action.clone(),
                    at: record.at,
                    date: record.boards.date,
                    is_undo: true,
                    received: record.received,
                    target: member(target_of(activity)),
                }),
                ..Decided::default()
            };
        }
        let received = self.received(item);
        done.count(item, &received);
        Decided {
            transfer: transfer_of(activity, activity.at, false, &received),
            received: Some(received),
            source: item.original,
            ..Decided::default()
        }
    }

    /// Returns whether an activity was before the erasure of the person.
    fn is_erased(&self, person: &str, activity: &Activity) -> bool {
        activity.dated != TimestampSource::Now && self.was_erased(person, activity.at)
    }

    /// Returns whether a user was erased at an instant or later.
    fn was_erased(&self, user: &str, at: Instant) -> bool {
        let erased = || self.erased.get(&sha1_hex(user));
        !self.erased.is_empty() && erased().is_some_and(|erased| at.0 <= *erased)
    }

    /// Replaces an entry of the journal if it is decided otherwise, or gives to others: what is taken back must follow what was
    /// given.
    fn replace(
        &self,
        (person, home): (&str, u32),
        item: Item,
        decided: Decided,
        into: &mut Receipts,
    ) {
        let former = former_transfer(&item.activity);
        let is_same = decided.transfer == former
            && decided.is_refused == item.activity.refusal.is_some()
            && person == item.activity.user;
        if is_same && former.is_none() {
            return;
        }
        into.past.entries(item.shard, item.number);
        let mut parts: Vec<(u32, Change)> = Vec::new();
        for key in former.iter().flat_map(|former| former.keys(&self.links)) {
            into.removed.entry(key).or_default().insert(item.number);
        }
        let transfers = decided.transfer.iter();
        let receipts = transfers.flat_map(|transfer| {
            let receipts = self.receipts(transfer, item.applied_at).into_iter();
            receipts.map(move |receipt| (transfer, receipt))
        });
        for (transfer, (shard, receipt, registered)) in receipts {
            if let Some(gift) = gift(&receipt, &receipt.user) {
                let receiver = registered.unwrap_or(decided.source);
                let (from, source) = (item.original, decided.source);
                let sign = if transfer.is_undo { -1 } else { 1 };
                let added = (from, source, receiver, sign);
                let gifts = into.gifts.entry(gift).or_default();
                gifts.made.push((receipt.points, from, added));
            }
            parts.push((shard, Change::Receive(receipt)));
        }
        if !decided.is_refused {
            let mut activity = item.activity;
            if !is_same {
                activity.undone = None;
            }
            person.clone_into(&mut activity.user);
            activity.refusal = None;
            activity.received = decided.received;
            parts.push((home, Change::Activity(activity)));
        }
        for (shard, change) in parts {
            let from = (item.shard, item.number);
            into.past.add(from, shard, item.applied_at, change);
        }
    }

    /// Returns the receipts of a transfer, each with its shard and the entry of the registration of its target.
    fn receipts(&self, transfer: &Transfer, at: i64) -> Vec<(u32, Receipt, Option<u64>)> {
        let Some((received, target)) = transfer.received() else {
            return Vec::new();
        };
        let receipt = |target: &str, user: &str| Receipt {
            target: target.to_owned(),
            user: user.to_owned(),
            points: if transfer.is_undo {
                -received.points
            } else {
                received.points
            },
            counts: match (received.is_counted && !target.is_empty(), transfer.is_undo) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => -1,
            },
            activity: Some((transfer.action.clone(), transfer.at)),
            boards: BoardSet::for_content(transfer.date, received.periods.clone()),
            skipped: Vec::new(),
            listed: String::new(),
        };
        let home = |id: &str| shard::of(id, self.shards);
        if received.number.is_empty() {
            let user = self.links.person(target, "");
            return match self.was_erased(user, transfer.at) {
                true => Vec::new(),
                false => vec![(home(user), receipt("", user), None)],
            };
        }
        let registered = self.registry.at(target, at);
        let Some(registered) = registered.filter(|known| known.number == received.number) else {
            return Vec::new();
        };
        let is_author = !registered.author.is_empty()
            && registered.authorship == received.authorship
            && !self.was_erased(&registered.author, transfer.at);
        let author = match is_author {
            true => self.links.person(&registered.author, ""),
            false => "",
        };
        let target_shard = home(id_of_member(target));
        let entry = Some(registered.entry);
        match author {
            "" => vec![(target_shard, receipt(target, ""), entry)],
            author if home(author) == target_shard => {
                vec![(target_shard, receipt(target, author), entry)]
            }
            author => vec![
                (target_shard, receipt(target, ""), entry),
                (home(author), receipt("", author), entry),
            ],
        }
    }
}

impl Done {
    /// Returns whether an activity does not count, as `count.lua` decides it.
    fn refuses(
        &self,
        activity: &Activity,
        rules: &PublishedRules<'_>,
        is_own: impl FnOnce() -> bool,
    ) -> bool {
        let (action, at) = (&activity.rule.action, activity.at);
        let rule = rules.get(action, at);
        let key = &activity.record;
        let record = self.records.get(key);
        let is_dated = activity.dated != TimestampSource::Now;
        let undone = self.undone.get(key).filter(|_| is_dated).copied();
        let changed = record.map(|record| record.at).max(undone);
        let is_stale = is_dated && changed.is_some_and(|changed| at < changed);
        if activity.verb == Verb::Undo {
            let is_queued = activity.dated == TimestampSource::Queue;
            return is_stale || is_queued && record.is_some_and(|record| at < record.last);
        }
        let date = activity.boards.date;
        let is_repeated = match activity.rule.once {
            Once::Day => self.days.contains(&(key.clone(), date)),
            Once::Standing => is_stale || record.is_some(),
        };
        if is_repeated || rule.is_some_and(|rule| !rule.own) && is_own() {
            return true;
        }
        // The journal does not say why an activity of a day that is too old is refused otherwise.
        if activity.refusal.as_deref() == Some("stale") && activity.rule.once == Once::Day {
            return true;
        }
        // The journal does not have the scores of the boards.
        if activity.refusal.as_deref() == Some("score-overflow") {
            return true;
        }
        let Some(rule) = rule else { return false };
        let cooldown = rule
            .cooldown
            .and_then(|seconds| i64::try_from(seconds).ok());
        let last = self.last.get(action);
        if let (Some(cooldown), Some(last)) = (cooldown, last)
            && (at.0 - last.0).abs() < cooldown * 1000
        {
            return true;
        }
        let points = self
            .points
            .get(&(action.clone(), date))
            .copied()
            .unwrap_or(0);
        let exceeds = |cap: Option<u64>, points: i64| {
            let cap = cap.and_then(|cap| i64::try_from(cap).ok());
            cap.is_some_and(|cap| points > cap)
        };
        let pair = Pair::parse(
            action,
            date,
            activity.received.as_deref().unwrap_or_default(),
        );
        let exceeds_pair = pair.is_some_and(|(pair, points)| {
            let given = self.pairs.get(&pair).copied().unwrap_or(0);
            exceeds(rule.pair_cap, given + points)
        });
        // The journal does not say whether a member sent an activity: it may be the cap of members that refused it.
        let by_member = activity.refusal.as_deref() == Some("daily-cap");
        exceeds(rule.cap(by_member), points + activity.rule.points) || exceeds_pair
    }

    /// Records an activity that counts.
    fn count(&mut self, item: &Item, received: &str) {
        let activity = &item.activity;
        let (action, at, date) = (&activity.rule.action, activity.at, activity.boards.date);
        let key = activity.record.clone();
        if activity.rule.once == Once::Day {
            self.days.insert((key, date));
        } else {
            if self.undone.get(&key).is_some_and(|undone| at >= *undone) {
                self.undone.remove(&key);
            }
            self.records.insert(
                key,
                Record {
                    entry: item.original,
                    at,
                    last: at,
                    points: activity.rule.points,
                    boards: activity.boards.clone(),
                    received: received.to_owned(),
                },
            );
        }
        let last = self.last.entry(action.clone()).or_insert(at);
        *last = at.max(*last);
        *self.points.entry((action.clone(), date)).or_default() += activity.rule.points;
        if let Some((pair, points)) = Pair::parse(action, date, received) {
            *self.pairs.entry(pair).or_default() += points;
        }
    }

    /// Records an activity that stands already.
    fn repeat(&mut self, activity: &Activity) {
        if activity.verb != Verb::Undo
            && let Some(record) = self.records.get_mut(&activity.record)
        {
            record.last = record.last.max(activity.at);
        }
    }

    /// Records an undo. Returns what it undoes.
    fn undo(&mut self, activity: &Activity) -> Option<Record> {
        let record = self.records.remove(&activity.record);
        let changed = record.as_ref().map(|record| record.at);
        let instant = changed.max(Some(activity.at)).unwrap_or(activity.at);
        let undone = self
            .undone
            .entry(activity.record.clone())
            .or_insert(instant);
        *undone = instant.max(*undone);
        if let Some(record) = &record {
            let key = (activity.rule.action.clone(), record.boards.date);
            let points = self.points.entry(key).or_default();
            *points = (*points - record.points).max(0);
            let (action, date) = (&activity.rule.action, record.boards.date);
            if let Some((pair, points)) = Pair::parse(action, date, &record.received) {
                let given = self.pairs.entry(pair).or_default();
                *given = (*given - points).max(0);
            }
        }
        record
    }
}

/// The action, the day, and the hash of the receiver of points that a rule limits.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair(String, Date, String);

impl Pair {
    /// Parses the end of an active record, or its first field, which refused activity has. Returns the points, too; `None`
    /// if it does not say who receives.
    fn parse(action: &str, date: Date, received: &str) -> Option<(Self, i64)> {
        let (head, _) = received.split_once(';')?;
        let (head, hash) = head.split_once('>')?;
        let points = head.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let pair = Self(action.to_owned(), date, hash.to_owned());
        Some((pair, points.parse().ok()?))
    }
}

impl Transfer {
    /// Returns what is received, and the member of the target, or the user.
    fn received(&self) -> Option<(Received<'_>, &str)> {
        let received = Received::parse(&self.received)?;
        let receiver = received.on.unwrap_or(&self.target);
        Some((received, receiver))
    }

    /// Returns the keys of its receipts.
    fn keys(&self, links: &Links) -> Vec<ReceiptKey> {
        let key = |receiver| {
            let (action, undo) = (self.action.clone(), self.is_undo);
            (action, self.at, self.date, undo, receiver)
        };
        match self.received() {
            None => Vec::new(),
            Some((Received { number: "", .. }, user)) => {
                vec![key(Receiver::User(links.person(user, "").to_owned()))]
            }
            Some((_, target)) => vec![
                key(Receiver::AuthorOf(target.to_owned())),
                key(Receiver::Target(target.to_owned())),
            ],
        }
    }
}

/// Returns what others received by an activity, or lost by its undo, as the journal has it.
fn former_transfer(activity: &Activity) -> Option<Transfer> {
    let received = activity.received.as_deref().unwrap_or_default();
    match (activity.verb, &activity.refusal) {
        (_, Some(_)) => None,
        (Verb::Undo, None) => transfer_of(activity, activity.undone?.0, true, received),
        (_, None) => transfer_of(activity, activity.at, false, received),
    }
}

fn transfer_of(
    activity: &Activity,
    at: Instant,
    is_undo: bool,
    received: &str,
) -> Option<Transfer> {
    (!received.is_empty() || is_undo).then(|| Transfer {
        action: activity.rule.action.clone(),
        at,
        date: activity.boards.date,
        is_undo,
        received: received.to_owned(),
        target: member(target_of(activity)),
    })
}

/// Returns the target of an activity.
fn target_of(activity: &Activity) -> &str {
    activity
        .record
        .get(activity.rule.action.len() + 1..)
        .unwrap_or_default()
}

/// Returns the member of the target that receives for an activity, or the user.
fn receiver_of(activity: &Activity) -> String {
    let received = activity.received.as_deref().unwrap_or_default();
    let on = Received::parse(received).and_then(|received| received.on);
    match (activity.on.as_str(), on) {
        ("", Some(on)) => on.to_owned(),
        ("", None) => member(target_of(activity)),
        (on, _) => on.to_owned(),
    }
}

impl Receipts {
    /// Adds an activity or a receipt.
    pub fn add(&mut self, entry: Entry) {
        match &entry.change {
            Change::Activity(activity) => self.add_activity(&entry, activity),
            _ => self.add_receipt(entry),
        }
    }

    /// Adds an activity: its order distinguishes receipts of the same key.
    fn add_activity(&mut self, entry: &Entry, activity: &Activity) {
        if entry.original > self.past.until {
            return;
        }
        let transfer = former_transfer(activity);
        for key in transfer
            .iter()
            .flat_map(|transfer| transfer.keys(&self.past.links))
        {
            if let Some(removed) = self.removed.get(&key) {
                let is_removed = removed.contains(&entry.number);
                let waiting = self.waiting.entry(key).or_default();
                waiting.insert((entry.applied_at, entry.number, is_removed));
            }
        }
    }

    /// Adds a receipt: it may be left out, or be of another person.
    fn add_receipt(&mut self, entry: Entry) {
        let Change::Receive(receipt) = &entry.change else {
            return;
        };
        // Receipts may come after the last activity that the recount has read.
        let (user, source) = match entry.original <= self.past.until {
            true => self.user(receipt, entry.applied_at),
            false => (receipt.user.clone(), None),
        };
        // A reader knows who a user is.
        let is_known = self.past.links.person(&receipt.user, "") == user;
        if let Some(source) = source.filter(|_| !is_known) {
            self.recount.sources.insert(entry.original, source);
        }
        let key = receipt.activity.as_ref().map(|(action, at)| {
            let receiver = receiver(receipt, &user);
            (
                action.clone(),
                *at,
                receipt.boards.date,
                receipt.points < 0,
                receiver,
            )
        });
        match key.filter(|key| self.removed.contains_key(key)) {
            Some(key) => self.found.push((key, entry, user)),
            None => self.keep(&entry, user),
        }
    }

    /// Returns the past, and the recount that decides the same.
    #[must_use]
    pub fn finish(mut self) -> (Past, AccountRecount) {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|(_, entry, _)| (entry.applied_at, entry.number));
        for (key, entry, user) in found {
            let waiting = self.waiting.get_mut(&key);
            match waiting.and_then(BTreeSet::pop_first) {
                Some((_, activity, true)) => {
                    self.past.entries(entry.shard, entry.number);
                    if let Change::Receive(receipt) = &entry.change
                        && let known = self.past.links.person(&receipt.user, "")
                        && let Some(gift) = gift(receipt, known)
                    {
                        let gifts = self.gifts.entry(gift).or_default();
                        let left_out = (receipt.points, activity, entry.original);
                        gifts.left_out.push(left_out);
                    }
                }
                Some(_) | None => self.keep(&entry, user),
            }
        }
        self.past.sort();
        for gifts in self.gifts.into_values() {
            let is_as_written = gifts.is_as_written();
            for (_, _, entry) in gifts.left_out {
                if is_as_written {
                    self.recount.sources.remove(&entry);
                } else {
                    self.recount.sources.insert(entry, 0);
                }
            }
            if !is_as_written {
                let made = gifts.made.into_iter().map(|(.., added)| added);
                self.recount.receipts.extend(made);
            }
        }
        self.recount.receipts.sort_unstable();
        (self.past, self.recount)
    }

    /// Keeps a receipt, of this user.
    fn keep(&mut self, entry: &Entry, user: String) {
        let Change::Receive(receipt) = &entry.change else {
            return;
        };
        if user == receipt.user {
            return;
        }
        let home = shard::of(&user, self.past.shards);
        let (number, shard, applied_at) = (entry.number, entry.shard, entry.applied_at);
        let (mut of_target, mut of_user) = (receipt.clone(), receipt.clone());
        self.past.entries(shard, number);
        let parts = if home == shard {
            of_target.user = user;
            vec![(shard, of_target)]
        } else {
            let boards = match receipt.target.as_str() {
                "" => 0,
                _ => receipt.boards.content.len(),
            };
            of_target.user.clear();
            of_target.skipped.retain(|number| *number <= boards);
            of_user.target.clear();
            of_user.user = user;
            let skipped = receipt.skipped.iter();
            of_user.skipped = skipped
                .filter_map(|number| number.checked_sub(boards))
                .filter(|number| *number > 0)
                .collect();
            vec![(shard, of_target), (home, of_user)]
        };
        for (shard, receipt) in parts {
            if !receipt.target.is_empty() || !receipt.user.is_empty() {
                let change = Change::Receive(receipt);
                self.past
                    .add((entry.shard, number), shard, applied_at, change);
            }
        }
    }

    /// Returns the user of a receipt, and the entry that names it: while the author was an account, the member received, who may
    /// not be the person.
    fn user(&mut self, receipt: &Receipt, at: i64) -> (String, Option<u64>) {
        let (links, user) = (&self.past.links, receipt.user.as_str());
        if !links.persons.contains(user) {
            return (user.to_owned(), None);
        }
        let target = [&receipt.target, &receipt.listed];
        let target = target.into_iter().find(|target| !target.is_empty());
        let receiver = match (target, &receipt.activity) {
            (Some(target), _) => {
                let registered = self.registry.at(target, at);
                registered.map(|registered| (registered.author.clone(), registered.entry))
            }
            (None, Some((action, at))) => {
                let key = (action.clone(), *at, receipt.points < 0);
                let follows = self.follows.get_mut(&key);
                follows.and_then(|follows| {
                    let is_account = |known: &String| known == user || links.has_had(user, known);
                    let found = follows
                        .iter()
                        .find(|(.., known)| is_account(known))
                        .cloned();
                    found
                        .filter(|found| follows.remove(found))
                        .map(|(_, number, known)| (known, number))
                })
            }
            (None, None) => None,
        };
        let receiver = receiver.filter(|(receiver, _)| links.persons.contains(receiver));
        let (receiver, entry) = match &receiver {
            Some((receiver, entry)) => (receiver.as_str(), Some(*entry)),
            None => (user, None),
        };
        (links.person(receiver, "").to_owned(), entry)
    }
}

impl Past {
    /// Returns the number of the last entry that the recount has read.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Returns what an entry becomes: nothing, if nothing is added.
    fn entries(&mut self, shard: u32, number: u64) -> &mut Vec<Entry> {
        let entries = self.replaced.entry(shard).or_default();
        entries.entry(number).or_default()
    }

    /// Adds an entry of a shard that an entry becomes: in its place, or by its time if that is one of another shard.
    fn add(&mut self, (from, number): (u32, u64), shard: u32, applied_at: i64, change: Change) {
        if from == shard {
            let entry = Entry::replaced(number, shard, applied_at, change);
            return self.entries(shard, number).push(entry);
        }
        let place = self.times.place(shard, applied_at);
        let entry = Entry::replaced(place, shard, applied_at, change);
        let added = self.added.entry(shard).or_default().entry(place);
        added.or_default().push((applied_at, number, entry));
    }

    /// Puts what is added in order.
    fn sort(&mut self) {
        self.times = Times::default();
        for added in self.added.values_mut().flat_map(BTreeMap::values_mut) {
            added.sort_by_key(|(at, number, _)| (*at, *number));
        }
    }

    /// Returns whether an entry of a shard becomes another, or nothing.
    #[must_use]
    pub fn changes(&self, shard: u32, number: u64) -> bool {
        let replaced = self.replaced.get(&shard);
        replaced.is_some_and(|replaced| replaced.contains_key(&number))
    }

    /// Returns what entries become.
    pub fn new_entries(&self) -> impl Iterator<Item = &Entry> {
        let replaced = self.replaced.values().flat_map(BTreeMap::values).flatten();
        let added = self.added.values().flat_map(BTreeMap::values).flatten();
        replaced.chain(added.map(|(.., entry)| entry))
    }

    /// Replaces the entries of a page: of a shard, after a number, and up to another one or the last.
    pub fn replace(&self, shard: u32, after: u64, next: Option<u64>, entries: &mut Vec<Entry>) {
        let mut all: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
        for entry in entries.drain(..) {
            all.insert(entry.number, vec![entry]);
        }
        let until = next.unwrap_or(u64::MAX);
        let range = (Bound::Excluded(after), Bound::Included(until));
        for (number, replaced) in self
            .replaced
            .get(&shard)
            .iter()
            .flat_map(|map| map.range(range))
        {
            all.insert(*number, replaced.clone());
        }
        for (number, added) in self
            .added
            .get(&shard)
            .iter()
            .flat_map(|map| map.range(range))
        {
            let added = added.iter().map(|(.., entry)| entry.clone());
            all.entry(*number).or_default().extend(added);
        }
        for (number, parts) in all {
            let last = parts.len().saturating_sub(1);
            for (part, mut entry) in parts.into_iter().enumerate() {
                // Only the last one completes the number.
                entry.completes = number - u64::from(part < last);
                entry.part = part as u64;
                entries.push(entry);
            }
        }
    }
}

/// Returns who receives, as the key of a receipt names it.
fn receiver(receipt: &Receipt, user: &str) -> Receiver {
    match (receipt.target.as_str(), receipt.listed.as_str()) {
        ("", "") => Receiver::User(user.to_owned()),
        ("", listed) => Receiver::AuthorOf(listed.to_owned()),
        (target, _) => Receiver::Target(target.to_owned()),
    }
}
