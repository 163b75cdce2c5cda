//! The schema fingerprint: the settings that stored data depends on, kept in Redis on every shard.

use std::fmt;

use activity_rank_store::fingerprint::pending_changes;

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

/// A parsed schema fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of shards.
    pub shards: u32,
    /// Decimal places of points.
    pub decimals: u32,
    /// IANA name of the time zone.
    pub timezone: String,
}

impl Fingerprint {
    /// Parses a stored fingerprint. Returns `None` for one written by another version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (shards, rest) = text.strip_prefix("v3 shards=")?.split_once(" decimals=")?;
        let (decimals, timezone) = rest.split_once(" timezone=")?;
        let fingerprint = Self {
            shards: shards.parse().ok()?,
            decimals: decimals.parse().ok()?,
            timezone: timezone.to_owned(),
        };
        let valid =
            (1..=MAX_SHARDS).contains(&fingerprint.shards) && fingerprint.to_string() == text;
        valid.then_some(fingerprint)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shards,
            decimals,
            timezone,
        } = self;
        write!(
            f,
            "v3 shards={shards} decimals={decimals} timezone={timezone}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_version_is_parsed() {
        let text = "v3 shards=64 decimals=2 timezone=Asia/Shanghai";
        let fingerprint = Fingerprint::parse(text).unwrap();
        assert_eq!((fingerprint.shards, fingerprint.decimals), (64, 2));
        assert_eq!(fingerprint.to_string(), text);
        for other in [
            "",
            "v1 shards=1 decimals=0 timezone=UTC",
            "v3 shards=0 decimals=0 timezone=UTC",
            "v3 shards=65 decimals=0 timezone=UTC",
            "v3 shards=01 decimals=0 timezone=UTC",
            "v3 shards=1 decimals=0",
            "rebuilding v3 shards=1 decimals=0 timezone=UTC",
        ] {
            assert_eq!(Fingerprint::parse(other), None, "{other}");
        }
    }
}
