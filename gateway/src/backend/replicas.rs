//! Writes that are answered only when replicas have them.

use std::time::Duration;

use redis::{Cmd, Pipeline, Value, cmd};

use super::Reply;
use crate::{command::name_of, error::Fault, rules};

/// How many replicas must have a write, and how long they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replicas {
    pub(crate) wanted: usize,
    pub(crate) within: Duration,
}

impl Replicas {
    /// Lets WAIT follow commands that write, in the same write on the same connection: it tells
    /// of what this connection has written.
    pub(super) fn follow(self, pipeline: &mut Pipeline) -> Option<Writes> {
        let writes: Vec<bool> = pipeline.cmd_iter().map(is_replicated).collect();
        if !writes.contains(&true) {
            return None;
        }
        let mut wait = cmd("WAIT");
        wait.arg(self.wanted)
            .arg(u64::try_from(self.within.as_millis()).unwrap_or(u64::MAX));
        pipeline.add_command(wait);
        Some(Writes {
            replicas: self,
            writes,
        })
    }
}

/// Which commands before a WAIT may have written.
pub(super) struct Writes {
    replicas: Replicas,
    writes: Vec<bool>,
}

impl Writes {
    /// Takes the reply to WAIT off. Too few replicas, and no write is answered as done; an error
    /// Redis answered stays, for that command has done nothing.
    pub(super) fn confirm(&self, replies: &mut Vec<Reply>) {
        let confirmed = match replies.pop() {
            Some(Ok(Value::Int(replicas))) => usize::try_from(replicas).unwrap_or(0),
            _ => 0,
        };
        if confirmed >= self.replicas.wanted {
            return;
        }
        for (reply, _) in replies
            .iter_mut()
            .zip(&self.writes)
            .filter(|(reply, writes)| **writes && !matches!(reply, Ok(Value::ServerError(_))))
        {
            *reply = Err(Fault::TooFewReplicas {
                confirmed,
                wanted: self.replicas.wanted,
                ms: self.replicas.within.as_millis(),
            });
        }
    }
}

/// The replies to a transaction, or that replicas do not have it. Of one that did not run they
/// need not know.
pub(super) fn settled(replies: Vec<Reply>) -> Result<Vec<Value>, Fault> {
    if matches!(replies.last(), Some(Ok(Value::ServerError(_)))) {
        return Ok(replies
            .into_iter()
            .map(|reply| reply.unwrap_or(Value::Nil))
            .collect());
    }
    replies.into_iter().collect()
}

/// Whether a command may change what replicas have. Scripts count, also those that only read:
/// who wants those answered without replicas sends EVAL_RO.
fn is_replicated(command: &Cmd) -> bool {
    let name = name_of(command);
    !rules::only_reads(&name)
        && !matches!(
            name.as_ref(),
            "ACL"
                | "ASKING"
                | "CLUSTER"
                | "CONFIG"
                | "LATENCY"
                | "MULTI"
                | "PUBLISH"
                | "SCRIPT"
                | "SLOWLOG"
                | "SPUBLISH"
        )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use redis::{Pipeline, Value, cmd, parse_redis_value};

    use super::Replicas;
    use crate::error::Fault;

    const TWO: Replicas = Replicas {
        wanted: 2,
        within: Duration::from_millis(100),
    };

    fn pipeline(names: &[&str]) -> Pipeline {
        let mut pipeline = Pipeline::new();
        for name in names {
            pipeline.add_command(cmd(name));
        }
        pipeline
    }

    #[test]
    fn what_only_reads_waits_for_nobody() {
        let mut reads = pipeline(&["GET", "mget", "SCRIPT", "EVAL_RO"]);
        assert!(TWO.follow(&mut reads).is_none());
        assert_eq!(reads.len(), 4);
    }

    #[test]
    fn only_writes_that_were_done_need_replicas() {
        let mut mixed = pipeline(&["GET", "SET", "EVALSHA"]);
        let writes = TWO.follow(&mut mixed);
        assert_eq!(
            mixed.get_packed_pipeline(),
            b"*1\r\n$3\r\nGET\r\n*1\r\n$3\r\nSET\r\n*1\r\n$7\r\nEVALSHA\r\n*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n100\r\n"
        );
        let failed = || Ok(parse_redis_value(b"-OOM full\r\n").unwrap_or(Value::Nil));
        for (confirmed, set) in [
            (2, Ok(Value::Okay)),
            (
                1,
                Err(Fault::TooFewReplicas {
                    confirmed: 1,
                    wanted: 2,
                    ms: 100,
                }),
            ),
        ] {
            let mut replies = vec![
                Ok(Value::Nil),
                Ok(Value::Okay),
                failed(),
                Ok(Value::Int(confirmed)),
            ];
            if let Some(writes) = &writes {
                writes.confirm(&mut replies);
            }
            assert_eq!(replies, [Ok(Value::Nil), set, failed()]);
        }
    }
}
