//! Arguments of `recount`.

use clap::{ArgGroup, Args};

use super::ReplayArgs;

/// Options of `recount`.
#[derive(Debug, Args)]
#[command(after_help = RECOUNT_EXAMPLES, group = ArgGroup::new("what").required(true).multiple(true),
    group = ArgGroup::new("mode").required(true))]
pub struct RecountArgs {
    /// Rules: a wrangler.toml, or a table of actions as TOML or JSON
    #[arg(long, value_name = "FILE", group = "what")]
    pub rules: Option<String>,
    /// Count what accounts did before they were joined for their members, what was sent for accounts that have left for
    /// these, and no activity that cases exclude; caps, cooldowns and own targets by --rules and published versions
    /// [default: the default rules]
    #[arg(long, group = "what")]
    pub accounts: bool,
    /// Count only this event again
    #[arg(long, value_name = "ID", group = "what", conflicts_with_all = ["rules", "accounts"])]
    pub event: Option<String>,
    /// New definition of the event: a JSON file, as for PUT /v1/events/ID [default: the stored definition]
    #[arg(
        long,
        value_name = "FILE",
        requires = "event",
        conflicts_with = "rules"
    )]
    pub definition: Option<String>,
    /// Environment of the wrangler.toml whose rules to use [default: the top level]
    #[arg(
        long,
        value_name = "NAME",
        requires = "rules",
        conflicts_with = "event"
    )]
    pub environment: Option<String>,
    /// Print who would move, and change nothing
    #[arg(long, group = "mode")]
    pub dry_run: bool,
    /// Replace the data by the recounted data
    #[arg(long, group = "mode")]
    pub apply: bool,
    /// Apply without asking
    #[arg(long, requires = "apply")]
    pub yes: bool,
    /// Board to preview, such as all, w:2026-W47, m:2026-11:GROUP, content:all, authors:d:2026-11-20 or event:EVENT; repeatable
    /// [default: all, or the event]
    #[arg(long = "board", value_name = "BOARD", conflicts_with = "apply")]
    pub boards: Vec<String>,
    /// Maximum number of moves to print for each board
    #[arg(
        long,
        value_name = "MOVES",
        default_value_t = 20,
        conflicts_with = "apply"
    )]
    pub limit: usize,
    /// Print the preview as JSON
    #[arg(long, conflicts_with = "apply")]
    pub json: bool,
    /// How the journal is replayed.
    #[command(flatten)]
    pub replay: ReplayArgs,
}

const RECOUNT_EXAMPLES: &str = "\
Replays the journal with the points of other rules, from its beginning: each activity counts by
the rule of its instant. The default rules are included, as in the variable RULES. Actions without
a rule keep their points. Published versions do not apply: name their values in the file, with
'from'. Change the rules of the service first: it counts new activity by its own.

With --event, only the board of that event changes: everything in the journal counts by its
definition, which may begin in the past. The event is final again at once, or when it would have
been.

With --accounts, activity between the members of excluded cases is taken too, and given back after
the decision was taken back. The file, and the published versions at their instants, decide caps,
cooldowns and own targets. Nothing is done if since the last such recount no account has been
joined or has left, and no exclusion has changed: run it once a day.

Examples:
  activity-rank recount --accounts --rules wrangler.toml --dry-run
  activity-rank recount --accounts --rules wrangler.toml --apply --yes
  activity-rank recount --rules wrangler.toml --dry-run
  activity-rank recount --rules new.toml --dry-run --board all --board w:2026-W47 --limit 50
  activity-rank recount --rules wrangler.toml --environment production --apply
  activity-rank recount --event hackathon --definition hackathon.json --dry-run
  activity-rank recount --event hackathon --apply";
