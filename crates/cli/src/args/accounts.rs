//! Options of `accounts`.

use clap::{Args, Subcommand};

use super::{FormatArgs, user_id};

/// Options of `accounts`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AccountsArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: AccountsCommand,
}

/// The commands of `accounts`.
#[derive(Debug, Subcommand)]
pub enum AccountsCommand {
    /// Print of whom a user is an account, and the accounts of a member
    Show {
        /// User id
        #[arg(value_parser = user_id)]
        user: String,
        /// Print the JSON response of the service
        #[arg(long)]
        json: bool,
    },
    /// Make a user an account of a member
    Join {
        /// User id of the account
        #[arg(value_parser = user_id)]
        user: String,
        /// User id of the member
        #[arg(value_parser = user_id)]
        member: String,
        /// Print the JSON response of the service
        #[arg(long)]
        json: bool,
    },
    /// Take back that a user is an account
    Detach {
        /// User id of the account
        #[arg(value_parser = user_id)]
        user: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the users of a file accounts: JSON lines, a JSON array or CSV
    Import(ImportAccountsArgs),
}

/// Options of `accounts import`.
#[derive(Debug, Args)]
pub struct ImportAccountsArgs {
    /// JSON lines such as {"user":"42","of":"9"}, an array of such objects, or CSV with the columns user and of;
    /// - reads standard input
    pub file: String,
    /// Format of the file.
    #[command(flatten)]
    pub format: FormatArgs,
    /// Check the file against the service, and print the lines that it would refuse and the number of accounts to join
    #[arg(long)]
    pub dry_run: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  activity-rank accounts show 42
  activity-rank accounts join 42 9
  activity-rank accounts detach 42
  activity-rank accounts import pairs.csv --dry-run";
