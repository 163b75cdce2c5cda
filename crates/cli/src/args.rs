//! Command-line arguments: commands, options and their help texts.

mod accounts;
mod export;
mod moderation;
mod rebuild;
mod recount;
mod rules;
mod store;
mod sync;
mod token;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use reqwest::Url;

use crate::key::Key;

pub use accounts::{AccountsArgs, AccountsCommand, ImportAccountsArgs};
pub use export::ExportArgs;
pub use moderation::{AdjustArgs, EraseArgs, ModerateArgs};
pub use rebuild::{RebuildArgs, ReplayArgs, VerifyArgs};
pub use recount::RecountArgs;
pub use rules::{ChangeArgs, PreviewArgs, PublishArgs, ReasonArgs, RulesArgs, RulesCommand};
pub use store::{OptionalStoreArgs, StoreArgs};
pub use sync::{
    CsvArgs, FileOrUrl, FileOrUrlArgs, GithubArgs, SourceArgs, StackExchangeArgs, SyncArgs,
    SyncOptions, WordpressArgs,
};
pub use token::TokenArgs;

/// Import activity into an activity-rank service, print its boards, and rebuild its data
#[derive(Debug, Parser)]
#[command(name = "activity-rank", version, after_help = EXAMPLES)]
pub struct Cli {
    /// Address and key of the service.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands in the order of the help, in groups.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Import and check",
        &["import", "profiles", "targets", "sync", "doctor"],
    ),
    (
        "Boards and members",
        &["top", "standing", "me", "friends", "why", "stats"],
    ),
    (
        "Moderation",
        &["moderate", "adjust", "accounts", "rules", "erase"],
    ),
    ("Data", &["export", "verify", "rebuild", "recount"]),
    ("Tools", &["token", "completions", "man", "help"]),
];

/// Returns the command with its help in groups.
#[must_use]
pub fn grouped_command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    let about = |name: &str| {
        let found = command.find_subcommand(name);
        let about = found.and_then(clap::Command::get_about);
        about.map(ToString::to_string).unwrap_or_default()
    };
    let mut groups = String::new();
    for (title, names) in GROUPS {
        groups.push_str(&format!("{title}:\n"));
        for name in names {
            groups.push_str(&format!("  {name:<12} {}\n", about(name)));
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    );
    Cli::command().help_template(template)
}

/// Options of the commands that call the service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Service")]
pub struct ServiceArgs {
    /// URL of the service
    #[arg(long, global = true, env = "ACTIVITY_RANK_URL", hide_env_values = true,
          default_value = "http://127.0.0.1:8787", value_parser = service_url)]
    pub url: Url,
    /// Service key, sent as `Authorization: Bearer`; prefer the variable, because `ps` shows options
    #[arg(long, global = true, env = "ACTIVITY_RANK_KEY", hide_env_values = true)]
    pub key: Option<Key>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Import activity: JSON lines, a JSON array or CSV
    Import(ImportArgs),
    /// Import profiles: JSON lines, a JSON array or CSV
    Profiles(ProfilesArgs),
    /// Import the register of targets: JSON lines, a JSON array or CSV
    Targets(TargetsArgs),
    /// Bring the history of a community from its software, and stay in step with it
    Sync(SyncArgs),
    /// Print the top of a board
    Top(TopArgs),
    /// Print one user's score and rank
    Standing(StandingArgs),
    /// Print all current scores and ranks of one user
    Me(MeArgs),
    /// Print a user and the users whom they follow
    Friends(FriendsArgs),
    /// Print what gave one user points, and what took them
    Why(WhyArgs),
    /// Print the numbers of the site
    Stats(StatsArgs),
    /// Hide, show, freeze or unfreeze a user, or print the state
    Moderate(ModerateArgs),
    /// Give or take points, or undo an adjustment
    Adjust(AdjustArgs),
    /// Make users accounts of a member, or take that back
    Accounts(AccountsArgs),
    /// Print the rules, publish changes from an instant, or take them back
    Rules(RulesArgs),
    /// Erase a user everywhere
    Erase(EraseArgs),
    /// Check a deployment from outside, and print what to do
    Doctor(DoctorArgs),
    /// Print a user token, to call the service as a user
    Token(TokenArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the man page
    Man,
    /// Export the journal, or a board, to a file
    Export(ExportArgs),
    /// Rebuild the store from the journal
    Rebuild(RebuildArgs),
    /// Compare the store with the journal
    Verify(VerifyArgs),
    /// Count the journal again by other rules, or one event by another definition
    Recount(RecountArgs),
}

