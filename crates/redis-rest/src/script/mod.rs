//! Rewrites the shebang lines of scripts that Redis would reject.
//!
//! `#!lua flags=allow-key-locking` is a flag of the hosted service. Redis and Valkey reject it. Removing
//! it is safe, because a script is atomic on all keys in Redis. Redis before 7.0 rejects every shebang
//! line. The SHA-1 that the client computed from its own text becomes an alias of the SHA-1 of the
//! rewritten script.

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

impl Rewritten {
    fn unchanged(command: Command) -> Self {
        Self {
            command,
            result_override: None,
        }
    }
}

/// Rewrites a command with a script, a script SHA-1 or a function library. Other commands are
/// returned unchanged. `rejects_shebang` returns whether the server rejects every shebang line.
pub(crate) fn rewrite(
    command: Command,
    aliases: &Aliases,
    rejects_shebang: impl FnOnce() -> bool,
) -> Rewritten {
    if let Some(index) = script_index(&command) {
        return rewrite_script(index, command, aliases, rejects_shebang);
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
    Rewritten::unchanged(rewritten.unwrap_or(command))
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
fn rewrite_script(
    index: usize,
    command: Command,
    aliases: &Aliases,
    rejects_shebang: impl FnOnce() -> bool,
) -> Rewritten {
    let sent = command.argument(index).unwrap_or_default();
    if !shebang::may_have_shebang(sent) {
        return Rewritten::unchanged(command);
    }
    let script = if rejects_shebang() {
        shebang::without_shebang(sent)
    } else {
        shebang::without_flag(sent)
    };
    let sha = sha1_hex(sent);
    let Some(script) = script else {
        // An earlier version of the server may have needed the alias.
        if aliases.get(sha.as_bytes()).is_some() {
            aliases.insert(sha.clone(), sha, 1);
        }
        return Rewritten::unchanged(command);
    };
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

#[cfg(test)]
mod tests {
    use super::{Aliases, rewrite, sha1_hex};
    use crate::command::Command;

    /// After an upgrade of Redis, EVALSHA finds the script that EVAL has sent.
    #[test]
    fn alias_follows_server_version() {
        let aliases = Aliases::new(9);
        for script in [
            "#!lua flags=no-writes\nreturn 1",
            "#!lua flags=no-writes,allow-key-locking\nreturn 1",
        ] {
            let sha = sha1_hex(script.as_bytes());
            for rejects_shebang in [true, false] {
                let eval = Command::of([&b"EVAL"[..], script.as_bytes(), b"0"]);
                let eval = rewrite(eval, &aliases, || rejects_shebang).command;
                let text = eval.argument(1).unwrap_or_default();
                assert_eq!(
                    text.starts_with(b"#!lua flags=no-writes\n"),
                    !rejects_shebang
                );
                let evalsha = Command::of([&b"EVALSHA"[..], sha.as_bytes(), b"0"]);
                let evalsha = rewrite(evalsha, &aliases, || rejects_shebang).command;
                assert_eq!(evalsha.argument(1), Some(sha1_hex(text).as_bytes()));
            }
        }
    }
}
