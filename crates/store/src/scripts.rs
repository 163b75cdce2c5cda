//! The Lua scripts. The header of each file in `src/scripts` is its contract.

/// A script that Redis runs as one atomic step.
///
/// Its flags declare that it touches its keys alone, so Upstash need not lock the whole database.
/// Redis does not know that flag and refuses the script.
#[derive(Debug)]
pub struct Script {
    /// The first line, with the flags.
    pub shebang: &'static str,
    /// The source without the first line, comments and indentation, in parts that scripts share.
    pub parts: &'static [&'static &'static str],
    /// SHA-1 of the script with its first line, in lower-case hexadecimal: the argument of `EVALSHA`.
    pub sha: &'static str,
    /// SHA-1 of the script without its first line.
    pub plain_sha: &'static str,
}

impl Script {
    /// Returns the source without the first line.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.iter().map(|part| **part).collect()
    }
}

include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
