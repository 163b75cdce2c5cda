//! Boards whose period is over, kept in a database when Redis has forgotten them.
//!
//! A [`Lookup`] asks for what the reading scripts would have told of a board. A [`Sweep`] brings
//! each [`Board`] there [`Page`] by [`Page`], [`Visibility`] and [`erase`] take users from them.
//! All of it is statements and how their rows are read; the migrations in `migrations/archive`
//! say what the tables hold.

mod lookup;
mod page;
mod people;
mod sweep;

pub use lookup::{Found, Lookup};
pub use page::{KEPT, PAGE, Page, State};
pub use people::{Visibility, erase};
pub use sweep::{Board, Sweep};

use crate::config::Config;
use serde::Serialize;
use serde_json::Value;

/// One statement of SQL, and the values of its `?1`, `?2` and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement(String, Vec<Value>);

impl Statement {
    /// A statement with these values.
    #[must_use]
    pub fn new(sql: &str, values: Vec<Value>) -> Self {
        Self(sql.to_owned(), values)
    }
}

/// Whose boards they are: data written under another prefix, or with other settings that scores
/// depend on, is another site's.
#[must_use]
pub fn site(config: &Config) -> String {
    format!("{} {}", config.prefix, config.stamp())
}

/// Whose boards those of a shard are: each is archived by itself. In their order, also as texts.
#[must_use]
pub fn shard(config: &Config, shard: u32) -> String {
    match config.shards {
        1 => site(config),
        _ => format!("{} {shard:02}", site(config)),
    }
}

/// Whose boards those of a site are, as a JSON list.
#[must_use]
pub fn shards(config: &Config) -> String {
    let all: Vec<String> = (0..config.shards).map(|at| shard(config, at)).collect();
    serde_json::to_string(&all).unwrap_or_default()
}
