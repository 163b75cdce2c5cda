//! `activity-rank top`: the top of a board.

use std::process::ExitCode;

use serde::Deserialize;

use crate::args::{ServiceArgs, TopArgs};
use crate::board::{self, BoardPeriod, Entry};
use crate::count::count;
use crate::failure::Failure;
use crate::table::table;

/// The top of a board.
#[derive(Debug, Deserialize)]
struct Top {
    period: BoardPeriod,
    total: u64,
    entries: Vec<Entry>,
}

/// Asks for the board and prints it.
///
/// # Errors
///
/// [`Failure`] if there is no answer, or nowhere to print it.
pub async fn run(service: &ServiceArgs, args: &TopArgs) -> Result<ExitCode, Failure> {
    let numbers = [("limit", args.limit), ("offset", args.offset)];
    let answer = board::ask(service, args.period, &[], &args.board, &numbers).await?;
    answer.print(args.board.json, in_words)?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(top: &Top) -> String {
    let header = format!("{} · {}", top.period, count(top.total, "member"));
    if top.entries.is_empty() {
        return header;
    }
    format!("{header}\n\n{}", table(&top.entries, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_a_header_and_a_table() -> Result<(), serde_json::Error> {
        let top = serde_json::from_str(
            r#"{"period":{"kind":"day","id":"2026-11-20","start":"2026-11-19T16:00:00Z",
                "end":"2026-11-20T16:00:00Z","timezone":"Asia/Shanghai","closed":false},"total":1234,
                "entries":[{"rank":1,"score":57.5,"user":{"id":"42","name":"Ada"}}]}"#,
        )?;
        assert_eq!(
            in_words(&top),
            "day 2026-11-20 · 2026-11-19T16:00:00Z to 2026-11-20T16:00:00Z (Asia/Shanghai) · 1,234 members\n\n \
             rank  score  user  name\n    1   57.5  42    Ada"
        );
        Ok(())
    }

    #[test]
    fn an_empty_board_is_a_header() -> Result<(), serde_json::Error> {
        let top = serde_json::from_str(
            r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},
                "total":0,"entries":[]}"#,
        )?;
        assert_eq!(in_words(&top), "all (UTC) · 0 members");
        Ok(())
    }
}
