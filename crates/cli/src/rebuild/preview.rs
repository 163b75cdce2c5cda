//! The preview of a recount: who would move on which boards, and by how much.

use std::collections::BTreeMap;

use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::Period;
use activity_rank_core::content::id_of_member;
use activity_rank_core::score::{Layout, Points, Score};
use activity_rank_store::rules_preview::report::{BoardPreview, Change, Move};
use serde::Serialize;

use super::compare::keys::read_board;
use super::key::BoardId;
use super::state::Shard;
use crate::board::format_table;
use crate::count::count;
use crate::failure::Failure;
use crate::printable::printable;

/// A board of a preview.
#[derive(Clone, Debug)]
pub struct PreviewedBoard {
    /// The name, as given.
    name: String,
    /// The key without its tag and generation.
    key: String,
    kind: BoardKind,
}

impl PreviewedBoard {
    /// Parses a name such as `all`, `w:2026-W47:eu` or `content:m:2026-11`.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for any other name.
    pub fn parse(name: &str) -> Result<Self, Failure> {
        let (kind, rest) = match name.split_once(':') {
            Some(("content", rest)) => (BoardKind::Content, rest),
            Some(("authors", rest)) => (BoardKind::Authors, rest),
            Some(_) | None => (BoardKind::Members, name),
        };
        if let Some(event) = name.strip_prefix("event:") {
            let board = BoardId::event_name(event).ok_or_else(|| not_a_board(name))?;
            return Ok(Self {
                name: name.to_owned(),
                key: format!("b{board}"),
                kind: BoardKind::Event,
            });
        }
        let letter = Period::All.letter();
        let group = rest.strip_prefix("all");
        let all_time = group.map(|group| format!("{letter}:all{group}"));
        let board = format!("{}{}", kind.prefix(), all_time.as_deref().unwrap_or(rest));
        match BoardId::parse(&board) {
            // A board of content with an action has numbers, no points.
            Some(found) if kind != BoardKind::Content || found.group.is_none() => Ok(Self {
                name: name.to_owned(),
                key: format!("b{board}"),
                kind,
            }),
            Some(_) | None => Err(not_a_board(name)),
        }
    }
}

impl PreviewedBoard {
    /// Returns the segments of its route.
    #[must_use]
    pub fn path(&self) -> Vec<&str> {
        let kind = match self.kind {
            BoardKind::Members => "ranking",
            BoardKind::Content => "content",
            BoardKind::Authors => "authors",
            BoardKind::Event => {
                let event = self.name.split_once(':').map_or("", |(_, event)| event);
                return vec!["v1", "events", event, "ranking"];
            }
        };
        let period = self.instance().map_or("all", |(period, _)| period.name());
        vec!["v1", kind, period]
    }

    /// Returns the parameters that name the period and the group.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = Vec::new();
        if let Some((period, id)) = self.instance()
            && let Some(date) = period.first_day(id)
        {
            parameters.push(("date", date.to_string()));
        }
        let board = self.key.strip_prefix('b').and_then(BoardId::parse);
        let group = board.and_then(|board| board.group);
        if let Some(group) = group.filter(|_| self.kind == BoardKind::Members) {
            parameters.push(("group", group));
        }
        parameters
    }

    /// Returns the period and the id of its instance; `None` for an event.
    fn instance(&self) -> Option<(Period, &str)> {
        let rest = self
            .key
            .strip_prefix('b')?
            .strip_prefix(self.kind.prefix())?;
        let (letter, rest) = rest.split_once(':')?;
        let period = Period::from_letter(letter.parse().ok()?)?;
        Some((period, rest.split(':').next().unwrap_or_default()))
    }
}

fn not_a_board(name: &str) -> Failure {
    Failure::Usage(format!(
        "'{}' is not a board such as all, d:2026-11-20, w:2026-W47, m:2026-11, y:2026, w:2026-W47:GROUP, content:all, \
         authors:w:2026-W47 or event:EVENT",
        printable(name)
    ))
}

/// Scores of visible members of the boards, by their index, with the shard of each member.
#[derive(Debug, Default)]
pub struct Standings(BTreeMap<usize, Vec<(String, u64, u32)>>);