/// Options of `import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// JSON lines such as {"at":"2026-11-20T08:00:00Z","user":"42","action":"like","target":"post-7"}
    /// ("at", "undo" and "groups" are optional), an array of such objects, or CSV; - reads standard input
    pub file: String,
    /// Format of the file.
    #[command(flatten)]
    pub format: FormatArgs,
    /// Maximum number of lines per request
    #[arg(long, value_name = "LINES", default_value_t = 200, value_parser = batch_lines)]
    pub batch: usize,
    /// Shift all times by the same duration so that the latest is now
    #[arg(long)]
    pub shift_to_now: bool,
    /// Replay a file of `export --activity` into an empty deployment and its store, also with another TIMEZONE or SHARDS
    #[arg(long, conflicts_with_all = ["shift_to_now", "format", "columns", "dry_run", "skip_invalid", "report"])]
    pub rebuild: bool,
    /// Store and prefix of the deployment, for --rebuild.
    #[command(flatten)]
    pub store: OptionalStoreArgs,
    /// Options shared by the upload commands.
    #[command(flatten)]
    pub upload: UploadArgs,
}

/// Options of `profiles`.
#[derive(Debug, Args)]
#[command(after_help = PROFILES_EXAMPLES)]
pub struct ProfilesArgs {
    /// JSON lines such as {"id":"42","name":"Ada","avatar":"https://…","url":"https://…"}
    /// (only "id" is required), an array of such objects, or CSV; - reads standard input
    pub file: String,
    /// Format of the file.
    #[command(flatten)]
    pub format: FormatArgs,
    /// Maximum number of lines per request
    #[arg(long, value_name = "LINES", default_value_t = 500, value_parser = batch_lines)]
    pub batch: usize,
    /// Options shared by the upload commands.
    #[command(flatten)]
    pub upload: UploadArgs,
}

/// Options of `targets`.
#[derive(Debug, Args)]
#[command(after_help = TARGETS_EXAMPLES)]
pub struct TargetsArgs {
    /// JSON lines such as {"id":"post-7","author":"9","title":"…","url":"https://…","image":"https://…"}
    /// (only "id" is required), an array of such objects, or CSV; - reads standard input
    pub file: String,
    /// Format of the file.
    #[command(flatten)]
    pub format: FormatArgs,
    /// Maximum number of targets per request
    #[arg(long, value_name = "LINES", default_value_t = 500, value_parser = batch_lines)]
    pub batch: usize,
    /// Options shared by the upload commands.
    #[command(flatten)]
    pub upload: UploadArgs,
}

/// Options that describe a file.
#[derive(Debug, Args)]
pub struct FormatArgs {
    /// Format of the file [default: csv if its name ends in .csv, else json]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Columns of CSV to read, such as user=member_id,action=type; by default the first row has the names of fields
    #[arg(long, value_name = "FIELD=COLUMN,…")]
    pub columns: Option<String>,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object per line, or an array of objects
    Json,
    /// Comma-separated values; the first row names the fields
    Csv,
}

impl Format {
    /// Returns the format that a file name suggests.
    #[must_use]
    pub fn of(file: &str) -> Self {
        let extension = file.rsplit_once('.').map(|(_, extension)| extension);
        match extension {
            Some(extension) if extension.eq_ignore_ascii_case("csv") => Self::Csv,
            Some(_) | None => Self::Json,
        }
    }
}

/// Options shared by the upload commands.
#[derive(Debug, Args)]
pub struct UploadArgs {
    /// Maximum number of concurrent requests; one user's lines always stay in order
    #[arg(long, value_name = "REQUESTS", default_value_t = 4,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub concurrency: usize,
    /// Retries per request after no response, 429 or 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
    /// New file that gets the result of each line as JSON: its number, outcome and reason, in the order of the input
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Maximum number of refused lines to print; all are counted
    #[arg(long, alias = "limit", value_name = "LINES", default_value_t = 20)]
    pub limit_errors: u64,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Check the file as a run does, and print what would be sent, without sending it
    #[arg(long)]
    pub dry_run: bool,
    /// Send the valid lines of a file that has invalid ones; a stream is sent as it arrives
    #[arg(long)]
    pub skip_invalid: bool,
}

