//! Command policy: which commands are allowed over REST, and which ones only read.

use crate::{command::Command, error::GatewayError};

/// The access that a token grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Every command that is allowed over REST.
    Full,
    /// Commands that only read, except those that list keys.
    ReadOnly,
}

const READ_ONLY_CLUSTER_SUBCOMMANDS: [&str; 11] = [
    "COUNTKEYSINSLOT",
    "GETKEYSINSLOT",
    "HELP",
    "INFO",
    "KEYSLOT",
    "LINKS",
    "MYID",
    "NODES",
    "REPLICAS",
    "SHARDS",
    "SLOTS",
];

/// Rejects commands that would change, block or close a shared connection, or stop the server.
///
/// `name` is the name of the command in upper case, as in all functions of this module.
pub(crate) fn check_supported(name: &str, command: &Command) -> Result<(), GatewayError> {
    let refused = match name {
        // Connection state.
        "AUTH" | "HELLO" | "RESET" | "QUIT" | "SELECT" | "CLIENT" | "READONLY" | "READWRITE"
        | "ASKING" => true,
        // Transactions: use `/multi-exec`.
        "MULTI" | "EXEC" | "DISCARD" | "WATCH" | "UNWATCH" => true,
        // Streams of messages: use `/subscribe`, `/psubscribe` and `/monitor`.
        "SUBSCRIBE" | "UNSUBSCRIBE" | "PSUBSCRIBE" | "PUNSUBSCRIBE" | "SSUBSCRIBE"
        | "SUNSUBSCRIBE" | "MONITOR" => true,
        // A blocking command would delay all requests on its connection.
        "BLPOP" | "BRPOP" | "BRPOPLPUSH" | "BLMOVE" | "BLMPOP" | "BZPOPMIN" | "BZPOPMAX"
        | "BZMPOP" | "WAIT" | "WAITAOF" => true,
        "XREAD" | "XREADGROUP" => blocks(command),
        "SCRIPT" => command.argument_is(1, "DEBUG"),
        // Administration of the server.
        "SHUTDOWN" | "DEBUG" | "REPLICAOF" | "SLAVEOF" | "FAILOVER" | "SYNC" | "PSYNC"
        | "REPLCONF" | "MIGRATE" | "MODULE" => true,
        // Reading the state of a cluster is allowed, changing it is left to its operator.
        "CLUSTER" => !READ_ONLY_CLUSTER_SUBCOMMANDS
            .iter()
            .any(|subcommand| command.argument_is(1, subcommand)),
        _ => false,
    };
    if refused {
        return Err(GatewayError::Refused(format!(
            "ERR Command \"{name}\" is not allowed in REST or it has a special context path"
        )));
    }
    Ok(())
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
        Access::ReadOnly => Err(GatewayError::NoPermission(name.to_ascii_lowercase())),
    }
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
