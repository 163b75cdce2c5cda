//! The layout of `peers/posts.js`, with the same keys, fields and lifetimes: what a user did on a day
//! as a hash, a board of the day and one of the month. It knows no undo.

use super::deed::Deed;
use activity_rank::calendar::Date;
use redis::pipe;
use test_support::RedisServer;

const AT_ONCE: usize = 1000;
const DAY: i64 = 86_400;

/// Counts all, and says how many counted.
pub fn write(redis: &RedisServer, deeds: &[Deed]) -> Result<u64, String> {
    let mut connection = redis.connection();
    let mut counted = 0;
    let deeds: Vec<&Deed> = deeds.iter().filter(|deed| !deed.undo).collect();
    for deeds in deeds.chunks(AT_ONCE) {
        let mut marks = pipe();
        for deed in deeds {
            let (action, points, _) = deed.rule();
            let day = Date::of_local_millis(deed.at);
            let done = format!("ar:done:{}:{day}", deed.user);
            let field = format!("{action}:{}", deed.target);
            marks.cmd("HSETNX").arg(&done).arg(field).arg(points);
            marks.cmd("EXPIRE").arg(&done).arg(31 * DAY).ignore();
        }
        let new: Vec<bool> = marks
            .query(&mut connection)
            .map_err(|error| error.to_string())?;
        let mut boards = pipe();
        for (deed, _) in deeds.iter().zip(new).filter(|(_, new)| *new) {
            let points = deed.rule().1;
            let day = Date::of_local_millis(deed.at).to_string();
            let month = day.get(..7).unwrap_or_default();
            for (board, lifetime) in [(day.as_str(), 31 * DAY), (month, 366 * DAY)] {
                let board = format!("ar:board:{board}");
                boards
                    .cmd("ZINCRBY")
                    .arg(&board)
                    .arg(points)
                    .arg(&deed.user);
                boards.cmd("EXPIRE").arg(&board).arg(lifetime).arg("NX");
            }
            counted += 1;
        }
        boards
            .exec(&mut connection)
            .map_err(|error| error.to_string())?;
    }
    Ok(counted)
}
