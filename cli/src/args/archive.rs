//! What can be asked of `export` and `restore`.

use clap::Args;
use reqwest::Url;

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    /// File to write, readable by its owner alone; without it, standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Whose data.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Options of `restore`.
#[derive(Debug, Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub struct RestoreArgs {
    /// File that `export` wrote; - is standard input
    pub file: String,
    /// Go on with a restore of the same file that broke off
    #[arg(long = "continue")]
    pub go_on: bool,
    /// Where to.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Options of commands that talk to the store itself. Its token comes from the environment alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub struct StoreArgs {
    /// Where the store answers; its token is read from UPSTASH_REDIS_REST_TOKEN
    #[arg(long, value_name = "URL", env = "UPSTASH_REDIS_REST_URL", hide_env_values = true,
          value_parser = super::service_url)]
    pub store: Url,
    /// What the keys of the site begin with, as the service is configured
    #[arg(long, env = "PREFIX", default_value = DEFAULT_PREFIX, value_parser = prefix)]
    pub prefix: String,
    /// Attempts after the first, for each request that got no answer, a 429 or a 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
}

const DEFAULT_PREFIX: &str = "ar";

/// As the service reads it. An empty variable is what an unset one often is.
fn prefix(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    match text {
        "" => Ok(DEFAULT_PREFIX.to_owned()),
        text if text.len() <= 64 && text.chars().all(fits) => Ok(text.to_owned()),
        _ => Err("takes 1 to 64 of A-Z a-z 0-9 _ . : -".to_owned()),
    }
}

const EXPORT_EXAMPLES: &str = "\
Reads the store, not the service. While a site counts, records are of different instants: stop what
writes to get an exact copy.

Examples:
  export UPSTASH_REDIS_REST_URL=http://127.0.0.1:8079 UPSTASH_REDIS_REST_TOKEN=…
  activity-rank export --output site.jsonl
  activity-rank export --prefix eu | gzip > eu.jsonl.gz";

const RESTORE_EXAMPLES: &str = "\
Takes an empty prefix only, and checks the whole file before it writes. The service needs the
SHARDS, POINT_DECIMALS and TIMEZONE of the file. To send activity to a service, use import.

Examples:
  activity-rank restore site.jsonl
  activity-rank restore site.jsonl --prefix copy
  activity-rank restore site.jsonl --continue
  zcat eu.jsonl.gz | activity-rank restore -";
