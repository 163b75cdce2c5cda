//! The platform's time zones.

use crate::calendar::{Instant, Utc, Zone};
use crate::error::Error;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/src/http/zone.js")]
extern "C" {
    #[wasm_bindgen(js_name = isZone)]
    fn is_zone(zone: &str) -> bool;
    fn offset(zone: &str, at: f64) -> f64;
}

/// A zone that the platform's `Intl` knows.
struct IntlZone(String);

impl Zone for IntlZone {
    fn offset(&self, at: Instant) -> i64 {
        offset(&self.0, at.0 as f64) as i64
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
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) || !is_zone(name) {
        let way_out = format!("'{name}' is not an IANA time zone such as Europe/Berlin");
        return Err(Error::Misconfigured("TIMEZONE", way_out));
    }
    Ok(Box::new(IntlZone(name.to_owned())))
}
