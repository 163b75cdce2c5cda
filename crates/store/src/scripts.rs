//! The Lua scripts. The header of each file in `src/scripts` is its contract.

/// A script that Redis runs as one atomic step.
#[derive(Debug)]
pub struct Script {
    /// The source, without comments and indentation.
    pub text: &'static str,
    /// SHA-1 of the source in lower-case hexadecimal: the argument of `EVALSHA`.
    pub sha: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
