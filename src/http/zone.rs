//! The platform's time zones.

use super::edge::offset;
use crate::calendar::{Instant, Utc, Zone};
use crate::error::Error;

/// A zone that the platform's `Intl` knows.
struct IntlZone(String);

impl Zone for IntlZone {
    fn offset(&self, at: Instant) -> i64 {
        offset(&self.0, at.0).unwrap_or(0)
    }
}

/// The zone of an IANA name.
///
/// # Errors
///
/// [`Error::Misconfigured`] where the platform does not know it.
pub fn named(name: &str) -> Result<Box<dyn Zone>, Error> {
    if name == "UTC" {
        return Ok(Box::new(Utc));
    }
    // Intl takes offsets such as +08:00 and any case too, which would be stamped as other zones.
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) || offset(name, 0).is_none() {
        let way_out = format!("'{name}' is not an IANA time zone such as Europe/Berlin");
        return Err(Error::Misconfigured("TIMEZONE", way_out));
    }
    Ok(Box::new(IntlZone(name.to_owned())))
}
