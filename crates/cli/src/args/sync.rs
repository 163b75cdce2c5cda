//! Options of `sync`.

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;

/// Options of `sync`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SyncArgs {
    /// The source.
    #[command(subcommand)]
    pub source: SourceArgs,
}

/// The sources of `sync`.
#[derive(Debug, Subcommand)]
pub enum SourceArgs {
    /// CSV or TSV of any database: the first row names the columns
    Csv(CsvArgs),
}

/// Options of `sync csv`.
#[derive(Debug, Args)]
#[command(after_help = CSV_EXAMPLES)]
pub struct CsvArgs {
    /// File with the columns user, action or type, target, at, on, author, groups, title, url, image, name, avatar,
    /// profile; - reads standard input
    pub file: String,
    /// Columns to read under another name, such as user=member_id,at=created
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    pub columns: Option<String>,
    /// Format of instants, as in strptime, such as '%d.%m.%Y %H:%M'
    #[arg(long, value_name = "FORMAT")]
    pub date_format: Option<String>,
    /// Time zone of instants that do not name theirs, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", value_parser = time_zone)]
    pub timezone: Option<TimeZone>,
    /// Options of all sources.
    #[command(flatten)]
    pub sync: SyncOptions,
}

/// Options of all sources.
#[derive(Debug, Args)]
pub struct SyncOptions {
    /// Print what differs between the source and the boards, by the journal of the deployment, and change nothing
    #[arg(long, conflicts_with_all = ["heal", "dry_run"])]
    pub compare: bool,
    /// Count what is missing and undo what is too much, then compare again
    #[arg(long)]
    pub heal: bool,
    /// Check the source and print what would be sent, without sending it
    #[arg(long)]
    pub dry_run: bool,
    /// Action of a type of the source, such as upvote=like; `type=` leaves the type out. May be repeated
    #[arg(long, value_name = "TYPE=ACTION", value_parser = type_action)]
    pub map: Vec<(String, Option<String>)>,
    /// JSON that maps ids of the source to ids of members: {"discourse:7":"42"}, or a mapping.json of a recipe
    #[arg(long, value_name = "FILE")]
    pub users: Option<String>,
    /// Prefix of the ids of the source, as its webhooks send them [default: that of the recipe; none for csv]
    #[arg(long, value_name = "PREFIX")]
    pub id_prefix: Option<String>,
    /// Prefix of the targets that are compared; may be repeated, and '' is all [default: that of the ids]
    #[arg(long = "prefix", value_name = "PREFIX")]
    pub prefixes: Vec<String>,
    /// Maximum number of differences and of invalid rows to print; all are counted
    #[arg(long, value_name = "LINES", default_value_t = 20)]
    pub limit: usize,
    /// Print the result as JSON, with all differences
    #[arg(long)]
    pub json: bool,
    /// Send the valid rows of a source that has invalid ones
    #[arg(long)]
    pub skip_invalid: bool,
    /// Maximum number of activities per request
    #[arg(long, value_name = "LINES", default_value_t = 200, value_parser = super::batch_lines)]
    pub batch: usize,
    /// Maximum number of concurrent requests; one user's activities always stay in order
    #[arg(long, value_name = "REQUESTS", default_value_t = 4,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub concurrency: usize,
    /// Retries per request after no response, 429 or 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
}

fn time_zone(text: &str) -> Result<TimeZone, String> {
    TimeZone::get(text).map_err(|_| "is not an IANA time zone such as Europe/Berlin".to_owned())
}

fn type_action(text: &str) -> Result<(String, Option<String>), String> {
    let pair = text.split_once('=').filter(|(kind, _)| !kind.is_empty());
    let (kind, action) = pair.ok_or("is not TYPE=ACTION")?;
    let action = Some(action.to_owned()).filter(|action| !action.is_empty());
    Ok((kind.to_owned(), action))
}

const EXAMPLES: &str = "\
A run sends what the source has and the journal lacks; without a journal it sends everything, and what
has counted is a duplicate. Run it again after an interruption.

Examples:
  activity-rank sync csv activity.csv --dry-run
  activity-rank sync csv activity.csv --id-prefix forum: --map upvote=like
  activity-rank sync csv activity.csv --id-prefix forum: --compare
  activity-rank sync csv activity.csv --id-prefix forum: --heal

Exit codes:
  0  success, or no difference
  1  some rows are invalid or were refused
  4  the source and the boards differ";

const CSV_EXAMPLES: &str = "\
Examples:
  psql --csv --command \"SELECT …\" | activity-rank sync csv - --id-prefix forum:
  mariadb --batch --execute \"SELECT …\" | activity-rank sync csv - --timezone UTC
  sqlite3 -header -csv forum.db \"SELECT …\" | activity-rank sync csv - --timezone Europe/Berlin
  activity-rank sync csv log.csv --columns user=member,at=created --date-format \"%d.%m.%Y %H:%M\"";
