//! A plan as keys and arguments, in the order that the counting script reads them.

use super::{Op, Place, Plan, Worth};
use crate::calendar::{Instant, Period};
use crate::config::Once;
use crate::keys::Keys;
use crate::redis::Command;
use crate::scripts;

impl Plan<'_> {
    /// The call of the script, with or without the standings of the first operation's user.
    #[must_use]
    pub fn command(&self, standings: bool) -> Command {
        let Self { config, .. } = self;
        let keep = &config.keep;
        let mut call = Call {
            keys: Vec::new(),
            arguments: Vec::new(),
            names: config.keys(),
        };
        call.key(call.names.stamp());
        call.key(call.names.index());
        call.key(call.names.flags());
        call.key(call.names.archived());
        call.say(config.stamp());
        call.say(self.now.0);
        call.say(Keys::DAY_SECONDS);
        call.say(keep.marks_seconds());
        call.say(Keys::UNDO_SECONDS);
        let seconds = |kind: Period| keep.board_seconds(kind).unwrap_or(0);
        let lifetimes = Period::ALL.map(|kind| format!("{}{}", kind.letter(), seconds(kind)));
        call.say(lifetimes.join(" "));
        call.say(u8::from(standings));
        call.list(&self.rules, Call::rule);
        call.list(&self.places, Call::place);
        call.list(&self.members, |call, user| call.member(user, self.now));
        call.list(&self.days, |call, (member, date)| {
            let user = self.members.get(*member).map_or("", String::as_str);
            call.day(*member, user, &date.to_string());
        });
        call.list(&self.ops, Call::op);
        call.list(self.reason.as_slice(), Call::audit);
        let command = Command::script(&scripts::COUNT, &call.keys);
        call.arguments
            .iter()
            .fold(command, |command, argument| command.arg(argument))
    }
}

/// The keys and arguments of one call while they are put together.
struct Call {
    keys: Vec<String>,
    arguments: Vec<String>,
    names: Keys,
}

impl Call {
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
                self.key(self.names.board(*kind, place.date, group));
            }
        }
    }

    fn member(&mut self, user: &str, now: Instant) {
        self.say(user);
        let marks = self.key(self.names.marks(user));
        self.say(marks);
        self.say(self.keys.len() + 1);
        let memories = self.names.undo_memories(user, now);
        self.say(memories.len());
        self.keys.extend(memories);
    }

    fn day(&mut self, member: usize, user: &str, date: &str) {
        self.say(member + 1);
        self.say(date);
        let history = self.key(self.names.history(date, user));
        let marks = self.key(self.names.day_marks(date, user));
        self.say(history);
        self.say(marks);
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
        let (entries, who) = (self.names.audit(), self.names.who());
        let keys = (self.key(entries), self.key(who));
        self.say(keys.0);
        self.say(keys.1);
        self.say(reason);
    }
}
