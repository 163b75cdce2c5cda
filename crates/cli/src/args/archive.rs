//! Arguments of `export` and `restore`.

use clap::Args;
use reqwest::Url;

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    /// File to write, readable by its owner only [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Store and prefix to read.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Options of `restore`.
#[derive(Debug, Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub struct RestoreArgs {
    /// File written by `export`; - reads standard input
    pub file: String,
    /// Continue an interrupted restore of the same file
    #[arg(long = "continue")]
    pub resume: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Store and prefix to write.
    #[command(flatten)]
    pub store: StoreArgs,
}

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
    /// Retries per request after no response, 429 or 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
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

const EXPORT_EXAMPLES: &str = "\
Reads the store, not the service. Records are read at different instants, so stop all writes first
to get a consistent copy.

Examples:
  export UPSTASH_REDIS_REST_URL=http://127.0.0.1:8079 UPSTASH_REDIS_REST_TOKEN=…
  activity-rank export --output backup.jsonl
  activity-rank export --prefix eu | gzip > eu.jsonl.gz";

const RESTORE_EXAMPLES: &str = "\
The prefix must be empty. The whole file is checked before anything is written. The service must
have the SHARDS, POINT_DECIMALS, ORDER_BITS and TIMEZONE of the file. To send activity to a
service, use import.

Examples:
  activity-rank restore backup.jsonl
  activity-rank restore backup.jsonl --prefix copy
  activity-rank restore backup.jsonl --continue
  zcat eu.jsonl.gz | activity-rank restore -";
