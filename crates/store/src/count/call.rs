//! Writes the operations of a user as the call of `count.lua` or `adjust.lua`, whose headers specify it.

use super::operation::{Operation, Receiver, TimestampSource, UserOperations, Verb};
use super::record::BoardSet;
use crate::keys::Keys;
use crate::redis::Command;
use crate::scripts::{ADJUST as ADJUST_SCRIPT, COUNT, Script};
use crate::stream::{COUNTED, board_lifetime, board_lifetimes};
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::config::{ADJUST, Keep, Once};
use activity_rank_core::content::member;
use activity_rank_core::event::Definitions;
use activity_rank_core::id::is_visitor;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the calls of a deployment share.
pub struct CallHeader {
    /// The keys of the shard.
    pub keys: Keys,
    /// The deployment's schema fingerprint.
    pub fingerprint: String,
    /// The current instant.
    pub now: Instant,
    /// The instant at which the operations take effect: `now`, except in a rebuild.
    pub effective: Instant,
    /// The lifetimes of written keys.
    pub lifetimes: Lifetimes,
    /// Whether the reply contains standings.
    pub standings: bool,
    /// Whether the journal reads the stream of changes.
    pub journal: bool,
    /// Whether others receive points by the stream of changes.
    pub content: bool,
    /// Whether the journal has what does not count, too. It always has that of a member with accounts.
    pub refused: bool,
    /// The definitions of events.
    pub definitions: Definitions,
}

/// Lifetimes in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of histories.
    pub days: u64,
    /// Of active records.
    pub records: u64,
    /// Of boards, in the order of [`Period::ALL`]; 0 for no limit.
    pub boards: [u64; 5],
}

impl Lifetimes {
    /// Returns the lifetimes of a deployment.
    #[must_use]
    pub fn new(keep: &Keep) -> Self {
        Self {
            days: Keys::SPAN_SECONDS,
            records: keep.records_seconds(),
            boards: board_lifetimes(keep),
        }
    }
}

/// A call of one of the scripts.
pub struct UserCall {
    /// The script.
    pub script: &'static Script,
    /// The keys.
    pub keys: Vec<String>,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The events whose standings the reply has, after those of the periods.
    pub ranked_events: Vec<String>,
}

impl UserCall {
    /// Returns the command.
    #[must_use]
    pub fn command(&self) -> Command {
        Command::script(self.script, &self.keys).args(&self.arguments)
    }
}

/// The keys before the numbered ones.
const FIRST_KEYS: usize = 7;

#[derive(Serialize)]
struct Request<'a> {
    now: i64,
    today: String,
    instant: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    definitions: &'a str,
    #[serde(skip_serializing_if = "is_default")]
    journal: bool,
    #[serde(skip_serializing_if = "is_default")]
    content: bool,
    #[serde(skip_serializing_if = "is_default")]
    refused: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    accounts: &'a str,
    /// A JSON array: the script decodes it only for new keys.
    lifetimes: String,
    record_lifetime: u64,
    ranked: [usize; 2],
    undone: Vec<usize>,
    places: Vec<Place>,
    items: Vec<Item<'a>>,
}

/// The boards and the history of a day.
#[derive(Serialize)]
struct Place {
    boards: Vec<usize>,
    #[serde(skip_serializing_if = "is_default")]
    all: Option<usize>,
    history: usize,
    day: char,
    bit: u64,
    date: String,
    kinds: String,
    groups: String,
}

