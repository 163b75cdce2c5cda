//! A model of counting in plain memory, without Redis, packed scores or expiry.
//!
//! A cooldown is measured from the latest instant that counted, so that a delayed old activity is
//! capped only by activities close to it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::activity::{Activity, DedupKey, InstantRange, Rule, Version};
use super::calendar::{Calendar, PERIODS, period_id};
use super::content::{Content, Received, is_visitor};
use super::event::{Event, PointChange};
use crate::sharding::shard_of;

/// The number of days for which daily records are kept, today included.
const DAILY_RECORD_DAYS: i32 = 31;

/// The record of an activity that counts until it is undone.
#[derive(Clone, Debug)]
pub struct ActiveRecord {
    /// The instant of the activity.
    pub at: InstantRange,
    /// The instant of its latest repetition, counted or not.
    pub last: InstantRange,
    /// The points, the same for every board and the day; for an adjustment one amount per board, in
    /// order, then one for the day.
    pub amounts: Vec<i64>,
    /// The day on which it counted.
    pub date: Date,
    /// The groups in which it counted.
    pub groups: Vec<String>,
    /// The event whose board alone it changed.
    pub event: Option<String>,
    /// What others received for it.
    pub received: Option<Received>,
    /// The pair that the points of others count for, and these points.
    pub pair: Option<(Pair, u64)>,
}

/// Day, giver, action and receiver of points that a rule limits.
pub type Pair = (Date, String, String, String);

/// The result of an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Counted, with the change of points.
    Counted(i64),
    /// A repetition.
    Duplicate,
    /// Undone, with the change of points.
    Undone(i64),
    /// An undo without an active record.
    NothingToUndo,
    /// Exceeds a limit of its rule, with the reason.
    Capped(&'static str),
    /// Older than the last change.
    Stale,
    /// Rejected, with the problem's slug.
    Refused(&'static str),
}

impl Outcome {
    /// Returns the name, or the reason or slug of a capped or refused activity.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counted(_) => "counted",
            Self::Duplicate => "duplicate",
            Self::Undone(_) => "undone",
            Self::NothingToUndo => "nothing-to-undo",
            Self::Capped(reason) | Self::Refused(reason) => reason,
            Self::Stale => "stale",
        }
    }
}

/// A user's history of one day: count and points by action.
pub type DayHistory = BTreeMap<String, (u64, i64)>;

/// The complete state of a deployment.
#[derive(Default)]
pub struct Model {
    /// The calendar of its time zone.
    pub calendar: Calendar,
    /// The periods that have boards.
    pub periods: Vec<&'static str>,
    /// The maximum score of a board in smallest steps.
    pub max_points: u64,
    /// The rules by action: the first one of each.
    pub rules: BTreeMap<String, Rule>,
    /// Later rules by action, and the instant from which each applies in Unix milliseconds, ascending.
    pub later_rules: BTreeMap<String, Vec<(i64, Rule)>>,
    /// The published versions of the rules by number, without removed ones.
    pub versions: BTreeMap<u64, Version>,
    /// All boards with at least one change.
    pub boards: BTreeMap<BoardId, Board>,
    /// Active records.
    pub active: BTreeMap<DedupKey, ActiveRecord>,
    /// The instants of undos that no later activity has followed.
    pub undone: BTreeMap<DedupKey, InstantRange>,
    /// Daily records.
    pub daily: BTreeSet<(Date, DedupKey)>,
    /// The latest instant that counted, by user and action, for rules with a cooldown.
    pub cooldowns: BTreeMap<(String, String), InstantRange>,
    /// The histories by day and user.
    pub histories: BTreeMap<(Date, String), DayHistory>,
    /// Points of others that a rule limited.
    pub pairs: BTreeMap<Pair, u64>,
    /// Users hidden from all boards.
    pub hidden: BTreeSet<String>,
    /// Users whose activity is refused.
    pub frozen: BTreeSet<String>,
    /// Boards of content and of authors, if there are any.
    pub content: Option<Content>,
    /// The events by id.
    pub events: BTreeMap<String, Event>,
    /// The instants of erasures, which older activity does not precede, if they are kept: with boards of content or a
    /// journal.
    pub erasures: Option<BTreeMap<String, InstantRange>>,
    /// All changes by activities, without those of erased users.
    pub changes: Vec<PointChange>,
}

