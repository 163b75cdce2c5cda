//! A Redis command: its name and arguments as bytes.

use std::borrow::Cow;

use redis::{Arg, Cmd, RedisWrite};

/// A Redis command. Its name is argument 0.
#[derive(Clone, Default)]
pub struct Command {
    cmd: Cmd,
    bytes: usize,
}

impl Command {
    /// Creates an empty command with capacity for `arguments` arguments of `bytes` bytes in total.
    #[must_use]
    pub fn with_capacity(arguments: usize, bytes: usize) -> Self {
        Self {
            cmd: Cmd::with_capacity(arguments, bytes),
            bytes: 0,
        }
    }

    /// Creates a command from its arguments, the name first.
    pub fn of<'a>(arguments: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut command = Self::default();
        for argument in arguments {
            command.push(argument);
        }
        command
    }

    /// Appends one argument.
    pub fn push(&mut self, argument: &[u8]) {
        self.cmd.write_arg(argument);
        self.bytes += argument.len();
    }

    /// Returns all arguments, the name first.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        arguments_of(&self.cmd)
    }

    /// Returns the argument at `index`. Index 0 is the name.
    #[must_use]
    pub fn argument(&self, index: usize) -> Option<&[u8]> {
        self.arguments().nth(index)
    }

    /// Returns the name with its ASCII letters in upper case.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        name_of(&self.cmd)
    }

    /// Returns whether the argument at `index` equals `word`, ignoring ASCII case.
    #[must_use]
    pub fn argument_is(&self, index: usize, word: &str) -> bool {
        self.argument(index)
            .is_some_and(|argument| argument.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Returns whether the name equals `name`, ignoring ASCII case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.argument_is(0, name)
    }

    /// Returns a copy of this command with the argument at `index` replaced.
    #[must_use]
    pub fn with_argument(&self, index: usize, argument: &[u8]) -> Self {
        let mut command = Self::with_capacity(self.arguments().len(), self.bytes + argument.len());
        for (own_index, own) in self.arguments().enumerate() {
            command.push(if own_index == index { argument } else { own });
        }
        command
    }

    /// Returns the total length of all arguments in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Converts the command into the type that the Redis client sends.
    #[must_use]
    pub fn into_cmd(self) -> Cmd {
        self.cmd
    }
}

/// Returns all arguments of a client command, the name first.
pub(crate) fn arguments_of(cmd: &Cmd) -> impl ExactSizeIterator<Item = &[u8]> {
    cmd.args_iter().map(|argument| match argument {
        Arg::Simple(bytes) => bytes,
        // Only `Cmd::cursor_arg` creates any other kind, and this crate does not call it.
        _ => &[],
    })
}

/// Returns the name of a client command with its ASCII letters in upper case.
pub(crate) fn name_of(cmd: &Cmd) -> Cow<'_, str> {
    let name = String::from_utf8_lossy(arguments_of(cmd).next().unwrap_or_default());
    // Called several times per command: a name in upper case needs no allocation.
    match name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        true => Cow::Owned(name.to_ascii_uppercase()),
        false => name,
    }
}