impl Standings {
    /// Adds what has been replayed of a shard.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the store does not respond, or a board has an invalid score.
    pub async fn add(&mut self, shard: &Shard, boards: &[PreviewedBoard]) -> Result<(), Failure> {
        for (index, board) in boards.iter().enumerate() {
            let [_, written] = shard.key_pair(&board.key);
            let members = self.0.entry(index).or_default();
            for (member, score) in read_board(shard, &board.key, &written).await? {
                if let Some(score) = u64::try_from(score).ok().filter(|score| *score > 0) {
                    members.push((member, score, shard.store.shard));
                }
            }
        }
        Ok(())
    }

    /// Returns rank and points in steps by member.
    fn ranked(&mut self, index: usize, board: &PreviewedBoard, layout: Layout) -> Ranked {
        let members = self.0.remove(&index).unwrap_or_default();
        rank(board.kind, members, layout)
    }
}

/// Returns rank and points in steps by member. Each member has a score and a shard.
#[must_use]
pub fn rank(kind: BoardKind, mut members: Vec<(String, u64, u32)>, layout: Layout) -> Ranked {
    members.sort_unstable_by(
        |(member, score, shard), (other, other_score, other_shard)| {
            let by_shard = match kind.is_plain() {
                false => shard.cmp(other_shard),
                true => std::cmp::Ordering::Equal,
            };
            let by_score = other_score.cmp(score).then(by_shard);
            by_score.then_with(|| other.cmp(member))
        },
    );
    let ranks = (1..).zip(members);
    let ranked = ranks.map(|(rank, (member, score, _))| {
        let points = kind.points(Score(score), layout).steps;
        (member, (rank, points))
    });
    ranked.collect()
}

/// Rank and points in steps by member.
pub type Ranked = BTreeMap<String, (u64, i64)>;

/// A preview.
#[derive(Debug, Serialize)]
pub struct Preview {
    boards: Vec<BoardPreview>,
    /// Number of entries of the journal.
    pub entries: u64,
    note: &'static str,
}

impl Preview {
    /// Compares standings before and after a recount; lists at most `limit` moves of each board, and ends with a note.
    #[must_use]
    pub fn new(
        boards: &[PreviewedBoard],
        mut before: Standings,
        mut after: Standings,
        layout: Layout,
        limit: usize,
        note: &'static str,
    ) -> Self {
        let boards = boards.iter().enumerate().map(|(index, board)| {
            let [before, after] =
                [&mut before, &mut after].map(|all| all.ranked(index, board, layout));
            let name = (board.name.as_str(), board.kind);
            board_preview(name, [&before, &after], layout.decimals, limit, by_rank)
        });
        Self {
            boards: boards.collect(),
            entries: 0,
            note,
        }
    }

    /// Formats the preview as text.
    #[must_use]
    pub fn text(&self) -> String {
        let boards: Vec<String> = self.boards.iter().map(board_text).collect();
        format!("{}\n\n{}", boards.join("\n\n"), self.note)
    }
}

/// Rank, if the board has the member, and points in steps.
pub type Standing = (Option<u64>, i64);

/// Orders moves by the rank after the recount.
fn by_rank(_: &Standing, (rank, _): &Standing) -> u64 {
    rank.unwrap_or(u64::MAX)
}

/// Compares a board before and after, by its name and kind. Lists at most `limit` moves by `order` of the standings before
/// and after.
#[must_use]
pub fn board_preview<O: Ord>(
    (name, kind): (&str, BoardKind),
    [before, after]: [&Ranked; 2],
    decimals: u32,
    limit: usize,
    order: impl Fn(&Standing, &Standing) -> O,
) -> BoardPreview {
    let mut moves = Vec::new();
    let gone = before.keys().filter(|member| !after.contains_key(*member));
    for member in after.keys().chain(gone) {
        let [old, new] = [before, after].map(|ranked| {
            let standing = ranked.get(member);
            standing.map_or((None, 0), |(rank, points)| (Some(*rank), *points))
        });
        if old != new {
            moves.push((member, old, new));
        }
    }
    // Members who leave the board are last, by the rank that they had.
    moves.sort_by_key(|(_, old, new)| (order(old, new), old.0));
    let points = |steps| Points { steps, decimals };
    let sum = |ranked: &Ranked| points(ranked.values().map(|(_, steps)| steps).sum());
    let changed = moves.len();
    let moves = moves
        .into_iter()
        .take(limit)
        .map(|(member, old, new)| Move {
            id: match kind {
                BoardKind::Content => id_of_member(member).to_owned(),
                BoardKind::Members | BoardKind::Authors | BoardKind::Event => member.clone(),
            },
            rank: Change {
                before: old.0,
                after: new.0,
            },
            points: Change {
                before: points(old.1),
                after: points(new.1),
            },
        });
    BoardPreview {
        board: name.to_owned(),
        members: after.len(),
        changed,
        points: Change {
            before: sum(before),
            after: sum(after),
        },
        moves: moves.collect(),
    }
}

