//! Writes operations as the keys and arguments of `count.lua`, in the order in which it reads them.

use super::operations::{AuditDetails, IndexedOperation, Operations, Receiver, RuleSnapshot};
use super::record::BoardTargets;
use crate::keys::Keys;
use crate::stream::board_lifetimes;
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::config::{Keep, Once};
use activity_rank_core::event::Definitions;

/// The arguments of a call before its lists.
pub struct CallHeader {
    /// The keys to write.
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
    /// `1` if changes are written to the outbox, else `0`.
    pub journal_flag: &'static str,
    /// Whether there are several shards, so that receivers of points may be on others.
    pub has_shards: bool,
    /// The events.
    pub events: CallEvents,
}

/// The events that the operations of a call may count in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallEvents {
    /// The number of the definitions, or an empty text.
    pub number: String,
    /// The events whose boards the call may change.
    pub open: Vec<String>,
}

impl CallEvents {
    /// Returns the events of definitions that are open at an instant.
    #[must_use]
    pub fn new(definitions: &Definitions, now: Instant) -> Self {
        let open = definitions.events().filter(|event| event.is_open(now));
        Self {
            number: definitions.number().to_owned(),
            open: open.map(|event| event.id.to_owned()).collect(),
        }
    }
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

impl Operations {
    /// Returns the keys and arguments of a call.
    #[must_use]
    pub fn call(&self, header: &CallHeader) -> (Vec<String>, Vec<String>) {
        let mut call = ScriptCall {
            keys: Vec::new(),
            arguments: Vec::new(),
            spans: Vec::new(),
            header,
        };
        let (keys, lifetimes) = (&header.keys, &header.lifetimes);
        call.key(keys.users());
        call.key(keys.index());
        call.key(keys.archived());
        call.key(keys.outbox());
        call.key(keys.tombstones());
        call.key(keys.register());
        call.arg(&header.fingerprint);
        call.arg(header.now.0);
        call.arg(lifetimes.days);
        call.arg(lifetimes.records);
        call.arg(header.effective.0.div_euclid(Date::MILLIS));
        let mut boards = String::new();
        for (period, seconds) in Period::ALL.iter().zip(lifetimes.boards) {
            boards.push(period.letter());
            boards.push_str(&seconds.to_string());
            boards.push(' ');
        }
        call.arg(boards);
        call.arg(u8::from(header.standings));
        call.arg(header.journal_flag);
        call.arg(u8::from(header.has_shards));
        call.arg(&header.events.number);
        call.list(&self.rules, ScriptCall::rule);
        call.list(&self.targets, ScriptCall::targets);
        call.arg(self.users.len());
        for (index, user) in self.users.iter().enumerate() {
            call.user(index, user);
        }
        call.list(&self.days, |call, (user, date)| {
            let id = self.users.get(*user).map_or("", String::as_str);
            call.day(*user, id, *date);
        });
        call.list(&self.operations, |call, operation| {
            let targets = self.targets.get(operation.targets);
            call.operation(operation, targets);
        });
        call.list(self.audit.as_slice(), ScriptCall::audit);
        call.list(&header.events.open, ScriptCall::event);
        (call.keys, call.arguments)
    }
}

/// The keys and arguments of one call while they are collected.
struct ScriptCall<'a> {
    keys: Vec<String>,
    arguments: Vec<String>,
    /// User index and span, and the number of the history key.
    spans: Vec<((usize, i32), usize)>,
    header: &'a CallHeader,
}

impl ScriptCall<'_> {
    fn arg(&mut self, argument: impl ToString) {
        self.arguments.push(argument.to_string());
    }

    /// Adds a key and returns its number, from 1.
    fn key(&mut self, key: String) -> usize {
        self.keys.push(key);
        self.keys.len()
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.arg(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn rule(&mut self, rule: &RuleSnapshot) {
        self.arg(&rule.action);
        self.arg(match rule.once {
            Once::Day => 'd',
            Once::Standing => 's',
        });
        self.arg(rule.points);
        self.arg(rule.daily_cap);
        self.arg(rule.cooldown);
        self.arg(rule.received);
        self.arg(u8::from(rule.own));
    }

    fn targets(&mut self, targets: &BoardTargets) {
        let (letters, named) = targets.render();
        self.arg(targets.date);
        self.arg(targets.date.number());
        self.arg(letters);
        self.arg(named);
        self.arg(self.keys.len() + 1);
        let groups = targets.groups.iter().map(|group| Some(group.as_str()));
        for group in [None].into_iter().chain(groups) {
            for period in &targets.periods {
                self.key(self.header.keys.board(*period, targets.date, group));
            }
        }
        let content = targets.content.iter().map(|period| period.letter());
        self.arg(content.collect::<String>());
    }

    fn user(&mut self, index: usize, user: &str) {
        let records = self.key(self.header.keys.active_records(user));
        let spans = Keys::undo_spans(self.header.effective);
        self.arg(user);
        self.arg(records);
        self.arg(spans.first().copied().unwrap_or_default());
        self.list(&spans, |call, span| {
            let history = call.history(index, user, *span);
            call.arg(history);
        });
    }

    /// Returns the number of the key of a user's history.
    fn history(&mut self, user: usize, id: &str, span: i32) -> usize {
        let known = self.spans.iter().find(|(of, _)| *of == (user, span));
        if let Some((_, history)) = known {
            return *history;
        }
        let history = self.key(self.header.keys.history(span, id));
        self.spans.push(((user, span), history));
        history
    }

    fn day(&mut self, user: usize, id: &str, date: Date) {
        self.arg(user + 1);
        self.arg(date.number());
        let history = self.history(user, id, Keys::span(date));
        self.arg(history);
    }

    fn operation(&mut self, operation: &IndexedOperation, targets: Option<&BoardTargets>) {
        self.arg(operation.rule + 1);
        self.arg(operation.targets + 1);
        self.arg(operation.day + 1);
        self.arg(operation.verb);
        self.arg(&operation.record);
        self.arg(operation.at.0);
        self.arg(operation.timestamp as u8);
        self.arg(operation.receiver.argument());
        // A followed user may be known by the points of an author.
        let is_followed = matches!(operation.receiver, Receiver::User(_));
        let known = targets.filter(|_| is_followed && !self.header.has_shards);
        let known = known.and_then(|targets| Some((*targets.content.last()?, targets.date)));
        let board = known.map(|(period, date)| {
            let keys = &self.header.keys;
            keys.received_board(BoardKind::Authors, period, date)
        });
        let registers = usize::from(operation.registers && !self.header.has_shards);
        let known = board.map_or(registers, |board| self.key(board));
        self.arg(known);
        self.arg(&operation.claim);
    }

    fn event(&mut self, event: &String) {
        let board = self.key(self.header.keys.event_board(event));
        self.arg(event);
        self.arg(board);
    }

    fn audit(&mut self, details: &AuditDetails) {
        let keys = &self.header.keys;
        let (log, subjects) = (keys.audit_log(), keys.audit_subjects());
        let (log, subjects) = (self.key(log), self.key(subjects));
        self.arg(log);
        self.arg(subjects);
        self.arg(self.header.effective.0);
        self.arg(&details.reason);
        self.arg(&details.actor);
    }
}
