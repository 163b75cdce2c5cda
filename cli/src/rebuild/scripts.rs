//! The scripts of a rebuild.

use std::sync::LazyLock;

use activity_rank::scripts::{COUNT, ERASE, MODERATE, PROFILES};

use crate::archive::store::Script;

/// Takes hold of a rebuild, or begins one.
pub static BEGIN: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("begin.lua")));

/// Goes from one phase to the next.
pub static TURN: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("turn.lua")));

/// Does entries of the journal.
pub static REPLAY: LazyLock<Script> = LazyLock::new(|| {
    let mut text = include_str!("dated.lua").to_owned();
    text.push_str("local scripts = {}\n");
    for (name, script) in [
        ("count", &COUNT),
        ("moderate", &MODERATE),
        ("profiles", &PROFILES),
        ("erase", &ERASE),
    ] {
        // Each as it is: it sees the keys and arguments of its step as its own.
        let script = script.text;
        text.push_str(&format!(
            "scripts.{name} = function(KEYS, ARGV)\n{script}\nend\n"
        ));
    }
    text.push_str(include_str!("replay.lua"));
    Script::new(&text)
});

/// Puts shadows in the place of keys.
pub static SWAP: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("swap.lua")));

/// Ends a rebuild.
pub static FINISH: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("finish.lua")));
