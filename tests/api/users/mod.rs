//! `/v1/users`: profiles, histories and erasure.

mod erasure;
mod history;
mod points;
mod profile;
mod public_activity;
mod standings;
mod year;