/// Options of `top`.
#[derive(Debug, Args)]
#[command(after_help = TOP_EXAMPLES)]
pub struct TopArgs {
    /// Period of the board
    #[arg(value_enum, default_value_t = Period::Day)]
    pub period: Period,
    /// Rank targets by the points they received
    #[arg(long, conflicts_with_all = ["authors", "hot", "group"])]
    pub content: bool,
    /// Rank authors by the points they received
    #[arg(long, conflicts_with_all = ["hot", "group"])]
    pub authors: bool,
    /// Rank targets by what they received in the last seven days, halved with each day
    #[arg(long, conflicts_with_all = ["period", "offset", "date", "group"])]
    pub hot: bool,
    /// Entries to print, 1 to 100 [default of the service: 30]
    #[arg(long)]
    pub limit: Option<u32>,
    /// Entries to skip
    #[arg(long)]
    pub offset: Option<u32>,
    /// Board of that period, and output format.
    #[command(flatten)]
    pub board: BoardArgs,
}

/// Options of `standing`.
#[derive(Debug, Args)]
#[command(after_help = STANDING_EXAMPLES)]
pub struct StandingArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Period of the board
    #[arg(value_enum, default_value_t = Period::Day)]
    pub period: Period,
    /// Neighbours to print on each side, 0 to 25
    #[arg(long, value_name = "COUNT")]
    pub around: Option<u32>,
    /// Board of that period, and output format.
    #[command(flatten)]
    pub board: BoardArgs,
}

/// Options of `me`.
#[derive(Debug, Args)]
#[command(after_help = ME_EXAMPLES)]
pub struct MeArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Group whose boards to print too; up to 4 times
    #[arg(long = "group", value_name = "GROUP")]
    pub groups: Vec<String>,
    /// Print the position among the users whom the user follows
    #[arg(long)]
    pub friends: bool,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

/// Options of `why`.
#[derive(Debug, Args)]
#[command(after_help = WHY_EXAMPLES)]
pub struct WhyArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Maximum number of changes [default: 30]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: Option<u32>,
    /// Continue after the previous page
    #[arg(long, value_name = "POSITION")]
    pub before: Option<String>,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

/// Options of `stats`.
#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub struct StatsArgs {
    /// First day, YYYY-MM-DD [default: 29 days before the last]
    #[arg(long, value_name = "DAY")]
    pub from: Option<String>,
    /// Last day, YYYY-MM-DD [default: today]
    #[arg(long, value_name = "DAY")]
    pub to: Option<String>,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub struct DoctorArgs {
    /// Address of the deployment [default: that of --url]
    #[arg(value_name = "URL", value_parser = service_url)]
    pub address: Option<Url>,
    /// Origin of your site (scheme, host and port): whether its pages may embed and call
    #[arg(long)]
    pub origin: Option<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Options of `friends`.
#[derive(Debug, Args)]
#[command(after_help = FRIENDS_EXAMPLES)]
pub struct FriendsArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Period of the board
    #[arg(value_enum, default_value_t = Period::Day)]
    pub period: Period,
    /// Board of that period, and output format.
    #[command(flatten)]
    pub board: BoardArgs,
}

