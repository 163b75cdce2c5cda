//! A value of the snapshots: some boards as text.
//!
//! The first line has the instant at which the boards were read, Unix ms. Each board follows: a line with its name, its
//! total and the length of its rows in bytes, then the rows, best first, a line each. Fields are separated by tabs,
//! which neither ids nor JSON contain:
//!
//! | board | fields of a row |
//! |---|---|
//! | of members, of authors | id, score as it is stored, profile (JSON or empty) |
//! | of content | id, score, target (JSON); with an author their id and profile |

use crate::board::{BoardId, BoardKind, BoardSlice, Content, Row};
use crate::calendar::Instant;
use crate::content::Target;
use crate::profile::Profile;
use crate::score::Score;
use serde::Serialize;
use std::fmt::Write;

/// Bytes of a value at most. Cloudflare accepts 25 MiB.
const MAX_BYTES: usize = 20 << 20;

/// The length of a line that precedes the rows of a board, at most.
const MAX_LINE: usize = 160;

/// Returns the value of boards: at most 20 MiB. The last boards lose rows, the lowest first, if it would be longer.
#[must_use]
pub fn encode(made: Instant, boards: &[(BoardId, BoardSlice)]) -> String {
    encode_within(made, boards, MAX_BYTES)
}

fn encode_within(made: Instant, boards: &[(BoardId, BoardSlice)], limit: usize) -> String {
    let mut value = format!("{}\n", made.0);
    for (board, slice) in boards {
        let left = limit.saturating_sub(value.len() + MAX_LINE);
        let mut rows = String::new();
        for row in &slice.rows {
            let complete = rows.len();
            push_row(&mut rows, row);
            if rows.len() > left {
                rows.truncate(complete);
                break;
            }
        }
        let line = (board.name(), slice.total, rows.len());
        let line = format!("{}\t{}\t{}\n", line.0, line.1, line.2);
        if value.len() + line.len() + rows.len() <= limit {
            value.push_str(&line);
            value.push_str(&rows);
        }
    }
    value
}

/// Returns the part of a value that does not contain the instant.
#[must_use]
pub fn content_of(value: &str) -> &str {
    value.split_once('\n').map_or("", |(_, content)| content)
}

fn push_row(text: &mut String, row: &Row) {
    fn json(value: Option<&impl Serialize>) -> String {
        let json = value.map(|value| serde_json::to_string(value).unwrap_or_default());
        json.unwrap_or_default()
    }
    // Writing to a string never fails.
    let _ = write!(text, "{}\t{}\t", row.user, row.score.0);
    match &row.content {
        None => text.push_str(&json(row.profile.as_ref())),
        Some(content) => {
            text.push_str(&json(Some(&content.target)));
            if let Some((author, profile)) = &content.author {
                let _ = write!(text, "\t{author}\t{}", json(profile.as_ref()));
            }
        }
    }
    text.push('\n');
}

/// Returns the boards with these names in a value, `None` for a board that it does not contain, and the instant
/// at which they were read; `None` if the text is not a value.
#[must_use]
pub fn decode(value: &str, names: &[String]) -> Option<(Instant, Vec<Option<BoardSlice>>)> {
    let (made, mut rest) = value.split_once('\n')?;
    let made = Instant(made.parse().ok()?);
    let mut boards = vec![None; names.len()];
    while let Some((line, after)) = rest.split_once('\n') {
        let mut fields = line.split('\t');
        let name = fields.next()?;
        let (total, length) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let (rows, after) = after.split_at_checked(length)?;
        rest = after;
        for (board, wanted) in boards.iter_mut().zip(names) {
            if wanted == name {
                *board = Some(decode_board(name, total, rows)?);
            }
        }
    }
    Some((made, boards))
}

fn decode_board(name: &str, total: u64, rows: &str) -> Option<BoardSlice> {
    let kind = BoardKind::of_board_name(name);
    let rows = rows.lines().zip(1..);
    Some(BoardSlice {
        total,
        rows: rows
            .map(|(line, rank)| decode_row(kind, line, rank))
            .collect::<Option<_>>()?,
        ..BoardSlice::default()
    })
}