#[derive(Default, Serialize)]
struct Item<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    account: &'a str,
    field: String,
    mark: &'a str,
    action: &'a str,
    name: &'a str,
    at: i64,
    place: usize,
    points: i64,
    #[serde(skip_serializing_if = "is_default")]
    cooldown: u64,
    #[serde(skip_serializing_if = "is_default")]
    dated: bool,
    #[serde(skip_serializing_if = "is_default")]
    queued: bool,
    /// Numbers of boards, each with the points on it.
    #[serde(skip_serializing_if = "is_default")]
    events: Vec<i64>,
    #[serde(skip_serializing_if = "is_default")]
    record: String,
    #[serde(skip_serializing_if = "is_default")]
    daily: bool,
    #[serde(skip_serializing_if = "is_default")]
    old: bool,
    #[serde(skip_serializing_if = "is_default")]
    cap: u64,
    #[serde(skip_serializing_if = "is_default")]
    pair_cap: u64,
    #[serde(skip_serializing_if = "is_default")]
    receiver: String,
    #[serde(skip_serializing_if = "is_default")]
    last: String,
    #[serde(skip_serializing_if = "is_default")]
    own: bool,
    #[serde(skip_serializing_if = "is_default")]
    gives: String,
    #[serde(skip_serializing_if = "is_default")]
    target: String,
    #[serde(skip_serializing_if = "is_default")]
    registers: bool,
    #[serde(skip_serializing_if = "is_default")]
    own_counts: bool,
    #[serde(skip_serializing_if = "is_default")]
    alone: bool,
    #[serde(skip_serializing_if = "is_default")]
    registered: bool,
    #[serde(skip_serializing_if = "is_default")]
    followed: String,
    #[serde(skip_serializing_if = "is_default")]
    known: Vec<usize>,
    #[serde(skip_serializing_if = "is_default")]
    on: String,
    #[serde(skip_serializing_if = "is_default")]
    undo: bool,
    #[serde(skip_serializing_if = "is_default", rename = "where")]
    place_text: String,
    #[serde(skip_serializing_if = "is_default")]
    seen: String,
    #[serde(skip_serializing_if = "is_default")]
    event: bool,
    #[serde(skip_serializing_if = "is_default")]
    from: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    replayed: bool,
    #[serde(skip_serializing_if = "is_default")]
    logged: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    reason: String,
    #[serde(skip_serializing_if = "is_default")]
    actor: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    public: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl CallHeader {
    /// Returns the call of a user's operations: at least one, and one alone if it is an adjustment.
    #[must_use]
    pub fn encode(&self, user: &UserOperations) -> UserCall {
        let sets: Vec<&BoardSet> = user.operations.iter().map(found_boards).collect();
        let mut builder = Builder::new(self, &sets, is_visitor(&user.user));
        // Before the other boards, so that their numbers are consecutive.
        let ranked = user.operations.first().filter(|_| self.standings);
        let ranked = ranked.map(|first| builder.ranked(first));
        let (ranked, ranked_events) = ranked.unwrap_or(([1, 0], Vec::new()));
        let operations = user.operations.iter().zip(&sets);
        let items = operations.map(|(operation, set)| builder.item(user, operation, set));
        let items = items.collect();
        let is_adjustment = user.is_adjustment();
        let Builder {
            undone,
            places,
            histories,
            boards,
            ..
        } = builder;
        let lifetimes = histories.iter().map(|_| self.lifetimes.days);
        let lifetimes = lifetimes.chain(boards.iter().map(|(_, lifetime)| *lifetime));
        let lifetimes: Vec<u64> = lifetimes.collect();
        let request = Request {
            now: self.now.0,
            today: self.effective.0.div_euclid(Date::MILLIS).to_string(),
            instant: self.effective.0.to_string(),
            definitions: self.definitions.number(),
            journal: self.journal,
            content: self.content,
            refused: self.journal && (self.refused || user.has_accounts()),
            accounts: user.accounts.text(),
            lifetimes: serde_json::to_string(&lifetimes).unwrap_or_default(),
            record_lifetime: self.lifetimes.records,
            ranked,
            undone,
            places: places.into_iter().map(|(_, place)| place).collect(),
            items,
        };
        let keys = &self.keys;
        let seventh = match is_adjustment {
            true => keys.audit_subjects(),
            false => keys.register(),
        };
        let mut all = vec![
            keys.users(),
            keys.active_records(&user.user),
            keys.outbox(),
            keys.index(),
            keys.archived(),
            keys.tombstones(),
            seventh,
        ];
        let histories = histories.iter().map(|span| keys.history(span, &user.user));
        all.extend(histories.chain(boards.into_iter().map(|(key, _)| key)));
        all.extend(is_adjustment.then(|| keys.audit_log()));
        let json = serde_json::to_string(&request).unwrap_or_default();
        UserCall {
            script: if is_adjustment {
                &ADJUST_SCRIPT
            } else {
                &COUNT
            },
            keys: all,
            arguments: vec![self.fingerprint.clone(), user.user.clone(), json],
            ranked_events,
        }
    }
}

/// Returns the boards of an operation: those of the record that an undo found.
fn found_boards(operation: &Operation) -> &BoardSet {
    let found = operation.found.as_ref();
    found.map_or(&operation.boards, |found| &found.record.boards)
}

