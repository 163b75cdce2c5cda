//! The settings that stored data depends on, as a service names them.

use activity_rank_core::score::Layout;

/// Largest number of shards of a deployment.
const MAX_SHARDS: u32 = 64;

/// The settings of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The schema fingerprint without a generation.
    pub stamp: String,
    /// Number of shards.
    pub shards: u32,
    /// How boards store points.
    pub layout: Layout,
    /// IANA name of the time zone.
    pub timezone: String,
}

impl Settings {
    /// Parses a schema fingerprint without generation. Returns `None` for that of another version.
    #[must_use]
    pub fn parse(stamp: &str) -> Option<Self> {
        let mut words = stamp.strip_prefix("v4 ")?.split(' ');
        let mut value = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        let (shards, decimals) = (value("shards")?.parse().ok()?, value("decimals")?);
        let timezone = value("timezone")?.to_owned();
        let order_bits = match value("order_bits") {
            Some(order_bits) => order_bits.parse().ok()?,
            None => Layout::DEFAULT.order_bits,
        };
        let layout = Layout {
            order_bits,
            decimals: decimals.parse().ok()?,
        };
        let is_valid =
            (1..=MAX_SHARDS).contains(&shards) && Layout::ORDER_BITS.contains(&order_bits);
        is_valid.then(|| Self {
            stamp: stamp.to_owned(),
            shards,
            layout,
            timezone,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_version_is_parsed() {
        for (end, order_bits) in [("", 30), (" order_bits=20", 20)] {
            let stamp = format!("v4 shards=64 decimals=2 timezone=Asia/Shanghai{end}");
            let settings = Settings::parse(&stamp).unwrap();
            let layout = Layout {
                order_bits,
                decimals: 2,
            };
            assert_eq!((settings.shards, settings.layout), (64, layout));
            assert_eq!(settings.timezone, "Asia/Shanghai");
            assert_eq!(settings.stamp, stamp);
        }
        for other in [
            "",
            "v3 shards=1 decimals=0 timezone=UTC",
            "v4 generation=1 shards=1 decimals=0 timezone=UTC",
            "v4 shards=0 decimals=0 timezone=UTC",
            "v4 shards=65 decimals=0 timezone=UTC",
            "v4 shards=1 decimals=0",
            "v4 shards=1 decimals=0 timezone=UTC order_bits=31",
            "v4 shards=1 decimals=0 timezone=UTC order_bits=15",
        ] {
            assert_eq!(Settings::parse(other), None, "{other}");
        }
    }
}
