//! Which arguments of a command are keys, and in which slot they lie.

use crc16::{State, XMODEM};

use crate::command::Command;

/// Slots of a cluster.
pub(super) const SLOTS: u16 = 16_384;

/// Where the keys of one command lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// It has none.
    None,
    /// All in this slot.
    One(u16),
    /// In several slots.
    Several,
}

impl Keys {
    /// The name is in upper case, here and below.
    pub(super) fn of(name: &str, command: &Command) -> Self {
        let places = Places::of(name, command);
        let mut keys = command
            .arguments()
            .enumerate()
            .filter(|(place, _)| places.hold(*place))
            .map(|(_, key)| slot(key));
        let Some(first) = keys.next() else {
            return Self::None;
        };
        if keys.all(|other| other == first) {
            Self::One(first)
        } else {
            Self::Several
        }
    }
}

/// The slot of a key: of what stands between its first `{` and the next `}`, if anything does.
pub(super) fn slot(key: &[u8]) -> u16 {
    let tag = || {
        let open = key.iter().position(|byte| *byte == b'{')?;
        let (_, rest) = key.split_at_checked(open + 1)?;
        let close = rest.iter().position(|byte| *byte == b'}')?;
        rest.get(..close).filter(|tag| !tag.is_empty())
    };
    State::<XMODEM>::calculate(tag().unwrap_or(key)) % SLOTS
}

/// The places of keys among the arguments; the name is at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    first: usize,
    /// The last place that may hold one.
    last: usize,
    step: usize,
    /// One more, apart from the others; 0 where there is none.
    also: usize,
}

impl Places {
    const NONE: Self = Self {
        first: 1,
        last: 0,
        step: 1,
        also: 0,
    };

    fn hold(self, place: usize) -> bool {
        let in_range = place >= self.first
            && place <= self.last
            && (place - self.first).is_multiple_of(self.step);
        in_range || (self.also > 0 && place == self.also)
    }

    const fn range(first: usize, last: usize) -> Self {
        Self {
            first,
            last,
            step: 1,
            also: 0,
        }
    }

    /// A command nobody here knows is taken to have its first argument as its key, as most have;
    /// where that is wrong, the cluster says which node to ask.
    pub(super) fn of(name: &str, command: &Command) -> Self {
        let last = command.arguments().len().saturating_sub(1);
        match name {
            "ACL" | "ASKING" | "AUTH" | "BGREWRITEAOF" | "BGSAVE" | "CLIENT" | "CLUSTER"
            | "COMMAND" | "CONFIG" | "DBSIZE" | "DEBUG" | "DISCARD" | "ECHO" | "EXEC"
            | "FAILOVER" | "FLUSHALL" | "FLUSHDB" | "FUNCTION" | "HELLO" | "INFO" | "KEYS"
            | "LASTSAVE" | "LATENCY" | "LOLWUT" | "MODULE" | "MONITOR" | "MULTI" | "PFSELFTEST"
            | "PING" | "PSUBSCRIBE" | "PSYNC" | "PUBLISH" | "PUBSUB" | "PUNSUBSCRIBE" | "QUIT"
            | "RANDOMKEY" | "READONLY" | "READWRITE" | "REPLCONF" | "REPLICAOF" | "RESET"
            | "ROLE" | "SAVE" | "SCAN" | "SCRIPT" | "SELECT" | "SHUTDOWN" | "SLAVEOF"
            | "SLOWLOG" | "SUBSCRIBE" | "SWAPDB" | "SYNC" | "TIME" | "UNSUBSCRIBE" | "UNWATCH"
            | "WAIT" | "WAITAOF" => Self::NONE,
            "DEL" | "EXISTS" | "MGET" | "PFCOUNT" | "PFMERGE" | "SDIFF" | "SDIFFSTORE"
            | "SINTER" | "SINTERSTORE" | "SSUBSCRIBE" | "SUNION" | "SUNIONSTORE"
            | "SUNSUBSCRIBE" | "TOUCH" | "UNLINK" | "WATCH" => Self::range(1, last),
            "BLPOP" | "BRPOP" | "BZPOPMAX" | "BZPOPMIN" => Self::range(1, last.saturating_sub(1)),
            "MSET" | "MSETNX" => Self {
                step: 2,
                ..Self::range(1, last)
            },
            "BLMOVE" | "BRPOPLPUSH" | "COPY" | "GEOSEARCHSTORE" | "LCS" | "LMOVE" | "RENAME"
            | "RENAMENX" | "RPOPLPUSH" | "SMOVE" | "ZRANGESTORE" => Self::range(1, 2),
            "BITOP" => Self::range(2, last),
            "PFDEBUG" => Self::range(2, 2),
            "OBJECT" | "XGROUP" | "XINFO" if word(command, 1, "HELP") => Self::NONE,
            "OBJECT" | "XGROUP" | "XINFO" => Self::range(2, 2),
            "MEMORY" if word(command, 1, "USAGE") => Self::range(2, 2),
            "MEMORY" => Self::NONE,
            "EVAL" | "EVALSHA" | "EVALSHA_RO" | "EVAL_RO" | "FCALL" | "FCALL_RO" => {
                counted(command, 2, 0)
            }
            "LMPOP" | "SINTERCARD" | "ZDIFF" | "ZINTER" | "ZINTERCARD" | "ZMPOP" | "ZUNION" => {
                counted(command, 1, 0)
            }
            "BLMPOP" | "BZMPOP" => counted(command, 2, 0),
            "ZDIFFSTORE" | "ZINTERSTORE" | "ZUNIONSTORE" => counted(command, 2, 1),
            "XREAD" | "XREADGROUP" => streams(command, last),
            "SORT" => stored(command, &["STORE"]),
            "GEORADIUS" | "GEORADIUSBYMEMBER" => stored(command, &["STORE", "STOREDIST"]),
            _ => Self::range(1, 1),
        }
    }
}