impl Model {
    /// Creates an empty model.
    pub fn new(
        calendar: Calendar,
        periods: Vec<&'static str>,
        rules: BTreeMap<String, Rule>,
    ) -> Self {
        Self {
            calendar,
            periods,
            max_points: (1 << 23) - 1,
            rules,
            ..Self::default()
        }
    }

    /// Defines an event. Returns whether that is allowed.
    pub fn define(&mut self, id: &str, event: Event, now: InstantRange) -> bool {
        let allowed = event.may_replace(self.events.get(id), now);
        if allowed {
            self.events.insert(id.to_owned(), event);
        }
        allowed
    }

    /// Counts an event again by a definition. Returns whether no score exceeds the maximum.
    pub fn recount(&mut self, id: &str, event: Event) -> bool {
        let mut board = Board::new(self.calendar.date(event.from));
        // An adjustment may take fewer points than then, and its undo returns only these.
        let mut adjusted = BTreeMap::new();
        for change in &self.changes {
            let PointChange { user, at, .. } = change;
            let before = board.points(user) as i64;
            let points = match &change.event {
                Some(of) => {
                    let begun = !at.is_before(InstantRange::exact(event.from));
                    if of != id || !begun {
                        continue;
                    }
                    let record = (user, &change.target);
                    match change.undo {
                        false => {
                            let given = change.points.max(-before);
                            adjusted.insert(record, given);
                            given
                        }
                        true => -adjusted.remove(&record).unwrap_or_default(),
                    }
                }
                None => {
                    let given = change.points.unsigned_abs();
                    let points = event.points(*at, &change.action, &change.groups, given);
                    let Some(points) = points else { continue };
                    let sign = if change.undo { -1 } else { 1 };
                    sign * points as i64
                }
            };
            if points > 0 || points < 0 && before > 0 {
                board.set(user, (before + points).max(0) as u64);
            }
            if board.points(user) > self.max_points {
                return false;
            }
        }
        self.events.insert(id.to_owned(), event);
        self.boards.remove(&event_board(id));
        if !board.changes.is_empty() {
            self.boards.insert(event_board(id), board);
        }
        true
    }

    /// Deletes an event and its board.
    pub fn delete_event(&mut self, id: &str) {
        self.events.remove(id);
        self.boards.remove(&event_board(id));
    }

    /// Returns the boards of the events in which an activity of an instant counts, with its points on each.
    pub fn events_of(
        &self,
        at: InstantRange,
        action: &str,
        groups: &[String],
        points: u64,
        now: InstantRange,
    ) -> Vec<(BoardId, u64)> {
        let events = self.events.iter();
        let open = events.filter(|(_, event)| !event.is_final(now));
        let counting = open.filter_map(|(id, event)| {
            let points = event.points(at, action, groups, points)?;
            Some((event_board(id), points))
        });
        counting.collect()
    }

    /// Returns whether an event had begun at an instant, and is not final.
    pub fn is_open(&self, id: &str, at: InstantRange, now: InstantRange) -> bool {
        let event = self.events.get(id);
        event.is_some_and(|event| {
            !at.is_before(InstantRange::exact(event.from)) && !event.is_final(now)
        })
    }

    /// Applies one activity.
    pub fn apply(&mut self, activity: &Activity, now: InstantRange) -> Outcome {
        let rule = match self.find_rule(activity, now) {
            Ok(rule) => rule,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        match activity.undo {
            _ if self.frozen.contains(&activity.user) => Outcome::Refused("forbidden"),
            _ if self.is_erased(activity) => Outcome::Stale,
            true => self.undo(activity, now),
            false => self.count(activity, &rule, now),
        }
    }

    /// Returns the rule of an activity.
    ///
    /// # Errors
    ///
    /// Why the Worker refuses the activity before it calls the store.
    pub fn find_rule(&self, activity: &Activity, now: InstantRange) -> Result<Rule, &'static str> {
        let at = activity.at.map_or(now, InstantRange::exact);
        let rule = self.rule(&activity.action, at).ok_or("unknown-action")?;
        match activity.undo {
            false if activity.on.is_some() && !rule.on => Err("invalid-request"),
            true if !rule.undo => Err("not-undoable"),
            _ => Ok(rule),
        }
    }

