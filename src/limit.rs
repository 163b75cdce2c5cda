//! What requests are counted by.

use std::net::Ipv6Addr;

/// Where an address belongs: itself, or its /64 network of IPv6. Whoever has one address of that
/// has all of them, and could call from another each time.
#[must_use]
pub fn place(address: &str) -> String {
    let Ok(address) = address.parse::<Ipv6Addr>() else {
        return address.to_owned();
    };
    match address.to_ipv4_mapped() {
        Some(address) => address.to_string(),
        None => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_place() {
        let one = place("2001:db8:1:2::1");
        assert_eq!(place("2001:db8:1:2:ffff:ffff:ffff:ffff"), one);
        assert_eq!(place("2001:0DB8:0001:0002:0::7"), one);
        for other in ["2001:db8:1:3::1", "2001:db8::1", "::1", "203.0.113.7"] {
            assert_ne!(place(other), one, "{other}");
        }
    }

    #[test]
    fn addresses_of_ipv4_are_places_of_their_own_however_written() {
        assert_eq!(place("203.0.113.7"), "203.0.113.7");
        assert_eq!(place("::ffff:203.0.113.7"), "203.0.113.7");
        assert_ne!(place("203.0.113.7"), place("203.0.113.8"));
    }

    #[test]
    fn what_is_no_address_is_taken_as_it_is() {
        assert_eq!(place("unknown"), "unknown");
        assert_eq!(place(""), "");
    }
}
