//! Options of `sync`.

use activity_rank_core::sync::{SOURCE, is_source};
use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use reqwest::Url;

use crate::key::Key;

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
    /// Discourse: a dump of pg_dump in plain format, dump.sql.gz of a backup, or the address of the forum
    #[command(after_help = DISCOURSE_EXAMPLES)]
    Discourse(FileOrUrlArgs),
    /// Ghost: the export of a site, or its address
    #[command(after_help = GHOST_EXAMPLES)]
    Ghost(FileOrUrlArgs),
    /// Dump of a site of Stack Exchange: Users.xml, Posts.xml, Comments.xml and Votes.xml
    Stackexchange(StackExchangeArgs),
    /// Repositories of GitHub, over its API
    Github(GithubArgs),
    /// Site of WordPress, over its REST API
    Wordpress(WordpressArgs),
}

impl SourceArgs {
    /// Returns the options that all sources have.
    #[must_use]
    pub fn options(&self) -> &SyncOptions {
        match self {
            Self::Csv(args) => &args.sync,
            Self::Discourse(args) | Self::Ghost(args) => &args.sync,
            Self::Stackexchange(args) => &args.sync,
            Self::Github(args) => &args.sync,
            Self::Wordpress(args) => &args.sync,
        }
    }
}

/// Options of `sync wordpress`.
#[derive(Debug, Args)]
#[command(after_help = WORDPRESS_EXAMPLES)]
pub struct WordpressArgs {
    /// Address of the site; with plain permalinks, the address of the API, which ends with ?rest_route=/
    #[arg(value_name = "URL", value_parser = wordpress_url)]
    pub address: Url,
    /// Types of posts that count, by their names in the REST API
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "posts"
    )]
    pub types: Vec<String>,
    /// Number of the site in its network
    #[arg(long, value_name = "NUMBER", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub site: u64,
    /// Options of all sources.
    #[command(flatten)]
    pub sync: SyncOptions,
}

/// Options of `sync github`.
#[derive(Debug, Args)]
#[command(after_help = GITHUB_EXAMPLES)]
pub struct GithubArgs {
    /// Repositories
    #[arg(required = true, value_name = "OWNER/NAME", value_parser = repository)]
    pub repositories: Vec<String>,
    /// Token of GitHub; prefer the variable, because `ps` shows options
    #[arg(long, env = "GITHUB_TOKEN", hide_env_values = true)]
    pub token: Option<Key>,
    /// Address of the REST API, such as that of GitHub Enterprise, which ends in /api/v3
    #[arg(long, value_name = "URL", env = "GITHUB_API_URL", default_value = "https://api.github.com",
          value_parser = super::service_url)]
    pub api_url: Url,
    /// Options of all sources.
    #[command(flatten)]
    pub sync: SyncOptions,
}

/// Options of `sync stackexchange`.
#[derive(Debug, Args)]
#[command(after_help = STACK_EXCHANGE_EXAMPLES)]
pub struct StackExchangeArgs {
    /// Folder of the dump, or its files
    #[arg(required = true, value_name = "PATH")]
    pub files: Vec<String>,
    /// Options of all sources.
    #[command(flatten)]
    pub sync: SyncOptions,
}

/// Options of `sync discourse` and `sync ghost`.
#[derive(Debug, Args)]
pub struct FileOrUrlArgs {
    /// File, also gzipped; - reads standard input. An address that begins with https:// is read over its API
    #[arg(value_name = "FILE|URL", value_parser = file_or_url)]
    pub source: FileOrUrl,
    /// Options of all sources.
    #[command(flatten)]
    pub sync: SyncOptions,
}

/// A file of a software, or its address.
#[derive(Clone, Debug)]
pub enum FileOrUrl {
    /// Name of the file.
    File(String),
    /// Address.
    Url(Url),
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
    #[arg(long, conflicts_with_all = ["heal", "dry_run"], group = "result")]
    pub compare: bool,
    /// Count what is missing and undo what is too much, then compare again
    #[arg(long, group = "result")]
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
    #[arg(
        long,
        alias = "limit-errors",
        value_name = "LINES",
        default_value_t = 20
    )]
    pub limit: usize,
    /// Print the result as JSON, with all differences
    #[arg(long)]
    pub json: bool,
    /// Report the result of --compare or --heal to the deployment under a name, such as forum: its admin page and its
    /// metrics have it
    #[arg(long, value_name = "NAME", requires = "result", value_parser = source)]
    pub report: Option<String>,
    /// Send the valid rows of a source that has invalid ones
    #[arg(long, conflicts_with_all = ["compare", "heal"])]
    pub skip_invalid: bool,
    /// Heal also if that undoes more than half of the activity that counts
    #[arg(long, requires = "heal")]
    pub force: bool,
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

fn source(text: &str) -> Result<String, String> {
    match is_source(text) {
        true => Ok(text.to_owned()),
        false => Err(SOURCE.to_owned()),
    }
}

