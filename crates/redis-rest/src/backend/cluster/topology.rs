//! The topology of a cluster: its primaries, and the slots that each of them serves.

use std::{collections::HashMap, sync::Arc};

use crc16::{State, XMODEM};
use redis::{ConnectionAddr, ConnectionInfo};

use super::{
    cluster_nodes::{ClusterNodes, NodeAddress, Primary},
    keys::SLOTS,
};
use crate::backend::node::{Node, NodeOptions};

/// The owner of a slot that no primary serves.
const UNASSIGNED: usize = usize::MAX;

/// The primaries of a cluster and their slots.
pub(super) struct Topology {
    /// Sorted by address, so that all gateways of a cluster have the same order.
    primaries: Vec<Arc<Node>>,
    /// For each slot, the index of its primary, or [`UNASSIGNED`].
    owners: Vec<usize>,
    /// The index of the primary at each known address.
    by_address: HashMap<NodeAddress, usize>,
    checksum: u16,
}

impl Topology {
    /// Returns a topology without primaries.
    pub(super) fn empty() -> Self {
        Self {
            primaries: Vec::new(),
            owners: vec![UNASSIGNED; usize::from(SLOTS)],
            by_address: HashMap::new(),
            checksum: 0,
        }
    }

    /// Creates a topology from a report of `CLUSTER NODES`.
    ///
    /// Primaries in `previous` keep their connections. `seed` has the credentials for new ones.
    pub(super) fn new(
        mut cluster: ClusterNodes,
        previous: &Self,
        seed: &ConnectionInfo,
        options: &NodeOptions,
    ) -> Self {
        let mut topology = Self::empty();
        let key = |primary: &Primary| {
            primary
                .addresses
                .first()
                .map(|address| (address.host.clone(), address.port))
        };
        cluster.primaries.sort_by_key(key);
        for primary in cluster.primaries {
            let index = topology.primaries.len();
            let connected = primary
                .addresses
                .iter()
                .find_map(|address| previous.at(address));
            let Some(address) = connection_address(seed.addr(), &primary.addresses) else {
                continue;
            };
            let node = connected.cloned().unwrap_or_else(|| {
                Arc::new(Node::open(seed.clone().set_addr(address), options.clone()))
            });
            topology.primaries.push(node);
            for address in primary.addresses {
                topology.by_address.insert(address, index);
            }
            for (first, last) in primary.slots {
                let slots = usize::from(first)..=usize::from(last);
                if let Some(owners) = topology.owners.get_mut(slots) {
                    owners.fill(index);
                }
            }
        }
        topology.with_checksum()
    }

    /// Returns a copy in which the given slots belong to other primaries.
    pub(super) fn with_moved(&self, slots: &[(u16, Arc<Node>)]) -> Self {
        let mut owners = self.owners.clone();
        for (slot, node) in slots {
            let index = self.primaries.iter().position(|own| Arc::ptr_eq(own, node));
            if let (Some(index), Some(owner)) = (index, owners.get_mut(usize::from(*slot))) {
                *owner = index;
            }
        }
        Self {
            primaries: self.primaries.clone(),
            owners,
            by_address: self.by_address.clone(),
            checksum: 0,
        }
        .with_checksum()
    }

    fn with_checksum(mut self) -> Self {
        let mut state = State::<XMODEM>::new();
        for node in &self.primaries {
            state.update(node.info().addr().to_string().as_bytes());
        }
        for owner in &self.owners {
            state.update(&owner.to_le_bytes());
        }
        self.checksum = state.get();
        self
    }

    /// Returns the primary that serves `slot`.
    pub(super) fn owner(&self, slot: u16) -> Option<&Arc<Node>> {
        let index = self.owners.get(usize::from(slot))?;
        self.primaries.get(*index)
    }

    pub(super) fn primaries(&self) -> &[Arc<Node>] {
        &self.primaries
    }

    /// Returns a primary in round-robin order, preferably one with an open connection.
    pub(super) fn any_primary(&self, turn: usize) -> Option<&Arc<Node>> {
        let count = self.primaries.len().max(1);
        let in_turn = || {
            (0..count).filter_map(|offset| self.primaries.get(turn.wrapping_add(offset) % count))
        };
        in_turn()
            .find(|node| node.is_up())
            .or_else(|| in_turn().next())
    }

    /// Returns the primary at `address`.
    fn at(&self, address: &NodeAddress) -> Option<&Arc<Node>> {
        self.primaries.get(*self.by_address.get(address)?)
    }

    /// Returns the primary to which `source` redirected a command.
    ///
    /// Returns `None` for an address outside the cluster: a script can return any text as an error,
    /// also a redirection.
    pub(super) fn resolve(&self, address: &NodeAddress, source: &Node) -> Option<&Arc<Node>> {
        if !address.host.is_empty() {
            return self.at(address);
        }
        let host = host(source.info().addr())?;
        self.at(&NodeAddress {
            host: host.to_owned(),
            port: address.port,
        })
    }

    /// Returns a checksum of the primaries and their slots.
    pub(super) fn checksum(&self) -> u16 {
        self.checksum
    }

    /// Returns the number of slots without a primary that has an open connection.
    pub(super) fn unavailable_slots(&self) -> usize {
        let up: Vec<bool> = self.primaries.iter().map(|node| node.is_up()).collect();
        self.owners
            .iter()
            .filter(|owner| !up.get(**owner).copied().unwrap_or(false))
            .count()
    }
}

/// Returns the host of a TCP or TLS address.
pub(super) fn host(address: &ConnectionAddr) -> Option<&str> {
    match address {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => Some(host),
        _ => None,
    }
}

/// Returns the address to connect to, with the same transport as the seed. TLS uses the host name if
/// there is one, because certificates are issued for host names.
fn connection_address(seed: &ConnectionAddr, addresses: &[NodeAddress]) -> Option<ConnectionAddr> {
    match seed {
        ConnectionAddr::Tcp(..) => addresses
            .first()
            .map(|address| ConnectionAddr::Tcp(address.host.clone(), address.port)),
        ConnectionAddr::TcpTls {
            insecure,
            tls_params,
            ..
        } => addresses.last().map(|address| ConnectionAddr::TcpTls {
            host: address.host.clone(),
            port: address.port,
            insecure: *insecure,
            tls_params: tls_params.clone(),
        }),
        _ => None,
    }
}
