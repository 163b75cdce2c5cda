//! Command policy: which commands are available, and which ones only read.

mod available;

use std::collections::HashSet;

use crate::{command::Command, error::GatewayError};

/// The access that a token grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Every available command.
    Full,
    /// Commands that only read, except those that list keys.
    ReadOnly,
}

/// Commands whose first argument selects what they do, besides those that are available as a whole.
const CONTAINERS: [&str; 8] = [
    "ACL", "CLUSTER", "CONFIG", "DEBUG", "LATENCY", "MEMORY", "MODULE", "SLOWLOG",
];
/// Commands that the gateway itself sends. A script cannot call those that it could misuse.
const OWN_COMMANDS: [&str; 8] = [
    "ASKING", "AUTH", "DISCARD", "EXEC", "HELLO", "MULTI", "PING", "WAIT",
];
/// Maximum length of a name in an error message, in characters, as in Redis.
const MAX_NAME: usize = 128;

/// Decides which commands run.
#[derive(Default)]
pub(crate) struct Policy {
    /// Commands, and subcommands as `CONFIG|GET`, that are available besides the default ones. In
    /// upper case.
    allowed: HashSet<String>,
    /// Whether the read-only token allows scripts that only read.
    read_only_scripts: bool,
}

impl Policy {
    /// Creates a policy from `ALLOW_COMMANDS`, a list that is separated by commas.
    ///
    /// # Errors
    ///
    /// Returns a message if the list contains a command that cannot run on a shared connection.
    pub(crate) fn new(allow_commands: &str, read_only_scripts: bool) -> Result<Self, String> {
        let allowed: HashSet<String> = allow_commands
            .split(',')
            .map(|entry| entry.trim().to_ascii_uppercase())
            .filter(|entry| !entry.is_empty())
            .collect();
        for entry in &allowed {
            let command = Command::of(entry.split('|').map(str::as_bytes));
            if affects_connection(&command.name(), &command) {
                return Err(format!(
                    "ALLOW_COMMANDS cannot contain {entry}: it would change, block or close a \
                     connection that all requests share."
                ));
            }
        }
        Ok(Self {
            allowed,
            read_only_scripts,
        })
    }

    /// Rejects a command that cannot run on a shared connection, that the access does not include, or
    /// that is not available. `name` is the name of the command in upper case, as in all functions of
    /// this module.
    pub(crate) fn check(
        &self,
        name: &str,
        command: &Command,
        access: Access,
    ) -> Result<(), GatewayError> {
        if affects_connection(name, command) {
            return Err(GatewayError::Refused(format!(
                "ERR Command \"{name}\" is not allowed in REST or it has a special context path"
            )));
        }
        let is_available = available::contains(name, command);
        match access {
            Access::ReadOnly if !is_available => Err(no_permission(name)),
            // A script can block Redis, and list keys.
            Access::ReadOnly if runs_script(name) && !self.read_only_scripts => {
                Err(no_permission(name))
            }
            Access::ReadOnly => check_permission(name, access),
            Access::Full if is_available || self.allows(name, command) => Ok(()),
            Access::Full => Err(not_available(name, command)),
        }
    }

