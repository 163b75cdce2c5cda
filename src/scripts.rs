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
        include_str!("scripts/count_call.lua"),
        include_str!("scripts/count.lua")
    ),
    sha: "f09e4ea2e8235d0c63a454713e3a757e5d7219d1",
};

/// Reads a stretch of a board.
pub static TOP: Script = Script {
    text: include_str!("scripts/top.lua"),
    sha: "02a5e94b2fa94d6f417504d0e37035f870996228",
};

/// Reads one standing with its neighbours.
pub static STANDING: Script = Script {
    text: include_str!("scripts/standing.lua"),
    sha: "7424430961244f34f35f5a36bfb6b995a83dc92d",
};

/// Reads several standings.
pub static COMPARE: Script = Script {
    text: include_str!("scripts/compare.lua"),
    sha: "f91766b50d5461b7dfa388e6b371ef4771cc58b0",
};

/// Writes profiles.
pub static PROFILES: Script = Script {
    text: include_str!("scripts/profiles.lua"),
    sha: "881ac8acf1257448d1aa6e95eaaba298b11d4403",
};

/// Gives a user a profile who has none.
pub static FIRST_PROFILE: Script = Script {
    text: include_str!("scripts/first_profile.lua"),
    sha: "3c761016b300084855efa6a9decc9c62d756df2a",
};

/// Erases a user.
pub static ERASE: Script = Script {
    text: include_str!("scripts/erase.lua"),
    sha: "4377c75a50a3618e8bc15a0a0c321a375cb25a04",
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
        ];
        for script in scripts {
            let digest = Sha1::digest(script.text.as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(script.sha, hex, "the digest to pin for:\n{}", script.text);
        }
    }
}
