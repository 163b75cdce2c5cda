//! Options of `rules`.

use clap::{Args, Subcommand};
use jiff::Span;

use super::StoreArgs;

/// Options of `rules`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RulesArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: RulesCommand,
}

/// The commands of `rules`.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Print the rules that hold now, and the published versions
    Show {
        /// Print the JSON response of the service
        #[arg(long)]
        json: bool,
    },
    /// Print what changes of rules would change: replays the activity of a span by the rules in force and by the changed ones
    Preview(Box<PreviewArgs>),
    /// Publish changes of rules from an instant on
    Publish(PublishArgs),
    /// Take a published version back
    TakeBack {
        /// Number of the version
        version: u32,
        /// The reason.
        #[command(flatten)]
        reason: ReasonArgs,
    },
}

/// Changes of rules.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// JSON or TOML with the changes by action, such as {"like":{"points":3,"daily_cap":null}}
    #[arg(required_unless_present = "set")]
    pub file: Option<String>,
    /// Change of a field, such as like.points=3, or like.daily_cap=none to remove a cap; may be repeated
    #[arg(long, value_name = "ACTION.FIELD=VALUE", conflicts_with = "file")]
    pub set: Vec<String>,
}

/// Options of `rules preview`.
#[derive(Debug, Args)]
#[command(after_help = PREVIEW_EXAMPLES)]
pub struct PreviewArgs {
    /// The changes.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Span before --until: week, month (30 days), or a duration such as 90d
    #[arg(long, default_value = "month", value_parser = span, conflicts_with = "from")]
    pub span: Span,
    /// First day or instant of the replayed activity
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// Day or instant at which the replayed activity ends [default: now]
    #[arg(long, value_name = "INSTANT")]
    pub until: Option<String>,
    /// Maximum number of moves to print for each board, the largest first
    #[arg(long, value_name = "MOVES", default_value_t = 20)]
    pub limit: usize,
    /// Write the outcome and the points of each activity, before and after, to this file as JSON lines
    #[arg(long, value_name = "FILE")]
    pub outcomes: Option<String>,
    /// Continue without asking
    #[arg(long)]
    pub yes: bool,
    /// Print the preview as JSON
    #[arg(long)]
    pub json: bool,
    /// Retries per request after no response, 429 or 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
    /// Store and prefix of the deployment.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Parses a span, with names for a week and for 30 days.
fn span(text: &str) -> Result<Span, String> {
    let text = match text {
        "week" => "7d",
        "month" => "30d",
        text => text,
    };
    let span: Result<Span, _> = text.parse();
    let span = span.ok().filter(|span| span.is_positive());
    span.ok_or_else(|| "must be week, month or a duration such as 90d".to_owned())
}

/// Options of `rules publish`.
#[derive(Debug, Args)]
pub struct PublishArgs {
    /// The changes.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Instant from which the rules hold, such as 2026-12-01T00:00:00Z, at least 75 seconds ahead [default: the earliest]
    #[arg(long, value_name = "INSTANT")]
    pub from: Option<String>,
    /// The reason.
    #[command(flatten)]
    pub reason: ReasonArgs,
}

/// A reason.
#[derive(Debug, Args)]
pub struct ReasonArgs {
    /// Reason
    #[arg(long)]
    pub reason: String,
    /// Let everyone read the reason
    #[arg(long)]
    pub public_reason: bool,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  activity-rank rules show
  activity-rank rules preview --set like.points=3 --set like.daily_cap=none --span 90d
  activity-rank rules publish --set like.points=3 --set like.daily_cap=none --reason \"Too cheap\"
  activity-rank rules publish rules.json --from 2026-12-01T00:00:00Z --reason \"December\"
  activity-rank rules take-back 2 --reason \"A mistake\"";

const PREVIEW_EXAMPLES: &str = "\
Reads the journal from the service (--url, --key with the scope admin), and decides the activity
of the span twice in separate keys of the store, which it deletes at the end: by the rules in
force, and by the changed ones. Both begin without points and caps, so the rules alone make the
difference, and the points before are not the points of the boards. Adjustments and events are
left out.

The journal does not say whether a member sent an activity: a change of member_cap applies only to
activity that a cap refused then. Activity that was refused then counts only if JOURNAL_REFUSED is
on.

Examples:
  activity-rank rules preview --set like.points=3
  activity-rank rules preview --set comment.cooldown=60 --set like.daily_cap=20 --span week --json
  activity-rank rules preview rules.json --from 2026-10-01 --until 2026-11-01 --limit 50
  activity-rank rules preview rules.json --span 90d --yes --outcomes outcomes.jsonl";
