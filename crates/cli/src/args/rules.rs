//! Options of `rules`.

use clap::{Args, Subcommand};

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

/// Options of `rules publish`.
#[derive(Debug, Args)]
pub struct PublishArgs {
    /// JSON or TOML with the changes by action, such as {"like":{"points":3,"daily_cap":null}}
    #[arg(required_unless_present = "set")]
    pub file: Option<String>,
    /// Change of a field, such as like.points=3, or like.daily_cap=none to remove a cap; may be repeated
    #[arg(long, value_name = "ACTION.FIELD=VALUE", conflicts_with = "file")]
    pub set: Vec<String>,
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
  activity-rank rules publish --set like.points=3 --set like.daily_cap=none --reason \"Too cheap\"
  activity-rank rules publish rules.json --from 2026-12-01T00:00:00Z --reason \"December\"
  activity-rank rules take-back 2 --reason \"A mistake\"";
