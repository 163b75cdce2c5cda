//! The call that counts activities of one shard.

use super::call::{CallEvents, CallHeader, Lifetimes};
use super::operations::{
    AuditDetails, Operation, Operations, Receiver, RuleSnapshot, TimestampSource,
};
use super::record::BoardTargets;
use crate::deployment::Deployment;
use crate::fingerprint::fingerprint;
use crate::keys::Keys;
use crate::redis::Command;
use crate::scripts::COUNT;
use activity_rank_core::activity::{Activity, Outcome};
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::config::{ADJUST, Config, Once, Rule};
use activity_rank_core::content::{StoredTarget, checked_id};
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_core::history;
use activity_rank_core::id::is_id;
use activity_rank_core::moderation::Adjustment;

/// The possible receivers of points on other shards, as they were read before the call.
#[derive(Default)]
pub struct Registrations {
    /// The registrations of targets.
    pub targets: Vec<(String, Option<StoredTarget>)>,
    /// Followed users who have neither a profile nor points, and the day of the activity.
    pub unknown: Vec<(String, Date)>,
}

/// The operations of one call, all of users of one shard.
pub struct Plan<'a> {
    config: &'a Config,
    calendar: &'a Calendar,
    now: Instant,
    /// The shard.
    pub shard: u32,
    /// The operations.
    pub operations: Operations,
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
            operations: Operations::default(),
        }
    }

    /// Returns the plan of one adjustment.
    #[must_use]
    pub fn of_adjustment(
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
            cooldown: 0,
            received: 0,
            own: true,
        };
        let (at, timestamp) = match adjustment.at {
            Some(at) => (at, TimestampSource::Caller),
            None => (now, TimestampSource::Now),
        };
        plan.operations.push(Operation {
            user: &adjustment.user,
            record: format!("{}:{}", rule.action, adjustment.id),
            rule,
            targets: match adjustment.event {
                Some(event) => BoardTargets::of_event(deployment.calendar.date_at(at), event),
                None => plan.targets(at, adjustment.groups),
            },
            verb: if adjustment.undo { "undo" } else { "adjust" },
            at,
            timestamp,
            receiver: Receiver::None,
            author: None,
            claim: String::new(),
        });
        plan.operations.audit = Some(AuditDetails {
            reason: adjustment.reason,
            actor: Actor::stored(actor).to_owned(),
        });
        plan
    }

    /// Returns whether the reply to the call may have so many outcomes.
    #[must_use]
    pub fn accepts(&self, outcomes: usize) -> bool {
        self.operations.is_empty() || outcomes == self.operations.len()
    }

    /// Returns whether operations with these outcomes may have added deliveries.
    #[must_use]
    pub fn sends(&self, outcomes: &[Result<Outcome, Error>]) -> bool {
        let changed =
            |outcome: &_| matches!(outcome, Ok(Outcome::Counted { .. } | Outcome::Undone(_)));
        outcomes.iter().any(changed)
    }

    /// Appends an activity. With several shards, `registrations` has what is known of the receiver of points for it.
    pub fn add(&mut self, activity: &Activity, rule: Rule, registrations: &Registrations) {
        let date = self.calendar.date_at(activity.at);
        let today = self.calendar.date_at(self.now);
        // Daily records of that day may have expired.
        let forgotten = rule.once == Once::Day && today.days_since(date) >= history::DAYS;
        let mut receiver = receiver(self.config, activity, rule);
        let mut author = match receiver {
            Receiver::Target(_) => author_of(self.config, activity),
            Receiver::None | Receiver::User(_) | Receiver::Recorded(_) => None,
        };
        if let Receiver::User(id) = &receiver
            && registrations.unknown.contains(&(id.clone(), date))
        {
            receiver = Receiver::None;
        }
        let (mut claim, mut by_author) = (String::new(), false);
        if self.config.shards > 1
            && let Receiver::Target(id) = &receiver
        {
            let mut targets = registrations.targets.iter();
            let read = targets.find(|(read, _)| read == id);
            let registered = read.and_then(|(_, registered)| registered.as_ref());
            let known = registered.and_then(|target| target.author.as_ref());
            by_author = known.or(author.as_ref()) == Some(&activity.user);
            author = author.filter(|_| known.is_none());
            match claimed(registered, author.is_some()) {
                Some(claimed) if !activity.undo => claim = claimed,
                Some(_) | None => receiver = Receiver::None,
            }
        }
        let named = [Some(&activity.target), activity.on.as_ref()];
        let own = !rule.own && (named.contains(&Some(&activity.user)) || by_author);
        let verb = match (activity.undo, own, forgotten) {
            (true, _, _) => "undo",
            (false, true, _) => "own",
            (false, false, true) => "old",
            (false, false, false) => "do",
        };
        let timestamp = match (activity.queued, activity.dated) {
            (true, _) => TimestampSource::Queue,
            (false, true) => TimestampSource::Caller,
            (false, false) => TimestampSource::Now,
        };
        self.operations.push(Operation {
            user: &activity.user,
            rule: RuleSnapshot {
                action: activity.action.clone(),
                once: rule.once,
                points: rule.points.cast_signed(),
                daily_cap: rule.cap(activity.by_member).unwrap_or(0),
                cooldown: rule.cooldown.unwrap_or(0) * 1000,
                received: rule.received,
                own: rule.own,
            },
            targets: self.targets(activity.at, activity.groups.clone()),
            verb,
            record: format!("{}:{}", activity.action, activity.target),
            at: activity.at,
            timestamp,
            receiver,
            author,
            claim,
        });
    }

    fn targets(&self, at: Instant, groups: Vec<String>) -> BoardTargets {
        BoardTargets {
            date: self.calendar.date_at(at),
            periods: self.config.periods.clone(),
            groups,
            content: self.config.content_periods.clone(),
            event: None,
        }
    }

    /// Returns the script call, with or without the standings of the first operation's user.
    #[must_use]
    pub fn call(&self, standings: bool, definitions: &Definitions) -> Command {
        let (keys, arguments) = self.operations.call(&CallHeader {
            keys: Keys::of_shard(self.config, self.shard),
            fingerprint: fingerprint(self.config),
            now: self.now,
            effective: self.now,
            lifetimes: Lifetimes::new(&self.config.keep),
            standings,
            journal_flag: self.config.bound.journal_flag(),
            shard: (self.config.shards > 1).then_some(self.shard),
            events: CallEvents::new(definitions, self.now),
        });
        Command::script(&COUNT, &keys).args(arguments)
    }
}

