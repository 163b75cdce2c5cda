//! Reads the first users of archived boards.

use super::shard_ids;
use crate::platform::d1::{Columns, Database, FromRow, Statement};
use activity_rank_core::board::{BoardSlice, PastBoard, Row, WINNERS, WinnersRequest};
use activity_rank_core::calendar::Date;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::score::Score;

struct Board {
    day: String,
    total: u64,
    /// `[[user, score], …]` as JSON.
    places: String,
}

impl FromRow for Board {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            day: columns.text(0)?,
            total: columns.integer(1)?,
            places: columns.text(2)?,
        })
    }
}

/// Reads the past boards of the archive, newest first, without profiles.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_winners(
    archive: &Database,
    config: &Config,
    request: &WinnersRequest,
) -> Result<Vec<PastBoard>, Error> {
    // Of each shard, the newest boards and their first places: nothing else is read.
    let sql = "WITH newest AS MATERIALIZED (SELECT boards.id AS board, site, day, total \
         FROM json_each(?1) AS shard CROSS JOIN boards ON boards.id IN (SELECT id FROM boards \
         WHERE site = shard.value AND kind = ?2 AND crowd = ?3 AND day < ?4 AND total > 0 \
         AND done = 1 ORDER BY day DESC LIMIT ?5)) SELECT day, SUM(total) AS total, \
         (SELECT json_group_array(json_array(user, score)) FROM (SELECT user, score \
         FROM newest AS shard CROSS JOIN places ON places.board = shard.board \
         AND user IN (SELECT user FROM places WHERE board = shard.board AND score > 0 \
         ORDER BY score DESC, user DESC LIMIT ?6) WHERE shard.day = newest.day \
         ORDER BY score DESC, site, user DESC LIMIT ?6)) AS places \
         FROM newest GROUP BY day ORDER BY day DESC LIMIT ?5";
    let before = &request.before;
    let days = before.period.days(before.date);
    let first_day = days.map_or(before.date, |(first, _)| first);
    let values = vec![
        shard_ids(config).into(),
        before.period.letter().to_string().into(),
        before.group.as_deref().unwrap_or_default().into(),
        first_day.to_string().into(),
        request.limit.into(),
        WINNERS.into(),
    ];
    let rows: Vec<Board> = archive.query(Statement::new(sql, values)).await?;
    let boards = rows.into_iter().map(decode);
    let unexpected = || Error::StoreUnavailable("unexpected archived board".to_owned());
    boards.collect::<Option<_>>().ok_or_else(unexpected)
}

fn decode(board: Board) -> Option<PastBoard> {
    let places: Vec<(String, u64)> = serde_json::from_slice(board.places.as_bytes()).ok()?;
    let rows = (1..).zip(places).map(|(rank, (user, score))| Row {
        rank,
        score: Score(score),
        user,
        profile: None,
        content: None,
    });
    Some(PastBoard {
        first_day: Date::parse(&board.day)?,
        slice: BoardSlice {
            total: board.total,
            rows: rows.collect(),
            ..BoardSlice::default()
        },
        needs_profiles: true,
    })
}