/// Formats the moves on a board as text.
#[must_use]
pub fn board_text(board: &BoardPreview) -> String {
    let number = |points: &Points| serde_json::to_string(points).unwrap_or_default();
    let rank = |rank: Option<u64>| rank.map_or("-".to_owned(), |rank| rank.to_string());
    let (name, points) = (printable(&board.board), &board.points);
    let members = count(board.members.try_into().unwrap_or(u64::MAX), "member");
    let mut text = format!(
        "board {name}: {} of {members} change, {} → {} points",
        board.changed,
        number(&points.before),
        number(&points.after)
    );
    if !board.moves.is_empty() {
        let rows = board.moves.iter().map(|moved| {
            [
                rank(moved.rank.before),
                rank(moved.rank.after),
                number(&moved.points.before),
                number(&moved.points.after),
                printable(&moved.id),
            ]
        });
        let header = ["rank", "→", "points", "→", "id"];
        text.push_str(&format!("\n\n{}", format_table(header, rows, 0..4)));
    }
    let more = board.changed - board.moves.len();
    if more > 0 {
        let moves = count(more.try_into().unwrap_or(u64::MAX), "more change");
        text.push_str(&format!("\nand {moves}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_boards_are_keys() {
        for (name, key) in [
            ("all", "ba:all"),
            ("all:eu", "ba:all:eu"),
            ("w:2026-W47", "bw:2026-W47"),
            ("d:2026-11-20:a:b", "bd:2026-11-20:a:b"),
            ("content:all", "bTa:all"),
            ("event:hackathon", "bE::hackathon"),
            ("authors:m:2026-11", "bAm:2026-11"),
        ] {
            let board = PreviewedBoard::parse(name).map(|board| board.key);
            assert_eq!(board.ok().as_deref(), Some(key), "{name}");
        }
        for name in ["", "week", "w:2026-47", "content:all:eu", "x:all", "allx"] {
            assert!(PreviewedBoard::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn boards_have_routes() {
        let week = "date=2026-11-16 group=a:b";
        for (name, path, parameters) in [
            ("all", "v1/ranking/all", ""),
            ("all:eu", "v1/ranking/all", "group=eu"),
            ("w:2026-W47:a:b", "v1/ranking/week", week),
            ("content:all", "v1/content/all", ""),
            ("authors:m:2026-11", "v1/authors/month", "date=2026-11-01"),
            ("event:a:b", "v1/events/a:b/ranking", ""),
        ] {
            let board = PreviewedBoard::parse(name).unwrap_or_else(|failure| panic!("{failure}"));
            let all = board.parameters().into_iter();
            let all: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
            let found = (board.path().join("/"), all.join(" "));
            assert_eq!(found, (path.to_owned(), parameters.to_owned()), "{name}");
        }
    }

    #[test]
    fn moves_are_listed_by_new_rank() {
        let ranked = |members: &[(&str, u64, i64)]| {
            let members = members.iter();
            let member =
                |(id, rank, points): &(&str, u64, i64)| ((*id).to_owned(), (*rank, *points));
            members.map(member).collect::<Ranked>()
        };
        let before = ranked(&[("a", 1, 90), ("b", 2, 50), ("c", 3, 20), ("d", 4, 5)]);
        let after = ranked(&[("b", 1, 100), ("a", 2, 90), ("c", 3, 20), ("e", 4, 5)]);
        let board = ("all", BoardKind::Members);
        let preview = board_preview(board, [&before, &after], 1, 2, by_rank);
        let expected = "board all: 4 of 4 members change, 16.5 → 21.5 points\n\n \
             rank  →  points   →  id\n    2  1       5  10  b\n    1  2       9   9  a\nand 2 more changes";
        assert_eq!(board_text(&preview), expected);
        assert_eq!(
            serde_json::to_string(&preview.moves[0]).unwrap_or_default(),
            r#"{"id":"b","rank":{"before":2,"after":1},"points":{"before":5,"after":10}}"#
        );
    }
}
