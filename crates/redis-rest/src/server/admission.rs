//! Limits the number of open connections, in total and per client address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::error::GatewayError;

/// Counts the open connections.
pub(super) struct Admission {
    limit: usize,
    /// `None` without a limit per address.
    limit_per_address: Option<usize>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The place of one open connection. Dropping it frees the place.
pub(super) struct Permit {
    admission: Arc<Admission>,
    address: IpAddr,
}

impl Admission {
    pub(super) fn new(limit: usize, limit_per_address: Option<usize>) -> Self {
        Self {
            limit,
            limit_per_address,
            open: Mutex::default(),
        }
    }

    /// Counts a connection from `address`.
    ///
    /// # Errors
    ///
    /// Fails if a limit is reached.
    pub(super) fn try_acquire(self: &Arc<Self>, address: IpAddr) -> Result<Permit, GatewayError> {
        let address = network(address);
        let mut open = self.open();
        if open.total >= self.limit {
            return Err(GatewayError::TooManyConnections { limit: self.limit });
        }
        let from_address = open.by_address.get(&address).copied().unwrap_or(0);
        if let Some(limit) = self.limit_per_address
            && from_address >= limit
        {
            return Err(GatewayError::TooManyConnectionsOfAddress { limit });
        }
        open.total += 1;
        open.by_address.insert(address, from_address + 1);
        Ok(Permit {
            admission: Arc::clone(self),
            address,
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.admission.open();
        open.total -= 1;
        if let Some(count) = open.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

/// Returns the address whose connections are counted together: an IPv4 address, or the /64 network of
/// an IPv6 address, because one client can use all addresses of such a network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Admission;

    fn admission(limit: usize, limit_per_address: Option<usize>) -> Arc<Admission> {
        Arc::new(Admission::new(limit, limit_per_address))
    }

    /// Connects from each address, keeps the connections open and returns the error messages.
    fn messages(admission: &Arc<Admission>, addresses: &[&str]) -> Vec<String> {
        let opened: Vec<_> = addresses
            .iter()
            .filter_map(|address| address.parse().ok())
            .map(|address| admission.try_acquire(address))
            .collect();
        assert_eq!(opened.len(), addresses.len());
        opened
            .iter()
            .map(|permit| match permit {
                Ok(_) => String::new(),
                Err(error) => error.message().into_owned(),
            })
            .collect()
    }

    #[test]
    fn total_limit_applies_to_all_addresses() {
        let refused = "ERR max number of connections exceeded. Limit: 2";
        assert_eq!(
            messages(&admission(2, None), &["10.0.0.1", "10.0.0.1", "10.0.0.2"]),
            ["", "", refused]
        );
    }

    #[test]
    fn ipv6_addresses_count_by_network() {
        let refused = "ERR max number of connections per address exceeded. Limit: 1";
        assert_eq!(
            messages(
                &admission(9, Some(1)),
                &["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]
            ),
            ["", refused, ""]
        );
        assert_eq!(
            messages(&admission(9, Some(1)), &["10.0.0.1", "::ffff:10.0.0.1"]),
            ["", refused]
        );
    }

    #[test]
    fn closed_connections_no_longer_count() {
        let admission = admission(1, Some(1));
        for _ in 0..3 {
            assert_eq!(messages(&admission, &["10.0.0.1"]), [""]);
        }
        assert!(admission.open().by_address.is_empty());
    }
}
