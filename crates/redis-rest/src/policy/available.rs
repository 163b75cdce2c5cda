//! The commands that are available without `ALLOW_COMMANDS`.
//!
//! These are the commands on data, scripts and functions, and commands that only read the state of the
//! server and reveal no secrets. Everything else is not available, also commands of future versions.

use crate::command::Command;

/// In alphabetical order, with the commands of Redis up to 8.4 and Valkey up to 9. Commands with
/// subcommands in this list are available with all of them.
const COMMANDS: &[&str] = &[
    "APPEND",
    "BITCOUNT",
    "BITFIELD",
    "BITFIELD_RO",
    "BITOP",
    "BITPOS",
    "COMMAND",
    "COPY",
    "DBSIZE",
    "DECR",
    "DECRBY",
    "DEL",
    "DELEX",
    "DELIFEQ",
    "DIGEST",
    "DUMP",
    "ECHO",
    "EVAL",
    "EVALSHA",
    "EVALSHA_RO",
    "EVAL_RO",
    "EXISTS",
    "EXPIRE",
    "EXPIREAT",
    "EXPIRETIME",
    "FCALL",
    "FCALL_RO",
    "FLUSHALL",
    "FLUSHDB",
    "FUNCTION",
    "GEOADD",
    "GEODIST",
    "GEOHASH",
    "GEOPOS",
    "GEORADIUS",
    "GEORADIUSBYMEMBER",
    "GEORADIUSBYMEMBER_RO",
    "GEORADIUS_RO",
    "GEOSEARCH",
    "GEOSEARCHSTORE",
    "GET",
    "GETBIT",
    "GETDEL",
    "GETEX",
    "GETRANGE",
    "GETSET",
    "HDEL",
    "HEXISTS",
    "HEXPIRE",
    "HEXPIREAT",
    "HEXPIRETIME",
    "HGET",
    "HGETALL",
    "HGETDEL",
    "HGETEX",
    "HINCRBY",
    "HINCRBYFLOAT",
    "HKEYS",
    "HLEN",
    "HMGET",
    "HMSET",
    "HPERSIST",
    "HPEXPIRE",
    "HPEXPIREAT",
    "HPEXPIRETIME",
    "HPTTL",
    "HRANDFIELD",
    "HSCAN",
    "HSET",
    "HSETEX",
    "HSETNX",
    "HSTRLEN",
    "HTTL",
    "HVALS",
    "INCR",
    "INCRBY",
    "INCRBYFLOAT",
    "INFO",
    "KEYS",
    "LASTSAVE",
    "LCS",
    "LINDEX",
    "LINSERT",
    "LLEN",
    "LMOVE",
    "LMPOP",
    "LOLWUT",
    "LPOP",
    "LPOS",
    "LPUSH",
    "LPUSHX",
    "LRANGE",
    "LREM",
    "LSET",
    "LTRIM",
    "MGET",
    "MSET",
    "MSETEX",
    "MSETNX",
    "OBJECT",
    "PERSIST",
    "PEXPIRE",
    "PEXPIREAT",
    "PEXPIRETIME",
    "PFADD",
    "PFCOUNT",
    "PFMERGE",
    "PING",
    "PSETEX",
    "PTTL",
    "PUBLISH",
    "PUBSUB",
    "RANDOMKEY",
    "RENAME",
    "RENAMENX",
    "RESTORE",
    "ROLE",
    "RPOP",
    "RPOPLPUSH",
    "RPUSH",
    "RPUSHX",
    "SADD",
    "SCAN",
    "SCARD",
    "SCRIPT",
    "SDIFF",
    "SDIFFSTORE",
    "SET",
    "SETBIT",
    "SETEX",
    "SETNX",
    "SETRANGE",
    "SINTER",
    "SINTERCARD",
    "SINTERSTORE",
    "SISMEMBER",
    "SMEMBERS",
    "SMISMEMBER",
    "SMOVE",
    "SORT",
    "SORT_RO",
    "SPOP",
    "SPUBLISH",
    "SRANDMEMBER",
    "SREM",
    "SSCAN",
    "STRLEN",
    "SUBSTR",
    "SUNION",
    "SUNIONSTORE",
    "TIME",
    "TOUCH",
    "TTL",
    "TYPE",
    "UNLINK",
    "VADD",
    "VCARD",
    "VDIM",
    "VEMB",
    "VGETATTR",
    "VINFO",
    "VISMEMBER",
    "VLINKS",
    "VRANDMEMBER",
    "VRANGE",
    "VREM",
    "VSETATTR",
    "VSIM",
    "XACK",
    "XACKDEL",
    "XADD",
    "XAUTOCLAIM",
    "XCFGSET",
    "XCLAIM",
    "XDEL",
    "XDELEX",
    "XGROUP",
    "XINFO",
    "XLEN",
    "XPENDING",
    "XRANGE",
    "XREAD",
    "XREADGROUP",
    "XREVRANGE",
    "XSETID",
    "XTRIM",
    "ZADD",
    "ZCARD",
    "ZCOUNT",
    "ZDIFF",
    "ZDIFFSTORE",
    "ZINCRBY",
    "ZINTER",
    "ZINTERCARD",
    "ZINTERSTORE",
    "ZLEXCOUNT",
    "ZMPOP",
    "ZMSCORE",
    "ZPOPMAX",
    "ZPOPMIN",
    "ZRANDMEMBER",
    "ZRANGE",
    "ZRANGEBYLEX",
    "ZRANGEBYSCORE",
    "ZRANGESTORE",
    "ZRANK",
    "ZREM",
    "ZREMRANGEBYLEX",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
    "ZREVRANGE",
    "ZREVRANGEBYLEX",
    "ZREVRANGEBYSCORE",
    "ZREVRANK",
    "ZSCAN",
    "ZSCORE",
    "ZUNION",
    "ZUNIONSTORE",
];

