//! The settings of a run, from JavaScript.

use std::collections::BTreeMap;

use activity_rank_sync::facts::{Mapping, Options};
use activity_rank_sync::sources::wordpress::Credentials;
use serde::Deserialize;
use url::Url;

/// The most repetitions of a request in a run.
pub const RETRIES: usize = 3;

/// The settings of a run.
#[derive(Deserialize)]
pub struct Settings {
    /// The software, with its secrets.
    #[serde(flatten)]
    pub source: Source,
    /// Its address.
    pub url: Url,
    /// The deployment.
    pub rank: Deployment,
    /// When the source began to be read, in Unix ms; an earlier run of the schedule may have read a part.
    pub started: i64,
    /// Whether differences are mended.
    #[serde(default)]
    pub heal: bool,
    /// Prefix of ids, in the place of that of the source.
    id_prefix: Option<String>,
    /// The action of each type; empty for none.
    #[serde(default)]
    map: BTreeMap<String, String>,
    /// `mapping.json`.
    #[serde(default)]
    mapping: Mapping,
}

/// A deployment.
#[derive(Deserialize)]
pub struct Deployment {
    /// Its address.
    pub url: Url,
    /// The service key.
    pub key: String,
}

/// A source, and what its API needs.
#[derive(Deserialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum Source {
    /// A forum.
    Discourse {
        /// A key for all users.
        key: String,
        /// The name of an administrator.
        username: String,
    },
    /// A site of Ghost.
    Ghost {
        /// Admin API key.
        key: String,
    },
    /// Repositories.
    Github {
        /// The token.
        token: String,
        /// Their names, as OWNER/NAME.
        names: Vec<String>,
    },
    /// A site of WordPress.
    Wordpress {
        /// An application password.
        credentials: Credentials,
        /// The types of posts that count.
        types: Vec<String>,
        /// Its number in a network, from 1.
        site: u64,
    },
}

impl Settings {
    /// Returns the options of the session.
    pub fn options(&self) -> Options {
        let map = self.map.iter().map(|(kind, action)| {
            let action = Some(action.clone()).filter(|action| !action.is_empty());
            (kind.clone(), action)
        });
        Options {
            map: map.collect(),
            id_prefix: self.id_prefix.clone(),
            prefixes: Vec::new(),
            mapping: self.mapping.clone(),
            retries: RETRIES,
        }
    }
}