/// Options that select a board and its output format.
#[derive(Debug, Args)]
pub struct BoardArgs {
    /// Day contained in the period, YYYY-MM-DD [default: today]
    #[arg(long, value_name = "DAY")]
    pub date: Option<String>,
    /// Group whose board to print [default: the global board]
    #[arg(long)]
    pub group: Option<String>,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

/// The period of a board.
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

fn service_url(text: &str) -> Result<Url, String> {
    let scheme = "must begin with http:// or https://";
    let url = Url::parse(text).map_err(|error| match text.contains("://") {
        true => error.to_string(),
        false => scheme.to_owned(),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(scheme.to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not contain a query or fragment".to_owned());
    }
    Ok(url)
}

fn batch_lines(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(lines) if (1..=500).contains(&lines) => Ok(lines),
        Ok(_) | Err(_) => {
            Err("must be an integer from 1 to 500, the maximum of the service".to_owned())
        }
    }
}

/// Refuses ids that change the path: URL parsing removes the segments `.` and `..`.
fn user_id(text: &str) -> Result<String, String> {
    match text {
        "" | "." | ".." => Err("is not a user id".to_owned()),
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
  activity-rank export --activity --output journal.jsonl
  activity-rank verify
  activity-rank doctor https://activity-rank.example.com

Exit codes:
  0  success
  1  some lines were refused, store and journal differ, or the doctor found an error
  2  invalid arguments, or a file or prefix that cannot be used
  3  the service or the store is unreachable or refused the request
  4  the source of a sync and the boards differ";

const IMPORT_EXAMPLES: &str = "\
Every activity counts exactly once, so an interrupted import can be run again. All lines are checked
before the first is sent, by the rules that the service reports.

Examples:
  activity-rank import activity.jsonl
  activity-rank import demo.jsonl --shift-to-now
  zcat old.jsonl.gz | activity-rank import - --concurrency 8 --json
  activity-rank import log.csv --columns at=created,user=member_id,action=type,target=post
  activity-rank import activity.jsonl --dry-run
  activity-rank import activity.jsonl --skip-invalid --report results.jsonl";

const PROFILES_EXAMPLES: &str = "\
Examples:
  activity-rank profiles users.jsonl
  export-users | activity-rank profiles -";

const TARGETS_EXAMPLES: &str = "\
Empty cells of CSV are fields that are left out.

Examples:
  activity-rank targets posts.jsonl
  activity-rank targets posts.csv
  export-posts | activity-rank targets - --format csv";

const TOP_EXAMPLES: &str = "\
Examples:
  activity-rank top
  activity-rank top week --content
  activity-rank top --hot --limit 10
  activity-rank top month --date 2026-10-01 --limit 100
  activity-rank top all --group eu --json";

const STATS_EXAMPLES: &str = "\
Examples:
  activity-rank stats
  activity-rank stats --from 2026-10-01 --to 2026-10-31 --json";

const DOCTOR_EXAMPLES: &str = "\
Findings are errors, warnings and notes; the exit code is 1 after an error.

Examples:
  activity-rank doctor https://activity-rank.example.com --origin https://www.example.com
  ACTIVITY_RANK_KEY=… activity-rank doctor https://activity-rank.example.com --json";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  activity-rank completions bash > ~/.local/share/bash-completion/completions/activity-rank
  activity-rank completions zsh > ~/.zfunc/_activity-rank";

const STANDING_EXAMPLES: &str = "\
Examples:
  activity-rank standing 42
  activity-rank standing 42 week --around 3";

const ME_EXAMPLES: &str = "\
Examples:
  activity-rank me 42
  activity-rank me 42 --group eu --friends";

const WHY_EXAMPLES: &str = "\
Examples:
  activity-rank why 42
  activity-rank why 42 --limit 100 --json";

const FRIENDS_EXAMPLES: &str = "\
Examples:
  activity-rank friends 42
  activity-rank friends 42 week --json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_each_command_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let mut all: Vec<_> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let groups = GROUPS.iter().flat_map(|(_, names)| *names);
        let mut grouped: Vec<&str> = groups.copied().collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
        let help = grouped_command().render_help().to_string();
        let first = "\n\nImport and check:\n  import       Import activity: JSON lines, a JSON array or CSV\n";
        assert!(help.contains(first), "{help}");
        assert!(help.contains("  doctor       Check a deployment"), "{help}");
        for part in [
            "\nBoards and members:\n  top ",
            "\nOptions:\n",
            "--url <URL>",
            "Exit codes:",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
    }

    /// Longer lines are wrapped in the middle of a sentence.
    #[test]
    fn help_fits_and_its_examples_are_valid() {
        let mut command = Cli::command();
        command.build();
        for command in [&command].into_iter().chain(command.get_subcommands()) {
            let help = command.get_after_help().map(ToString::to_string);
            for line in help.iter().flat_map(|help| help.lines()) {
                assert!(line.chars().count() <= 100, "{line}");
                let Some((indent, example)) = line.split_once("activity-rank ") else {
                    continue;
                };
                if indent != "  " && !indent.ends_with("| ") {
                    continue;
                }
                // A quoted text is one word.
                let parts = example.split('"').enumerate();
                let example: String = parts
                    .map(|(index, part)| match index % 2 {
                        0 => part.to_owned(),
                        _ => part.replace(' ', "_"),
                    })
                    .collect();
                let words = example
                    .split(' ')
                    .take_while(|word| !["|", ">"].contains(word));
                let needs_store = ["rebuild", "verify", "recount"].contains(&command.get_name());
                let is_replay = example == "verify" || example.starts_with("rules preview ");
                let store = ["--store", "http://127.0.0.1"].into_iter();
                let store = store.filter(|_| needs_store || is_replay);
                let words = ["activity-rank"].into_iter().chain(words).chain(store);
                let parsed = Cli::try_parse_from(words);
                assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
            }
        }
    }
}