fn decode_row(kind: BoardKind, line: &str, rank: u64) -> Option<Row> {
    let mut fields = line.split('\t');
    let user = fields.next()?.to_owned();
    let score = Score(fields.next()?.parse().ok()?);
    let subject = fields.next()?;
    let (mut profile, mut content) = (None, None);
    if kind == BoardKind::Content {
        let author = fields.next().map(str::to_owned).zip(fields.next());
        content = Some(Box::new(Content {
            target: Target::from_json(subject)?,
            author: author.map(|(id, profile)| (id, Profile::from_json(profile))),
        }));
    } else {
        profile = Profile::from_json(subject);
    }
    Some(Row {
        rank,
        score,
        user,
        profile,
        content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::{Date, Period};
    use proptest::prelude::*;

    const MADE: Instant = Instant(1_795_132_800_000);

    fn board(kind: BoardKind, group: Option<&str>) -> BoardId {
        BoardId {
            kind,
            period: Period::Day,
            date: Date::parse("2026-11-20").unwrap(),
            group: group.map(str::to_owned),
        }
    }

    fn text() -> impl Strategy<Value = Option<String>> {
        prop::option::of("\\PC{1,12}|[\t\n\"\\\\]{1,3}")
    }

    fn rows(kind: BoardKind) -> impl Strategy<Value = Vec<Row>> {
        let profile = || {
            (text(), text(), any::<bool>()).prop_map(|(name, url, public_activity)| Profile {
                name,
                url,
                public_activity,
                ..Profile::default()
            })
        };
        let author = prop::option::of(("[a-z]{1,5}", prop::option::of(profile())));
        let target = (text(), text()).prop_map(|(title, url)| Target {
            title,
            url,
            image: None,
        });
        let content = (target, author).prop_map(|(target, author)| Content { target, author });
        let row = (
            "\\PC{1,9}",
            any::<u64>(),
            prop::option::of(profile()),
            content,
        );
        let row = row.prop_map(move |(user, score, profile, content)| Row {
            rank: 0,
            score: Score(score),
            user,
            profile: profile.filter(|_| kind != BoardKind::Content),
            content: (kind == BoardKind::Content).then(|| Box::new(content)),
        });
        prop::collection::vec(row, 0..9).prop_map(|mut rows| {
            for (row, rank) in rows.iter_mut().zip(1..) {
                row.rank = rank;
            }
            rows
        })
    }

    fn boards() -> impl Strategy<Value = Vec<(BoardId, BoardSlice)>> {
        let of = |kind, group: Option<&'static str>| {
            (rows(kind), any::<u64>()).prop_map(move |(rows, total)| {
                let slice = BoardSlice {
                    total,
                    rows,
                    ..BoardSlice::default()
                };
                (board(kind, group), slice)
            })
        };
        let all = (
            of(BoardKind::Members, None),
            of(BoardKind::Content, None),
            of(BoardKind::Authors, None),
            of(BoardKind::Members, Some("T:eu")),
        );
        all.prop_map(|(members, content, authors, group)| vec![members, content, authors, group])
    }

    proptest! {
        #[test]
        fn boards_of_a_value_round_trip(boards in boards()) {
            let value = encode(MADE, &boards);
            let mut names: Vec<String> = boards.iter().map(|(board, _)| board.name()).collect();
            names.insert(1, "a:all".to_owned());
            let mut expected: Vec<_> = boards.into_iter().map(|(_, slice)| Some(slice)).collect();
            expected.insert(1, None);
            prop_assert_eq!(decode(&value, &names), Some((MADE, expected)));
        }

        #[test]
        fn long_values_lose_the_last_rows(boards in boards(), limit in 200..2000usize) {
            let value = encode_within(MADE, &boards, limit);
            prop_assert!(value.len() <= limit);
            let mut is_cut = false;
            for (board, slice) in &boards {
                let (_, found) = decode(&value, &[board.name()]).unwrap();
                let found = found.into_iter().next().flatten().unwrap_or_default();
                prop_assert!(slice.rows.starts_with(&found.rows));
                prop_assert!(found.total == slice.total || found.rows.is_empty());
                is_cut |= found.rows.len() < slice.rows.len();
            }
            prop_assert!(!is_cut || value.len() + 600 > limit, "{} of {limit}", value.len());
        }

        #[test]
        fn any_text_is_decoded_or_refused(text in "[0-9]{0,3}\n?(d:x\t[0-9]{1,2}\t[0-9]{1,2}\n[a-b0-9\t\n]{0,9})?") {
            let _ = decode(&text, &["d:x".to_owned()]);
        }


    }
}
