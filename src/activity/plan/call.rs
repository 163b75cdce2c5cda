//! Operations as keys and arguments, in the order that the counting script reads them.

use super::operations::{Op, Operations, Place, Worth};
use crate::calendar::{Date, Instant, Period};
use crate::config::{Keep, Once};
use crate::keys::Keys;

/// What a call says before its lists.
pub struct Head {
    /// Where it writes.
    pub keys: Keys,
    /// What this configuration would stamp.
    pub stamp: String,
    /// Now.
    pub now: Instant,
    /// When it is done: now, unless it is done again.
    pub then: Instant,
    /// How long what it writes lives.
    pub lifetimes: Lifetimes,
    /// Whether it replies with standings.
    pub standings: bool,
    /// `1` where it writes what changes to the outbox.
    pub journals: &'static str,
}

/// Lifetimes in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of histories and per-day marks.
    pub days: u64,
    /// Of standing marks.
    pub marks: u64,
    /// Of undo memories.
    pub undos: u64,
    /// Of boards, in the order of [`Period::ALL`]; 0 is for ever.
    pub boards: [u64; 5],
}

impl Lifetimes {
    /// Those of a deployment.
    #[must_use]
    pub fn of(keep: &Keep) -> Self {
        Self {
            days: Keys::SPAN_SECONDS,
            marks: keep.marks_seconds(),
            undos: Keys::SPAN_SECONDS,
            boards: Period::ALL.map(|kind| keep.board_seconds(kind).unwrap_or(0)),
        }
    }
}

impl Operations {
    /// The keys and arguments of the script's call.
    #[must_use]
    pub fn call(&self, head: &Head) -> (Vec<String>, Vec<String>) {
        let mut call = Call {
            keys: Vec::new(),
            arguments: Vec::new(),
            spans: Vec::new(),
            head,
        };
        let (names, lifetimes) = (&head.keys, &head.lifetimes);
        call.key(names.stamp());
        call.key(names.index());
        call.key(names.flags());
        call.key(names.archived());
        call.key(names.outbox());
        call.key(names.tombstones());
        call.say(&head.stamp);
        call.say(head.now.0);
        call.say(lifetimes.days);
        call.say(lifetimes.marks);
        call.say(lifetimes.undos);
        let mut boards = String::new();
        for (kind, seconds) in Period::ALL.iter().zip(lifetimes.boards) {
            boards.push(kind.letter());
            boards.push_str(&seconds.to_string());
            boards.push(' ');
        }
        call.say(boards);
        call.say(u8::from(head.standings));
        call.say(head.journals);
        call.list(&self.rules, Call::rule);
        call.list(&self.places, Call::place);
        call.list(&self.members, Call::member);
        call.list(&self.days, |call, (member, date)| {
            let user = self.members.get(*member).map_or("", String::as_str);
            call.day(*member, user, *date);
        });
        call.list(&self.ops, Call::op);
        call.list(self.reason.as_slice(), Call::audit);
        (call.keys, call.arguments)
    }
}

/// The keys and arguments of one call while they are put together.
struct Call<'a> {
    keys: Vec<String>,
    arguments: Vec<String>,
    /// Member and span of what has keys, and the number of the first.
    spans: Vec<((usize, i32), usize)>,
    head: &'a Head,
}

impl Call<'_> {
    fn say(&mut self, argument: impl ToString) {
        self.arguments.push(argument.to_string());
    }

    /// Names a key and returns its number, from 1.
    fn key(&mut self, key: String) -> usize {
        self.keys.push(key);
        self.keys.len()
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.say(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn rule(&mut self, worth: &Worth) {
        self.say(&worth.action);
        self.say(match worth.once {
            Once::Day => 'd',
            Once::Standing => 's',
        });
        self.say(worth.points);
        self.say(worth.daily_cap);
        self.say(worth.cooldown);
    }

    fn place(&mut self, place: &Place) {
        self.say(place.date);
        self.say(place.date.number());
        self.say(
            place
                .kinds
                .iter()
                .map(|kind| kind.letter())
                .collect::<String>(),
        );
        self.say(place.groups.join(","));
        self.say(self.keys.len() + 1);
        let groups = place.groups.iter().map(|group| Some(group.as_str()));
        for group in [None].into_iter().chain(groups) {
            for kind in &place.kinds {
                self.key(self.head.keys.board(*kind, place.date, group));
            }
        }
    }

    fn member(&mut self, user: &String) {
        self.say(user);
        let marks = self.key(self.head.keys.marks(user));
        self.say(marks);
        self.say(self.keys.len() + 1);
        let memories = self.head.keys.undo_memories(user, self.head.then);
        self.say(memories.len());
        self.keys.extend(memories);
    }

    fn day(&mut self, member: usize, user: &str, date: Date) {
        self.say(member + 1);
        self.say(date.number());
        let span = Keys::span(date);
        let known = self.spans.iter().find(|(of, _)| *of == (member, span));
        let history = match known {
            Some((_, history)) => *history,
            None => {
                let history = self.key(self.head.keys.history(span, user));
                self.key(self.head.keys.day_marks(span, user));
                self.spans.push(((member, span), history));
                history
            }
        };
        self.say(history);
        self.say(history + 1);
    }

    fn op(&mut self, op: &Op) {
        self.say(op.rule + 1);
        self.say(op.place + 1);
        self.say(op.day + 1);
        self.say(op.verb);
        self.say(&op.mark);
        self.say(op.at.0);
        self.say(op.dated as u8);
    }

    fn audit(&mut self, reason: &String) {
        let (entries, who) = (self.head.keys.audit(), self.head.keys.who());
        let keys = (self.key(entries), self.key(who));
        self.say(keys.0);
        self.say(keys.1);
        self.say(self.head.then.0);
        self.say(reason);
    }
}
