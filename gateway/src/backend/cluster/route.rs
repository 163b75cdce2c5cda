//! Where a command goes in a cluster, so that it does what it does on one Redis.

use super::{
    join::Join,
    keys::{self, Keys},
};
use crate::{command::Command, error::Fault};

/// What becomes of one command.
pub(super) enum Route {
    /// To the primary of this slot.
    Slot(u16),
    /// To the primary of this slot rather than another, though any could do it.
    Near(u16),
    /// To one primary, whichever.
    Any,
    /// To every primary.
    All(Join),
    /// In pieces, each to the primary of its slot.
    Pieces(Vec<(u16, Command)>, Join),
    /// To the primaries one after the other, as its cursor says.
    Scan,
}

impl Route {
    /// The name is in upper case, here and below.
    pub(super) fn of(name: &str, command: &Command) -> Result<Self, Fault> {
        match Keys::of(name, command) {
            Keys::One(slot) => Ok(Self::Slot(slot)),
            Keys::Several => match name {
                "DEL" | "EXISTS" | "TOUCH" | "UNLINK" => Ok(pieces(command, |_places| Join::Sum)),
                "MGET" => Ok(pieces(command, Join::Places)),
                _ => Err(cross_slot()),
            },
            Keys::None => Ok(without_keys(name, command)),
        }
    }
}

/// What Redis says when one command has keys in several slots.
pub(super) fn cross_slot() -> Fault {
    Fault::Refused("CROSSSLOT Keys in request don't hash to the same slot".to_owned())
}

fn without_keys(name: &str, command: &Command) -> Route {
    let sub = String::from_utf8_lossy(command.argument(1).unwrap_or_default()).to_ascii_uppercase();
    match (name, sub.as_str()) {
        ("DBSIZE", _) | ("PUBSUB", "NUMPAT") => Route::All(Join::Sum),
        ("KEYS", _) | ("PUBSUB", "CHANNELS" | "SHARDCHANNELS") => Route::All(Join::Concat),
        ("PUBSUB", "NUMSUB" | "SHARDNUMSUB") => Route::All(Join::Counts),
        ("RANDOMKEY", _) => Route::All(Join::Some),
        ("FLUSHALL" | "FLUSHDB", _)
        | ("SCRIPT", "LOAD" | "FLUSH")
        | ("FUNCTION", "LOAD" | "DELETE" | "FLUSH" | "RESTORE")
        | ("CONFIG", "SET" | "RESETSTAT" | "REWRITE") => Route::All(Join::First),
        ("SCRIPT" | "FUNCTION", "KILL") => Route::All(Join::Success),
        ("SCRIPT", "EXISTS") => Route::All(Join::Every),
        ("SCAN", _) => Route::Scan,
        // Published anywhere it reaches every subscriber. Those of one channel listen at the node
        // of its slot: there the answer counts all of them.
        ("PUBLISH", _) => command
            .argument(1)
            .map_or(Route::Any, |channel| Route::Near(keys::slot(channel))),
        _ => Route::Any,
    }
}

/// One command for each slot, with its keys in their order, and how the replies become one.
fn pieces(command: &Command, join: impl FnOnce(Vec<Vec<usize>>) -> Join) -> Route {
    let name = command.argument(0).unwrap_or_default();
    let mut slots: Vec<u16> = Vec::new();
    let mut pieces: Vec<(u16, Command)> = Vec::new();
    let mut places: Vec<Vec<usize>> = Vec::new();
    for (place, key) in command.arguments().skip(1).enumerate() {
        let slot = keys::slot(key);
        let known = slots.iter().position(|known| *known == slot);
        match known.and_then(|known| Some((pieces.get_mut(known)?, places.get_mut(known)?))) {
            Some((piece, of_piece)) => {
                piece.1.push(key);
                of_piece.push(place);
            }
            None => {
                slots.push(slot);
                pieces.push((slot, Command::of([name, key])));
                places.push(vec![place]);
            }
        }
    }
    Route::Pieces(pieces, join(places))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Route, cross_slot};
    use crate::{
        backend::cluster::{join::Join, keys},
        command::Command,
    };

    fn route(line: &str) -> String {
        let command = Command::of(line.split(' ').map(str::as_bytes));
        match Route::of(&command.name(), &command) {
            Ok(Route::Pieces(pieces, join)) => {
                let pieces: Vec<String> = pieces
                    .iter()
                    .map(|(slot, piece)| {
                        let words: Vec<_> =
                            piece.arguments().map(String::from_utf8_lossy).collect();
                        format!("{slot} {}", words.join(" "))
                    })
                    .collect();
                format!("{} {join:?}", pieces.join(", "))
            }
            Ok(Route::Slot(slot)) => format!("slot {slot}"),
            Ok(Route::Near(slot)) => format!("near {slot}"),
            Ok(Route::Any) => "any".to_owned(),
            Ok(Route::All(join)) => format!("all {join:?}"),
            Ok(Route::Scan) => "scan".to_owned(),
            Err(fault) => fault.text().into_owned(),
        }
    }

    #[test]
    fn commands_go_where_their_keys_are() {
        for (line, expected) in [
            ("GET foo", "slot 12182"),
            ("DEL foo {foo}2", "slot 12182"),
            (
                "DEL foo bar {foo}2",
                "12182 DEL foo {foo}2, 5061 DEL bar Sum",
            ),
            (
                "mget foo bar foo",
                "12182 mget foo foo, 5061 mget bar Places([[0, 2], [1]])",
            ),
            ("PUBLISH foo text", "near 12182"),
            ("PING", "any"),
            ("EVAL text 0", "any"),
            ("INFO", "any"),
            ("CONFIG GET maxmemory", "any"),
            ("config set maxmemory 1", "all First"),
            ("SCRIPT LOAD text", "all First"),
            ("SCRIPT EXISTS sha", "all Every"),
            ("FLUSHDB", "all First"),
            ("SCAN 0", "scan"),
        ] {
            assert_eq!(route(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_one_step_on_one_redis_is_never_cut_in_pieces() {
        for line in [
            "MSET foo 1 bar 2",
            "RENAME foo bar",
            "EVAL text 2 foo bar",
            "SUNION foo bar",
        ] {
            assert_eq!(route(line), cross_slot().text(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn pieces_have_every_key_once(names in proptest::collection::vec("[a-z]{1,3}", 1..40)) {
            let command = Command::of(std::iter::once(&b"MGET"[..]).chain(names.iter().map(String::as_bytes)));
            let Ok(Route::Pieces(pieces, Join::Places(places))) = Route::of("MGET", &command) else {
                return Ok(());
            };
            let mut found = vec![None; names.len()];
            for ((slot, piece), places) in pieces.iter().zip(&places) {
                prop_assert_eq!(piece.arguments().len(), places.len() + 1);
                for (key, place) in piece.arguments().skip(1).zip(places) {
                    prop_assert_eq!(keys::slot(key), *slot);
                    if let Some(found) = found.get_mut(*place) {
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