fn time_zone(text: &str) -> Result<TimeZone, String> {
    TimeZone::get(text).map_err(|_| "is not an IANA time zone such as Europe/Berlin".to_owned())
}

fn wordpress_url(text: &str) -> Result<Url, String> {
    match text.split_once("?rest_route=") {
        Some((site, "/")) => super::service_url(site).map(|mut url| {
            url.set_query(Some("rest_route=/"));
            url
        }),
        _ => super::service_url(text),
    }
}

fn file_or_url(text: &str) -> Result<FileOrUrl, String> {
    match text.starts_with("https://") || text.starts_with("http://") {
        true => super::service_url(text).map(FileOrUrl::Url),
        false => Ok(FileOrUrl::File(text.to_owned())),
    }
}

fn repository(text: &str) -> Result<String, String> {
    let is_name = |name: &str| !["", ".", ".."].contains(&name) && !name.contains('/');
    let parts = text.split_once('/');
    match parts.is_some_and(|(owner, name)| is_name(owner) && is_name(name)) {
        true => Ok(text.to_owned()),
        false => Err("is not OWNER/NAME".to_owned()),
    }
}

fn type_action(text: &str) -> Result<(String, Option<String>), String> {
    let pair = text.split_once('=').filter(|(kind, _)| !kind.is_empty());
    let (kind, action) = pair.ok_or("is not TYPE=ACTION")?;
    let action = Some(action.to_owned()).filter(|action| !action.is_empty());
    Ok((kind.to_owned(), action))
}

const EXAMPLES: &str = "\
A run sends what the source has and the journal lacks; without a journal it sends everything,
and what has counted is a duplicate. Run it again after an interruption.

Examples:
  activity-rank sync csv activity.csv --dry-run
  activity-rank sync csv activity.csv --id-prefix forum: --map upvote=like
  activity-rank sync csv activity.csv --id-prefix forum: --compare
  activity-rank sync csv activity.csv --id-prefix forum: --heal

Exit codes:
  0  success, or no difference
  1  some rows are invalid or were refused
  4  the source and the boards differ";

const DISCOURSE_EXAMPLES: &str = "\
The types are topic, reply, like, vote and solution, which --map must name. --users mapping.json gives the address of the forum and the
categories that count, too. For the API, DISCOURSE_API_KEY is a key for all users, and
DISCOURSE_API_USERNAME the name of an administrator. A run waits for the rate limits.

Examples:
  activity-rank sync discourse dump.sql.gz --users mapping.json --dry-run
  activity-rank sync discourse dump.sql.gz --users mapping.json --heal
  pg_dump --data-only discourse | activity-rank sync discourse - --map like=
  DISCOURSE_API_KEY=… DISCOURSE_API_USERNAME=system activity-rank sync discourse https://forum.example.com";

const GHOST_EXAMPLES: &str = "\
The type is post. For the API, GHOST_ADMIN_API_KEY is the Admin API key of a custom integration.

Examples:
  activity-rank sync ghost export.json --dry-run
  GHOST_ADMIN_API_KEY=… activity-rank sync ghost https://blog.example.com --heal";

const STACK_EXCHANGE_EXAMPLES: &str = "\
The types are question, answer, comment, favorite, and bounty and solution, which --map must name.
Other votes have no voters.

Examples:
  activity-rank sync stackexchange ./coffee.stackexchange.com --dry-run
  activity-rank sync stackexchange ./coffee.stackexchange.com --map answer=publish";

const GITHUB_EXAMPLES: &str = "\
The types are star, issue, comment, review, pull, discussion, discussion-comment and solution, which
--map must name. When the rate limit is used up, a run waits until GitHub says that it may go on. To
compare and heal, name all repositories whose webhooks the deployment receives.

Examples:
  GITHUB_TOKEN=… activity-rank sync github octocat/hello-world --dry-run
  GITHUB_TOKEN=… activity-rank sync github octocat/hello-world --map star= --heal";

const WORDPRESS_EXAMPLES: &str = "\
The types are post and comment. WORDPRESS_USER is an administrator with an application password,
WORDPRESS_APPLICATION_PASSWORD. Without them the API hides what the public cannot read, and
--compare and --heal need everything.

Examples:
  activity-rank sync wordpress https://example.com --dry-run
  WORDPRESS_USER=… WORDPRESS_APPLICATION_PASSWORD=… activity-rank sync wordpress https://example.com --heal
  activity-rank sync wordpress https://example.com/second --site 2";

const CSV_EXAMPLES: &str = "\
Examples:
  psql --csv --command \"SELECT …\" | activity-rank sync csv - --id-prefix forum:
  mariadb --batch --execute \"SELECT …\" | activity-rank sync csv - --timezone UTC
  sqlite3 -header -csv forum.db \"SELECT …\" | activity-rank sync csv - --timezone Europe/Berlin
  activity-rank sync csv log.csv --columns user=member,at=created --date-format \"%d.%m.%Y %H:%M\"";
