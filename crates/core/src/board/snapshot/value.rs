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

use crate::board::{BoardId, BoardKind, BoardQuery, BoardSlice, Content, Row};
use crate::calendar::Instant;
use crate::content::Target;
use crate::profile::Profile;
use crate::score::Score;
use std::fmt::Write;

/// Bytes of a value at most. Cloudflare accepts 25 MiB.
const MAX_BYTES: usize = 20 << 20;

/// The length of a line that precedes the rows of a board, at most.
const MAX_LINE: usize = 160;

/// A row of a board as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct StoredRow<'a> {
    /// The id of the user or target.
    pub id: &'a str,
    /// The score as it is stored.
    pub score: u64,
    /// The profile as JSON, empty without one; on a board of content the target.
    pub subject: &'a str,
    /// On a board of content, the id of the author and the profile.
    pub author: Option<(&'a str, &'a str)>,
}

/// The first rows of a board.
pub trait Top {
    /// Returns the board.
    fn board(&self) -> &BoardId;

    /// Returns the number of users on the whole board.
    fn total(&self) -> u64;

    /// Returns the rows, best first.
    fn rows(&self) -> impl Iterator<Item = StoredRow<'_>>;
}

/// Returns the value of boards: at most 20 MiB. The last boards lose rows, the lowest first, if it would be longer.
#[must_use]
pub fn encode(made: Instant, boards: &[impl Top]) -> String {
    encode_within(made, boards, MAX_BYTES)
}

fn encode_within(made: Instant, boards: &[impl Top], limit: usize) -> String {
    let mut value = format!("{}\n", made.0);
    for board in boards {
        let start = value.len();
        // A string that grows step by step takes up to three times its length.
        let expected: usize = board.rows().map(StoredRow::expected_length).sum();
        value.reserve_exact((expected + MAX_LINE).min(limit.saturating_sub(start)));
        for row in board.rows() {
            let complete = value.len();
            row.push_to(&mut value);
            if value.len() + MAX_LINE > limit {
                value.truncate(complete);
                break;
            }
        }
        let (name, total) = (board.board().name(), board.total());
        let line = format!("{name}\t{total}\t{}\n", value.len() - start);
        if value.len() + line.len() <= limit {
            value.insert_str(start, &line);
        }
    }
    value
}

impl StoredRow<'_> {
    fn expected_length(self) -> usize {
        let (author, profile) = self.author.unwrap_or_default();
        self.id.len() + self.subject.len() + author.len() + profile.len() + 24
    }

    fn push_to(self, text: &mut String) {
        // Writing to a string never fails.
        let _ = write!(
            text,
            "{}\t{}\t{}",
            self.id,
            self.score,
            single_line(self.subject)
        );
        if let Some((author, profile)) = self.author {
            let _ = write!(text, "\t{author}\t{}", single_line(profile));
        }
        text.push('\n');
    }
}

/// Returns a text that has neither tabs nor ends of lines, else nothing.
fn single_line(text: &str) -> &str {
    if text.contains(['\t', '\n', '\r']) {
        ""
    } else {
        text
    }
}

/// Returns the part of a value that does not contain the instant.
#[must_use]
pub fn content_of(value: &str) -> &str {
    value.split_once('\n').map_or("", |(_, content)| content)
}

/// Answers a query from the boards with these names in a value. Returns `None` for a board that it does not contain,
/// or for a page that its rows do not reach, and the instant at which the boards were read; `None` if the text is not
/// a value.
///
/// Users whom the rows do not reach are unknown. Rows below a standing may be missing.
#[must_use]
pub fn answer(
    value: &str,
    names: &[String],
    query: &BoardQuery<'_>,
) -> Option<(Instant, Vec<Option<BoardSlice>>)> {
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
                let kind = BoardKind::from_board_name(name);
                *board = StoredBoard { kind, total, rows }.answer(query);
            }
        }
    }
    Some((made, boards))
}

/// A board of a value.
struct StoredBoard<'a> {
    kind: BoardKind,
    total: u64,
    /// Lines.
    rows: &'a str,
}

