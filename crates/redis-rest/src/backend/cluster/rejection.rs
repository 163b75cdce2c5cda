//! Error replies of a node that did not run a command, after which the command may be sent again.

use redis::Value;

use super::cluster_nodes::NodeAddress;

/// The reason why a node did not run a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// MOVED: another node serves the slot.
    Moved(NodeAddress),
    /// ASK: the slot is in migration, and this command has to be sent to another node.
    Ask(NodeAddress),
    /// TRYAGAIN: the slot is in migration, and its keys are on two nodes.
    TryAgain,
    /// READONLY: the node has become a replica.
    ReadOnly,
    /// CLUSTERDOWN: the slot has no primary.
    ClusterDown,
    /// NOSCRIPT: the script is not loaded on the node.
    NoScript,
}

impl Rejection {
    /// Returns the rejection that an error reply reports. Other replies are final.
    pub(super) fn of(reply: &Value) -> Option<Self> {
        let Value::ServerError(error) = reply else {
            return None;
        };
        let address = || NodeAddress::parse(error.details()?.split(' ').nth(1)?);
        match error.code() {
            "MOVED" => address().map(Self::Moved),
            "ASK" => address().map(Self::Ask),
            "TRYAGAIN" => Some(Self::TryAgain),
            "READONLY" => Some(Self::ReadOnly),
            "CLUSTERDOWN" => Some(Self::ClusterDown),
            "NOSCRIPT" => Some(Self::NoScript),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::{NodeAddress, Rejection};

    fn rejection(line: &str) -> Option<Rejection> {
        let value = parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap_or(Value::Nil);
        Rejection::of(&value)
    }

    #[test]
    fn redirections_contain_node_address() {
        for (line, host, port) in [
            ("MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381),
            ("MOVED 3999 :6381", "", 6381),
            ("MOVED 3999 ?:6381", "", 6381),
            ("MOVED 3999 2001:db8::1:6381", "2001:db8::1", 6381),
            ("MOVED 3999 redis-2.example:1", "redis-2.example", 1),
        ] {
            let host = host.to_owned();
            let expected = Rejection::Moved(NodeAddress { host, port });
            assert_eq!(rejection(line), Some(expected), "{line}");
        }
        let host = "a".to_owned();
        assert_eq!(
            rejection("ASK 1 a:2"),
            Some(Rejection::Ask(NodeAddress { host, port: 2 }))
        );
    }

    #[test]
    fn only_rejections_are_recognized() {
        assert_eq!(
            rejection("TRYAGAIN Multiple keys request during rehashing of slot"),
            Some(Rejection::TryAgain)
        );
        assert_eq!(
            rejection("NOSCRIPT No matching script."),
            Some(Rejection::NoScript)
        );
        assert_eq!(
            rejection("CLUSTERDOWN The cluster is down"),
            Some(Rejection::ClusterDown)
        );
        for line in [
            "MOVED",
            "MOVED 1",
            "MOVED 1 a:b",
            "MOVED 1 a:65536",
            "ERR MOVED 1 a:1",
            "WRONGTYPE x",
        ] {
            assert_eq!(rejection(line), None, "{line}");
        }
        assert_eq!(Rejection::of(&Value::Nil), None);
    }
}
