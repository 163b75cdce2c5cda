//! Options of `moderate`, `adjust` and `erase`.

use clap::Args;
use serde_json::Number;

use super::user_id;

/// Options of `moderate`.
#[derive(Debug, Args)]
#[command(after_help = MODERATE_EXAMPLES)]
pub struct ModerateArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Take the user off all boards
    #[arg(long, requires = "reason", conflicts_with = "show")]
    pub hide: bool,
    /// Put the user back on all boards
    #[arg(long, requires = "reason")]
    pub show: bool,
    /// Stop counting activity of the user
    #[arg(long, requires = "reason", conflicts_with = "unfreeze")]
    pub freeze: bool,
    /// Count activity of the user again
    #[arg(long, requires = "reason")]
    pub unfreeze: bool,
    /// Reason, for the audit log
    #[arg(long)]
    pub reason: Option<String>,
    /// Let the user read the reason
    #[arg(long, requires = "reason")]
    pub public_reason: bool,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

/// Options of `adjust`.
#[derive(Debug, Args)]
#[command(after_help = ADJUST_EXAMPLES)]
pub struct AdjustArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Id of the adjustment: the same id counts once
    #[arg(long)]
    pub id: String,
    /// Points to give, or to take if negative
    #[arg(long, allow_negative_numbers = true, required_unless_present = "undo")]
    pub points: Option<Number>,
    /// Undo the adjustment with this id
    #[arg(long, conflicts_with_all = ["points", "at", "groups", "event"])]
    pub undo: bool,
    /// Instant whose boards change, such as 2026-11-20T08:00:00Z [default: now]
    #[arg(long, value_name = "INSTANT")]
    pub at: Option<String>,
    /// Group whose boards change too; may be repeated
    #[arg(long = "group", value_name = "GROUP")]
    pub groups: Vec<String>,
    /// Event whose board alone changes
    #[arg(long, conflicts_with_all = ["at", "groups"])]
    pub event: Option<String>,
    /// Reason, for the audit log
    #[arg(long)]
    pub reason: String,
    /// Let the user read the reason
    #[arg(long)]
    pub public_reason: bool,
    /// Print the JSON response of the service
    #[arg(long)]
    pub json: bool,
}

/// Options of `erase`.
#[derive(Debug, Args)]
pub struct EraseArgs {
    /// User id
    #[arg(value_parser = user_id)]
    pub user: String,
    /// Confirm that everything about the user is deleted for good
    #[arg(long)]
    pub force: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

const MODERATE_EXAMPLES: &str = "\
Examples:
  activity-rank moderate 42
  activity-rank moderate 42 --hide --reason \"Under review\"
  activity-rank moderate 42 --show --unfreeze --reason \"Appeal granted\"";

const ADJUST_EXAMPLES: &str = "\
Examples:
  activity-rank adjust 42 --id case-17 --points -50 --reason \"Likes bought\"
  activity-rank adjust 42 --id case-17 --undo --reason \"Appeal granted\"
  activity-rank adjust 42 --id prize-1 --points 10 --event hackathon --reason \"A prize\"";
