//! Users: their public profiles, the history of their days, and their erasure.

mod erasure;
mod history;
mod profile;

pub use erasure::Erasure;
pub use history::History;
pub use profile::{NamedProfile, Profile, write_profiles};
