//! Arguments of `export`.

use clap::{ArgGroup, Args};

use super::Format;

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES, group = ArgGroup::new("what").required(true))]
pub struct ExportArgs {
    /// Write all entries of the journal, as JSON lines
    #[arg(long, group = "what")]
    pub activity: bool,
    /// Write a board, such as all, w:2026-W47, m:2026-11:GROUP, content:all, authors:d:2026-11-20 or event:EVENT
    #[arg(long, group = "what", value_name = "BOARD")]
    pub board: Option<String>,
    /// File to write, readable by its owner only [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Format of a board [default: csv if the name of the file ends in .csv, else json]
    #[arg(long, value_enum, conflicts_with = "activity")]
    pub format: Option<Format>,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Retries per request after no response, 429 or 5xx
    #[arg(long, value_name = "TIMES", default_value_t = 8)]
    pub retries: usize,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

const EXPORT_EXAMPLES: &str = "\
The journal needs a key with the scope admin. Lines of activities are those that import reads;
\"entry\" is the entry of the journal. A board has the rows that the service shows, live or
archived, at most 100,100; its columns are rank, score, id and name. BOARD has the date of its
period, so that the same command writes the same board later. In CSV an apostrophe precedes ids
and names that begin with = + - or @, which a spreadsheet would run.

Examples:
  activity-rank export --activity --output journal.jsonl
  activity-rank export --board w:2026-W47 --output week.csv
  activity-rank export --board content:all | jq -r .target.id";
