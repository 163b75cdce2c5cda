//! Waits until replicas have confirmed a write (`WAIT_REPLICAS`).

use std::time::Duration;

use redis::{Cmd, Pipeline, Value, cmd};

use super::Reply;
use crate::{command::name_of, error::GatewayError, policy};

/// The replica acknowledgements that a write requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplicaAcks {
    /// Number of replicas that must confirm a write.
    pub(crate) required: usize,
    pub(crate) timeout: Duration,
}

impl ReplicaAcks {
    /// Appends WAIT to a pipeline that writes, or returns `None` for a pipeline that only reads.
    ///
    /// WAIT covers all earlier writes of the same connection.
    pub(super) fn append_wait(self, pipeline: &mut Pipeline) -> Option<PendingAcks> {
        let writes: Vec<bool> = pipeline.cmd_iter().map(is_replicated).collect();
        if !writes.contains(&true) {
            return None;
        }
        let mut wait = cmd("WAIT");
        wait.arg(self.required)
            .arg(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX));
        pipeline.add_command(wait);
        Some(PendingAcks { acks: self, writes })
    }
}

/// A pipeline that ends with WAIT.
pub(super) struct PendingAcks {
    acks: ReplicaAcks,
    /// For each command before WAIT, whether it may write.
    writes: Vec<bool>,
}

impl PendingAcks {
    /// Removes the reply to WAIT. If it reports too few replicas, every write fails, except where
    /// Redis replied with an error: that command changed nothing.
    pub(super) fn check(&self, replies: &mut Vec<Reply>) {
        let confirmed = match replies.pop() {
            Some(Ok(Value::Int(replicas))) => usize::try_from(replicas).unwrap_or(0),
            _ => 0,
        };
        if confirmed >= self.acks.required {
            return;
        }
        for (reply, _) in replies
            .iter_mut()
            .zip(&self.writes)
            .filter(|(reply, writes)| **writes && !matches!(reply, Ok(Value::ServerError(_))))
        {
            *reply = Err(GatewayError::TooFewReplicas {
                confirmed,
                required: self.acks.required,
                ms: self.acks.timeout.as_millis(),
            });
        }
    }
}

/// Returns the replies to a transaction, or its first error.
///
/// If EXEC failed, nothing was written and missing acknowledgements are ignored.
pub(super) fn transaction_replies(replies: Vec<Reply>) -> Result<Vec<Value>, GatewayError> {
    if matches!(replies.last(), Some(Ok(Value::ServerError(_)))) {
        return Ok(replies
            .into_iter()
            .map(|reply| reply.unwrap_or(Value::Nil))
            .collect());
    }
    replies.into_iter().collect()
}

/// Returns whether a command may change data on replicas. Every script counts as a write, unless it
/// is run by EVAL_RO or EVALSHA_RO.
fn is_replicated(command: &Cmd) -> bool {
    let name = name_of(command);
    !policy::is_read_only(&name)
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

    use super::ReplicaAcks;
    use crate::error::GatewayError;

    const TWO: ReplicaAcks = ReplicaAcks {
        required: 2,
        timeout: Duration::from_millis(100),
    };

    fn pipeline(names: &[&str]) -> Pipeline {
        let mut pipeline = Pipeline::new();
        for name in names {
            pipeline.add_command(cmd(name));
        }
        pipeline
    }

    #[test]
    fn reads_do_not_wait() {
        let mut reads = pipeline(&["GET", "mget", "SCRIPT", "EVAL_RO"]);
        assert!(TWO.append_wait(&mut reads).is_none());
        assert_eq!(reads.len(), 4);
    }

    #[test]
    fn missing_acks_fail_successful_writes_only() {
        let mut mixed = pipeline(&["GET", "SET", "EVALSHA"]);
        let pending = TWO.append_wait(&mut mixed);
        assert_eq!(
            mixed.get_packed_pipeline(),
            b"*1\r\n$3\r\nGET\r\n*1\r\n$3\r\nSET\r\n*1\r\n$7\r\nEVALSHA\r\n*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n100\r\n"
        );
        let failed = || Ok(parse_redis_value(b"-OOM full\r\n").unwrap_or(Value::Nil));
        for (confirmed, set) in [
            (2, Ok(Value::Okay)),
            (
                1,
                Err(GatewayError::TooFewReplicas {
                    confirmed: 1,
                    required: 2,
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
            if let Some(pending) = &pending {
                pending.check(&mut replies);
            }
            assert_eq!(replies, [Ok(Value::Nil), set, failed()]);
        }
    }
}
