//! Routes a command to nodes, so that the cluster behaves like a single Redis server.

use super::{
    keys::{self, KeySlots},
    merge::Merge,
};
use crate::{command::Command, error::GatewayError};

/// The destination of a command.
pub(super) enum Route {
    /// The primary that serves this slot.
    Slot(u16),
    /// Preferably the primary that serves this slot. Any primary could run the command.
    PreferSlot(u16),
    /// Any primary.
    Any,
    /// All primaries.
    AllPrimaries(Merge),
    /// One command for each slot.
    Split(Vec<(u16, Command)>, Merge),
    /// The primaries one after the other, as the cursor of SCAN says.
    Scan,
}

impl Route {
    /// Returns the route of `command`, whose name in upper case is `name`.
    ///
    /// # Errors
    ///
    /// Returns CROSSSLOT if the keys are in several slots and the command cannot be split.
    pub(super) fn of(name: &str, command: &Command) -> Result<Self, GatewayError> {
        match KeySlots::of(name, command) {
            KeySlots::One(slot) => Ok(Self::Slot(slot)),
            KeySlots::Several => match name {
                "DEL" | "EXISTS" | "TOUCH" | "UNLINK" => Ok(split(command, |_indexes| Merge::Sum)),
                "MGET" => Ok(split(command, Merge::Scatter)),
                _ => Err(cross_slot()),
            },
            KeySlots::None => Ok(without_keys(name, command)),
        }
    }
}

/// Returns the error of Redis for a command with keys in several slots.
pub(super) fn cross_slot() -> GatewayError {
    GatewayError::Refused("CROSSSLOT Keys in request don't hash to the same slot".to_owned())
}

fn without_keys(name: &str, command: &Command) -> Route {
    let subcommand =
        String::from_utf8_lossy(command.argument(1).unwrap_or_default()).to_ascii_uppercase();
    match (name, subcommand.as_str()) {
        ("DBSIZE", _) | ("PUBSUB", "NUMPAT") => Route::AllPrimaries(Merge::Sum),
        ("KEYS", _) | ("PUBSUB", "CHANNELS" | "SHARDCHANNELS") => {
            Route::AllPrimaries(Merge::Concat)
        }
        ("PUBSUB", "NUMSUB" | "SHARDNUMSUB") => Route::AllPrimaries(Merge::SumCounts),
        ("RANDOMKEY", _) => Route::AllPrimaries(Merge::FirstNonNil),
        ("FLUSHALL" | "FLUSHDB", _)
        | ("SCRIPT", "LOAD" | "FLUSH")
        | ("FUNCTION", "LOAD" | "DELETE" | "FLUSH" | "RESTORE")
        | ("CONFIG", "SET" | "RESETSTAT" | "REWRITE") => Route::AllPrimaries(Merge::First),
        ("SCRIPT" | "FUNCTION", "KILL") => Route::AllPrimaries(Merge::AnySuccess),
        ("SCRIPT", "EXISTS") => Route::AllPrimaries(Merge::Min),
        ("SCAN", _) => Route::Scan,
        // A message published on any node reaches every subscriber. Subscribers of a channel connect
        // to the node of its slot, so that the reply there counts all of them.
        ("PUBLISH", _) => command
            .argument(1)
            .map_or(Route::Any, |channel| Route::PreferSlot(keys::slot(channel))),
        _ => Route::Any,
    }
}

/// Splits a command into one per slot, with the keys in their original order. `merge` receives the
/// indexes of the keys of each part.
fn split(command: &Command, merge: impl FnOnce(Vec<Vec<usize>>) -> Merge) -> Route {
    let name = command.argument(0).unwrap_or_default();
    let mut parts: Vec<(u16, Command)> = Vec::new();
    let mut indexes: Vec<Vec<usize>> = Vec::new();
    for (index, key) in command.arguments().skip(1).enumerate() {
        let slot = keys::slot(key);
        let existing = parts
            .iter_mut()
            .zip(&mut indexes)
            .find(|((part_slot, _), _)| *part_slot == slot);
        match existing {
            Some(((_, part), part_indexes)) => {
                part.push(key);
                part_indexes.push(index);
            }
            None => {
                parts.push((slot, Command::of([name, key])));
                indexes.push(vec![index]);
            }
        }
    }
    Route::Split(parts, merge(indexes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Route, cross_slot};
    use crate::{
        backend::cluster::{keys, merge::Merge},
        command::Command,
    };

    fn route(line: &str) -> String {
        let command = Command::of(line.split(' ').map(str::as_bytes));
        match Route::of(&command.name(), &command) {
            Ok(Route::Split(parts, merge)) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|(slot, part)| {
                        let words: Vec<_> = part.arguments().map(String::from_utf8_lossy).collect();
                        format!("{slot} {}", words.join(" "))
                    })
                    .collect();
                format!("{} {merge:?}", parts.join(", "))
            }
            Ok(Route::Slot(slot)) => format!("slot {slot}"),
            Ok(Route::PreferSlot(slot)) => format!("prefer slot {slot}"),
            Ok(Route::Any) => "any".to_owned(),
            Ok(Route::AllPrimaries(merge)) => format!("all {merge:?}"),
            Ok(Route::Scan) => "scan".to_owned(),
            Err(error) => error.message().into_owned(),
        }
    }

    #[test]
    fn commands_are_routed_by_keys() {
        for (line, expected) in [
            ("GET foo", "slot 12182"),
            ("DEL foo {foo}2", "slot 12182"),
            (
                "DEL foo bar {foo}2",
                "12182 DEL foo {foo}2, 5061 DEL bar Sum",
            ),
            (
                "mget foo bar foo",
                "12182 mget foo foo, 5061 mget bar Scatter([[0, 2], [1]])",
            ),
            ("PUBLISH foo text", "prefer slot 12182"),
            ("PING", "any"),
            ("EVAL text 0", "any"),
            ("INFO", "any"),
            ("CONFIG GET maxmemory", "any"),
            ("config set maxmemory 1", "all First"),
            ("SCRIPT LOAD text", "all First"),
            ("SCRIPT EXISTS sha", "all Min"),
            ("FLUSHDB", "all First"),
            ("SCAN 0", "scan"),
        ] {
            assert_eq!(route(line), expected, "{line}");
        }
    }

    #[test]
    fn atomic_commands_are_never_split() {
        for line in [
            "MSET foo 1 bar 2",
            "RENAME foo bar",
            "EVAL text 2 foo bar",
            "SUNION foo bar",
        ] {
            assert_eq!(route(line), cross_slot().message(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn parts_contain_every_key_once(names in proptest::collection::vec("[a-z]{1,3}", 1..40)) {
            let command = Command::of(std::iter::once(&b"MGET"[..]).chain(names.iter().map(String::as_bytes)));
            let Ok(Route::Split(parts, Merge::Scatter(indexes))) = Route::of("MGET", &command) else {
                return Ok(());
            };
            let mut found = vec![None; names.len()];
            for ((slot, part), indexes) in parts.iter().zip(&indexes) {
                prop_assert_eq!(part.arguments().len(), indexes.len() + 1);
                for (key, index) in part.arguments().skip(1).zip(indexes) {
                    prop_assert_eq!(keys::slot(key), *slot);
                    if let Some(found) = found.get_mut(*index) {
                        prop_assert!(found.is_none());
                        *found = Some(key.to_vec());
                    }
                }
            }
            let names: Vec<_> = names.iter().map(|name| Some(name.clone().into_bytes())).collect();
            prop_assert_eq!(found, names);
        }
    }
}