fn word(command: &Command, place: usize, word: &str) -> bool {
    command
        .argument(place)
        .is_some_and(|argument| argument.eq_ignore_ascii_case(word.as_bytes()))
}

/// Keys whose number stands before them. Where it is no number, Redis says so.
fn counted(command: &Command, place: usize, also: usize) -> Places {
    let count = command
        .argument(place)
        .and_then(|count| str::from_utf8(count).ok())
        .and_then(|count| count.parse::<usize>().ok())
        .unwrap_or(0);
    Places {
        also,
        ..Places::range(place + 1, place.saturating_add(count))
    }
}

/// Half of what follows STREAMS is keys, the other half ids.
fn streams(command: &Command, last: usize) -> Places {
    // GROUP takes two names, which may be any word.
    let names = if word(command, 1, "GROUP") { 3 } else { 0 };
    let streams = (1 + names..=last).find(|place| word(command, *place, "STREAMS"));
    streams.map_or(Places::NONE, |streams| {
        Places::range(streams + 1, streams + (last - streams) / 2)
    })
}

/// The first argument, and what follows the last of these words.
fn stored(command: &Command, words: &[&str]) -> Places {
    let also = command
        .arguments()
        .enumerate()
        .skip(2)
        .filter(|(_, argument)| {
            words
                .iter()
                .any(|word| argument.eq_ignore_ascii_case(word.as_bytes()))
        })
        .last()
        .map_or(0, |(place, _)| place + 1);
    Places {
        also,
        ..Places::range(1, 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Keys, Places, SLOTS, slot};
    use crate::command::Command;

    fn command(line: &str) -> Command {
        Command::of(line.split(' ').map(str::as_bytes))
    }

    fn places(line: &str) -> Vec<usize> {
        let command = command(line);
        let places = Places::of(&command.name(), &command);
        (0..command.arguments().len())
            .filter(|place| places.hold(*place))
            .collect()
    }

    #[test]
    fn slots_are_those_of_the_specification() {
        // What `CLUSTER KEYSLOT` of Redis 7.0 says.
        for (key, expected) in [
            ("123456789", 12739),
            ("foo", 12182),
            ("{foo}.bar", 12182),
            ("a{foo}b{bar}", 12182),
            ("foo{}{bar}", 8363),
            ("", 0),
        ] {
            assert_eq!(slot(key.as_bytes()), expected, "{key}");
        }
        assert_eq!(slot(b"{}"), slot(b"{}"));
        assert_eq!(slot(b"a{{b}c}"), slot(b"{b"));
    }

    /// The README tells how many shards to have.
    #[test]
    fn shards_with_names_so_alike_lie_as_the_readme_says() {
        let lie = |shards: u16, primaries: u16| {
            let mut each = vec![0; usize::from(primaries)];
            for shard in 0..shards {
                let slot = u32::from(slot(format!("{{ar:{shard}}}").as_bytes()));
                let place = slot * u32::from(primaries) / u32::from(SLOTS);
                if let Some(on) = usize::try_from(place).ok().and_then(|at| each.get_mut(at)) {
                    *on += 1;
                }
            }
            each.sort_unstable();
            each
        };
        assert_eq!(lie(8, 3), [2, 3, 3]);
        assert_eq!(lie(8, 4), [2, 2, 2, 2]);
        assert_eq!(lie(8, 6), [0, 1, 1, 2, 2, 2]);
        assert_eq!(lie(8, 8), [0, 0, 0, 0, 2, 2, 2, 2]);
        assert_eq!(lie(64, 8), [7, 7, 8, 8, 8, 8, 9, 9]);
    }

    /// Each line as `COMMAND` of Redis 7.0.15 tells it: name, first and last key, step; `-1` is the
    /// last argument, `-2` the one before.
    #[test]
    fn keys_stand_where_redis_says() {
        let mut known = 0;
        for line in include_str!("commands.txt").lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let numbers: Vec<isize> = words.filter_map(|word| word.parse().ok()).collect();
            let &[first, last, step] = numbers.as_slice() else {
                assert!(line.starts_with('#'), "{line}");
                continue;
            };
            let sent = format!("{} k1 k2 k3 k4 k5 k6", name.replace('|', " "));
            let count = sent.split(' ').count().cast_signed();
            let last = if last < 0 { count + last } else { last };
            let expected: Vec<usize> = (first..=last)
                .step_by(step.max(1).unsigned_abs())
                .filter(|place| *place > 0)
                .map(isize::unsigned_abs)
                .collect();
            assert_eq!(places(&sent), expected, "{sent}");
            known += 1;
        }
        assert_eq!(known, 326);
    }

    #[test]
    fn keys_are_found_behind_numbers_and_words() {
        for (line, expected) in [
            ("EVAL text 2 a b c", &[3, 4][..]),
            ("evalsha sha 0 a", &[]),
            ("FCALL f 1 a b", &[3]),
            ("EVAL text x a", &[]),
            ("EVAL text -1 a", &[]),
            ("EVAL text 18446744073709551615 a", &[3]),
            ("EVAL", &[]),
            ("ZUNIONSTORE to 2 a b WEIGHTS 1 2", &[1, 3, 4]),
            ("ZUNION 2 a b WITHSCORES", &[2, 3]),
            ("LMPOP 2 a b LEFT", &[2, 3]),
            ("SINTERCARD 1 a LIMIT 1", &[2]),
            ("XREAD COUNT 2 STREAMS a b 0 0", &[4, 5]),
            ("XREADGROUP GROUP STREAMS me STREAMS a >", &[5]),
            ("XREAD COUNT 2", &[]),
            ("SORT a BY nosort STORE b", &[1, 5]),
            ("SORT a", &[1]),
            ("SORT", &[]),
            ("GEORADIUS a 1 2 3 m STOREDIST b", &[1, 7]),
            ("MEMORY usage a", &[2]),
            ("MEMORY STATS", &[]),
            ("JSON.GET a", &[1]),
        ] {
            assert_eq!(places(line), expected, "{line}");
        }
    }

    #[test]
    fn keys_lie_in_one_slot_or_in_several() {
        for (line, expected) in [
            ("GET foo", Keys::One(12182)),
            ("MGET foo {foo}1 a{foo}", Keys::One(12182)),
            ("MGET foo bar", Keys::Several),
            ("MSET foo bar {foo}1 foo", Keys::One(12182)),
            ("ZUNIONSTORE bar 1 foo", Keys::Several),
            ("PING foo", Keys::None),
            ("GET", Keys::None),
        ] {
            let command = command(line);
            assert_eq!(Keys::of(&command.name(), &command), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_key_has_a_slot_that_its_tag_alone_decides(tag in "[^{}]{1,9}", before in "[^{}]{0,9}", after: Vec<u8>) {
            let key = [before.as_bytes(), b"{", tag.as_bytes(), b"}", &after].concat();
            prop_assert_eq!(slot(&key), slot(tag.as_bytes()));
            prop_assert!(slot(&after) < SLOTS);
        }

        #[test]
        fn any_command_has_its_keys_among_its_arguments(arguments in proptest::collection::vec("(?i)(EVAL|XREAD|STREAMS|SORT|STORE|GROUP|ZUNIONSTORE|[0-9]{1,20}|[a-z]{0,4})", 1..9)) {
            let command = Command::of(arguments.iter().map(String::as_bytes));
            let _ = Keys::of(&command.name(), &command);
        }
    }
}
