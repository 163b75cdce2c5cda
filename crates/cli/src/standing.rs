//! `activity-rank standing`: prints one user's score and rank on a board.

use std::fmt;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Number;

use crate::args::{ServiceArgs, StandingArgs};
use crate::board::{self, BoardPeriod, Entry, User, period_name, table};
use crate::count::count;
use crate::failure::Failure;

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Standing {
    period: BoardPeriod,
    user: User,
    rank: Option<u64>,
    /// `None` if the service does not know it at present.
    score: Option<Number>,
    total: u64,
    percentile: Option<Number>,
    next: Option<Next>,
    around: Option<Vec<Entry>>,
}

/// The user one rank above.
#[derive(Debug, Deserialize)]
pub struct Next {
    rank: u64,
    score: Number,
    points: Number,
}

/// Writes `4 points to rank 2 (score 15)`.
impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rank,
            score,
            points: missing,
        } = self;
        write!(f, "{} to rank {rank} (score {score})", points(missing))
    }
}

/// Reads the standing and prints it.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &StandingArgs) -> Result<ExitCode, Failure> {
    let (period, numbers) = (period_name(args.period), [("around", args.around)]);
    let path = ["ranking", &period, "users", &args.user];
    board::print(service, &path, &args.board, &numbers, text).await
}

fn text(standing: &Standing) -> String {
    let Standing {
        period,
        user,
        score,
        total,
        ..
    } = standing;
    let header = format!("{period} · {}", count(*total, "member"));
    let Some(score) = score else {
        return format!(
            "{header}\n{user} is not among the members known while the store is unavailable"
        );
    };
    let Some(rank) = standing.rank else {
        return format!("{header}\n{user} is not on this board");
    };
    let mut out = format!("{header}\n{user}: rank {rank} of {total}, score {score}");
    if let Some(percentile) = &standing.percentile {
        out.push_str(&format!(", percentile {percentile}"));
    }
    match &standing.next {
        Some(next) => out.push_str(&format!("\n{next}")),
        None => out.push_str("\nno user ranks higher"),
    }
    match &standing.around {
        // A table of this user alone would repeat the line above.
        Some(around) if around.len() > 1 => format!("{out}\n\n{}", table(around, Some(&user.id))),
        Some(_) | None => out,
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
    fn assert_text(fields: &str, expected: &str) -> Result<(), serde_json::Error> {
        assert_eq!(
            text(&serde_json::from_str(&format!("{{{PERIOD},{fields}}}"))?),
            format!("{HEADER}{expected}")
        );
        Ok(())
    }

    #[test]
    fn first_rank_has_no_user_above() -> Result<(), serde_json::Error> {
        assert_text(
            r#""user":{"id":"42"},"rank":1,"score":12,"total":1,"percentile":100,"next":null,"around":[]"#,
            " · 1 member\n42: rank 1 of 1, score 12, percentile 100\nno user ranks higher",
        )
    }

    #[test]
    fn user_without_points_is_not_on_the_board() -> Result<(), serde_json::Error> {
        assert_text(
            r#""user":{"id":"17"},"rank":null,"score":0,"total":1234,"percentile":null,"next":null,"around":[]"#,
            " · 1,234 members\n17 is not on this board",
        )
    }

    #[test]
    fn unknown_standing_is_reported() -> Result<(), serde_json::Error> {
        assert_text(
            r#""user":{"id":"17"},"rank":null,"score":null,"total":9,"percentile":null,"next":null,
               "reason":"not-in-snapshot","around":[],"stale":true,"as_of":"2026-11-20T08:00:00Z""#,
            " · 9 members\n17 is not among the members known while the store is unavailable",
        )
    }
}
