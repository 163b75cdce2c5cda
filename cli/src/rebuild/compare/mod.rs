//! What the store holds, compared with what the journal tells: the site with its shadow.
//!
//! - [`difference`]: what differs; [`board`], [`fields`]: finding it.
//! - [`pairs`], [`pages`]: a key and its shadow, read; [`audit`]: the audit list.
//! - [`findings`]: what was found, counted; [`settle`]: told from what changed meanwhile; [`look`]: all
//!   of it.

pub mod audit;
pub mod board;
pub mod difference;
pub mod fields;
pub mod findings;
pub mod look;
pub mod pages;
pub mod pairs;
pub mod settle;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::place::Place;
use crate::archive::key::Key;
use crate::failure::Failure;
use findings::Findings;
use pairs::Named;

/// Compares everything.
///
/// # Errors
///
/// [`Failure`] where the store does not answer, or holds what no site does.
pub async fn everything(place: &Place, findings: &mut Findings) -> Result<(), Failure> {
    audit::compare(place, findings).await?;
    let (hasher, mut seen) = (RandomState::new(), HashSet::new());
    let mut cursor = "0".to_owned();
    loop {
        let (next, names) = place.live.scan(&cursor).await?;
        let mut new = Vec::new();
        for name in names {
            let name = name.strip_prefix('~').unwrap_or(&name);
            // A step of SCAN finds a key, its shadow, or one of them twice.
            if is_compared(place, name)? && seen.insert(hasher.hash_one(name)) {
                new.push(name.to_owned());
            }
        }
        some(place, &new, findings).await?;
        place.moved(|| format!("compared {}", findings.keys()));
        if next == "0" {
            return Ok(());
        }
        cursor = next;
    }
}

/// Compares the keys of these names.
///
/// # Errors
///
/// As [`everything`].
pub async fn some(place: &Place, names: &[String], findings: &mut Findings) -> Result<(), Failure> {
    let mut named = Vec::new();
    for name in names {
        if let Some(key) = Named::parse(name) {
            named.push(key);
        }
    }
    pairs::compare(place, &named, findings).await
}

/// Whether it is a key whose values are compared.
fn is_compared(place: &Place, name: &str) -> Result<bool, Failure> {
    if Named::parse(name).is_some() {
        return Ok(true);
    }
    let known = matches!(
        Key::parse(name),
        Some(Key::Stamp | Key::Index | Key::Audit | Key::Who)
    ) || ["a", "o", "r", "q"].contains(&name);
    if known {
        return Ok(false);
    }
    Err(Failure::Store(format!(
        "the store holds something else under this prefix: {}{} is no key that this version knows",
        place.live.tag,
        crate::printable::printable(name)
    )))
}
