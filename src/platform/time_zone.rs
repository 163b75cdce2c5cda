//! The platform's time zones: `Intl` knows every zone with current rules, and adds nothing to the
//! wasm.

use activity_rank_core::calendar::{Instant, Utc, Zone};
use activity_rank_core::error::Error;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/time_zone.js")]
extern "C" {
    fn offset(zone: &str, at: f64) -> f64;
}

/// A zone of the platform's `Intl`.
struct IntlZone(String);

impl Zone for IntlZone {
    fn offset(&self, at: Instant) -> i64 {
        offset_at(&self.0, at).unwrap_or(0)
    }
}

/// Returns the zone with an IANA name.
///
/// # Errors
///
/// [`Error::Misconfigured`] if the platform does not know it.
pub fn named(name: &str) -> Result<Box<dyn Zone>, Error> {
    if name == "UTC" {
        return Ok(Box::new(Utc));
    }
    // Intl also accepts offsets such as +08:00 and any case; the fingerprint would treat each
    // spelling as another zone.
    let capital = name.starts_with(|first: char| first.is_ascii_uppercase());
    if !capital || offset_at(name, Instant(0)).is_none() {
        let remedy = format!("'{name}' is not an IANA time zone such as Europe/Berlin");
        return Err(Error::Misconfigured("TIMEZONE", remedy));
    }
    Ok(Box::new(IntlZone(name.to_owned())))
}

/// Returns local time minus UTC in milliseconds; `None` for an unknown zone.
fn offset_at(zone: &str, at: Instant) -> Option<i64> {
    let offset = offset(zone, at.0 as f64);
    (!offset.is_nan()).then_some(offset as i64)
}
