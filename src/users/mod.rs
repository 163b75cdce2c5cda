//! Users: their public profiles, the history of their days, and their erasure.

mod erasure;
mod first_profile;
mod history;
mod profile;

pub use erasure::Erasure;
pub use first_profile::{claimed_profile, write_first_profile};
pub use history::History;
pub use profile::{NamedProfile, Profile, write_profiles};
