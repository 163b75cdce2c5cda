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
    sha: "c2abd859c5e8c21e421a2ef8bfe1d22c13835ef8",
};

/// Reads a stretch of a board.
pub static TOP: Script = Script {
    text: include_str!("scripts/top.lua"),
    sha: "1d874c27e50698e8f97e71d63e3030d4a179be97",
};

/// Reads one standing with its neighbours.
pub static STANDING: Script = Script {
    text: include_str!("scripts/standing.lua"),
    sha: "24ea4f4f63b8b689c02772c903b01ee74a09d65d",
};

/// Reads several standings.
pub static COMPARE: Script = Script {
    text: include_str!("scripts/compare.lua"),
    sha: "c250802050e7367df3857fe3782fb83ad1b285e6",
};

/// Writes profiles, and hides who asks for it.
pub static PROFILES: Script = Script {
    text: concat!(
        include_str!("scripts/audit.lua"),
        include_str!("scripts/visibility.lua"),
        include_str!("scripts/profiles.lua")
    ),
    sha: "b5bbbf7c5fc15da501c18b6e3e339f2b40ad6c9f",
};

/// Gives a user a profile who has none.
pub static FIRST_PROFILE: Script = Script {
    text: include_str!("scripts/first_profile.lua"),
    sha: "3c761016b300084855efa6a9decc9c62d756df2a",
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
            &PROFILES,
            &FIRST_PROFILE,
            &ERASE,
            &MODERATE,
            &AUDITED,
        ];
        for script in scripts {
            let digest = Sha1::digest(script.text.as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(script.sha, hex, "the digest to pin for:\n{}", script.text);
        }
    }
}