/// The numbered keys of a call while they are collected.
struct Builder<'a> {
    header: &'a CallHeader,
    /// Whether the user is a visitor, who is on no board.
    is_visitor: bool,
    /// The spans of the histories.
    histories: Vec<i32>,
    /// Numbers of the histories that may have undo records.
    undone: Vec<usize>,
    /// Keys and lifetimes.
    boards: Vec<(String, u64)>,
    /// The numbers of the keys of boards: an array may have thousands.
    numbers: BTreeMap<String, usize>,
    places: Vec<(&'a BoardSet, Place)>,
}

impl<'a> Builder<'a> {
    fn new(header: &'a CallHeader, sets: &[&BoardSet], is_visitor: bool) -> Self {
        let mut histories = Keys::undo_spans(header.effective);
        let undone = (1..=histories.len()).map(|index| FIRST_KEYS + index);
        let undone = undone.collect();
        for set in sets {
            let span = Keys::span(set.date);
            if !histories.contains(&span) {
                histories.push(span);
            }
        }
        Self {
            header,
            is_visitor,
            histories,
            undone,
            boards: Vec::new(),
            numbers: BTreeMap::new(),
            places: Vec::new(),
        }
    }

    /// Returns the number of a board's key.
    fn board(&mut self, key: String, lifetime: u64) -> usize {
        let first = FIRST_KEYS + self.histories.len() + 1;
        let next = first + self.boards.len();
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.boards.push((key, lifetime));
        }
        number
    }

    fn period_board(&mut self, set: &BoardSet, period: Period, group: Option<&str>) -> usize {
        let key = self.header.keys.board(period, set.date, group);
        self.board(key, board_lifetime(&self.header.lifetimes.boards, period))
    }

    /// Returns the number of the board of an event, if it is open, and the instant at which it begins.
    fn event_board(&mut self, event: &str) -> Option<(usize, i64)> {
        let header = self.header;
        let counted = header.definitions.event(event);
        let counted = counted.filter(|counted| counted.is_open(header.effective))?;
        let lifetime = counted.expiry - header.now.0.div_euclid(1000);
        let lifetime = u64::try_from(lifetime).unwrap_or(0).max(1);
        let number = self.board(header.keys.event_board(event), lifetime);
        Some((number, counted.from.0))
    }

    /// Returns whether any event is open.
    fn has_open_event(&self) -> bool {
        let mut events = self.header.definitions.events();
        !self.is_visitor && events.any(|event| event.is_open(self.header.effective))
    }

    /// Returns the events in which an activity counts, and its points in each.
    fn events(
        &self,
        (at, action): (Instant, &str),
        groups: &[String],
        points: i64,
    ) -> Vec<(String, i64)> {
        let events = self.header.definitions.events();
        let open = events.filter(|event| !self.is_visitor && event.is_open(self.header.effective));
        let counting = open.filter_map(|event| {
            let points = event.points(at, action, groups, points)?;
            Some((event.id.to_owned(), points))
        });
        counting.collect()
    }

    /// Returns the numbers of the boards of these events, each with the points on it.
    fn event_boards(
        &mut self,
        action: (Instant, &str),
        groups: &[String],
        points: i64,
    ) -> Vec<i64> {
        let mut boards = Vec::new();
        for (event, points) in self.events(action, groups, points) {
            if let Some((board, _)) = self.event_board(&event) {
                boards.extend([board as i64, points]);
            }
        }
        boards
    }

    /// Returns the number of a place.
    fn place(&mut self, set: &'a BoardSet) -> usize {
        let is_known = |(known, _): &(&BoardSet, Place)| {
            (known.date, &known.periods, &known.groups, &known.event)
                == (set.date, &set.periods, &set.groups, &set.event)
        };
        if let Some(index) = self.places.iter().position(is_known) {
            return index + 1;
        }
        let mut boards = Vec::new();
        if let Some(event) = &set.event {
            boards.extend(self.event_board(event).map(|(board, _)| board));
        }
        let groups = set.groups.iter().map(|group| Some(group.as_str()));
        for group in [None].into_iter().chain(groups) {
            for period in &set.periods {
                boards.push(self.period_board(set, *period, group));
            }
        }
        let all_time = set.periods.iter().position(|period| *period == Period::All);
        let span = Keys::span(set.date);
        let history = self.histories.iter().position(|known| *known == span);
        let day = set.date.number().rem_euclid(Keys::SPAN_DAYS).unsigned_abs();
        let (kinds, groups) = set.render();
        let place = Place {
            all: all_time.and_then(|index| boards.get(index).copied()),
            boards,
            history: FIRST_KEYS + history.unwrap_or_default() + 1,
            day: char::from_digit(day, 36).unwrap_or('0'),
            bit: 1 << day,
            date: set.date.to_string(),
            kinds,
            groups,
        };
        self.places.push((set, place));
        self.places.len()
    }

    fn item(
        &mut self,
        user: &UserOperations,
        operation: &'a Operation,
        set: &'a BoardSet,
    ) -> Item<'a> {
        let rule = &operation.rule;
        let item = Item {
            account: &operation.account,
            field: Keys::record_field(&operation.record),
            mark: &operation.record,
            action: Keys::action_code(&rule.action),
            name: &rule.action,
            at: operation.at.0,
            own: operation.verb == Verb::RefuseOwn || user.has_accounts() && operation.is_own(user),
            place: self.place(set),
            points: rule.points,
            cooldown: rule.cooldown,
            dated: operation.timestamp != TimestampSource::Now,
            queued: operation.timestamp == TimestampSource::Queue,
            ..Item::default()
        };
        match operation.verb {
            _ if rule.action == ADJUST => self.adjustment(operation, set, item),
            Verb::Undo => self.undo(operation, set, item),
            Verb::Count | Verb::CountOld | Verb::RefuseOwn | Verb::Adjust => {
                self.activity(operation, set, item)
            }
        }
    }

    /// Adds what an activity needs.
    fn activity(
        &mut self,
        operation: &'a Operation,
        set: &'a BoardSet,
        item: Item<'a>,
    ) -> Item<'a> {
        let rule = &operation.rule;
        let mut item = Item {
            cap: rule.daily_cap,
            pair_cap: rule.pair_cap,
            old: operation.verb == Verb::CountOld,
            daily: rule.once == Once::Day,
            ..item
        };
        if !item.daily {
            item.record = set.record(operation.at, rule.points);
        }
        if rule.cooldown > 0 {
            item.last = format!("~{}", rule.action);
        }
        item.events = self.event_boards((operation.at, &rule.action), &set.groups, rule.points);
        self.receiver(operation, set, &mut item);
        item
    }

    /// Adds what others receive for an activity.
    fn receiver(&mut self, operation: &Operation, set: &BoardSet, item: &mut Item<'_>) {
        let rule = &operation.rule;
        let letters: String = set.content.iter().map(|period| period.letter()).collect();
        let is_counted = rule.is_counted && rule.action != "follow";
        let gives = match (rule.received, is_counted) {
            (0, false) => String::new(),
            (0, true) => format!(";0{COUNTED};"),
            (points, false) => format!(";{points}{letters};"),
            (points, true) => format!(";{points}{letters}{COUNTED};"),
        };
        let target = operation
            .record
            .get(rule.action.len() + 1..)
            .unwrap_or_default();
        let on = |receiver: &str, target: &str| match receiver == target {
            true => String::new(),
            false => format!(";{receiver}"),
        };
        // The author of the target receives nothing.
        let is_alone = self.is_visitor || rule.received == 0;
        // A visitor has no board: without a target the activity would count nowhere.
        let needs_target = self.is_visitor && is_counted;
        let (claim, pair) = match &operation.receiver {
            Receiver::None => {
                item.registered = needs_target;
                return;
            }
            Receiver::Recorded(received) => {
                item.gives = match received.as_str() {
                    "" => String::new(),
                    received => format!(";{received}"),
                };
                return;
            }
            Receiver::Target {
                id,
                registers,
                claim,
                pair,
                ..
            } => {
                let receiver = member(id);
                item.on = on(&receiver, &member(target));
                item.registered = needs_target;
                if claim.is_none() {
                    item.target = receiver;
                    item.registers = *registers;
                    item.own_counts = rule.own;
                    item.alone = !gives.is_empty() && is_alone;
                }
                (claim, pair)
            }
            Receiver::User { id, claim, pair } => {
                item.on = on(id, target);
                // A followed user may be known by the points of an author.
                if claim.is_none() && rule.received > 0 {
                    item.followed.clone_from(id);
                    let keys = &self.header.keys;
                    let received = set
                        .content
                        .last()
                        .map(|period| keys.received_board(BoardKind::Authors, *period, set.date));
                    let earned = set
                        .periods
                        .last()
                        .map(|period| keys.board(*period, set.date, None));
                    for board in received.into_iter().chain(earned) {
                        let number = self.board(board, 0);
                        item.known.push(number);
                    }
                }
                (claim, pair)
            }
        };
        item.receiver = pair.clone().unwrap_or_default();
        item.gives = match claim {
            Some(numbers) if !gives.is_empty() => {
                let number = numbers.split_once(';').filter(|_| is_alone);
                match number {
                    Some((number, _)) => format!("{gives}{number};"),
                    None => format!("{gives}{numbers}"),
                }
            }
            Some(_) | None => gives,
        };
    }

    /// Adds what the undo of an activity needs: the guess that the record is of this place, if no event is open.
    fn undo(&mut self, operation: &'a Operation, set: &'a BoardSet, item: Item<'a>) -> Item<'a> {
        let audit = operation.audit.as_ref();
        let mut item = Item {
            undo: true,
            reason: audit.map(|audit| audit.reason.clone()).unwrap_or_default(),
            ..item
        };
        let Some(found) = &operation.found else {
            if !self.has_open_event() {
                item.place_text = set.where_short(operation.at);
            }
            return item;
        };
        let at = Instant(found.record.at);
        item.seen.clone_from(&found.text);
        if operation.is_replayed {
            item.place_text = set.where_short(at);
        }
        let points = found.record.amounts.first().copied().unwrap_or_default();
        item.events = self.event_boards((at, &operation.rule.action), &set.groups, points);
        item
    }

    /// Adds what an adjustment or its undo needs.
    fn adjustment(
        &mut self,
        operation: &'a Operation,
        set: &'a BoardSet,
        item: Item<'a>,
    ) -> Item<'a> {
        let id = operation.record.get(ADJUST.len() + 1..).unwrap_or_default();
        let day = set.date.to_string();
        let (kind, name) = match &set.event {
            Some(event) => ("event", event.as_str()),
            None => ("date", day.as_str()),
        };
        let mut logged = [kind, name, "adjustment", id].map(str::to_owned).to_vec();
        let audit = operation.audit.as_ref();
        if let Some(audit) = audit.filter(|audit| !audit.actor.is_empty()) {
            logged.extend(["actor".to_owned(), audit.actor.clone()]);
        }
        let found = operation.found.as_ref();
        let event = set.event.as_deref();
        let event_board = event.and_then(|event| self.event_board(event));
        Item {
            undo: operation.verb == Verb::Undo,
            place_text: set.where_words(),
            seen: found.map(|found| found.text.clone()).unwrap_or_default(),
            event: event.is_some(),
            from: event_board.map(|(_, from)| from),
            replayed: operation.is_replayed,
            reason: audit.map(|audit| audit.reason.clone()).unwrap_or_default(),
            actor: audit.map(|audit| audit.actor.clone()),
            public: audit.is_some_and(|audit| audit.is_public),
            logged,
            ..item
        }
    }

    /// Returns the first and the last number of the boards whose standings the reply has: those of the periods of the first
    /// operation, and those of the events in which it counts by its instant, or which it adjusts; and these events.
    fn ranked(&mut self, first: &Operation) -> ([usize; 2], Vec<String>) {
        let set = &first.boards;
        for period in &set.periods {
            self.period_board(set, *period, None);
        }
        let (at, rule) = (first.at, &first.rule);
        let events = match &found_boards(first).event {
            Some(event) => vec![event.clone()],
            None if rule.action == ADJUST => Vec::new(),
            None => {
                let events = self.events((at, &rule.action), &set.groups, rule.points);
                events.into_iter().map(|(event, _)| event).collect()
            }
        };
        let mut ranked_events = Vec::new();
        for event in events {
            // The event of an adjustment has begun.
            let counted = self.header.definitions.event(&event);
            let has_begun = counted.is_some_and(|counted| counted.from <= at);
            if has_begun && self.event_board(&event).is_some() {
                ranked_events.push(event);
            }
        }
        let before = FIRST_KEYS + self.histories.len();
        ([before + 1, before + self.boards.len()], ranked_events)
    }
}
