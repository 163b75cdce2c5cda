//! The stamp: the settings that a site's data depends on, as every shard has them.

use std::fmt;

/// The most shards a site can have.
pub const MOST_SHARDS: u32 = 64;

/// A stamp, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Over how many shards users are split.
    pub shards: u32,
    /// Decimal places of points.
    pub decimals: u32,
    /// IANA name of the time zone.
    pub timezone: String,
}

impl Stamp {
    /// Reads it; none where another version wrote it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (shards, rest) = text.strip_prefix("v2 shards=")?.split_once(" decimals=")?;
        let (decimals, timezone) = rest.split_once(" timezone=")?;
        let stamp = Self {
            shards: shards.parse().ok()?,
            decimals: decimals.parse().ok()?,
            timezone: timezone.to_owned(),
        };
        let known = (1..=MOST_SHARDS).contains(&stamp.shards) && stamp.to_string() == text;
        known.then_some(stamp)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shards,
            decimals,
            timezone,
        } = self;
        write!(
            f,
            "v2 shards={shards} decimals={decimals} timezone={timezone}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_is_written_and_others_are_not_read() {
        let text = "v2 shards=64 decimals=2 timezone=Asia/Shanghai";
        let stamp = Stamp::parse(text).unwrap();
        assert_eq!((stamp.shards, stamp.decimals), (64, 2));
        assert_eq!(stamp.to_string(), text);
        for other in [
            "",
            "v1 shards=1 decimals=0 timezone=UTC",
            "v2 shards=0 decimals=0 timezone=UTC",
            "v2 shards=65 decimals=0 timezone=UTC",
            "v2 shards=01 decimals=0 timezone=UTC",
            "v2 shards=1 decimals=0",
            "rebuilding v2 shards=1 decimals=0 timezone=UTC",
        ] {
            assert_eq!(Stamp::parse(other), None, "{other}");
        }
    }
}
