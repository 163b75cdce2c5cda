//! `/v1/users`: profiles, histories and erasure.

mod accounts;
mod card;
mod erasure;
mod history;
mod points;
mod profile;
mod public_activity;
mod standings;
mod year;
