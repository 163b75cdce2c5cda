//! Restricts the connections of the gateway, so that scripts cannot run commands that the gateway does
//! not make available: Redis checks each call of a script against the user of the connection.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use redis::{Cmd, ConnectionInfo, Pipeline, Value, cmd};

use super::{login::send, multiplexer::Multiplexer};
use crate::log;
use crate::{error::error_line, policy::Policy, script::sha1_hex};

/// Commands that scripts can call, and that the gateway does not make available. Only commands without
/// keys: for other ones the answer depends on the keys of the user, which the gateway does not know.
const PROBED: [&str; 3] = ["SELECT", "SWAPDB", "SLOWLOG|GET"];
/// Returns those of its arguments that a script may call. Redis 7 and later.
const PROBE: &str = "local allowed = {} \
    for _, name in ipairs(ARGV) do \
    local words = {} \
    for word in string.gmatch(name, '[^|]+') do table.insert(words, word) end \
    for _ = 1, 5 do table.insert(words, '0') end \
    local known, permitted = pcall(redis.acl_check_cmd, unpack(words)) \
    if known and permitted then table.insert(allowed, name) end end \
    return allowed";

/// Restricts connections to the available commands.
pub(crate) struct Restriction {
    policy: Arc<Policy>,
    /// The token of the gateway, from which the password of its Redis user is derived.
    token: String,
    /// Whether a warning was logged.
    warned: AtomicBool,
}

impl Restriction {
    pub(crate) fn new(policy: Arc<Policy>, token: &str) -> Arc<Self> {
        Arc::new(Self {
            policy,
            token: token.to_owned(),
            warned: AtomicBool::new(false),
        })
    }

    /// Changes the connection to a Redis user that may only run available commands. If an operator
    /// has restricted the user of `REDIS_URL`, that user is kept, and logs a warning if its scripts
    /// can run other commands.
    ///
    /// # Errors
    ///
    /// Fails if the connection is lost, or if Redis does not answer, as while a script runs: then nothing is known about the
    /// user, and the connection must not be used.
    pub(super) async fn apply(
        &self,
        connection: &Multiplexer,
        info: &ConnectionInfo,
    ) -> Result<(), String> {
        let warning = if is_unrestricted(connection).await? {
            self.change_user(connection, info).await?
        } else {
            self.probe(connection).await?
        };
        if let Some(warning) = warning
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            log::line(&format!(
                "WARNING: scripts can run commands that the gateway does not make available: \
                 {warning}. Use a Redis user that may not run them: see \"Scripts\" in the documentation"
            ));
        }
        Ok(())
    }

    /// Creates the user of the gateway, unless it exists, and changes to it. Returns the reason if
    /// Redis refuses.
    async fn change_user(
        &self,
        connection: &Multiplexer,
        info: &ConnectionInfo,
    ) -> Result<Option<String>, String> {
        let commands = match single(connection, cmd("COMMAND")).await? {
            Value::Array(commands) => commands.iter().filter_map(command_name).collect(),
            _ => HashSet::new(),
        };
        if commands.is_empty() {
            return Ok(Some("COMMAND lists none".to_owned()));
        }
        let rules = self.policy.acl_rules(&commands);
        let password = info.redis_settings().password().unwrap_or_default();
        // The same configuration uses the same user: restarts add no users, and gateways with different
        // rules or tokens do not change each other's.
        let secret = |label: &str| {
            sha1_hex(
                format!(
                    "redis-rest {label}\n{}\n{password}\n{}",
                    self.token,
                    rules.join(" ")
                )
                .as_bytes(),
            )
        };
        let (id, secret) = (secret("user"), secret("password"));
        let user = format!("redis-rest-{}", id.get(..12).unwrap_or_default());
        let mut change = Pipeline::new();
        change
            .add_command(cmd("ACL"))
            .arg("SETUSER")
            .arg(&user)
            .arg(&["reset", "on"])
            .arg(format!(">{secret}"))
            .arg(&["allkeys", "allchannels", "-@all"])
            .arg(&rules);
        change.add_command(cmd("AUTH")).arg(&user).arg(&secret);
        let mut refused = None;
        for reply in send(connection, &change).await? {
            if let Value::ServerError(error) = answered(reply)? {
                refused.get_or_insert(error_line(&error));
            }
        }
        Ok(refused)
    }

    /// Returns which of the commands that are not available a script can run.
    async fn probe(&self, connection: &Multiplexer) -> Result<Option<String>, String> {
        let mut probe = cmd("EVAL");
        probe.arg(PROBE).arg(0);
        for name in PROBED {
            if !self.policy.allows_name(name) {
                probe.arg(name);
            }
        }
        Ok(match single(connection, probe).await? {
            Value::Array(allowed) if allowed.is_empty() => None,
            Value::Array(allowed) => Some(
                allowed
                    .iter()
                    .filter_map(text)
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            // The user may run no scripts.
            Value::ServerError(error) if error.code() == "NOPERM" => None,
            Value::ServerError(error) => Some(format!(
                "the user of REDIS_URL could not be checked ({})",
                error_line(&error)
            )),
            _ => None,
        })
    }
}

/// Returns whether the user of the connection may run every command on every key and channel.
async fn is_unrestricted(connection: &Multiplexer) -> Result<bool, String> {
    let mut whoami = cmd("ACL");
    whoami.arg("WHOAMI");
    let name = single(connection, whoami).await?;
    let Some(name) = text(&name) else {
        return Ok(false);
    };
    let mut get_user = cmd("ACL");
    get_user.arg("GETUSER").arg(name);
    let Value::Array(fields) = single(connection, get_user).await? else {
        return Ok(false);
    };
    let field = |name: &str| {
        let index = fields.iter().position(|field| text(field) == Some(name))?;
        Some(match fields.get(index + 1)? {
            // Redis before 7.0 lists the patterns without prefixes.
            Value::Array(patterns) => patterns.iter().filter_map(text).collect(),
            value => text(value).unwrap_or_default().to_owned(),
        })
    };
    let is = |name: &str, expected: &[&str]| {
        field(name).is_some_and(|value: String| expected.contains(&value.as_str()))
    };
    Ok(is("commands", &["+@all"]) && is("keys", &["~*", "*"]) && is("channels", &["&*", "*"]))
}

async fn single(connection: &Multiplexer, command: Cmd) -> Result<Value, String> {
    let mut pipeline = Pipeline::new();
    pipeline.add_command(command);
    let reply = send(connection, &pipeline).await?.pop();
    answered(reply.unwrap_or(Value::Nil))
}

/// Returns a reply, unless it is an error that does not answer the command, such as BUSY or LOADING. `ERR` is the answer of
/// a server that does not know a command, `NOPERM` that of one that forbids it.
fn answered(reply: Value) -> Result<Value, String> {
    match reply {
        Value::ServerError(error) if !["ERR", "NOPERM"].contains(&error.code()) => {
            Err(error_line(&error))
        }
        reply => Ok(reply),
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

/// Returns the name of a command in the reply to COMMAND, in upper case.
fn command_name(command: &Value) -> Option<String> {
    match command {
        Value::Array(fields) => Some(text(fields.first()?)?.to_ascii_uppercase()),
        _ => None,
    }
}
