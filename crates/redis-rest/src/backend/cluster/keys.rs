//! Finds the keys among the arguments of a command, and their hash slots.

use crc16::{State, XMODEM};

use crate::command::Command;

/// Number of hash slots of a cluster.
pub(super) const SLOTS: u16 = 16_384;

/// The hash slots of the keys of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeySlots {
    /// The command has no keys.
    None,
    /// All keys are in this slot.
    One(u16),
    /// The keys are in several slots.
    Several,
}

impl KeySlots {
    /// Returns the slots of the keys of `command`, whose name in upper case is `name`.
    pub(super) fn of(name: &str, command: &Command) -> Self {
        let positions = KeyPositions::of(name, command);
        let mut keys = command
            .arguments()
            .enumerate()
            .filter(|(index, _)| positions.contain(*index))
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

/// Returns the hash slot of a key. If the key has a hash tag, only the tag is hashed: the text between
/// the first `{` and the next `}`, unless it is empty.
pub(super) fn slot(key: &[u8]) -> u16 {
    let tag = || {
        let open = key.iter().position(|byte| *byte == b'{')?;
        let (_, rest) = key.split_at_checked(open + 1)?;
        let close = rest.iter().position(|byte| *byte == b'}')?;
        rest.get(..close).filter(|tag| !tag.is_empty())
    };
    State::<XMODEM>::calculate(tag().unwrap_or(key)) % SLOTS
}

/// The indexes of the keys among the arguments of a command. Index 0 is the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeyPositions {
    first: usize,
    /// The last index that may be a key.
    last: usize,
    step: usize,
    /// The index of one more key outside the range, or 0.
    extra: usize,
}

impl KeyPositions {
    const NONE: Self = Self {
        first: 1,
        last: 0,
        step: 1,
        extra: 0,
    };

    fn contain(self, index: usize) -> bool {
        let in_range = index >= self.first
            && index <= self.last
            && (index - self.first).is_multiple_of(self.step);
        in_range || (self.extra > 0 && index == self.extra)
    }

    const fn range(first: usize, last: usize) -> Self {
        Self {
            first,
            last,
            step: 1,
            extra: 0,
        }
    }

    /// Returns the positions of the keys of `command`, whose name in upper case is `name`.
    ///
    /// The first argument of an unknown command counts as its key. If that is wrong, the node
    /// redirects the command.
    fn of(name: &str, command: &Command) -> Self {
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
            "OBJECT" | "XGROUP" | "XINFO" if command.argument_is(1, "HELP") => Self::NONE,
            "OBJECT" | "XGROUP" | "XINFO" => Self::range(2, 2),
            "MEMORY" if command.argument_is(1, "USAGE") => Self::range(2, 2),
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
            "SORT" => with_destination(command, &["STORE"]),
            "GEORADIUS" | "GEORADIUSBYMEMBER" => with_destination(command, &["STORE", "STOREDIST"]),
            _ => Self::range(1, 1),
        }
    }
}

/// Returns the positions of keys that follow their count at `index`, and of the key at `extra`.
///
/// An invalid count counts as 0, and Redis then replies with an error.
fn counted(command: &Command, index: usize, extra: usize) -> KeyPositions {
    let count = command
        .argument(index)
        .and_then(|count| str::from_utf8(count).ok())
        .and_then(|count| count.parse::<usize>().ok())
        .unwrap_or(0);
    KeyPositions {
        extra,
        ..KeyPositions::range(index + 1, index.saturating_add(count))
    }
}

/// Returns the positions of stream keys: the first half of the arguments after STREAMS.
fn streams(command: &Command, last: usize) -> KeyPositions {
    // The group and consumer names after GROUP may be any word, also STREAMS.
    let first = if command.argument_is(1, "GROUP") {
        4
    } else {
        1
    };
    let streams = (first..=last).find(|index| command.argument_is(*index, "STREAMS"));
    streams.map_or(KeyPositions::NONE, |streams| {
        KeyPositions::range(streams + 1, streams + (last - streams) / 2)
    })
}

