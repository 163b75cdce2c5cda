//! What `CLUSTER NODES` tells.
//!
//! Of the commands that tell who serves which slots, this is the one every version has, and the
//! one that also names primaries without slots, to which the first slot is just being moved.

use super::{keys::SLOTS, refusal::Address};

/// A cluster as one of its nodes sees it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) primaries: Vec<Primary>,
    /// Grows with every change of who serves what: of two views the higher one is newer.
    pub(super) epoch: u64,
}

/// One primary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Primary {
    /// Its address, and a host name where it has one.
    pub(super) addresses: Vec<Address>,
    /// First and last slot of each range.
    pub(super) slots: Vec<(u16, u16)>,
}

impl Listing {
    /// `asked` is the host of the node that told: one may not know its own address.
    pub(super) fn parse(text: &str, asked: &str) -> Option<Self> {
        let mut listing = Self {
            primaries: Vec::new(),
            epoch: 0,
        };
        for line in text.lines() {
            let mut words = line.split(' ').skip(1);
            let addresses = addresses(words.next()?, asked);
            let flags: Vec<&str> = words.next()?.split(',').collect();
            let epoch: u64 = words.nth(3)?.parse().ok()?;
            listing.epoch = listing.epoch.max(epoch);
            let slots: Vec<(u16, u16)> = words.skip(1).filter_map(range).collect();
            let has = |flag: &str| flags.contains(&flag);
            // One that failed keeps its slots until a replica takes them.
            let gone = has("noaddr") || has("handshake") || (has("fail") && slots.is_empty());
            if has("master") && !gone && !addresses.is_empty() {
                listing.primaries.push(Primary { addresses, slots });
            }
        }
        Some(listing)
    }
}

/// `ip:port@busport,hostname`.
fn addresses(text: &str, asked: &str) -> Vec<Address> {
    let mut parts = text.split(',');
    let Some(address) = parts
        .next()
        .and_then(|address| address.split('@').next())
        .and_then(Address::parse)
    else {
        return Vec::new();
    };
    let port = address.port;
    let host = if address.host.is_empty() {
        asked.to_owned()
    } else {
        address.host
    };
    // Newer servers add more, as `name=value`.
    let name = parts
        .next()
        .filter(|name| !name.is_empty() && !name.contains('='));
    std::iter::once(host)
        .chain(name.map(str::to_owned))
        .map(|host| Address { host, port })
        .collect()
}

/// `5461-10922` or `7`; `[7->-…]` is one that is just being moved, and belongs to another line.
fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < SLOTS).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Listing, Primary};
    use crate::backend::cluster::refusal::Address;

    fn at(host: &str, port: u16) -> Address {
        let host = host.to_owned();
        Address { host, port }
    }

    #[test]
    fn primaries_are_listed_with_their_slots() {
        let text = "\
07c3 10.0.0.4:30004@31004 slave e7d1 0 1426238317239 4 connected
67ed 10.0.0.2:30002@31002,two.example master - 0 1426238316232 2 connected 5461-10922 [93-<-e7d1]
292f 10.0.0.3:30003@31003,,shard-id=69bc master,fail - 1426238316232 0 3 disconnected 10923-16383
6ec2 10.0.0.5:30005@31005 master,fail - 1426238316232 0 9 disconnected
824f 10.0.0.6:30006@31006 master - 0 1426238317741 6 connected
a24f :0@0 master,noaddr - 0 1426238317741 6 disconnected
e7d1 :30001@31001 myself,master - 0 0 1 connected 0 2-5460 [93->-67ed]
";
        let listing = Listing::parse(text, "seed");
        let primary = |addresses: &[Address], slots: &[(u16, u16)]| Primary {
            addresses: addresses.to_vec(),
            slots: slots.to_vec(),
        };
        assert_eq!(
            listing,
            Some(Listing {
                primaries: vec![
                    primary(
                        &[at("10.0.0.2", 30002), at("two.example", 30002)],
                        &[(5461, 10922)]
                    ),
                    primary(&[at("10.0.0.3", 30003)], &[(10923, 16383)]),
                    primary(&[at("10.0.0.6", 30006)], &[]),
                    primary(&[at("seed", 30001)], &[(0, 0), (2, 5460)]),
                ],
                epoch: 9,
            })
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_listing_or_none(text: String) {
            let _ = Listing::parse(&text, "seed");
        }
    }
}
