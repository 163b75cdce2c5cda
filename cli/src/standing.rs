//! `activity-rank standing`: one user's place on a board.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Number;

use crate::args::{ServiceArgs, StandingArgs};
use crate::board::{self, BoardPeriod, Entry, User};
use crate::count::count;
use crate::failure::Failure;
use crate::table::table;

/// One user's standing.
#[derive(Debug, Deserialize)]
struct Standing {
    period: BoardPeriod,
    user: User,
    rank: Option<u64>,
    score: Number,
    total: u64,
    percentile: Option<Number>,
    next: Option<Next>,
    around: Option<Vec<Entry>>,
}

/// The place one rank above.
#[derive(Debug, Deserialize)]
struct Next {
    rank: u64,
    score: Number,
    points: Number,
}

/// Asks for the standing and prints it.
///
/// # Errors
///
/// [`Failure`] if there is no answer, or nowhere to print it.
pub async fn run(service: &ServiceArgs, args: &StandingArgs) -> Result<ExitCode, Failure> {
    let (below, numbers) = (["users", args.user.as_str()], [("around", args.around)]);
    let answer = board::ask(service, args.period, &below, &args.board, &numbers).await?;
    answer.print(args.board.json, in_words)?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(standing: &Standing) -> String {
    let Standing {
        period,
        user,
        score,
        total,
        ..
    } = standing;
    let header = format!("{period} · {}", count(*total, "member"));
    let Some(rank) = standing.rank else {
        return format!("{header}\n{user} is not on this board");
    };
    let mut text = format!("{header}\n{user}: rank {rank} of {total}, score {score}");
    if let Some(percentile) = &standing.percentile {
        text.push_str(&format!(", percentile {percentile}"));
    }
    match &standing.next {
        Some(next) => text.push_str(&format!(
            "\n{} to rank {} (score {})",
            points(&next.points),
            next.rank,
            next.score
        )),
        None => text.push_str("\nnobody is ahead"),
    }
    match &standing.around {
        // Alone it would repeat the line above.
        Some(around) if around.len() > 1 => format!("{text}\n\n{}", table(around, Some(&user.id))),
        Some(_) | None => text,
    }
}

fn points(points: &Number) -> String {
    if points.as_f64() == Some(1.0) {
        "1 point".to_owned()
    } else {
        format!("{points} points")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: &str = r#""period":{"kind":"year","id":"2026","start":"2026-01-01T00:00:00Z",
        "end":"2027-01-01T00:00:00Z","timezone":"UTC","closed":false}"#;
    const HEADER: &str = "year 2026 · 2026-01-01T00:00:00Z to 2027-01-01T00:00:00Z (UTC)";

    #[track_caller]
    fn assert_words(members: &str, words: &str) -> Result<(), serde_json::Error> {
        assert_eq!(
            in_words(&serde_json::from_str(&format!("{{{PERIOD},{members}}}"))?),
            format!("{HEADER}{words}")
        );
        Ok(())
    }

    #[test]
    fn a_standing_tells_rank_percentile_and_the_way_up() -> Result<(), serde_json::Error> {
        assert_words(
            r#""user":{"id":"42","name":"Ada"},"rank":3,"score":12,"total":1234,"percentile":99.8,
               "next":{"rank":2,"score":15,"points":4},
               "around":[{"rank":2,"score":15,"user":{"id":"7"}},{"rank":3,"score":12,"user":{"id":"42","name":"Ada"}}]"#,
            " · 1,234 members\nAda (42): rank 3 of 1234, score 12, percentile 99.8\n4 points to rank 2 (score 15)\n\n \
             rank  score  user  name\n    2     15  7\n  > 3     12  42    Ada",
        )
    }

    #[test]
    fn the_first_has_nobody_ahead() -> Result<(), serde_json::Error> {
        assert_words(
            r#""user":{"id":"42"},"rank":1,"score":12,"total":1,"percentile":100,"next":null,"around":[]"#,
            " · 1 member\n42: rank 1 of 1, score 12, percentile 100\nnobody is ahead",
        )
    }

    #[test]
    fn a_user_without_points_is_not_on_the_board() -> Result<(), serde_json::Error> {
        assert_words(
            r#""user":{"id":"nobody"},"rank":null,"score":0,"total":9,"percentile":null,"next":null,"around":[]"#,
            " · 9 members\nnobody is not on this board",
        )
    }
}
