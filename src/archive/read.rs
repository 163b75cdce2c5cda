//! Reads archived boards.

use super::shard_ids;
use crate::platform::d1::{Columns, Database, FromRow, Rows, Statement};
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery, BoardSlice, Row};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::content::id_of_member;
use activity_rank_core::error::Error;
use activity_rank_core::score::Score;
use serde_json::Value;

/// The complete boards of a name, one of each shard that has it.
const BOARDS: &str = "FROM boards WHERE site IN (SELECT value FROM json_each(?1)) \
    AND name = ?2 AND (?3 = '' OR day = ?3) AND done = 1";

/// The order of the index on one shard, and of plain boards on any number of shards.
const ORDER: &str = "ORDER BY score DESC, user DESC";

/// The order of other boards on several shards: equal scores by shard.
const ORDER_OF_SHARDS: &str = "ORDER BY score DESC, \
    (SELECT site FROM boards WHERE id = board), user DESC";

struct Board {
    total: u64,
    made: i64,
}

impl FromRow for Board {
    fn from_row(columns: Columns) -> Option<Self> {
        Some(Self {
            total: columns.integer(0)?,
            made: columns.integer(1)?,
        })
    }
}

struct Placement {
    user: String,
    score: u64,
    /// The rank from 0, for a comparison.
    place: Option<u64>,
}

impl FromRow for Placement {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            user: columns.text(0)?,
            score: columns.integer(1)?,
            place: columns.integer(2),
        })
    }
}

/// Reads a board without profiles, and when it was read from Redis. Returns `None` if the archive does
/// not have it. `final_at` is the instant from which an event is final, empty for a board of a period: a board that was
/// archived before the event was counted again, or before it was defined again, is not its result.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read(
    archive: &Database,
    config: &Config,
    (board, final_at): (&BoardId, &str),
    query: &BoardQuery<'_>,
) -> Result<Option<(BoardSlice, Instant)>, Error> {
    let statements = statements(config, (board, final_at), query);
    let results = archive.run(&statements).await?;
    let boards: Vec<Board> = decode(&results, 0)?;
    let Some(Board { total, made }) = boards.into_iter().next() else {
        return Ok(None);
    };
    let mut slice = BoardSlice {
        total,
        ..BoardSlice::default()
    };
    match *query {
        BoardQuery::Page { offset, .. } => {
            slice.rows = ranked(decode(&results, 1)?, u64::from(offset), board.kind);
        }
        BoardQuery::Standing { user, .. } => {
            let counts: Vec<i64> = decode(&results, 1)?;
            let above = counts.first().map_or(0, |count| count.unsigned_abs());
            let mut places: Vec<Placement> = decode(&results, 2)?;
            places.reverse();
            let first = above.saturating_sub(places.len() as u64);
            places.extend(decode::<Placement>(&results, 3)?);
            slice.rows = ranked(places, first, board.kind);
            if slice.row_of(user).is_none() {
                slice.rows.clear();
                match board.kind {
                    BoardKind::Content => slice.target = Some(Box::default()),
                    BoardKind::Members | BoardKind::Authors | BoardKind::Event => {
                        slice.unranked.push((user.to_owned(), None));
                    }
                }
            }
        }
        BoardQuery::Users(users) => {
            for place in decode::<Placement>(&results, 1)? {
                let rank = place.place.unwrap_or(0) + 1;
                slice.rows.push(row(place, rank, board.kind));
            }
            for user in users {
                if slice.row_of(user).is_none() {
                    slice.unranked.push((user.clone(), None));
                }
            }
        }
    }
    Ok(Some((slice, Instant(made))))
}

