//! Arguments of `rebuild` and `verify`, and of all commands that replay a journal.

use clap::Args;

use super::StoreArgs;

/// Options of the commands that replay the journal beside the live data.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Discard the progress of an earlier run and start over
    #[arg(long)]
    pub fresh: bool,
    /// Replay even if the store may lack the memory for a second copy of the data
    #[arg(long)]
    pub skip_memory_check: bool,
    /// Retries per request after no response, 429 or 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
    /// Store and prefix of the deployment.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Options of `rebuild`.
#[derive(Debug, Args)]
#[command(after_help = REBUILD_EXAMPLES)]
pub struct RebuildArgs {
    /// Rebuild even if the store has data that is missing from the journal; that data is lost
    #[arg(long)]
    pub discard: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Continue without asking, whatever the replay costs
    #[arg(long)]
    pub yes: bool,
    /// How the journal is replayed.
    #[command(flatten)]
    pub replay: ReplayArgs,
}

/// Options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Continue without asking, whatever the replay costs
    #[arg(long)]
    pub yes: bool,
    /// How the journal is replayed.
    #[command(flatten)]
    pub replay: ReplayArgs,
}

const REBUILD_EXAMPLES: &str = "\
Reads the journal from the service (--url, --key with the scope admin) and writes to its store. The
rebuilt data is kept separate until it has been compared with the live data. Then it counts, one
shard at a time; no request is refused meanwhile. An interrupted rebuild continues where it stopped
when it is run again.

Examples:
  export ACTIVITY_RANK_URL=https://rank.example.com ACTIVITY_RANK_KEY=…
  export UPSTASH_REDIS_REST_URL=https://store.example.com UPSTASH_REDIS_REST_TOKEN=…
  activity-rank rebuild
  activity-rank rebuild --discard";

const VERIFY_EXAMPLES: &str = "\
Replays the journal to separate keys, compares them with the live data and deletes them. The live
data does not change, and the service may stay in use. The exit code is 1 if there are differences.

Examples:
  activity-rank verify
  activity-rank verify --fresh";