/// The prefixes of commands on the data types of modules, which are part of Redis since version 8.
const MODULE_PREFIXES: [&str; 7] = ["BF.", "CF.", "CMS.", "JSON.", "TDIGEST.", "TOPK.", "TS."];

/// The subcommands of `CLUSTER` that only read.
const CLUSTER_SUBCOMMANDS: [&str; 11] = [
    "CLUSTER|COUNTKEYSINSLOT",
    "CLUSTER|GETKEYSINSLOT",
    "CLUSTER|HELP",
    "CLUSTER|INFO",
    "CLUSTER|KEYSLOT",
    "CLUSTER|LINKS",
    "CLUSTER|MYID",
    "CLUSTER|NODES",
    "CLUSTER|REPLICAS",
    "CLUSTER|SHARDS",
    "CLUSTER|SLOTS",
];

/// Returns the names of all available commands but those of modules, with subcommands as `ACL|WHOAMI`.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    let cluster = CLUSTER_SUBCOMMANDS.iter();
    COMMANDS
        .iter()
        .chain(cluster)
        .chain(&["ACL|WHOAMI", "MEMORY|USAGE"])
        .copied()
}

/// Returns whether `name` is that of an available command of a module.
pub(super) fn is_of_module(name: &str) -> bool {
    MODULE_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Returns whether `name` is that of an available command of Redis itself, which has no subcommands that are not available.
pub(super) fn is_of_core(name: &str) -> bool {
    COMMANDS.binary_search(&name).is_ok()
}

/// Returns whether a command is available. `name` is its name in upper case.
pub(super) fn contains(name: &str, command: &Command) -> bool {
    match name {
        "ACL" => command.argument_is(1, "WHOAMI"),
        "MEMORY" => command.argument_is(1, "USAGE"),
        "CLUSTER" => CLUSTER_SUBCOMMANDS
            .iter()
            .filter_map(|name| name.split('|').nth(1))
            .any(|subcommand| command.argument_is(1, subcommand)),
        _ => is_of_core(name) || is_of_module(name),
    }
}

#[cfg(test)]
mod tests {
    use super::COMMANDS;

    /// The binary search requires this.
    #[test]
    fn commands_are_in_alphabetical_order() {
        assert!(COMMANDS.is_sorted());
    }
}
