//! The Lua scripts and their digests. Each file's header is its contract.

mod strip;

/// A script that runs in Redis as one atomic step.
#[derive(Debug)]
pub struct Script {
    /// The source, without the comments and indentation of its files.
    pub text: &'static str,
    /// SHA-1 of the source in lower-case hex, by which Redis knows it.
    pub sha: &'static str,
}

/// The text of files, one after the other, as Redis gets it.
macro_rules! stripped {
    ($($file:literal),+) => {{
        const TEXT: &str = concat!($(include_str!($file)),+);
        const STRIPPED: [u8; strip::length(TEXT)] = strip::strip(TEXT);
        strip::text(&STRIPPED)
    }};
}

/// Counts activities, or takes them back.
pub static COUNT: Script = Script {
    text: stripped!(
        "scripts/journal.lua",
        "scripts/audit.lua",
        "scripts/count_call.lua",
        "scripts/count_state.lua",
        "scripts/count.lua"
    ),
    sha: "8b0c31b9fe693b6b7cb2c1c01d46475f8e3f3b6b",
};

/// Reads a stretch of a board.
pub static TOP: Script = Script {
    text: stripped!("scripts/top.lua"),
    sha: "223751dfff84c79ef78911fc98f00bb684264f0f",
};

/// Reads one standing with its neighbours.
pub static STANDING: Script = Script {
    text: stripped!("scripts/standing.lua"),
    sha: "a426638cabd9c97d6491f941c836e0d022de5ea8",
};

/// Reads the first few of several boards.
pub static WINNERS: Script = Script {
    text: stripped!("scripts/winners.lua"),
    sha: "2d4da07aa620f896d3bea4c9d217cc15571d7e24",
};

/// Reads who stands around a score of another shard.
pub static AROUND: Script = Script {
    text: stripped!("scripts/around.lua"),
    sha: "7e366aa245944491367e5bf31c80ec3a4f26b6cf",
};

/// Counts who ranks above scores of other shards.
pub static ABOVE: Script = Script {
    text: stripped!("scripts/above.lua"),
    sha: "281ccfdbad9bc62f94009ae31de7d9010538d1d5",
};

/// Reads the scores of a stretch of a board.
pub static SCORES: Script = Script {
    text: stripped!("scripts/scores.lua"),
    sha: "1ae6cf1a80fd4559526016c8a5c51d6d58a9465d",
};

/// Reads several standings.
pub static COMPARE: Script = Script {
    text: stripped!("scripts/compare.lua"),
    sha: "07b7fffb9ac39232ad517683fe073f91152c0717",
};

/// Writes profiles, and hides who asks for it.
pub static PROFILES: Script = Script {
    text: stripped!(
        "scripts/journal.lua",
        "scripts/audit.lua",
        "scripts/visibility.lua",
        "scripts/profiles.lua"
    ),
    sha: "4056845bb3c1ea13c4b885b74c166b57f124b3b1",
};

/// Gives a user a profile who has none.
pub static FIRST_PROFILE: Script = Script {
    text: stripped!("scripts/journal.lua", "scripts/first_profile.lua"),
    sha: "5ff206c5dd51b5a6c8f1ebb50d80d529f2a8f9fc",
};

/// Erases a user.
pub static ERASE: Script = Script {
    text: stripped!(
        "scripts/journal.lua",
        "scripts/audit.lua",
        "scripts/erase.lua"
    ),
    sha: "17cf45f11ef1b0075c605c44950e4b60aba10521",
};

/// Hides and freezes users, and takes that back.
pub static MODERATE: Script = Script {
    text: stripped!(
        "scripts/journal.lua",
        "scripts/audit.lua",
        "scripts/visibility.lua",
        "scripts/moderate.lua"
    ),
    sha: "2cf9c22c73256345e415e9b15ec268838837d3d8",
};

/// Tells whether boards are still what was archived of them.
pub static ARCHIVE_STATES: Script = Script {
    text: stripped!("scripts/archive_states.lua"),
    sha: "1e25dcd8179032fe10ec83fd54b52bcfd25e8905",
};

/// Reads a stretch of a board to archive it.
pub static ARCHIVE_PAGE: Script = Script {
    text: stripped!("scripts/archive_page.lua"),
    sha: "bc53fac122283b41a3efd9f64e90178003792b1b",
};

/// Reads the audit list.
pub static AUDITED: Script = Script {
    text: stripped!("scripts/audited.lua"),
    sha: "804613fcd24ce778eb72568fbbc42f59f538062c",
};

#[cfg(test)]
mod tests {
    use super::*;
    use sha1::{Digest, Sha1};

    #[test]
    fn every_digest_is_that_of_its_script() {
        let scripts = [
            &COUNT,
            &TOP,
            &STANDING,
            &AROUND,
            &ABOVE,
            &SCORES,
            &COMPARE,
            &WINNERS,
            &PROFILES,
            &FIRST_PROFILE,
            &ERASE,
            &MODERATE,
            &AUDITED,
            &ARCHIVE_STATES,
            &ARCHIVE_PAGE,
        ];
        for script in scripts {
            let digest = Sha1::digest(script.text.as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(script.sha, hex, "the digest to pin for:\n{}", script.text);
        }
    }
}
