//! Scripts that ask for key locking, rewritten so that Redis takes them.
//!
//! `#!lua flags=allow-key-locking` is a flag of the hosted service that Redis and Valkey refuse.
//! Here it is dropped (a script is atomic on every key anyway), and the SHA-1 the client computed
//! from its own text becomes an alias of the rewritten script's.

mod aliases;
mod shebang;

use sha1::{Digest, Sha1};

pub(crate) use aliases::Aliases;

use crate::command::Command;

/// What a command became.
pub(crate) struct Rewritten {
    pub(crate) command: Command,
    /// `SCRIPT LOAD` must answer with the SHA-1 of the script as it was sent.
    pub(crate) answer: Option<String>,
}

/// The command as Redis takes it.
pub(crate) fn rewrite(command: Command, aliases: &Aliases) -> Rewritten {
    let first = command.argument(1).unwrap_or_default();
    if command.is("EVALSHA") || command.is("EVALSHA_RO") {
        match aliases.real(first) {
            Some(real) => plain(replaced(&command, |index, _| {
                (index == 1).then_some(real.as_bytes())
            })),
            None => plain(command),
        }
    } else if command.is("EVAL") || command.is("EVAL_RO") {
        script_at(1, command, aliases)
    } else if command.is("SCRIPT") && first.eq_ignore_ascii_case(b"LOAD") {
        script_at(2, command, aliases)
    } else if command.is("SCRIPT") && first.eq_ignore_ascii_case(b"EXISTS") {
        plain(renamed(&command, aliases))
    } else if command.is("FUNCTION") && first.eq_ignore_ascii_case(b"LOAD") {
        let last = command.arguments().len().saturating_sub(1);
        match command
            .argument(last)
            .and_then(shebang::without_function_flag)
        {
            Some(library) => plain(replaced(&command, |index, _| {
                (index == last).then_some(&library)
            })),
            None => plain(command),
        }
    } else {
        plain(command)
    }
}

fn plain(command: Command) -> Rewritten {
    Rewritten {
        command,
        answer: None,
    }
}

/// Rewrites the script at `place` and remembers under which name its client knows it.
fn script_at(place: usize, command: Command, aliases: &Aliases) -> Rewritten {
    let Some(sent) = command.argument(place) else {
        return plain(command);
    };
    let Some(script) = shebang::without_flag(sent) else {
        return plain(command);
    };
    let alias = sha1_hex(sent);
    aliases.learn(alias.clone(), sha1_hex(&script));
    let answer = command.is("SCRIPT").then_some(alias);
    Rewritten {
        command: replaced(&command, |index, _| (index == place).then_some(&script)),
        answer,
    }
}

/// `SCRIPT EXISTS` with every alias replaced by the real name.
fn renamed(command: &Command, aliases: &Aliases) -> Command {
    let mut own = Command::with_capacity(command.arguments().len(), command.bytes());
    for (index, argument) in command.arguments().enumerate() {
        match aliases.real(argument).filter(|_| index > 1) {
            Some(real) => own.push(real.as_bytes()),
            None => own.push(argument),
        }
    }
    own
}

fn replaced<'a>(command: &Command, with: impl Fn(usize, &[u8]) -> Option<&'a [u8]>) -> Command {
    let mut own = Command::with_capacity(command.arguments().len(), command.bytes());
    for (index, argument) in command.arguments().enumerate() {
        own.push(with(index, argument).unwrap_or(argument));
    }
    own
}

/// The name Redis gives a script.
pub(crate) fn sha1_hex(script: &[u8]) -> String {
    Sha1::digest(script)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