impl StoredBoard<'_> {
    fn answer(&self, query: &BoardQuery<'_>) -> Option<BoardSlice> {
        let count = self.rows.lines().count();
        let is_complete = count as u64 >= self.total;
        let mut slice = BoardSlice {
            total: self.total,
            ..BoardSlice::default()
        };
        match *query {
            BoardQuery::Page { offset, limit } => {
                let (first, end) = (offset as usize, offset as usize + limit as usize);
                if !is_complete && end > count {
                    return None;
                }
                slice.rows = self.range(first, end)?;
            }
            BoardQuery::Standing { user, neighbors } => match self.ranks(&[user]).first() {
                Some((_, index)) => {
                    let neighbors = neighbors as usize;
                    let first = index.saturating_sub(neighbors);
                    slice.rows = self.range(first, index + neighbors + 1)?;
                }
                None => slice.add_missing(user, is_complete),
            },
            BoardQuery::Users(users) => {
                let users: Vec<&str> = users.iter().map(String::as_str).collect();
                let ranks = self.ranks(&users);
                for user in users {
                    match ranks.iter().find(|(ranked, _)| *ranked == user) {
                        Some((_, index)) => slice.rows.extend(self.range(*index, index + 1)?),
                        None => slice.add_missing(user, is_complete),
                    }
                }
            }
        }
        Some(slice)
    }

    /// Returns the indexes of the rows of some users.
    fn ranks<'b>(&self, users: &[&'b str]) -> Vec<(&'b str, usize)> {
        let rows = self.rows.lines().enumerate();
        let ranks = rows.filter_map(|(index, line)| {
            let (id, _) = line.split_once('\t')?;
            Some((*users.iter().find(|user| **user == id)?, index))
        });
        ranks.collect()
    }

    fn range(&self, first: usize, end: usize) -> Option<Vec<Row>> {
        let rows = self.rows.lines().zip(1..).take(end).skip(first);
        rows.map(|(line, rank)| decode_row(self.kind, line, rank))
            .collect()
    }
}

impl BoardSlice {
    /// Adds a user who is not among the rows of a copy.
    fn add_missing(&mut self, user: &str, is_complete: bool) {
        match is_complete {
            true => self.unranked.push((user.to_owned(), None)),
            false => self.unknown.push(user.to_owned()),
        }
    }
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
    use serde::Serialize;

    const MADE: Instant = Instant(1_795_132_800_000);

