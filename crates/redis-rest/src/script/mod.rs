//! Rewrites scripts that carry the `allow-key-locking` flag, so that Redis accepts them.
//!
//! `#!lua flags=allow-key-locking` is a flag of the hosted service. Redis and Valkey reject it. Removing
//! it is safe, because a script is atomic on all keys in Redis. The SHA-1 that the client computed from
//! its own text becomes an alias of the SHA-1 of the rewritten script.

mod sha_map;
mod shebang;

use sha1::{Digest, Sha1};

pub(crate) use self::sha_map::ShaMap;
use crate::command::Command;

/// Maps the SHA-1 of a script as sent to the SHA-1 of the rewritten script. Each entry has size 1.
pub(crate) type Aliases = ShaMap<String>;

/// A command after rewriting.
pub(crate) struct Rewritten {
    pub(crate) command: Command,
    /// Replaces the result: `SCRIPT LOAD` must return the SHA-1 of the script as sent.
    pub(crate) result_override: Option<String>,
}

/// Rewrites a command with a script, a script SHA-1 or a function library. Other commands are
/// returned unchanged.
pub(crate) fn rewrite(command: Command, aliases: &Aliases) -> Rewritten {
    if let Some(index) = script_index(&command) {
        return rewrite_script(index, command, aliases);
    }
    let rewritten = match command.name().as_ref() {
        "EVALSHA" | "EVALSHA_RO" => command
            .argument(1)
            .and_then(|sha| aliases.get(sha))
            .map(|sha| command.with_argument(1, sha.as_bytes())),
        "SCRIPT" if command.argument_is(1, "EXISTS") => Some(resolve_aliases(&command, aliases)),
        "FUNCTION" if command.argument_is(1, "LOAD") => {
            let last = command.arguments().len().saturating_sub(1);
            command
                .argument(last)
                .and_then(shebang::without_function_flag)
                .map(|library| command.with_argument(last, &library))
        }
        _ => None,
    };
    Rewritten {
        command: rewritten.unwrap_or(command),
        result_override: None,
    }
}

/// Returns the index of the argument that is the text of a script.
fn script_index(command: &Command) -> Option<usize> {
    match command.name().as_ref() {
        "EVAL" | "EVAL_RO" => Some(1),
        "SCRIPT" if command.argument_is(1, "LOAD") => Some(2),
        _ => None,
    }
}

/// Rewrites the script at `index` and adds an alias for its SHA-1 as sent.
fn rewrite_script(index: usize, command: Command, aliases: &Aliases) -> Rewritten {
    let sent = command.argument(index).unwrap_or_default();
    let Some(script) = shebang::without_flag(sent) else {
        return Rewritten {
            command,
            result_override: None,
        };
    };
    let sha = sha1_hex(sent);
    aliases.insert(sha.clone(), sha1_hex(&script), 1);
    Rewritten {
        result_override: command.is("SCRIPT").then_some(sha),
        command: command.with_argument(index, &script),
    }
}

/// Returns `SCRIPT EXISTS` with every alias replaced by the SHA-1 of the rewritten script.
fn resolve_aliases(command: &Command, aliases: &Aliases) -> Command {
    let mut resolved = Command::with_capacity(command.arguments().len(), command.bytes());
    for (index, argument) in command.arguments().enumerate() {
        match aliases.get(argument).filter(|_| index > 1) {
            Some(sha) => resolved.push(sha.as_bytes()),
            None => resolved.push(argument),
        }
    }
    resolved
}

/// Returns the SHA-1 of a script in lower-case hexadecimal, which is its name in Redis.
pub(crate) fn sha1_hex(script: &[u8]) -> String {
    Sha1::digest(script)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
