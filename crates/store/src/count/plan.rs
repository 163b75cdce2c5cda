//! The calls that count activities of one shard.

use super::call::{CallHeader, Lifetimes};
use super::operation::{
    AuditDetails, Operation, Receiver, RuleSnapshot, TimestampSource, UserOperations, Verb,
};
use super::record::BoardSet;
use crate::deployment::Deployment;
use crate::keys::Keys;
use activity_rank_core::activity::Activity;
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::config::{ADJUST, Config, Once, Rule};
use activity_rank_core::content::{StoredTarget, checked_id};
use activity_rank_core::event::Definitions;
use activity_rank_core::history;
use activity_rank_core::id::{is_id, is_visitor};
use activity_rank_core::moderation::Adjustment;
use activity_rank_core::point_changes::SOURCE_GONE;

/// The possible receivers of points on other shards, as they were read before the call.
#[derive(Default)]
pub struct Registrations {
    /// The registrations of targets.
    pub targets: Vec<(String, Option<StoredTarget>)>,
    /// Followed users who have neither a profile nor points, and the day of the activity.
    pub unknown: Vec<(String, Date)>,
}

/// An activity and its rule.
pub type Ruled<'a> = (&'a Activity, Rule);

/// The operations of the users of one shard, in the order of each user's first operation.
pub struct Plan<'a> {
    config: &'a Config,
    calendar: &'a Calendar,
    /// The instant of the request.
    pub now: Instant,
    /// The shard.
    pub shard: u32,
    /// The users.
    pub users: Vec<UserOperations>,
    /// Whether others may receive points for an operation.
    pub gives: bool,
}

impl<'a> Plan<'a> {
    /// Returns a plan without operations. `now` is the instant of the request.
    #[must_use]
    pub fn new(config: &'a Config, calendar: &'a Calendar, now: Instant, shard: u32) -> Self {
        Self {
            config,
            calendar,
            now,
            shard,
            users: Vec::new(),
            gives: false,
        }
    }

    /// Returns the plan of one adjustment.
    #[must_use]
    pub fn for_adjustment(
        deployment: &'a Deployment,
        now: Instant,
        adjustment: Adjustment,
        actor: Option<&Actor>,
    ) -> Self {
        let config = &deployment.config;
        let shard = config.shard_of(&adjustment.user);
        let mut plan = Self::new(config, &deployment.calendar, now, shard);
        let rule = RuleSnapshot {
            action: ADJUST.to_owned(),
            once: Once::Standing,
            points: adjustment.points,
            daily_cap: 0,
            pair_cap: 0,
            cooldown: 0,
            received: 0,
            own: true,
            is_counted: false,
        };
        let (at, timestamp) = match adjustment.at {
            Some(at) => (at, TimestampSource::Caller),
            None => (now, TimestampSource::Now),
        };
        let boards = match adjustment.event {
            Some(event) => BoardSet::for_event(deployment.calendar.date_at(at), event),
            None => plan.boards(&adjustment.user, at, adjustment.groups),
        };
        let operation = Operation {
            record: format!("{}:{}", rule.action, adjustment.id),
            rule,
            boards,
            verb: if adjustment.undo {
                Verb::Undo
            } else {
                Verb::Adjust
            },
            at,
            timestamp,
            receiver: Receiver::None,
            audit: Some(AuditDetails {
                reason: adjustment.reason,
                actor: Actor::stored(actor).to_owned(),
                is_public: adjustment.has_public_reason,
            }),
            found: None,
            is_replayed: false,
            account: String::new(),
        };
        plan.push(&adjustment.user, 0, operation);
        plan
    }

    /// Adds the operation of an item of the request. Its user has one list of operations.
    fn push(&mut self, user: &str, item: usize, operation: Operation) {
        let known = self.users.iter().position(|known| known.user == user);
        let index = known.unwrap_or(self.users.len());
        if known.is_none() {
            self.users.push(UserOperations::new(user, Vec::new()));
        }
        if let Some(user) = self.users.get_mut(index) {
            user.operations.push(operation);
            user.items.push(item);
        }
    }

