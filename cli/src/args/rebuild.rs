//! What can be asked of `rebuild` and `verify`.

use clap::Args;

use super::StoreArgs;

/// Options of `rebuild`.
#[derive(Debug, Args)]
#[command(after_help = REBUILD_EXAMPLES)]
pub struct RebuildArgs {
    /// Drop what an earlier run has done, and begin anew
    #[arg(long)]
    pub fresh: bool,
    /// Go on also where the store holds what the journal does not tell: that is lost
    #[arg(long)]
    pub discard: bool,
    /// Whose data.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// Drop what an earlier run has done, and begin anew
    #[arg(long)]
    pub fresh: bool,
    /// Whose data.
    #[command(flatten)]
    pub store: StoreArgs,
}

const REBUILD_EXAMPLES: &str = "\
Asks the service for the journal (--url, --key with the scope admin) and writes to its store. What
it makes lies beside the data until it is compared; then the service holds writes for some seconds,
while it is brought to its place, one shard after the other. Interrupted, it goes on where it was.

Examples:
  export ACTIVITY_RANK_URL=https://rank.example.com ACTIVITY_RANK_KEY=…
  export UPSTASH_REDIS_REST_URL=https://store.example.com UPSTASH_REDIS_REST_TOKEN=…
  activity-rank rebuild
  activity-rank rebuild --discard";

const VERIFY_EXAMPLES: &str = "\
Does the journal beside the data, compares, and drops it again: the site does not change. It may
count meanwhile. The exit code is 1 where something differs.

Examples:
  activity-rank verify
  activity-rank verify --fresh";