    /// Returns the rules of a Redis user, after `-@all`, that may run the available commands and those
    /// that the gateway itself sends. `known` are the commands of the server, in upper case: Redis
    /// refuses rules for other ones.
    pub(crate) fn acl_rules(&self, known: &HashSet<String>) -> Vec<String> {
        let is_known = |name: &&str| known.contains(name.split('|').next().unwrap_or_default());
        let mut rules: Vec<String> = available::names()
            .chain(OWN_COMMANDS)
            .chain(self.allowed.iter().map(String::as_str))
            .filter(is_known)
            .chain(
                known
                    .iter()
                    .map(String::as_str)
                    .filter(|name| available::is_of_module(name)),
            )
            .map(|name| format!("+{}", name.to_ascii_lowercase()))
            .collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// Returns whether `ALLOW_COMMANDS` contains `name`, such as `CONFIG|GET`, or its container.
    pub(crate) fn allows_name(&self, name: &str) -> bool {
        let container = name.split('|').next().unwrap_or_default();
        self.allowed.contains(name) || self.allowed.contains(container)
    }

    /// Returns whether `ALLOW_COMMANDS` contains a command or its subcommand.
    fn allows(&self, name: &str, command: &Command) -> bool {
        !self.allowed.is_empty()
            && (self.allowed.contains(name)
                || self.allowed.contains(&with_subcommand(name, command)))
    }
}

/// Returns the name and the first argument of a command in upper case, as `CONFIG|GET`.
fn with_subcommand(name: &str, command: &Command) -> String {
    let subcommand = String::from_utf8_lossy(command.argument(1).unwrap_or_default());
    format!("{name}|{}", subcommand.to_ascii_uppercase())
}

/// Returns the error of the hosted service for an unavailable command, with another advice.
fn not_available(name: &str, command: &Command) -> GatewayError {
    let full_name = if CONTAINERS.contains(&name) && command.arguments().len() > 1 {
        with_subcommand(name, command)
    } else {
        name.to_owned()
    };
    let full_name: String = full_name.chars().take(MAX_NAME).collect();
    GatewayError::Refused(format!(
        "ERR Command is not available: '{full_name}'. ALLOW_COMMANDS of the gateway can make it available"
    ))
}

fn no_permission(name: &str) -> GatewayError {
    let name = name.chars().take(MAX_NAME).collect::<String>();
    GatewayError::NoPermission(name.to_ascii_lowercase())
}

/// Returns whether a command would change, block or close a connection that all requests share.
fn affects_connection(name: &str, command: &Command) -> bool {
    match name {
        // Connection state.
        "AUTH" | "HELLO" | "RESET" | "QUIT" | "SELECT" | "CLIENT" | "READONLY" | "READWRITE"
        | "ASKING" => true,
        // Transactions: use `/multi-exec`.
        "MULTI" | "EXEC" | "DISCARD" | "WATCH" | "UNWATCH" => true,
        // Streams of messages: use `/subscribe`, `/psubscribe` and `/monitor`.
        "SUBSCRIBE" | "UNSUBSCRIBE" | "PSUBSCRIBE" | "PUNSUBSCRIBE" | "SSUBSCRIBE"
        | "SUNSUBSCRIBE" | "MONITOR" => true,
        // A blocking command would delay all requests on its connection.
        "WAIT" | "WAITAOF" => true,
        "XREAD" | "XREADGROUP" => blocks(command),
        "SCRIPT" => command.argument_is(1, "DEBUG"),
        // Replication: these turn the connection into that of a replica.
        "SYNC" | "PSYNC" | "REPLCONF" => true,
        // Lists and sorted sets, also commands of later versions of Redis.
        _ => ["BL", "BR", "BZ"]
            .iter()
            .any(|blocking| name.starts_with(blocking)),
    }
}

/// Returns whether `XREAD` or `XREADGROUP` has the option BLOCK, which precedes STREAMS.
fn blocks(command: &Command) -> bool {
    // The group and consumer names after GROUP may be any word, also BLOCK.
    let skipped = if command.argument_is(1, "GROUP") {
        4
    } else {
        1
    };
    command
        .arguments()
        .skip(skipped)
        .take_while(|option| !option.eq_ignore_ascii_case(b"STREAMS"))
        .any(|option| option.eq_ignore_ascii_case(b"BLOCK"))
}

/// Rejects commands that the access of a token does not include.
pub(crate) fn check_permission(name: &str, access: Access) -> Result<(), GatewayError> {
    match access {
        Access::Full => Ok(()),
        // Listing keys only reads, but it reveals the keys of other applications.
        Access::ReadOnly
            if is_read_only(name) && !matches!(name, "SCAN" | "KEYS" | "RANDOMKEY") =>
        {
            Ok(())
        }
        Access::ReadOnly => Err(no_permission(name)),
    }
}

/// Returns whether a command runs a script or a function.
pub(crate) fn runs_script(name: &str) -> bool {
    matches!(
        name,
        "EVAL" | "EVALSHA" | "EVALSHA_RO" | "EVAL_RO" | "FCALL" | "FCALL_RO"
    )
}

/// Returns whether a reply may hold a text of the request as it is, also with line breaks, which then look like further
/// replies. Redis writes the errors of the compiler of scripts and libraries so, and modules write their own. The errors of
/// running scripts have spaces in the place of line breaks.
pub(crate) fn may_split_replies(name: &str) -> bool {
    let is_own = OWN_COMMANDS.contains(&name) || CONTAINERS.contains(&name);
    matches!(name, "EVAL" | "EVAL_RO" | "FUNCTION" | "SCRIPT")
        || !is_own && !available::is_of_core(name)
}

/// Returns whether a command is known to only read.
///
/// An unlisted command counts as a write. At worst that advances the sync token without need.
pub(crate) fn is_read_only(name: &str) -> bool {
    matches!(
        name,
        "BITCOUNT"
            | "BITFIELD_RO"
            | "BITPOS"
            | "COMMAND"
            | "DBSIZE"
            | "DUMP"
            | "ECHO"
            | "EVALSHA_RO"
            | "EVAL_RO"
            | "EXISTS"
            | "EXPIRETIME"
            | "FCALL_RO"
            | "GEODIST"
            | "GEOHASH"
            | "GEOPOS"
            | "GEORADIUSBYMEMBER_RO"
            | "GEORADIUS_RO"
            | "GEOSEARCH"
            | "GET"
            | "GETBIT"
            | "GETRANGE"
            | "HEXISTS"
            | "HEXPIRETIME"
            | "HGET"
            | "HGETALL"
            | "HKEYS"
            | "HLEN"
            | "HMGET"
            | "HPEXPIRETIME"
            | "HPTTL"
            | "HRANDFIELD"
            | "HSCAN"
            | "HSTRLEN"
            | "HTTL"
            | "HVALS"
            | "INFO"
            | "KEYS"
            | "LASTSAVE"
            | "LCS"
            | "LINDEX"
            | "LLEN"
            | "LOLWUT"
            | "LPOS"
            | "LRANGE"
            | "MEMORY"
            | "MGET"
            | "OBJECT"
            | "PEXPIRETIME"
            | "PFCOUNT"
            | "PING"
            | "PSUBSCRIBE"
            | "PTTL"
            | "PUBSUB"
            | "RANDOMKEY"
            | "ROLE"
            | "SCAN"
            | "SCARD"
            | "SDIFF"
            | "SINTER"
            | "SINTERCARD"
            | "SISMEMBER"
            | "SMEMBERS"
            | "SMISMEMBER"
            | "SORT_RO"
            | "SRANDMEMBER"
            | "SSCAN"
            | "STRLEN"
            | "SUBSCRIBE"
            | "SUBSTR"
            | "SUNION"
            | "TIME"
            | "TOUCH"
            | "TTL"
            | "TYPE"
            | "XINFO"
            | "XLEN"
            | "XPENDING"
            | "XRANGE"
            | "XREAD"
            | "XREVRANGE"
            | "ZCARD"
            | "ZCOUNT"
            | "ZDIFF"
            | "ZINTER"
            | "ZINTERCARD"
            | "ZLEXCOUNT"
            | "ZMSCORE"
            | "ZRANDMEMBER"
            | "ZRANGE"
            | "ZRANGEBYLEX"
            | "ZRANGEBYSCORE"
            | "ZRANK"
            | "ZREVRANGE"
            | "ZREVRANGEBYLEX"
            | "ZREVRANGEBYSCORE"
            | "ZREVRANK"
            | "ZSCAN"
            | "ZSCORE"
            | "ZUNION"
    )
}