    /// Appends an activity, an item of the request. With several shards, `registrations` has what is known of the receiver of points for it.
    pub fn add(
        &mut self,
        item: usize,
        activity: &Activity,
        rule: Rule,
        registrations: &Registrations,
    ) {
        let date = self.calendar.date_at(activity.at);
        let today = self.calendar.date_at(self.now);
        // Daily records of that day may have expired.
        let forgotten = rule.once == Once::Day && today.days_since(date) >= history::DAYS;
        let mut receiver = receiver(self.config, activity, rule);
        self.gives |= receiver != Receiver::None;
        let mut by_author = false;
        if self.config.shards > 1 && !activity.undo {
            by_author = claim(&mut receiver, activity, date, registrations);
        }
        let named = [Some(&activity.target), activity.on.as_ref()];
        let own = !rule.own && (named.contains(&Some(&activity.user)) || by_author);
        let verb = match (activity.undo, own, forgotten) {
            (true, _, _) => Verb::Undo,
            (false, true, _) => Verb::RefuseOwn,
            (false, false, true) => Verb::CountOld,
            (false, false, false) => Verb::Count,
        };
        let timestamp = match (activity.queued, activity.dated) {
            (true, _) => TimestampSource::Queue,
            (false, true) => TimestampSource::Caller,
            (false, false) => TimestampSource::Now,
        };
        let operation = Operation {
            rule: snapshot(self.config, activity, rule),
            boards: self.boards(&activity.user, activity.at, activity.groups.clone()),
            verb,
            record: format!("{}:{}", activity.action, activity.target),
            at: activity.at,
            timestamp,
            receiver,
            audit: activity.source_gone.then(|| AuditDetails {
                reason: SOURCE_GONE.to_owned(),
                actor: String::new(),
                is_public: false,
            }),
            found: None,
            is_replayed: false,
            account: String::new(),
        };
        self.push(&activity.user, item, operation);
    }

