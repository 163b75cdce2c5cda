//! Arguments of the commands that access the store.

use clap::Args;
use reqwest::Url;

/// Options of the commands that access the store directly. The token is an environment variable
/// only, because process lists show options.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub struct StoreArgs {
    /// URL of the store; its token is read from UPSTASH_REDIS_REST_TOKEN
    #[arg(long, value_name = "URL", env = "UPSTASH_REDIS_REST_URL", hide_env_values = true,
          value_parser = super::service_url)]
    pub store: Url,
    /// Key prefix, as configured in the service
    #[arg(long, env = "PREFIX", default_value = DEFAULT_PREFIX, value_parser = prefix)]
    pub prefix: String,
}

/// The same, of a command that needs no store without another option.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Store")]
pub struct OptionalStoreArgs {
    /// URL of the store; its token is read from UPSTASH_REDIS_REST_TOKEN
    #[arg(long, value_name = "URL", env = "UPSTASH_REDIS_REST_URL", hide_env_values = true,
          value_parser = super::service_url)]
    store: Option<Url>,
    /// Key prefix, as configured in the service
    #[arg(long, env = "PREFIX", default_value = DEFAULT_PREFIX, value_parser = prefix)]
    prefix: String,
}

impl OptionalStoreArgs {
    /// Returns the options if there is a store.
    #[must_use]
    pub fn given(&self) -> Option<StoreArgs> {
        let (store, prefix) = (self.store.clone()?, self.prefix.clone());
        Some(StoreArgs { store, prefix })
    }
}

const DEFAULT_PREFIX: &str = "ar";

/// Parses a prefix as the service does. Unset variables are often empty, so an empty one is the
/// default.
fn prefix(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    match text {
        "" => Ok(DEFAULT_PREFIX.to_owned()),
        text if text.len() <= 64 && text.chars().all(allowed) => Ok(text.to_owned()),
        _ => Err("must be 1 to 64 characters of A-Z a-z 0-9 _ . : -".to_owned()),
    }
}
