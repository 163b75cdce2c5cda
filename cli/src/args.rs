//! What can be asked for: options, commands and their help texts.

mod archive;
mod rebuild;
mod token;

use std::fmt;

use clap::{Args, Parser, Subcommand, ValueEnum};
use reqwest::Url;

use crate::key::Key;

pub use archive::{ExportArgs, RestoreArgs, StoreArgs};
pub use rebuild::{RebuildArgs, VerifyArgs};
pub use token::TokenArgs;

/// Import activity into activity-rank and look at its boards.
#[derive(Debug, Parser)]
#[command(name = "activity-rank", version, after_help = EXAMPLES)]
pub struct Cli {
    /// Where the service is and who is asking.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Service")]
pub struct ServiceArgs {
    /// Where the service answers
    #[arg(long, global = true, env = "ACTIVITY_RANK_URL", hide_env_values = true,
          default_value = "http://127.0.0.1:8787", value_parser = service_url)]
    pub url: Url,
    /// Service key, sent as `Authorization: Bearer`; better given by the environment, which `ps` does not show
    #[arg(long, global = true, env = "ACTIVITY_RANK_KEY", hide_env_values = true)]
    pub key: Option<Key>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send activity, one JSON object a line, to the service
    Import(ImportArgs),
    /// Send profiles, one JSON object a line, to the service
    Profiles(ProfilesArgs),
    /// Print the top of a board
    Top(TopArgs),
    /// Print one user's standing
    Standing(StandingArgs),
    /// Make a user token, to call a service as a member
    Token(TokenArgs),
    /// Write everything a site keeps, from the store into a file
    Export(ExportArgs),
    /// Write an exported site into an empty store
    Restore(RestoreArgs),
    /// Make the store anew from the journal, and bring it to its place
    Rebuild(RebuildArgs),
    /// Compare the store with the journal
    Verify(VerifyArgs),
}

/// Options of `import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// File of lines like {"at":"2026-11-20T08:00:00Z","user":"42","action":"like","target":"post-7"}
    /// ("at", "undo" and "groups" may be left out); - is standard input
    pub file: String,
    /// Lines in one request
    #[arg(long, value_name = "LINES", default_value_t = 200, value_parser = batch_lines)]
    pub batch: usize,
    /// Move all times by the same whole milliseconds so that the latest is now
    #[arg(long)]
    pub shift_to_now: bool,
    /// How to send.
    #[command(flatten)]
    pub upload: UploadArgs,
}

/// Options of `profiles`.
#[derive(Debug, Args)]
#[command(after_help = PROFILES_EXAMPLES)]
pub struct ProfilesArgs {
    /// File of lines like {"id":"42","name":"Ada","avatar":"https://…","url":"https://…"}
    /// (all but "id" may be left out); - is standard input
    pub file: String,
    /// Lines in one request
    #[arg(long, value_name = "LINES", default_value_t = 500, value_parser = batch_lines)]
    pub batch: usize,
    /// How to send.
    #[command(flatten)]
    pub upload: UploadArgs,
}

/// Options of the commands that send files.
#[derive(Debug, Args)]
pub struct UploadArgs {
    /// Requests in flight; the lines of one user always stay in order
    #[arg(long, value_name = "REQUESTS", default_value_t = 4,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub concurrency: usize,
    /// Attempts after the first, for each request that got no answer, a 429 or a 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
    /// Refused lines shown; further ones are only counted
    #[arg(long, value_name = "LINES", default_value_t = 20)]
    pub limit_errors: u64,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Check the file here, say what would be sent, send nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of `top`.
#[derive(Debug, Args)]
#[command(after_help = TOP_EXAMPLES)]
pub struct TopArgs {
    /// Which board
    #[arg(value_enum, default_value_t = Period::Day)]
    pub period: Period,
    /// Entries to print, 1 to 100 [the service's default: 30]
    #[arg(long)]
    pub limit: Option<u32>,
    /// Entries to skip
    #[arg(long)]
    pub offset: Option<u32>,
    /// Which board of that period.
    #[command(flatten)]
    pub board: BoardArgs,
}

/// Options of `standing`.
#[derive(Debug, Args)]
#[command(after_help = STANDING_EXAMPLES)]
pub struct StandingArgs {
    /// Whose standing
    #[arg(value_parser = user_id)]
    pub user: String,
    /// On which board
    #[arg(value_enum, default_value_t = Period::Day)]
    pub period: Period,
    /// Neighbours to print on each side, 0 to 25
    #[arg(long, value_name = "PLACES")]
    pub around: Option<u32>,
    /// Which board of that period.
    #[command(flatten)]
    pub board: BoardArgs,
}

/// Options that choose a board and how it is printed.
#[derive(Debug, Args)]
pub struct BoardArgs {
    /// The board that contains this day, YYYY-MM-DD [default: today's]
    #[arg(long, value_name = "DAY")]
    pub date: Option<String>,
    /// The board of this group
    #[arg(long)]
    pub group: Option<String>,
    /// Print the service's answer as it is
    #[arg(long)]
    pub json: bool,
}

/// A kind of board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Period {
    /// One day
    Day,
    /// One ISO week, from Monday
    Week,
    /// One month
    Month,
    /// One year
    Year,
    /// All time
    All,
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
            Self::All => "all",
        })
    }
}

fn service_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with http:// or https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not carry a user or password; secrets go elsewhere".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must end before any ? or #".to_owned());
    }
    Ok(url)
}

fn batch_lines(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(lines) if (1..=500).contains(&lines) => Ok(lines),
        Ok(_) | Err(_) => {
            Err("must be 1 to 500: the service takes no more in one request".to_owned())
        }
    }
}

/// Whether this is an id of a user or a group, as the service reads them.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.:@|-".contains(c);
    (1..=64).contains(&text.len()) && text.chars().all(fits) && !matches!(text, "." | "..")
}

/// A path segment `.` or `..` would vanish from the URL and ask for something else.
fn user_id(text: &str) -> Result<String, String> {
    match text {
        "" | "." | ".." => Err("is no user id".to_owned()),
        id => Ok(id.to_owned()),
    }
}

const EXAMPLES: &str = "\
Examples:
  export ACTIVITY_RANK_KEY=dev-service-key
  activity-rank import activity.jsonl
  activity-rank top week --limit 10
  activity-rank standing 42 --around 2
  activity-rank token 42
  activity-rank export --output site.jsonl
  activity-rank verify

Exit codes: 0 all fine; 1 some lines were refused, or store and journal differ; 2 wrong usage or an
unreadable file; 3 the service or the store could not be reached or refused to answer.";

const IMPORT_EXAMPLES: &str = "\
Every activity counts exactly once, so an import that broke off is simply run again.

Examples:
  activity-rank import activity.jsonl
  activity-rank import demo.jsonl --shift-to-now
  zcat old.jsonl.gz | activity-rank import - --concurrency 8 --json
  activity-rank import activity.jsonl --dry-run";

const PROFILES_EXAMPLES: &str = "\
Examples:
  activity-rank profiles members.jsonl
  export-members | activity-rank profiles -";

const TOP_EXAMPLES: &str = "\
Examples:
  activity-rank top
  activity-rank top month --date 2026-10-01 --limit 100
  activity-rank top all --group eu --json";

const STANDING_EXAMPLES: &str = "\
Examples:
  activity-rank standing 42
  activity-rank standing 42 week --around 3";