/// Decodes the rows of the statement at an index.
fn decode<T: FromRow>(results: &[Rows<'_>], index: usize) -> Result<Vec<T>, Error> {
    results.get(index).map_or(Ok(Vec::new()), Rows::decode)
}

fn statements(
    config: &Config,
    (board, final_at): (&BoardId, &str),
    query: &BoardQuery<'_>,
) -> Vec<Statement> {
    let common = [shard_ids(config), board.name(), final_at.to_owned()].map(Value::from);
    let statement = |sql: &str, values: &[Value]| {
        let values = common.iter().chain(values).cloned();
        Statement::new(sql, values.collect())
    };
    let is = if config.shards == 1 { "=" } else { "IN" };
    let orders_by_shard = config.shards > 1 && !board.kind.is_plain();
    let order = if orders_by_shard {
        ORDER_OF_SHARDS
    } else {
        ORDER
    };
    let visible = format!("FROM places WHERE score > 0 AND board {is} (SELECT id {BOARDS})");
    let ranked =
        format!("(SELECT user, score, ROW_NUMBER() OVER ({order}) - 1 AS place {visible})");
    let rows = match *query {
        BoardQuery::Page { offset, limit } => {
            let sql = format!("SELECT user, score {visible} {order} LIMIT ?4 OFFSET ?5");
            vec![statement(&sql, &[limit.into(), offset.into()])]
        }
        BoardQuery::Standing { user, neighbors } => {
            let values = [Value::from(board.kind.member(user)), neighbors.into()];
            let [rank, above, from] = match orders_by_shard {
                false => standing(&visible),
                true => standing_by_shard(&ranked),
            };
            vec![
                statement(&rank, values.get(..1).unwrap_or_default()),
                statement(&above, &values),
                statement(&from, &values),
            ]
        }
        BoardQuery::Users(users) => {
            let sql = format!(
                "SELECT user, score, place FROM {ranked} \
                 WHERE user IN (SELECT value FROM json_each(?4))"
            );
            let users = serde_json::to_string(users).unwrap_or_default();
            vec![statement(&sql, &[users.into()])]
        }
    };
    let board =
        format!("SELECT SUM(total) AS total, MIN(made) AS made {BOARDS} HAVING COUNT(*) > 0");
    [statement(&board, &[])].into_iter().chain(rows).collect()
}

/// Returns the queries of a standing in [`ORDER`], which use the index: the number of users above, the
/// nearest of them, and the user's own row with some below.
fn standing(visible: &str) -> [String; 3] {
    let own = format!("(SELECT score, user {visible} AND user = ?4)");
    let above = format!("{visible} AND (score, user) > {own}");
    [
        format!("SELECT COUNT(*) AS count {above}"),
        format!("SELECT user, score {above} ORDER BY score, user LIMIT ?5"),
        format!("SELECT user, score {visible} AND (score, user) <= {own} {ORDER} LIMIT ?5 + 1"),
    ]
}

/// Returns the same queries in [`ORDER_OF_SHARDS`], which rank every user.
fn standing_by_shard(ranked: &str) -> [String; 3] {
    let own = format!("(SELECT place FROM {ranked} WHERE user = ?4)");
    [
        format!("SELECT COALESCE({own}, 0) AS count"),
        format!(
            "SELECT user, score FROM {ranked} WHERE place < {own} ORDER BY place DESC LIMIT ?5"
        ),
        format!(
            "SELECT user, score FROM {ranked} WHERE place >= {own} ORDER BY place LIMIT ?5 + 1"
        ),
    ]
}

fn ranked(places: Vec<Placement>, above: u64, kind: BoardKind) -> Vec<Row> {
    let places = places.into_iter().zip(above + 1..);
    let places = places.map(|(place, rank)| row(place, rank, kind));
    places.collect()
}

fn row(place: Placement, rank: u64, kind: BoardKind) -> Row {
    let is_target = kind == BoardKind::Content;
    Row {
        rank,
        score: Score(place.score),
        user: match is_target {
            true => id_of_member(&place.user).to_owned(),
            false => place.user,
        },
        profile: None,
        content: is_target.then(Box::default),
    }
}