    /// Returns whether an undo needs a second call, because it finds a record of other boards than those of its own
    /// instant, or because an event is open.
    pub fn needs_second_call(&self, activity: &Activity, now: InstantRange) -> bool {
        let at = activity.at.map_or(now, InstantRange::exact);
        let record = self.active.get(&activity.dedup_key());
        activity.undo
            && record.is_some_and(|record| {
                let mut events = self.events.values();
                record.date != self.calendar.date(at.first)
                    || record.groups != activity.groups
                    || events.any(|event| event.from <= now.last + 60_000 && !event.is_final(now))
            })
    }

    /// Registers the target of an activity that a request contains, before the activities of the request are applied.
    pub fn register_target(&mut self, activity: &Activity, now: InstantRange) {
        let at = activity.at.map_or(now, InstantRange::exact);
        let rule = self.rule(&activity.action, at);
        let is_valid = rule.is_some_and(|rule| activity.on.is_none() || rule.on);
        if let Some(content) = &mut self.content
            && is_valid
            && !activity.undo
        {
            content.register_target(activity);
        }
    }

    /// Returns the rule of an action at an instant.
    fn rule(&self, action: &str, at: InstantRange) -> Option<Rule> {
        let mut current = self.rules.get(action)?;
        for (from, rule) in self.later_rules.get(action).into_iter().flatten() {
            if !at.is_before(InstantRange::exact(*from)) {
                current = rule;
            }
        }
        let mut rule = current.clone();
        let mut versions: Vec<_> = self.versions.iter().collect();
        versions.sort_by_key(|(number, version)| (version.from, **number));
        for (number, version) in versions {
            if self.holds(*number, at) {
                version.change(action, &mut rule);
            }
        }
        Some(rule)
    }

    /// Returns whether a version of the rules holds at an instant: it has begun, and no other one that holds ends it.
    fn holds(&self, number: u64, at: InstantRange) -> bool {
        let has_begun = !at.is_before(InstantRange::exact(self.versions[&number].from));
        let mut others = self.versions.iter();
        has_begun
            && !others.any(|(other, version)| {
                version.takes_back == Some(number) && self.holds(*other, at)
            })
    }

    fn count(&mut self, activity: &Activity, rule: &Rule, now: InstantRange) -> Outcome {
        let (key, user) = (activity.dedup_key(), &activity.user);
        let named = [Some(&activity.target), activity.on.as_ref()];
        if rule.others_only && named.contains(&Some(user)) {
            return Outcome::Capped("own-target");
        }
        let at = activity.at.map_or(now, InstantRange::exact);
        let date = self.calendar.date(at.first);
        let receivers = self.content.as_ref();
        let mut receivers = receivers.map(|content| content.receivers(activity));
        if let Some(receivers) = &mut receivers
            && receivers.target.is_none()
        {
            receivers
                .author
                .take_if(|followed| !self.is_known(followed, date));
        }
        if let Some(receivers) = &receivers
            && rule.others_only
            && receivers.target.is_some()
            && receivers.author.as_ref() == Some(user)
        {
            return Outcome::Capped("own-target");
        }
        let changed = self.last_change(&key);
        if rule.daily {
            if self.daily.contains(&(date, key.clone())) {
                return Outcome::Duplicate;
            }
            let age = date
                .until(self.calendar.date(now.first))
                .expect("days of one calendar");
            if age.get_days() >= DAILY_RECORD_DAYS {
                return Outcome::Stale;
            }
        } else {
            if activity.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
                return Outcome::Stale;
            }
            if let Some(record) = self.active.get_mut(&key) {
                record.last = record.last.later(at);
                return Outcome::Duplicate;
            }
        }
        let is_counted = |content: &Content| {
            activity.action != "follow" && content.counted.contains(&&*activity.action)
        };
        let has_target = receivers
            .as_ref()
            .is_some_and(|found| found.target.is_some());
        if is_visitor(user) && !has_target && self.content.as_ref().is_some_and(is_counted) {
            return Outcome::Refused("not-found");
        }
        let user_action = (user.clone(), activity.action.clone());
        let last = self.cooldowns.get(&user_action).copied();
        let cooldown = rule.cooldown.unwrap_or(0);
        if last.is_some_and(|last| (at.first - last.first).abs() < cooldown) {
            return Outcome::Capped("cooldown");
        }
        let day = self.histories.get(&(date, user.clone()));
        let earned = day
            .and_then(|day| day.get(&activity.action))
            .map_or(0, |(_, points)| *points as u64);
        let member_cap = rule.member_cap.filter(|_| activity.by_member);
        let mut caps = rule.daily_cap.into_iter().chain(member_cap);
        if caps.any(|cap| earned + rule.points > cap) {
            return Outcome::Capped("daily-cap");
        }
        let receiver = receivers
            .as_ref()
            .and_then(|receivers| receivers.author.clone());
        let pair = receiver.filter(|_| rule.pair_cap.is_some() && !is_visitor(user));
        let pair = pair.map(|receiver| (date, user.clone(), activity.action.clone(), receiver));
        let given = pair.as_ref().and_then(|pair| self.pairs.get(pair)).copied();
        let given = given.unwrap_or(0) + rule.received;
        if pair.is_some() && rule.pair_cap.is_some_and(|cap| given > cap) {
            return Outcome::Capped("pair-cap");
        }
        let is_visitor = is_visitor(user);
        let groups = match is_visitor {
            true => Vec::new(),
            false => activity.groups.clone(),
        };
        let mut boards = self.boards_of(date, &groups);
        boards.retain(|_| !is_visitor);
        if boards
            .iter()
            .any(|board| self.points(board, user) + rule.points > self.max_points)
        {
            return Outcome::Refused("score-overflow");
        }
        let mut in_events = self.events_of(at, &activity.action, &groups, rule.points, now);
        in_events.retain(|_| !is_visitor);
        if in_events
            .iter()
            .any(|(board, points)| self.points(board, user) + points > self.max_points)
        {
            return Outcome::Refused("score-overflow");
        }

