//! Commands that REST cannot carry, and which ones only read.

use crate::{auth::Access, command::Command, error::Fault};

/// Refuses what would change, block or end the connection that all requests share. The name is
/// in upper case, here and below.
pub(crate) fn check(name: &str, command: &Command) -> Result<(), Fault> {
    let refused = match name {
        // Connection state.
        "AUTH" | "HELLO" | "RESET" | "QUIT" | "SELECT" | "CLIENT" | "READONLY" | "READWRITE"
        | "ASKING" => true,
        // Transactions have an endpoint of their own.
        "MULTI" | "EXEC" | "DISCARD" | "WATCH" | "UNWATCH" => true,
        // Pushed messages: these, too.
        "SUBSCRIBE" | "UNSUBSCRIBE" | "PSUBSCRIBE" | "PUNSUBSCRIBE" | "SSUBSCRIBE"
        | "SUNSUBSCRIBE" | "MONITOR" => true,
        // One waiting command would hold up every other request.
        "BLPOP" | "BRPOP" | "BRPOPLPUSH" | "BLMOVE" | "BLMPOP" | "BZPOPMIN" | "BZPOPMAX"
        | "BZMPOP" | "WAIT" | "WAITAOF" => true,
        "XREAD" | "XREADGROUP" => blocks(command),
        "SCRIPT" => command
            .argument(1)
            .is_some_and(|sub| sub.eq_ignore_ascii_case(b"DEBUG")),
        // The server itself.
        "SHUTDOWN" | "DEBUG" | "REPLICAOF" | "SLAVEOF" | "FAILOVER" | "SYNC" | "PSYNC"
        | "REPLCONF" | "MIGRATE" | "MODULE" => true,
        // What a cluster is like may be asked, but it is not changed past whoever runs it.
        "CLUSTER" => !command.argument(1).is_some_and(asks_about_a_cluster),
        _ => false,
    };
    if refused {
        return Err(Fault::Refused(format!(
            "ERR Command \"{name}\" is not allowed in REST or it has a special context path"
        )));
    }
    Ok(())
}

fn asks_about_a_cluster(sub: &[u8]) -> bool {
    const ASKING: [&str; 11] = [
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
    ASKING
        .iter()
        .any(|asking| sub.eq_ignore_ascii_case(asking.as_bytes()))
}

/// `XREAD` and `XREADGROUP` wait only with the option BLOCK, which stands before STREAMS.
fn blocks(command: &Command) -> bool {
    // GROUP takes two names, which may be any word.
    let names = if command
        .argument(1)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"GROUP"))
    {
        3
    } else {
        0
    };
    command
        .arguments()
        .skip(1 + names)
        .take_while(|word| !word.eq_ignore_ascii_case(b"STREAMS"))
        .any(|word| word.eq_ignore_ascii_case(b"BLOCK"))
}

/// Refuses what a token may not do.
pub(crate) fn allow(name: &str, access: Access) -> Result<(), Fault> {
    match access {
        Access::Full => Ok(()),
        // Names of keys are not for everyone, though listing them only reads.
        Access::ReadOnly if only_reads(name) && !matches!(name, "SCAN" | "KEYS" | "RANDOMKEY") => {
            Ok(())
        }
        Access::ReadOnly => Err(Fault::NoPermission(name.to_ascii_lowercase())),
    }
}

/// Whether the command surely changes nothing. Anything not listed counts as a write, which at
/// worst moves the sync token once too often.
pub(crate) fn only_reads(name: &str) -> bool {
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
