//! The Lua scripts and their digests. Each file's header is its contract.

/// A script that runs in Redis as one atomic step.
#[derive(Debug)]
pub struct Script {
    /// The source.
    pub text: &'static str,
    /// SHA-1 of the source in lower-case hex, by which Redis knows it.
    pub sha: &'static str,
}

/// Counts activities, or takes them back.
pub static COUNT: Script = Script {
    text: concat!(
        include_str!("scripts/audit.lua"),
        include_str!("scripts/count_call.lua"),
        include_str!("scripts/count_state.lua"),
        include_str!("scripts/count.lua")
    ),
    sha: "a48f51ff24b535d5a41f47a55a3e809304eda27d",
};

/// Reads a stretch of a board.
pub static TOP: Script = Script {
    text: include_str!("scripts/top.lua"),
    sha: "7a1c39c05bec0a210ae01dd15cfa52e85e0ede38",
};

/// Reads one standing with its neighbours.
pub static STANDING: Script = Script {
    text: include_str!("scripts/standing.lua"),
    sha: "65b96b0e88c088eb1deed361e75d108e3782e9ee",
};

/// Reads the first few of several boards.
pub static WINNERS: Script = Script {
    text: include_str!("scripts/winners.lua"),
    sha: "decbb6a2af6c405315b3e26afc924a54187a6876",
};

/// Reads several standings.
pub static COMPARE: Script = Script {
    text: include_str!("scripts/compare.lua"),
    sha: "176deab27217ae15877abf6aa000faa2b3184081",
};

/// Writes profiles, and hides who asks for it.
pub static PROFILES: Script = Script {
    text: concat!(
        include_str!("scripts/audit.lua"),
        include_str!("scripts/visibility.lua"),
        include_str!("scripts/profiles.lua")
    ),
    sha: "87fa9550b3e3dfcc5c062aa087b4a666996a44b7",
};

/// Gives a user a profile who has none.
pub static FIRST_PROFILE: Script = Script {
    text: include_str!("scripts/first_profile.lua"),
    sha: "96ca451b4829c653c6c56d1feaef5ed285f43402",
};

/// Erases a user.
pub static ERASE: Script = Script {
    text: concat!(
        include_str!("scripts/audit.lua"),
        include_str!("scripts/erase.lua")
    ),
    sha: "025ab8df88c6e00b0fdcedcdc3a34f7f789267be",
};

/// Hides and freezes users, and takes that back.
pub static MODERATE: Script = Script {
    text: concat!(
        include_str!("scripts/audit.lua"),
        include_str!("scripts/visibility.lua"),
        include_str!("scripts/moderate.lua")
    ),
    sha: "3162763102da62bd052b37e0f1ab8980d8aedc0e",
};

/// Tells whether boards are still what was archived of them.
pub static ARCHIVE_STATES: Script = Script {
    text: include_str!("scripts/archive_states.lua"),
    sha: "9818856285a91e4b27ac524750604b071dd48e72",
};

/// Reads a stretch of a board to archive it.
pub static ARCHIVE_PAGE: Script = Script {
    text: include_str!("scripts/archive_page.lua"),
    sha: "edae9451c0226d57dfafe16ec439181131941dd4",
};

/// Reads the audit list.
pub static AUDITED: Script = Script {
    text: include_str!("scripts/audited.lua"),
    sha: "d7d4e0446dc5599e63227ab9e2761831504da4b6",
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
