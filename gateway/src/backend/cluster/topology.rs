//! Who serves which slots, as far as is known.

use std::{collections::HashMap, sync::Arc};

use crc16::{State, XMODEM};
use redis::{ConnectionAddr, ConnectionInfo};

use super::{keys::SLOTS, listing::Listing, refusal::Address};
use crate::backend::node::{Manner, Node};

/// The owner of a slot that nobody serves.
const NOBODY: usize = usize::MAX;

/// The primaries, and which one serves which slot.
pub(super) struct Topology {
    /// In the order of their addresses, which all gateways of a cluster share.
    primaries: Vec<Arc<Node>>,
    /// For each slot a place among the primaries.
    owners: Vec<usize>,
    /// All addresses under which primaries are known.
    places: HashMap<Address, usize>,
    check: u16,
}

impl Topology {
    /// Nothing is known yet.
    pub(super) fn unknown() -> Self {
        Self {
            primaries: Vec::new(),
            owners: vec![NOBODY; usize::from(SLOTS)],
            places: HashMap::new(),
            check: 0,
        }
    }

    /// The nodes of a listing; those known already keep their connections.
    pub(super) fn of(
        mut listing: Listing,
        known: &Self,
        info: &ConnectionInfo,
        manner: Manner,
    ) -> Self {
        let mut topology = Self::unknown();
        listing.primaries.sort_by(|a, b| {
            let key = |primary: &super::listing::Primary| {
                primary
                    .addresses
                    .first()
                    .map(|address| (address.host.clone(), address.port))
            };
            key(a).cmp(&key(b))
        });
        for primary in listing.primaries {
            let place = topology.primaries.len();
            let connected = primary
                .addresses
                .iter()
                .find_map(|address| known.at(address));
            let Some(address) = reached_at(info.addr(), &primary.addresses) else {
                continue;
            };
            let node = connected
                .cloned()
                .unwrap_or_else(|| Arc::new(Node::open(info.clone().set_addr(address), manner)));
            topology.primaries.push(node);
            for address in primary.addresses {
                topology.places.insert(address, place);
            }
            for (first, last) in primary.slots {
                let slots = usize::from(first)..=usize::from(last);
                if let Some(owners) = topology.owners.get_mut(slots) {
                    owners.fill(place);
                }
            }
        }
        topology.checked()
    }

    /// The same, but for slots that have moved to other primaries.
    pub(super) fn moved(&self, slots: &[(u16, Arc<Node>)]) -> Self {
        let mut owners = self.owners.clone();
        for (slot, node) in slots {
            let place = self.primaries.iter().position(|own| Arc::ptr_eq(own, node));
            if let (Some(place), Some(owner)) = (place, owners.get_mut(usize::from(*slot))) {
                *owner = place;
            }
        }
        Self {
            primaries: self.primaries.clone(),
            owners,
            places: self.places.clone(),
            check: 0,
        }
        .checked()
    }

    fn checked(mut self) -> Self {
        let mut state = State::<XMODEM>::new();
        for node in &self.primaries {
            state.update(node.info().addr().to_string().as_bytes());
        }
        for owner in &self.owners {
            state.update(&owner.to_le_bytes());
        }
        self.check = state.get();
        self
    }

    pub(super) fn owner(&self, slot: u16) -> Option<&Arc<Node>> {
        let place = self.owners.get(usize::from(slot))?;
        self.primaries.get(*place)
    }

    pub(super) fn primaries(&self) -> &[Arc<Node>] {
        &self.primaries
    }

    /// One that is up, in turn; one that is not where none is.
    pub(super) fn any(&self, turn: usize) -> Option<&Arc<Node>> {
        let count = self.primaries.len().max(1);
        let in_turn = || {
            (0..count).filter_map(|offset| self.primaries.get(turn.wrapping_add(offset) % count))
        };
        in_turn()
            .find(|node| node.is_up())
            .or_else(|| in_turn().next())
    }

    /// The primary with this address.
    pub(super) fn at(&self, address: &Address) -> Option<&Arc<Node>> {
        self.primaries.get(*self.places.get(address)?)
    }

    /// The primary `teller` means. One that the cluster does not list is none: a script can make
    /// up a redirection to anywhere.
    pub(super) fn meant(&self, address: &Address, teller: &Node) -> Option<&Arc<Node>> {
        if !address.host.is_empty() {
            return self.at(address);
        }
        let (host, _) = host_and_port(teller.info().addr())?;
        self.at(&Address {
            host: host.to_owned(),
            port: address.port,
        })
    }

    /// A text that tells this map of slots from another.
    pub(super) fn check(&self) -> u16 {
        self.check
    }

    /// Slots nobody serves, or whose primary cannot be reached.
    pub(super) fn unserved(&self) -> usize {
        let up: Vec<bool> = self.primaries.iter().map(|node| node.is_up()).collect();
        self.owners
            .iter()
            .filter(|owner| !up.get(**owner).copied().unwrap_or(false))
            .count()
    }
}

pub(super) fn host_and_port(address: &ConnectionAddr) -> Option<(&str, u16)> {
    match address {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            Some((host, *port))
        }
        _ => None,
    }
}

/// Where to connect to: as to the node configured, but with TLS to the name, which certificates
/// are made out for.
fn reached_at(like: &ConnectionAddr, addresses: &[Address]) -> Option<ConnectionAddr> {
    match like {
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
