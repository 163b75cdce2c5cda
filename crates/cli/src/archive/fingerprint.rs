//! The schema fingerprint: the settings that stored data depends on, kept in Redis on every shard.

use std::fmt;

use activity_rank_core::score::Layout;
use activity_rank_store::fingerprint::{FORMER_VERSION, pending_changes, version};

use crate::count::count;
use crate::failure::Failure;

/// Largest number of shards of a deployment.
pub const MAX_SHARDS: u32 = 64;

/// Start of the value that an unfinished restore stores instead of the fingerprint. The service takes
/// it for the fingerprint of another version and rejects all requests.
pub const RESTORING: &str = "restoring ";

/// Start of the value that a rebuild stores instead of the fingerprint while writes are locked.
pub const REBUILDING: &str = "rebuilding ";

/// Checks that no change of visibility and no erasure is pending: boards then have hidden and visible
/// scores of the same user.
///
/// # Errors
///
/// [`Failure::Usage`] if one is.
pub fn reject_pending_changes(stored: &str) -> Result<(), Failure> {
    let changes = pending_changes(stored).count();
    if changes == 0 {
        return Ok(());
    }
    let changes = count(changes.try_into().unwrap_or(u64::MAX), "change");
    Err(Failure::Usage(format!(
        "{changes} of visibility or erasures are pending: cron completes them; try again in a minute"
    )))
}

/// Returns the fingerprint that the version before would have stored: its keys had no generation.
#[must_use]
pub fn former(fingerprint: &str) -> String {
    fingerprint.replacen(&version(), FORMER_VERSION, 1)
}

/// A parsed schema fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of shards.
    pub shards: u32,
    /// How boards store points.
    pub layout: Layout,
    /// IANA name of the time zone.
    pub timezone: String,
}

impl Fingerprint {
    /// Parses a stored fingerprint. Returns `None` for one written by another version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(&version())?;
        let (shards, rest) = rest.strip_prefix(" shards=")?.split_once(" decimals=")?;
        let (decimals, rest) = rest.split_once(" timezone=")?;
        let (timezone, order_bits) = match rest.split_once(" order_bits=") {
            Some((timezone, order_bits)) => (timezone, order_bits.parse().ok()?),
            None => (rest, Layout::DEFAULT.order_bits),
        };
        let fingerprint = Self {
            shards: shards.parse().ok()?,
            layout: Layout {
                order_bits,
                decimals: decimals.parse().ok()?,
            },
            timezone: timezone.to_owned(),
        };
        let valid = (1..=MAX_SHARDS).contains(&fingerprint.shards)
            && Layout::ORDER_BITS.contains(&order_bits)
            && fingerprint.to_string() == text;
        valid.then_some(fingerprint)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shards,
            layout,
            timezone,
        } = self;
        let decimals = layout.decimals;
        write!(
            f,
            "{} shards={shards} decimals={decimals} timezone={timezone}",
            version()
        )?;
        if layout.order_bits != Layout::DEFAULT.order_bits {
            write!(f, " order_bits={}", layout.order_bits)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_version_is_parsed() {
        for (end, order_bits) in [("", 30), (" order_bits=20", 20)] {
            let text = format!("v4 generation=1 shards=64 decimals=2 timezone=Asia/Shanghai{end}");
            let fingerprint = Fingerprint::parse(&text).unwrap();
            let layout = Layout {
                order_bits,
                decimals: 2,
            };
            assert_eq!((fingerprint.shards, fingerprint.layout), (64, layout));
            assert_eq!(fingerprint.to_string(), text);
        }
        for other in [
            "",
            "v3 shards=1 decimals=0 timezone=UTC",
            "v4 generation=2 shards=1 decimals=0 timezone=UTC",
            "v4 generation=1 shards=0 decimals=0 timezone=UTC",
            "v4 generation=1 shards=65 decimals=0 timezone=UTC",
            "v4 generation=1 shards=01 decimals=0 timezone=UTC",
            "v4 generation=1 shards=1 decimals=0",
            "v4 generation=1 shards=1 decimals=0 timezone=UTC order_bits=30",
            "v4 generation=1 shards=1 decimals=0 timezone=UTC order_bits=31",
            "v4 generation=1 shards=1 decimals=0 timezone=UTC order_bits=15",
            "rebuilding v4 generation=1 shards=1 decimals=0 timezone=UTC",
        ] {
            assert_eq!(Fingerprint::parse(other), None, "{other}");
        }
    }
}