/// Returns the positions of the first argument, and of the destination key after the last of `options`.
fn with_destination(command: &Command, options: &[&str]) -> KeyPositions {
    let extra = command
        .arguments()
        .enumerate()
        .skip(2)
        .filter(|(_, argument)| {
            options
                .iter()
                .any(|option| argument.eq_ignore_ascii_case(option.as_bytes()))
        })
        .last()
        .map_or(0, |(index, _)| index + 1);
    KeyPositions {
        extra,
        ..KeyPositions::range(1, 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KeyPositions, KeySlots, SLOTS, slot};
    use crate::command::Command;

    fn command(line: &str) -> Command {
        Command::of(line.split(' ').map(str::as_bytes))
    }

    fn positions(line: &str) -> Vec<usize> {
        let command = command(line);
        let positions = KeyPositions::of(&command.name(), &command);
        (0..command.arguments().len())
            .filter(|index| positions.contain(*index))
            .collect()
    }

    #[test]
    fn slots_match_redis() {
        // From `CLUSTER KEYSLOT` of Redis 7.0.
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

    /// The README recommends a number of shards from this distribution.
    #[test]
    fn shard_distribution_matches_readme() {
        let distribution = |shards: u16, primaries: u16| {
            let mut counts = vec![0; usize::from(primaries)];
            for shard in 0..shards {
                let slot = u32::from(slot(format!("{{ar:{shard}}}").as_bytes()));
                let primary = slot * u32::from(primaries) / u32::from(SLOTS);
                if let Some(count) = counts.get_mut(primary as usize) {
                    *count += 1;
                }
            }
            counts.sort_unstable();
            counts
        };
        assert_eq!(distribution(8, 3), [2, 3, 3]);
        assert_eq!(distribution(8, 4), [2, 2, 2, 2]);
        assert_eq!(distribution(8, 6), [0, 1, 1, 2, 2, 2]);
        assert_eq!(distribution(8, 8), [0, 0, 0, 0, 2, 2, 2, 2]);
        assert_eq!(distribution(64, 8), [7, 7, 8, 8, 8, 8, 9, 9]);
    }

    /// Each line of the file is from `COMMAND` of Redis 7.0.15: name, first key, last key and step. A
    /// last key of -1 is the last argument, -2 the one before.
    #[test]
    fn key_positions_match_redis() {
        let mut checked = 0;
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
                .filter(|index| *index > 0)
                .map(isize::unsigned_abs)
                .collect();
            assert_eq!(positions(&sent), expected, "{sent}");
            checked += 1;
        }
        assert_eq!(checked, 326);
    }

    #[test]
    fn movable_keys_are_found() {
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
            assert_eq!(positions(line), expected, "{line}");
        }
    }

    #[test]
    fn keys_of_one_or_several_slots_are_detected() {
        for (line, expected) in [
            ("GET foo", KeySlots::One(12182)),
            ("MGET foo {foo}1 a{foo}", KeySlots::One(12182)),
            ("MGET foo bar", KeySlots::Several),
            ("MSET foo bar {foo}1 foo", KeySlots::One(12182)),
            ("ZUNIONSTORE bar 1 foo", KeySlots::Several),
            ("PING foo", KeySlots::None),
            ("GET", KeySlots::None),
        ] {
            let command = command(line);
            assert_eq!(KeySlots::of(&command.name(), &command), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn slot_depends_only_on_hash_tag(tag in "[^{}]{1,9}", before in "[^{}]{0,9}", after: Vec<u8>) {
            let key = [before.as_bytes(), b"{", tag.as_bytes(), b"}", &after].concat();
            prop_assert_eq!(slot(&key), slot(tag.as_bytes()));
            prop_assert!(slot(&after) < SLOTS);
        }

        #[test]
        fn any_command_is_accepted(arguments in proptest::collection::vec("(?i)(EVAL|XREAD|STREAMS|SORT|STORE|GROUP|ZUNIONSTORE|[0-9]{1,20}|[a-z]{0,4})", 1..9)) {
            let command = Command::of(arguments.iter().map(String::as_bytes));
            let _ = KeySlots::of(&command.name(), &command);
        }
    }
}