        let received = self.content.as_mut().zip(receivers);
        let received = received.and_then(|(content, receivers)| {
            let given = (rule.received, activity.action.as_str());
            content.receive(receivers, at, given, (date, is_visitor))
        });
        if let Some(pair) = &pair {
            self.pairs.insert(pair.clone(), given);
        }
        if rule.daily {
            self.daily.insert((date, key));
        } else {
            let record = ActiveRecord {
                at,
                last: at,
                amounts: vec![rule.points as i64],
                date,
                groups,
                event: None,
                received,
                pair: pair.map(|pair| (pair, rule.received)),
            };
            self.forget_undo(&key, at);
            self.active.insert(key, record);
        }
        if rule.cooldown.is_some() {
            let latest = last.map_or(at, |last| last.later(at));
            self.cooldowns.insert(user_action, latest);
        }
        for id in boards {
            let board = self.boards.entry(id).or_insert_with(|| Board::new(date));
            board.set(user, board.points(user) + rule.points);
        }
        for (id, points) in in_events {
            let board = self.boards.entry(id).or_insert_with(|| Board::new(date));
            board.set(user, board.points(user) + points);
        }
        self.changes.push(PointChange {
            user: user.clone(),
            at,
            action: activity.action.clone(),
            target: activity.target.clone(),
            groups: activity.groups.clone(),
            points: rule.points as i64,
            event: None,
            undo: false,
        });
        let day = self.histories.entry((date, user.clone())).or_default();
        let (count, points) = day.entry(activity.action.clone()).or_default();
        *count += 1;
        *points += rule.points as i64;
        Outcome::Counted(rule.points as i64)
    }

    /// Returns whether a user has points in the longest period that contains a day. Nobody has a profile.
    fn is_known(&self, user: &str, date: Date) -> bool {
        let boards = self.boards_of(date, &[]);
        let content = self.content.iter();
        let mut received = content.map(|content| content.received(user, date));
        let points = boards.last().map_or(0, |board| self.points(board, user));
        points > 0 || received.any(|points| points > 0)
    }

    fn undo(&mut self, activity: &Activity, now: InstantRange) -> Outcome {
        let (key, user) = (activity.dedup_key(), &activity.user);
        let at = activity.at.map_or(now, InstantRange::exact);
        let changed = self.last_change(&key);
        if activity.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
            return Outcome::Stale;
        }
        if let Some(record) = self.active.get(&key) {
            let event = record.event.as_ref();
            if event.is_some_and(|event| !self.is_open(event, record.at, now)) {
                return Outcome::Refused("event-conflict");
            }
            if self.undo_would_overflow(record, user) {
                return Outcome::Refused("score-overflow");
            }
        }
        self.undone
            .insert(key.clone(), changed.map_or(at, |changed| changed.later(at)));
        let Some(record) = self.active.remove(&key) else {
            return Outcome::NothingToUndo;
        };
        let boards = self.boards_of_record(&record);
        let amounts = board_amounts(&record.amounts, boards.len());
        for (id, amount) in boards.into_iter().zip(&amounts) {
            let Some(board) = self.boards.get_mut(&id) else {
                continue;
            };
            let points = board.points(user);
            if (points > 0 && *amount > 0) || *amount < 0 {
                board.set(user, (points as i64 - amount).max(0) as u64);
            }
        }
        let given = record.amounts[0].unsigned_abs();
        let (counted_at, groups) = (record.at, &record.groups);
        self.changes.push(PointChange {
            user: user.clone(),
            at: counted_at,
            action: activity.action.clone(),
            target: activity.target.clone(),
            groups: groups.clone(),
            points: record.amounts[0],
            event: record.event.clone(),
            undo: true,
        });
        for (id, points) in self.events_of(counted_at, &activity.action, groups, given, now) {
            let Some(board) = self.boards.get_mut(&id) else {
                continue;
            };
            let before = board.points(user);
            if before > 0 {
                board.set(user, before.saturating_sub(points));
            }
        }
        if let (Some(content), Some(received)) = (&mut self.content, &record.received) {
            content.take_back(received, record.at, record.date);
        }
        if let Some((pair, points)) = &record.pair
            && let Some(given) = self.pairs.get_mut(pair)
        {
            *given = given.saturating_sub(*points);
        }
        if record.event.is_none() {
            self.remove_from_history(&record, user, &activity.action);
        }
        Outcome::Undone(-largest_change(&amounts))
    }

    fn remove_from_history(&mut self, record: &ActiveRecord, user: &str, action: &str) {
        let day_amount = *record.amounts.last().expect("an amount for the day");
        let day = (record.date, user.to_owned());
        let day = self.histories.get_mut(&day).expect("the day");
        let (count, points) = day.get_mut(action).expect("the action");
        *count -= 1;
        *points -= day_amount;
        let sum: i64 = day.values().map(|(_, points)| points).sum();
        if sum < 0 {
            day.entry("adjust".to_owned()).or_default().1 -= sum;
        }
        day.retain(|_, totals| *totals != (0, 0));
        self.histories.retain(|_, day| !day.is_empty());
    }

    fn undo_would_overflow(&self, record: &ActiveRecord, user: &str) -> bool {
        let boards = self.boards_of_record(record);
        let amounts = board_amounts(&record.amounts, boards.len());
        boards.iter().zip(amounts).any(|(board, amount)| {
            self.points(board, user) as i64 - amount > self.max_points as i64
        })
    }

    /// Applies an adjustment by a number of smallest steps: of the board of an event, or of others.
    pub fn adjust(
        &mut self,
        adjustment: &Activity,
        steps: i64,
        event: Option<&str>,
        now: InstantRange,
    ) -> Outcome {
        if adjustment.undo {
            return self.undo(adjustment, now);
        }
        if self.is_erased(adjustment) {
            return Outcome::Stale;
        }
        let (key, user) = (adjustment.dedup_key(), &adjustment.user);
        let at = adjustment.at.map_or(now, InstantRange::exact);
        let date = self.calendar.date(at.first);
        let changed = self.last_change(&key);
        if adjustment.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
            return Outcome::Stale;
        }
        if self.active.contains_key(&key) {
            return Outcome::Duplicate;
        }
        if let Some(id) = event.filter(|id| !self.is_open(id, now, now)) {
            let is_known = self.events.contains_key(id);
            return Outcome::Refused(if is_known {
                "event-conflict"
            } else {
                "not-found"
            });
        }
        let boards = match event {
            Some(id) => vec![event_board(id)],
            None => self.boards_of(date, &adjustment.groups),
        };
        let scores: Vec<i64> = boards
            .iter()
            .map(|board| self.points(board, user) as i64)
            .collect();
        if scores
            .iter()
            .any(|score| score + steps > self.max_points as i64)
        {
            return Outcome::Refused("score-overflow");
        }
        let mut amounts: Vec<i64> = scores.iter().map(|score| steps.max(-score)).collect();
        let change = largest_change(&amounts);
        for (id, amount) in boards.into_iter().zip(&amounts) {
            if *amount != 0 {
                let board = self.boards.entry(id).or_insert_with(|| Board::new(date));
                board.set(user, board.points(user).strict_add_signed(*amount));
            }
        }
        if event.is_none() {
            let day = self.histories.entry((date, user.clone())).or_default();
            let day_amount = steps.max(-day.values().map(|(_, points)| points).sum::<i64>());
            amounts.push(day_amount);
            let (count, points) = day.entry("adjust".to_owned()).or_default();
            *count += 1;
            *points += day_amount;
        } else {
            amounts.push(0);
        }
        self.forget_undo(&key, at);
        if let Some(event) = event {
            self.changes.push(PointChange {
                user: user.clone(),
                at,
                action: adjustment.action.clone(),
                target: adjustment.target.clone(),
                groups: Vec::new(),
                points: amounts[0],
                event: Some(event.to_owned()),
                undo: false,
            });
        }
        let record = ActiveRecord {
            at,
            last: at,
            amounts,
            date,
            groups: adjustment.groups.clone(),
            event: event.map(str::to_owned),
            received: None,
            pair: None,
        };
        self.active.insert(key, record);
        Outcome::Counted(change)
    }

    /// Sets whether a user is hidden and frozen.
    pub fn moderate(&mut self, user: &str, hidden: bool, frozen: bool) {
        if hidden != self.hidden.contains(user) {
            for board in self.boards.values_mut() {
                board.change(user);
            }
        }
        for (users, member) in [(&mut self.hidden, hidden), (&mut self.frozen, frozen)] {
            users.remove(user);
            if member {
                users.insert(user.to_owned());
            }
        }
    }

    fn is_erased(&self, activity: &Activity) -> bool {
        let erased = self.erasures.iter().flat_map(|all| all.get(&activity.user));
        let mut erased = erased.zip(activity.at);
        erased.any(|(erased, at)| InstantRange::exact(at).is_before(*erased))
    }

    /// Erases a user. All others keep their points and order.
    pub fn erase(&mut self, user: &str, at: InstantRange) {
        if let Some(content) = &mut self.content {
            content.erase(user, at);
        }
        if let Some(erasures) = &mut self.erasures {
            erasures.insert(user.to_owned(), at);
        }
        for board in self.boards.values_mut() {
            board.change(user);
            board.scores.remove(user);
        }
        self.changes.retain(|change| change.user != user);
        self.active.retain(|key, _| key.0 != user);
        self.undone.retain(|key, _| key.0 != user);
        self.daily.retain(|(_, key)| key.0 != user);
        self.cooldowns.retain(|(owner, _), _| owner != user);
        self.histories.retain(|(_, owner), _| owner != user);
        self.pairs.retain(|(_, giver, ..), _| giver != user);
        self.moderate(user, false, false);
    }

    /// Returns whom a user follows, latest first.
    pub fn follows(&self, user: &str) -> Vec<String> {
        let is_id = |id: &str| {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.:@|-".contains(c);
            (1..=64).contains(&id.len()) && id.chars().all(is_allowed) && ![".", ".."].contains(&id)
        };
        let mut followed = Vec::new();
        for ((follower, action, target), record) in &self.active {
            if (follower.as_str(), action.as_str()) == (user, "follow") && is_id(target) {
                followed.push((Reverse(record.at.first), target));
            }
        }
        followed.sort_unstable();
        let followed = followed.into_iter().filter(|(_, target)| *target != user);
        followed
            .map(|(_, target)| target.clone())
            .take(100)
            .collect()
    }

    /// Returns when the record of an activity last changed, also by an undo.
    pub fn last_change(&self, key: &DedupKey) -> Option<InstantRange> {
        let counted = self.active.get(key).map(|record| record.at);
        match (counted, self.undone.get(key).copied()) {
            (Some(counted), Some(undone)) => Some(counted.later(undone)),
            (counted, undone) => counted.or(undone),
        }
    }

    /// Forgets the last undo of a record, unless it is later than the activity that has counted.
    fn forget_undo(&mut self, key: &DedupKey, at: InstantRange) {
        // What happens now is later than what happened before.
        let is_now = |range: InstantRange| range.first != range.last;
        self.undone.retain(|undone, instant| {
            undone != key || !(is_now(at) && is_now(*instant)) && at.is_before(*instant)
        });
    }

    /// Returns the boards on which an activity of this day with these groups counts.
    pub fn boards_of(&self, date: Date, groups: &[String]) -> Vec<BoardId> {
        let groups = [None].into_iter().chain(groups.iter().cloned().map(Some));
        let boards = |group: Option<String>| {
            let board =
                move |period: &&'static str| (*period, period_id(period, date), group.clone());
            self.periods.iter().map(board).collect::<Vec<_>>()
        };
        groups.flat_map(boards).collect()
    }

    fn boards_of_record(&self, record: &ActiveRecord) -> Vec<BoardId> {
        match &record.event {
            Some(event) => vec![event_board(event)],
            None => self.boards_of(record.date, &record.groups),
        }
    }

    /// Returns users and points of a board, best first: the visible users, then the hidden ones.
    pub fn ranking(&self, board: &BoardId) -> [Vec<(String, u64)>; 2] {
        let board = self.boards.get(board);
        [false, true].map(|hidden| {
            let filter = |user: &str| self.hidden.contains(user) == hidden;
            board.map(|board| board.ranking(filter)).unwrap_or_default()
        })
    }

    /// Returns a user's points and rank on one board.
    pub fn standing(&self, board: &BoardId, user: &str) -> (u64, Option<usize>) {
        let [visible, _] = self.ranking(board);
        let rank = visible.iter().position(|(ranked, _)| ranked == user);
        (self.points(board, user), rank.map(|index| index + 1))
    }

    fn points(&self, board: &BoardId, user: &str) -> u64 {
        self.boards.get(board).map_or(0, |board| board.points(user))
    }
}

