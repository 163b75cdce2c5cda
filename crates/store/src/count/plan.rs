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
    /// Whether others may receive points for an operation.
    gives: bool,
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
            gives: false,
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
            claim: String::new(),
            registers: false,
        });
        plan.operations.audit = Some(AuditDetails {
            reason: adjustment.reason,
            actor: Actor::stored(actor).to_owned(),
        });
        plan
    }

    /// Returns whether others may receive points for operations with these outcomes.
    #[must_use]
    pub fn gives(&self, outcomes: &[Result<Outcome, Error>]) -> bool {
        let changed =
            |outcome: &_| matches!(outcome, Ok(Outcome::Counted { .. } | Outcome::Undone(_)));
        self.gives && outcomes.iter().any(changed)
    }

    /// Appends an activity. With several shards, `registrations` has what is known of the receiver of points for it.
    pub fn add(&mut self, activity: &Activity, rule: Rule, registrations: &Registrations) {
        let date = self.calendar.date_at(activity.at);
        let today = self.calendar.date_at(self.now);
        // Daily records of that day may have expired.
        let forgotten = rule.once == Once::Day && today.days_since(date) >= history::DAYS;
        let mut receiver = receiver(self.config, activity, rule);
        self.gives |= receiver != Receiver::None;
        let (mut claim, mut by_author) = (String::new(), false);
        if self.config.shards > 1 && !activity.undo {
            let claimed = match &receiver {
                Receiver::User(id) if !registrations.unknown.contains(&(id.clone(), date)) => {
                    Some(";".to_owned())
                }
                Receiver::Target(id) => {
                    let mut targets = registrations.targets.iter();
                    let read = targets.find(|(read, _)| read == id);
                    let registered = read.and_then(|(_, registered)| registered.as_ref());
                    let author = registered.and_then(|target| target.author.as_ref());
                    by_author = author == Some(&activity.user);
                    registered.map(claimed)
                }
                Receiver::User(_) | Receiver::None | Receiver::Recorded(_) => None,
            };
            match claimed {
                Some(claimed) => claim = claimed,
                None => receiver = Receiver::None,
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
            claim,
            registers: author_of(self.config, activity).is_some(),
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
            has_shards: self.config.shards > 1,
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

/// Returns the author with whom the target of an activity is registered, if it has none yet.
pub(super) fn author_of(config: &Config, activity: &Activity) -> Option<String> {
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

/// Returns the `number;authorship` by which a target receives points for an activity.
fn claimed(registered: &StoredTarget) -> String {
    match registered.author {
        Some(_) => format!("{};{}", registered.number, registered.authorship),
        None => format!("{};", registered.number),
    }
}