    /// Applies the versions of the rules to the activities of a user, as the user's shard is known to have them: the number
    /// of the definitions in the call says that it still has. `items` are the activities of the request with the rules of
    /// the configuration. Returns the items whose receivers have not been read, because no points were received for them.
    pub fn apply_versions(
        &mut self,
        deployment: &Deployment,
        user: usize,
        items: &[Ruled<'_>],
    ) -> Vec<usize> {
        let mut unread = Vec::new();
        let (config, shard) = (self.config, self.shard);
        let Some(user) = self.users.get_mut(user) else {
            return unread;
        };
        let versions = deployment.rules(user.home.unwrap_or(shard));
        let operations = user.operations.iter_mut().zip(&user.items);
        for (operation, item) in operations.filter(|_| !versions.is_empty()) {
            let Some((activity, configured)) = items.get(*item) else {
                continue;
            };
            let rule = versions.rule(&activity.action, activity.at, *configured);
            operation.rule = snapshot(config, activity, rule);
            let gives = rule.received > 0 || config.counts(&activity.action);
            if operation.receiver == Receiver::None && !activity.undo && gives {
                match receiver(config, activity, rule) {
                    Receiver::None => {}
                    _ if config.shards > 1 => unread.push(*item),
                    receiver => operation.receiver = receiver,
                }
            }
            self.gives |= operation.receiver != Receiver::None;
        }
        unread
    }

    /// Sets the receiver of an item of the request, as it has been read.
    pub fn set_receiver(
        &mut self,
        item: usize,
        activity: &Activity,
        rule: Rule,
        registrations: &Registrations,
    ) {
        let date = self.calendar.date_at(activity.at);
        let mut receiver = receiver(self.config, activity, rule);
        claim(&mut receiver, activity, date, registrations);
        self.gives |= receiver != Receiver::None;
        for user in &mut self.users {
            let index = user.items.iter().position(|own| *own == item);
            let operation = index.and_then(|index| user.operations.get_mut(index));
            if let Some(operation) = operation {
                operation.receiver = receiver.clone();
            }
        }
    }

    /// Sets the accounts of the users, as far as they are known.
    pub fn set_known_accounts(&mut self, deployment: &Deployment) {
        for user in &mut self.users {
            user.accounts = deployment.accounts(&user.user);
        }
    }

    /// Returns the boards of an activity. A visitor is on none of them: only the boards of content are left.
    fn boards(&self, user: &str, at: Instant, groups: Vec<String>) -> BoardSet {
        let content = self.config.content_periods.clone();
        let set = BoardSet::for_content(self.calendar.date_at(at), content);
        match is_visitor(user) {
            true => set,
            false => BoardSet {
                periods: self.config.periods.clone(),
                groups,
                ..set
            },
        }
    }

    /// Returns the boards of the first operation.
    #[must_use]
    pub fn first_boards(&self) -> Option<&BoardSet> {
        let first = self.users.first()?.operations.first()?;
        Some(&first.boards)
    }

    /// Returns what the calls of the plan share, with or without the standings of the first operation's user.
    #[must_use]
    pub fn header(
        &self,
        keys: Keys,
        fingerprint: String,
        standings: bool,
        definitions: Definitions,
    ) -> CallHeader {
        CallHeader {
            keys,
            fingerprint,
            now: self.now,
            effective: self.now,
            lifetimes: Lifetimes::new(&self.config.keep),
            standings,
            journal: self.config.bound.journal,
            content: self.config.has_content(),
            refused: self.config.journal_refused,
            definitions,
        }
    }
}

/// Returns the rule of an activity as its operation has it.
fn snapshot(config: &Config, activity: &Activity, rule: Rule) -> RuleSnapshot {
    RuleSnapshot {
        action: activity.action.clone(),
        once: rule.once,
        points: rule.points.cast_signed(),
        daily_cap: rule.cap(activity.by_member).unwrap_or(0),
        pair_cap: rule
            .pair_cap
            .filter(|_| rule.received > 0 && !is_visitor(&activity.user))
            .unwrap_or(0),
        cooldown: rule.cooldown.unwrap_or(0) * 1000,
        received: rule.received,
        own: rule.own,
        is_counted: config.counts(&activity.action),
    }
}

/// Completes the receiver of points for an activity by what was read of it; there is none that was not found. Returns
/// whether the user is the author of the target.
fn claim(
    receiver: &mut Receiver,
    activity: &Activity,
    date: Date,
    registrations: &Registrations,
) -> bool {
    let mut by_author = false;
    let is_claimed = match receiver {
        Receiver::User { id, claim, .. } => {
            *claim = Some(";".to_owned());
            !registrations.unknown.contains(&(id.clone(), date))
        }
        Receiver::Target {
            id,
            claim,
            author: known_author,
            ..
        } => {
            // Several activities may register a target: the last reply is what all of them find.
            let mut targets = registrations.targets.iter();
            let read = targets.rfind(|(read, _)| read == id);
            let registered = read.and_then(|(_, registered)| registered.as_ref());
            let author = registered.and_then(|target| target.author.as_ref());
            by_author = author == Some(&activity.user);
            *claim = registered.map(claimed);
            known_author.clone_from(&author.cloned());
            claim.is_some()
        }
        Receiver::None | Receiver::Recorded(_) => true,
    };
    if !is_claimed {
        *receiver = Receiver::None;
    }
    by_author
}

/// Returns the possible receiver of points for an activity; also the target whose author may not send it. An undo
/// takes points back from the receivers of its record.
pub(super) fn receiver(config: &Config, activity: &Activity, rule: Rule) -> Receiver {
    let concerned = rule.received > 0
        || config.counts(&activity.action)
        || !rule.own
        || author_of(config, activity).is_some();
    if !config.has_content() || !(activity.undo || concerned) {
        return Receiver::None;
    }
    let other = activity.on.as_ref().filter(|_| !activity.undo);
    let receiver = other.unwrap_or(&activity.target).clone();
    match activity.action.as_str() {
        "follow" if is_id(&receiver) && !is_visitor(&activity.user) => Receiver::User {
            id: receiver,
            claim: None,
            pair: None,
        },
        "follow" => Receiver::None,
        _ => Receiver::Target {
            id: receiver,
            registers: config.shards == 1 && author_of(config, activity).is_some(),
            claim: None,
            author: None,
            pair: None,
        },
    }
}

/// Returns the author with whom the target of an activity is registered, if it has none yet.
pub(super) fn author_of(config: &Config, activity: &Activity) -> Option<String> {
    if !config.has_content() || activity.undo {
        return None;
    }
    let author = match activity.action.as_str() {
        "publish" => {
            let target = activity.on.as_ref().unwrap_or(&activity.target);
            let registrable = checked_id(target).is_ok();
            registrable.then(|| activity.user.clone())
        }
        _ => activity.author.clone(),
    };
    author.filter(|author| !is_visitor(author))
}

/// Returns the `number;authorship` by which a target receives points for an activity.
fn claimed(registered: &StoredTarget) -> String {
    match registered.author {
        Some(_) => format!("{};{}", registered.number, registered.authorship),
        None => format!("{};", registered.number),
    }
}