/// Returns the amount of each board: a single amount applies to all of them.
fn board_amounts(amounts: &[i64], boards: usize) -> Vec<i64> {
    let amount = |board| amounts[if amounts.len() > 1 { board } else { 0 }];
    (0..boards).map(amount).collect()
}

/// Returns the amount with the largest absolute value, of equals the first.
fn largest_change(amounts: &[i64]) -> i64 {
    let larger = |largest: i64, amount: &i64| {
        if amount.abs() > largest.abs() {
            *amount
        } else {
            largest
        }
    };
    amounts.iter().fold(0, larger)
}

/// Returns the board of an event.
pub fn event_board(id: &str) -> BoardId {
    ("event", id.to_owned(), None)
}

/// A board: period, id of the period instance, and the group unless it is a global board; or `event` and its id.
pub type BoardId = (&'static str, String, Option<String>);

/// Returns the key of a board, without the hash tag.
///
/// # Panics
///
/// Panics when the period does not exist.
pub fn board_key((period, id, group): &BoardId) -> String {
    if *period == "event" {
        return format!("bE::{id}");
    }
    let (_, letter) = PERIODS
        .iter()
        .find(|(name, _)| name == period)
        .expect("a period");
    let group = group
        .as_ref()
        .map(|group| format!(":{group}"))
        .unwrap_or_default();
    format!("b{letter}:{id}{group}")
}

/// Points, the number of their arrival on the user's shard, and the shard.
type Score = (u64, u64, u32);

/// A board. Each shard numbers its own changes; a score has the number of its arrival.
#[derive(Clone, Debug)]
pub struct Board {
    /// A day of its period.
    pub date: Date,
    scores: BTreeMap<String, Score>,
    changes: BTreeMap<u32, u64>,
}

impl Board {
    fn new(date: Date) -> Self {
        Self {
            date,
            scores: BTreeMap::new(),
            changes: BTreeMap::new(),
        }
    }

    /// Returns the users that pass the filter with their points, best first.
    pub fn ranking(&self, filter: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self
            .scores
            .iter()
            .filter(|(user, _)| filter(user))
            .collect();
        all.sort_by_key(|(_, (points, arrival, shard))| (u64::MAX - points, *arrival, *shard));
        all.into_iter()
            .map(|(user, (points, ..))| (user.clone(), *points))
            .collect()
    }

    fn points(&self, user: &str) -> u64 {
        self.scores.get(user).map_or(0, |(points, ..)| *points)
    }

    fn set(&mut self, user: &str, points: u64) {
        self.scores.remove(user);
        let shard = shard_of(user);
        let changes = self.changes.entry(shard).or_default();
        *changes += 1;
        if points > 0 {
            self.scores
                .insert(user.to_owned(), (points, *changes, shard));
        }
    }

    /// Numbers a change of a user's row that leaves its score.
    fn change(&mut self, user: &str) {
        if self.scores.contains_key(user) {
            *self.changes.entry(shard_of(user)).or_default() += 1;
        }
    }
}