/// Returns the possible receiver of points for an activity; also the target whose author may not send it. An undo
/// takes points back from the receivers of its record.
pub(super) fn receiver(config: &Config, activity: &Activity, rule: Rule) -> Receiver {
    let concerned = rule.received > 0 || !rule.own || author_of(config, activity).is_some();
    if !config.has_content() || !(activity.undo || concerned) {
        return Receiver::None;
    }
    let other = activity.on.as_ref().filter(|_| !activity.undo);
    let receiver = other.unwrap_or(&activity.target).clone();
    match activity.action.as_str() {
        "follow" if is_id(&receiver) => Receiver::User(receiver),
        "follow" => Receiver::None,
        _ => Receiver::Target(receiver),
    }
}

/// Returns the author with whom the target of an activity is registered, if it is not yet.
fn author_of(config: &Config, activity: &Activity) -> Option<String> {
    if !config.has_content() || activity.undo {
        return None;
    }
    match activity.action.as_str() {
        "publish" => {
            let target = activity.on.as_ref().unwrap_or(&activity.target);
            let registrable = checked_id(target).is_ok();
            registrable.then(|| activity.user.clone())
        }
        _ => activity.author.clone(),
    }
}

/// Returns the `number;authorship` under which a target receives points for an activity that is about to count,
/// and that may give it an author; `None` if it receives none. The script numbers a new registration.
fn claimed(registered: Option<&StoredTarget>, gains_author: bool) -> Option<String> {
    let (number, authors, has_author) = match registered {
        Some(target) => (
            target.number.as_str(),
            target.authorship,
            target.author.is_some(),
        ),
        None => ("", 0, false),
    };
    match (has_author, gains_author) {
        (true, _) => Some(format!("{number};{authors}")),
        (false, true) => Some(format!("{number};{}", authors + 1)),
        (false, false) => registered.map(|_| format!("{number};")),
    }
}