    const ALL: BoardQuery<'_> = BoardQuery::Page {
        offset: 0,
        limit: 99,
    };

    /// A board with texts as the store has them: id, score, profile or target, author.
    #[derive(Clone, Debug)]
    struct StoredTop {
        board: BoardId,
        slice: BoardSlice,
        texts: Vec<(String, String)>,
    }

    fn json(value: Option<&impl Serialize>) -> String {
        value.map_or_else(String::new, |value| serde_json::to_string(value).unwrap())
    }

    impl StoredTop {
        fn new(kind: BoardKind, group: Option<&str>, slice: BoardSlice) -> Self {
            let texts = slice.rows.iter().map(|row| match &row.content {
                None => (json(row.profile.as_ref()), String::new()),
                Some(content) => {
                    let profile = content
                        .author
                        .as_ref()
                        .and_then(|(_, profile)| profile.as_ref());
                    (json(Some(&content.target)), json(profile))
                }
            });
            let board = BoardId {
                kind,
                period: Period::Day,
                date: Date::parse("2026-11-20").unwrap(),
                group: group.map(str::to_owned),
            };
            Self {
                board,
                texts: texts.collect(),
                slice,
            }
        }
    }

    impl Top for StoredTop {
        fn board(&self) -> &BoardId {
            &self.board
        }

        fn total(&self) -> u64 {
            self.slice.total
        }

        fn rows(&self) -> impl Iterator<Item = StoredRow<'_>> {
            self.slice
                .rows
                .iter()
                .zip(&self.texts)
                .map(|(row, (subject, profile))| {
                    let author = row
                        .content
                        .as_ref()
                        .and_then(|content| content.author.as_ref());
                    StoredRow {
                        id: &row.user,
                        score: row.score.0,
                        subject,
                        author: author.map(|(id, _)| (id.as_str(), profile.as_str())),
                    }
                })
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

    fn tops() -> impl Strategy<Value = Vec<StoredTop>> {
        let of = |kind, group: Option<&'static str>| {
            (rows(kind), 0..9u64).prop_map(move |(rows, more)| {
                let slice = BoardSlice {
                    total: rows.len() as u64 + more,
                    rows,
                    ..BoardSlice::default()
                };
                StoredTop::new(kind, group, slice)
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

    /// Returns all rows of a board in a value.
    fn rows_in(value: &str, top: &StoredTop) -> Vec<Row> {
        let name = top.board.name();
        let mut rows = Vec::new();
        for offset in 0..9 {
            let row = BoardQuery::Page { offset, limit: 1 };
            let (_, found) = answer(value, std::slice::from_ref(&name), &row).unwrap();
            rows.extend(found.into_iter().flatten().flat_map(|slice| slice.rows));
        }
        rows
    }

    proptest! {
        #[test]
        fn rows_of_a_value_round_trip(tops in tops()) {
            let value = encode(MADE, &tops);
            for top in &tops {
                prop_assert_eq!(rows_in(&value, top), top.slice.rows.clone());
            }
            let mut names: Vec<String> = tops.iter().map(|top| top.board.name()).collect();
            names.insert(1, "a:all".to_owned());
            let (made, found) = answer(&value, &names, &ALL).unwrap();
            prop_assert_eq!(made, MADE);
            for (name, found) in names.iter().zip(found) {
                let top = tops.iter().find(|top| top.board.name() == *name);
                let slice = top.map(|top| top.slice.clone());
                let is_complete = |slice: &BoardSlice| slice.total == slice.rows.len() as u64;
                prop_assert_eq!(found, slice.filter(is_complete));
            }
        }

        #[test]
        fn long_values_lose_the_last_rows(tops in tops(), limit in 200..2000usize) {
            let value = encode_within(MADE, &tops, limit);
            prop_assert!(value.len() <= limit);
            let mut is_cut = false;
            for top in &tops {
                let found = rows_in(&value, top);
                prop_assert!(top.slice.rows.starts_with(&found));
                is_cut |= found.len() < top.slice.rows.len();
            }
            prop_assert!(!is_cut || value.len() + 600 > limit, "{} of {limit}", value.len());
        }

        #[test]
        fn any_text_is_answered_or_refused(text in "[0-9]{0,3}\n?(d:x\t[0-9]{1,2}\t[0-9]{1,2}\n[a-b0-9\t\n]{0,9})?") {
            let _ = answer(&text, &["d:x".to_owned()], &ALL);
        }
    }

    /// Answers a query from the first three rows of a board with `total` users: ranks, unranked and unknown users.
    fn answered(
        total: u64,
        query: &BoardQuery<'_>,
    ) -> Option<(Vec<u64>, Vec<String>, Vec<String>)> {
        let row = |(rank, user): (u64, &str)| Row {
            rank,
            score: Score(10 - rank),
            user: user.to_owned(),
            profile: None,
            content: None,
        };
        let slice = BoardSlice {
            total,
            rows: (1..).zip(["a", "b", "c"]).map(row).collect(),
            ..BoardSlice::default()
        };
        let top = StoredTop::new(BoardKind::Members, None, slice);
        let value = encode(MADE, std::slice::from_ref(&top));
        let (_, found) = answer(&value, &[top.board.name()], query).unwrap();
        let slice = found.into_iter().next().flatten()?;
        assert_eq!(slice.total, total);
        let unranked = slice.unranked.into_iter().map(|(user, _)| user);
        Some((
            slice.rows.iter().map(|row| row.rank).collect(),
            unranked.collect(),
            slice.unknown,
        ))
    }

    #[test]
    fn answer_reaches_as_far_as_the_rows() {
        let ids = ["c", "x", "a", "y"].map(str::to_owned);
        let page = |offset, limit| BoardQuery::Page { offset, limit };
        let standing = |user| BoardQuery::Standing { user, neighbors: 1 };
        let owned = |users: &[&str]| users.iter().map(|user| (*user).to_owned()).collect();
        let result = |ranks: &[u64], unranked: &[&str], unknown: &[&str]| {
            Some((ranks.to_vec(), owned(unranked), owned(unknown)))
        };
        for (total, query, expected) in [
            (3, page(1, 9), result(&[2, 3], &[], &[])),
            (9, page(1, 2), result(&[2, 3], &[], &[])),
            (9, page(1, 3), None),
            (3, page(7, 3), result(&[], &[], &[])),
            (9, standing("c"), result(&[2, 3], &[], &[])),
            (9, standing("b"), result(&[1, 2, 3], &[], &[])),
            (3, standing("x"), result(&[], &["x"], &[])),
            (9, standing("x"), result(&[], &[], &["x"])),
            (
                3,
                BoardQuery::Users(&ids),
                result(&[3, 1], &["x", "y"], &[]),
            ),
            (
                9,
                BoardQuery::Users(&ids),
                result(&[3, 1], &[], &["x", "y"]),
            ),
        ] {
            assert_eq!(answered(total, &query), expected, "{total} {query:?}");
        }
    }

    #[test]
    fn texts_of_several_lines_are_left_out() {
        assert_eq!(single_line("{\"name\":\"a b\"}"), "{\"name\":\"a b\"}");
        for text in ["{\n}", "{\t}", "{}\r"] {
            assert_eq!(single_line(text), "", "{text:?}");
        }
    }
}
