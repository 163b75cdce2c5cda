//! One Redis command: its name and arguments as bytes.

use std::borrow::Cow;

use redis::{Arg, Cmd, RedisWrite};

/// One Redis command, ready to be sent; the name is argument 0.
#[derive(Clone, Default)]
pub struct Command {
    cmd: Cmd,
    bytes: usize,
}

impl Command {
    /// An empty command with room for `arguments` arguments of `bytes` bytes in all.
    #[must_use]
    pub fn with_capacity(arguments: usize, bytes: usize) -> Self {
        Self {
            cmd: Cmd::with_capacity(arguments, bytes),
            bytes: 0,
        }
    }

    /// A command made of these arguments.
    pub fn of<'a>(arguments: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut command = Self::default();
        for argument in arguments {
            command.push(argument);
        }
        command
    }

    /// Adds one argument.
    pub fn push(&mut self, argument: &[u8]) {
        self.cmd.write_arg(argument);
        self.bytes += argument.len();
    }

    /// All arguments, the name first.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        arguments_of(&self.cmd)
    }

    /// Argument `index`; the name is 0.
    #[must_use]
    pub fn argument(&self, index: usize) -> Option<&[u8]> {
        self.arguments().nth(index)
    }

    /// The name in upper case, as far as it is ASCII.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        name_of(&self.cmd)
    }

    /// Whether the name is `name`, in any case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.argument(0)
            .is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// The bytes of all arguments together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the Redis client sends.
    #[must_use]
    pub fn into_cmd(self) -> Cmd {
        self.cmd
    }
}

/// All arguments of what the Redis client sends, the name first.
pub(crate) fn arguments_of(cmd: &Cmd) -> impl ExactSizeIterator<Item = &[u8]> {
    cmd.args_iter().map(|argument| match argument {
        Arg::Simple(bytes) => bytes,
        // Only `Cmd::cursor_arg` makes any other kind, and nothing here calls it.
        _ => &[],
    })
}

/// The name of what the Redis client sends, in upper case, as far as it is ASCII.
pub(crate) fn name_of(cmd: &Cmd) -> Cow<'_, str> {
    let name = String::from_utf8_lossy(arguments_of(cmd).next().unwrap_or_default());
    // Asked for several times a command: one that comes in upper case costs no memory.
    match name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        true => Cow::Owned(name.to_ascii_uppercase()),
        false => name,
    }
}
