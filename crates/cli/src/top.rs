//! `activity-rank top`: prints the top of a board.

use std::process::ExitCode;

use serde::Deserialize;

use crate::args::{ServiceArgs, TopArgs};
use crate::board::{self, BoardPeriod, Entry, period_name, table, target_table};
use crate::count::count;
use crate::failure::Failure;

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Top {
    period: BoardPeriod,
    total: u64,
    entries: Vec<Entry>,
}

/// Response of `/v1/content/hot`.
#[derive(Debug, Deserialize)]
struct Hot {
    entries: Vec<Entry>,
}

/// Reads the board and prints it.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &TopArgs) -> Result<ExitCode, Failure> {
    let numbers = [("limit", args.limit), ("offset", args.offset)];
    let (board, period) = (&args.board, period_name(args.period));
    if args.hot {
        let path = ["content", "hot"];
        return board::print(service, &path, board, &numbers, hot_text).await;
    }
    if args.content {
        return board::print(
            service,
            &["content", &period],
            board,
            &numbers,
            content_text,
        )
        .await;
    }
    let (kind, unit) = match args.authors {
        true => ("authors", "author"),
        false => ("ranking", "member"),
    };
    let text = |top: &Top| text(top, unit);
    board::print(service, &[kind, &period], board, &numbers, text).await
}

fn text(top: &Top, unit: &str) -> String {
    let rows = (!top.entries.is_empty()).then(|| table(&top.entries, None));
    with_header(top, unit, rows)
}

fn content_text(top: &Top) -> String {
    let rows = (!top.entries.is_empty()).then(|| target_table(&top.entries));
    with_header(top, "target", rows)
}

fn with_header(top: &Top, unit: &str, rows: Option<String>) -> String {
    let header = format!("{} · {}", top.period, count(top.total, unit));
    match rows {
        Some(rows) => format!("{header}\n\n{rows}"),
        None => header,
    }
}

fn hot_text(hot: &Hot) -> String {
    match hot.entries.as_slice() {
        [] => "no target received points in the last seven days".to_owned(),
        entries => target_table(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_board_is_a_header() -> Result<(), serde_json::Error> {
        let top = serde_json::from_str(
            r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},
                "total":0,"entries":[]}"#,
        )?;
        assert_eq!(text(&top, "member"), "all (UTC) · 0 members");
        assert_eq!(content_text(&top), "all (UTC) · 0 targets");
        Ok(())
    }
}
