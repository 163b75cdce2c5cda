//! Replies that mean: this did not run here.

use redis::Value;

/// Why a node did not run a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Another node serves the slot for good.
    Moved(Address),
    /// This key, and only this time, is with another node.
    Ask(Address),
    /// The keys are just being moved, and some have gone.
    TryAgain,
    /// The node has become a replica.
    ReadOnly,
    /// The slot has no primary.
    Down,
    /// The script is not loaded there.
    NoScript,
}

/// Where a node listens, as another one tells it. Without a host it is the teller's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Address {
    /// From `host:port`; an IPv6 address has colons of its own, `?` stands for no host.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = if host == "?" { "" } else { host };
        Some(Self {
            host: host.to_owned(),
            port: port.parse().ok()?,
        })
    }
}

impl Refusal {
    pub(super) fn of(reply: &Value) -> Option<Self> {
        let Value::ServerError(error) = reply else {
            return None;
        };
        let address = || Address::parse(error.details()?.split(' ').nth(1)?);
        match error.code() {
            "MOVED" => address().map(Self::Moved),
            "ASK" => address().map(Self::Ask),
            "TRYAGAIN" => Some(Self::TryAgain),
            "READONLY" => Some(Self::ReadOnly),
            "CLUSTERDOWN" => Some(Self::Down),
            "NOSCRIPT" => Some(Self::NoScript),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::{Address, Refusal};

    fn refusal(line: &str) -> Option<Refusal> {
        let value = parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap_or(Value::Nil);
        Refusal::of(&value)
    }

    #[test]
    fn redirections_name_a_node() {
        for (line, host, port) in [
            ("MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381),
            ("MOVED 3999 :6381", "", 6381),
            ("MOVED 3999 ?:6381", "", 6381),
            ("MOVED 3999 2001:db8::1:6381", "2001:db8::1", 6381),
            ("MOVED 3999 redis-2.example:1", "redis-2.example", 1),
        ] {
            let host = host.to_owned();
            let expected = Refusal::Moved(Address { host, port });
            assert_eq!(refusal(line), Some(expected), "{line}");
        }
        let host = "a".to_owned();
        assert_eq!(
            refusal("ASK 1 a:2"),
            Some(Refusal::Ask(Address { host, port: 2 }))
        );
    }

    #[test]
    fn other_errors_are_answers() {
        assert_eq!(
            refusal("TRYAGAIN Multiple keys request during rehashing of slot"),
            Some(Refusal::TryAgain)
        );
        assert_eq!(
            refusal("NOSCRIPT No matching script."),
            Some(Refusal::NoScript)
        );
        assert_eq!(
            refusal("CLUSTERDOWN The cluster is down"),
            Some(Refusal::Down)
        );
        for line in [
            "MOVED",
            "MOVED 1",
            "MOVED 1 a:b",
            "MOVED 1 a:65536",
            "ERR MOVED 1 a:1",
            "WRONGTYPE x",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
        assert_eq!(Refusal::of(&Value::Nil), None);
    }
}
