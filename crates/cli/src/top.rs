//! `activity-rank top`: prints the top of a board.

use std::process::ExitCode;

use serde::Deserialize;

use crate::args::{ServiceArgs, TopArgs};
use crate::board::{self, BoardPeriod, Entry, table};
use crate::count::count;
use crate::failure::Failure;

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Top {
    period: BoardPeriod,
    total: u64,
    entries: Vec<Entry>,
}

/// Reads the board and prints it.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &TopArgs) -> Result<ExitCode, Failure> {
    let numbers = [("limit", args.limit), ("offset", args.offset)];
    board::print(service, args.period, &[], &args.board, &numbers, text).await
}

fn text(top: &Top) -> String {
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
    fn board_is_a_header_and_a_table() -> Result<(), serde_json::Error> {
        let top = serde_json::from_str(
            r#"{"period":{"kind":"day","id":"2026-11-20","start":"2026-11-19T16:00:00Z",
                "end":"2026-11-20T16:00:00Z","timezone":"Asia/Shanghai","closed":false},"total":1234,
                "entries":[{"rank":1,"score":57.5,"user":{"id":"42","name":"Ada"}}]}"#,
        )?;
        assert_eq!(
            text(&top),
            "day 2026-11-20 · 2026-11-19T16:00:00Z to 2026-11-20T16:00:00Z (Asia/Shanghai) · 1,234 members\n\n \
             rank  score  user  name\n    1   57.5  42    Ada"
        );
        Ok(())
    }

    #[test]
    fn empty_board_is_a_header() -> Result<(), serde_json::Error> {
        let top = serde_json::from_str(
            r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},
                "total":0,"entries":[]}"#,
        )?;
        assert_eq!(text(&top), "all (UTC) · 0 members");
        Ok(())
    }
}
