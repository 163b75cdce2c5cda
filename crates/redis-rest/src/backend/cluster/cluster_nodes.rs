//! Parses the reply to `CLUSTER NODES`, and the node addresses in it.
//!
//! Unlike `CLUSTER SHARDS`, all versions of Redis support this command. Unlike `CLUSTER SLOTS`, it also
//! lists primaries without slots, which may be the target of a migration.

use super::keys::SLOTS;

/// The address of a node, as another node reports it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeAddress {
    /// Empty for the host of the node that reports the address.
    pub(super) host: String,
    pub(super) port: u16,
}

impl NodeAddress {
    /// Parses `host:port`. An IPv6 host contains colons, and `?` stands for no host.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = if host == "?" { "" } else { host };
        Some(Self {
            host: host.to_owned(),
            port: port.parse().ok()?,
        })
    }
}

/// The primaries of a cluster, as one of its nodes reports them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClusterNodes {
    pub(super) primaries: Vec<Primary>,
    /// The highest configuration epoch. Of two reports, the one with the higher epoch is newer.
    pub(super) epoch: u64,
}

/// One primary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Primary {
    /// Its address, followed by that with its host name, if it has one.
    pub(super) addresses: Vec<NodeAddress>,
    /// The first and the last slot of each range.
    pub(super) slots: Vec<(u16, u16)>,
}

impl ClusterNodes {
    /// Parses the reply of a node at `host`, which replaces an empty host in the reply: a node may
    /// not know its own address.
    pub(super) fn parse(text: &str, host: &str) -> Option<Self> {
        let mut cluster = Self {
            primaries: Vec::new(),
            epoch: 0,
        };
        for line in text.lines() {
            let mut words = line.split(' ').skip(1);
            let addresses = addresses(words.next()?, host);
            let flags: Vec<&str> = words.next()?.split(',').collect();
            let epoch: u64 = words.nth(3)?.parse().ok()?;
            cluster.epoch = cluster.epoch.max(epoch);
            let slots: Vec<(u16, u16)> = words.skip(1).filter_map(range).collect();
            let has = |flag: &str| flags.contains(&flag);
            // A failed primary keeps its slots until a replica is promoted.
            let unusable = has("noaddr") || has("handshake") || (has("fail") && slots.is_empty());
            if has("master") && !unusable && !addresses.is_empty() {
                cluster.primaries.push(Primary { addresses, slots });
            }
        }
        Some(cluster)
    }
}

/// Parses `ip:port@busport,hostname`.
fn addresses(text: &str, default_host: &str) -> Vec<NodeAddress> {
    let mut parts = text.split(',');
    let Some(address) = parts
        .next()
        .and_then(|address| address.split('@').next())
        .and_then(NodeAddress::parse)
    else {
        return Vec::new();
    };
    let port = address.port;
    let host = if address.host.is_empty() {
        default_host.to_owned()
    } else {
        address.host
    };
    // Newer versions append more fields, as `name=value`.
    let host_name = parts
        .next()
        .filter(|name| !name.is_empty() && !name.contains('='));
    std::iter::once(host)
        .chain(host_name.map(str::to_owned))
        .map(|host| NodeAddress { host, port })
        .collect()
}

/// Parses `5461-10922` or `7`. Returns `None` for a slot in migration, such as `[7->-…]`, which its owner
/// also lists in a range.
fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < SLOTS).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ClusterNodes, NodeAddress, Primary};

    fn address(host: &str, port: u16) -> NodeAddress {
        let host = host.to_owned();
        NodeAddress { host, port }
    }

    #[test]
    fn primaries_are_parsed_with_slots() {
        let text = "\
07c3 10.0.0.4:30004@31004 slave e7d1 0 1426238317239 4 connected
67ed 10.0.0.2:30002@31002,two.example master - 0 1426238316232 2 connected 5461-10922 [93-<-e7d1]
292f 10.0.0.3:30003@31003,,shard-id=69bc master,fail - 1426238316232 0 3 disconnected 10923-16383
6ec2 10.0.0.5:30005@31005 master,fail - 1426238316232 0 9 disconnected
824f 10.0.0.6:30006@31006 master - 0 1426238317741 6 connected
a24f :0@0 master,noaddr - 0 1426238317741 6 disconnected
e7d1 :30001@31001 myself,master - 0 0 1 connected 0 2-5460 [93->-67ed]
";
        let primary = |addresses: &[NodeAddress], slots: &[(u16, u16)]| Primary {
            addresses: addresses.to_vec(),
            slots: slots.to_vec(),
        };
        assert_eq!(
            ClusterNodes::parse(text, "seed"),
            Some(ClusterNodes {
                primaries: vec![
                    primary(
                        &[address("10.0.0.2", 30002), address("two.example", 30002)],
                        &[(5461, 10922)]
                    ),
                    primary(&[address("10.0.0.3", 30003)], &[(10923, 16383)]),
                    primary(&[address("10.0.0.6", 30006)], &[]),
                    primary(&[address("seed", 30001)], &[(0, 0), (2, 5460)]),
                ],
                epoch: 9,
            })
        );
    }

    proptest! {
        #[test]
        fn any_text_parses_or_returns_none(text: String) {
            let _ = ClusterNodes::parse(&text, "seed");
        }
    }
}
