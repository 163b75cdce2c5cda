//! `/v1/users`: profiles, histories and erasure.

mod accounts;
mod card;
mod cost;
mod credentials;
mod done;
mod erasure;
mod history;
mod pauses;
mod points;
mod profile;
mod public_activity;
mod refused;
mod standings;
mod year;
