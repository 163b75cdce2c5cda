//! What an archived board tells, in the words of the scripts that read boards.

use super::{Statement, shards};
use crate::calendar::Instant;
use crate::config::Config;
use crate::redis::{Failure, Reply};
use serde_json::Value;

/// A question about one board.
#[derive(Clone, Copy, Debug)]
pub enum Lookup<'a> {
    /// A stretch from the top: offset and limit.
    Top(u32, u32),
    /// One user, and how many neighbours on either side, 1 or more.
    Standing(&'a str, u32),
    /// Several users.
    Compare(&'a [String]),
}

/// What is known of a board.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many are seen on it.
    pub total: u64,
    /// When it was read from Redis.
    pub made: Instant,
    /// Of those read, the rank of the first, from 0.
    first: u64,
    /// Users and scores; and ranks, from 0, where several are compared.
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    user: String,
    score: i64,
    rank: u64,
}

/// A site's boards of a name, one of each shard that has it.
const BOARDS: &str = "FROM boards WHERE site IN (SELECT value FROM json_each(?1)) \
    AND name = ?2 AND done = 1";

/// On one shard the index has the order.
const BEST_FIRST: &str = "ORDER BY score DESC, user DESC";

/// Between shards equals rank by shard.
const BEST_OF_ALL_FIRST: &str = "ORDER BY score DESC, \
    (SELECT site FROM boards WHERE id = board), user DESC";

impl Lookup<'_> {
    /// The statements that answer it.
    #[must_use]
    pub fn statements(&self, config: &Config, name: &str) -> Vec<Statement> {
        let board = [Value::from(shards(config)), Value::from(name)];
        let statement = |sql: &str, values: &[Value]| {
            let values = board.iter().chain(values).cloned();
            Statement::new(sql, values.collect())
        };
        let (is, best_first) = match config.shards {
            1 => ("=", BEST_FIRST),
            _ => ("IN", BEST_OF_ALL_FIRST),
        };
        let seen = format!("FROM places WHERE score > 0 AND board {is} (SELECT id {BOARDS})");
        let ranked =
            format!("(SELECT user, score, ROW_NUMBER() OVER ({best_first}) - 1 AS place {seen})");
        let rows = match *self {
            Lookup::Top(offset, limit) => {
                let sql = format!("SELECT user, score {seen} {best_first} LIMIT ?3 OFFSET ?4");
                vec![statement(&sql, &[limit.into(), offset.into()])]
            }
            Lookup::Standing(user, neighbours) => {
                let values = [Value::from(user), neighbours.into()];
                let [rank, above, from] = if config.shards == 1 {
                    near(&seen)
                } else {
                    near_among_all(&ranked)
                };
                vec![
                    statement(&rank, values.get(..1).unwrap_or_default()),
                    statement(&above, &values),
                    statement(&from, &values),
                ]
            }
            Lookup::Compare(users) => {
                let sql = format!(
                    "SELECT user, score, place FROM {ranked} \
                     WHERE user IN (SELECT value FROM json_each(?3))"
                );
                let users = serde_json::to_string(users).unwrap_or_default();
                vec![statement(&sql, &[users.into()])]
            }
        };
        let whole = format!("SELECT SUM(total), MIN(made) {BOARDS} HAVING COUNT(*) > 0");
        [statement(&whole, &[])].into_iter().chain(rows).collect()
    }

    /// What the rows say that answer it; `None` where there is no such board.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where they are not of these statements.
    pub fn found(&self, results: &[Reply]) -> Result<Option<Found>, Failure> {
        let rows = |at: usize| results.get(at).unwrap_or(&Reply::Nil).list();
        let Some(board) = rows(0)?.first() else {
            return Ok(None);
        };
        let mut found = Found {
            total: board.at(0)?.unsigned()?,
            made: Instant(board.at(1)?.integer()?),
            first: 0,
            rows: Vec::new(),
        };
        match *self {
            Lookup::Top(offset, _) => {
                found.first = offset.into();
                found.add(rows(1)?)?;
            }
            Lookup::Standing(..) => {
                let rank = rows(1)?.first().unwrap_or(&Reply::Nil).at(0)?.unsigned()?;
                found.add(rows(2)?)?;
                found.rows.reverse();
                found.first = rank - u64::try_from(found.rows.len()).unwrap_or(0).min(rank);
                found.add(rows(3)?)?;
            }
            Lookup::Compare(_) => found.add(rows(1)?)?,
        }
        Ok(Some(found))
    }

    /// Whose profiles are needed to tell it.
    #[must_use]
    pub fn users<'a>(&'a self, found: &'a Found) -> Vec<&'a str> {
        match *self {
            Lookup::Top(..) => found.users().collect(),
            Lookup::Standing(user, _) => [user].into_iter().chain(found.users()).collect(),
            Lookup::Compare(users) => users.iter().map(String::as_str).collect(),
        }
    }

    /// What the script would have replied, with the profiles of [`Lookup::users`].
    #[must_use]
    pub fn reply(&self, found: &Found, profiles: &[Reply]) -> Reply {
        let total = number(found.total);
        let mut profiles = profiles.to_vec();
        let users = || {
            Reply::List(
                found
                    .users()
                    .map(|user| Reply::Text(user.to_owned()))
                    .collect(),
            )
        };
        let scores = || {
            Reply::List(
                found
                    .rows
                    .iter()
                    .map(|row| Reply::Integer(row.score))
                    .collect(),
            )
        };
        let parts = match *self {
            Lookup::Top(..) => vec![total, users(), scores(), Reply::List(profiles)],
            Lookup::Standing(user, _) => {
                let own = if profiles.is_empty() {
                    Reply::Nil
                } else {
                    profiles.remove(0)
                };
                let at = found.users().position(|known| known == user);
                let rank = at.map(|at| found.first + u64::try_from(at).unwrap_or(0));
                let rank = rank.map_or(Reply::Nil, number);
                let first = number(found.first);
                vec![
                    total,
                    own,
                    rank,
                    first,
                    users(),
                    scores(),
                    Reply::List(profiles),
                ]
            }
            Lookup::Compare(asked) => {
                let row = |user: &String| found.rows.iter().find(|row| row.user == *user);
                let score = |user| row(user).map_or(Reply::Nil, |row| Reply::Integer(row.score));
                let rank = |user| row(user).map_or(Reply::Nil, |row| number(row.rank));
                let scores = asked.iter().map(score).collect();
                let ranks = asked.iter().map(rank).collect();
                vec![
                    total,
                    Reply::List(scores),
                    Reply::List(ranks),
                    Reply::List(profiles),
                ]
            }
        };
        Reply::List([Reply::Nil].into_iter().chain(parts).collect())
    }
}

/// Of one user on one shard the rank, some above and, with their own row, some below: as the index
/// finds them.
fn near(seen: &str) -> [String; 3] {
    let theirs = format!("(SELECT score, user {seen} AND user = ?3)");
    let above = format!("{seen} AND (score, user) > {theirs}");
    [
        format!("SELECT COUNT(*) {above}"),
        format!("SELECT user, score {above} ORDER BY score, user LIMIT ?4"),
        format!(
            "SELECT user, score {seen} AND (score, user) <= {theirs} {BEST_FIRST} LIMIT ?4 + 1"
        ),
    ]
}

/// The same among all shards, by numbering everybody.
fn near_among_all(ranked: &str) -> [String; 3] {
    let own = format!("(SELECT place FROM {ranked} WHERE user = ?3)");
    [
        format!("SELECT COALESCE({own}, 0)"),
        format!(
            "SELECT user, score FROM {ranked} WHERE place < {own} ORDER BY place DESC LIMIT ?4"
        ),
        format!(
            "SELECT user, score FROM {ranked} WHERE place >= {own} ORDER BY place LIMIT ?4 + 1"
        ),
    ]
}

impl Found {
    /// What the first users and scores of a board tell; `None` where they do not reach so far.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where they are no users and scores.
    pub fn in_top(
        total: u64,
        made: Instant,
        (users, scores): (&[Reply], &[Reply]),
        lookup: &Lookup<'_>,
    ) -> Result<Option<Self>, Failure> {
        let mut rows = Vec::new();
        for ((user, score), rank) in users.iter().zip(scores).zip(0..) {
            let (user, score) = (user.text()?.to_owned(), score.integer()?);
            rows.push(Row { user, score, rank });
        }
        let all = rows.len() as u64 >= total;
        let place = |user: &str| rows.iter().position(|row| row.user == user);
        let range = match *lookup {
            Lookup::Top(offset, limit) => {
                let end = offset as usize + limit as usize;
                (all || end <= rows.len()).then_some((offset as usize, end))
            }
            Lookup::Standing(user, neighbours) => match place(user) {
                // Of those below, as many as are known.
                Some(at) => {
                    let neighbours = neighbours as usize;
                    Some((at.saturating_sub(neighbours), at + neighbours + 1))
                }
                None => all.then_some((0, 0)),
            },
            Lookup::Compare(users) => {
                let known = all || users.iter().all(|user| place(user).is_some());
                known.then_some((0, rows.len()))
            }
        };
        Ok(range.map(|(first, end)| Self {
            total,
            made,
            first: first as u64,
            rows: rows.into_iter().take(end).skip(first).collect(),
        }))
    }

    fn add(&mut self, rows: &[Reply]) -> Result<(), Failure> {
        for row in rows {
            self.rows.push(Row {
                user: row.at(0)?.text()?.to_owned(),
                score: row.at(1)?.integer()?,
                rank: row.at(2)?.some().map_or(Ok(0), Reply::unsigned)?,
            });
        }
        Ok(())
    }

    fn users(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.user.as_str())
    }
}

fn number(number: u64) -> Reply {
    Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &str) -> Vec<Reply> {
        serde_json::from_str(values).unwrap()
    }

    /// What the first three of a board of so many tell.
    fn known(total: u64, lookup: &Lookup<'_>) -> Option<Reply> {
        let top = (&*list(r#"["a","b","c"]"#), &*list("[9,8,7]"));
        let found = Found::in_top(total, Instant(0), top, lookup).unwrap()?;
        let profiles: Vec<Reply> = lookup.users(&found).iter().map(|_| Reply::Nil).collect();
        Some(lookup.reply(&found, &profiles))
    }

    #[test]
    fn the_top_of_a_board_tells_as_much_as_it_holds() {
        let reply = |text: &str| Some(serde_json::from_str::<Reply>(text).unwrap());
        let ids = ["c", "x", "a"].map(str::to_owned);
        for (total, lookup, told) in [
            (
                3,
                Lookup::Top(1, 9),
                reply(r#"[null,3,["b","c"],[8,7],[null,null]]"#),
            ),
            (
                9,
                Lookup::Top(1, 2),
                reply(r#"[null,9,["b","c"],[8,7],[null,null]]"#),
            ),
            (9, Lookup::Top(1, 3), None),
            (3, Lookup::Top(7, 3), reply("[null,3,[],[],[]]")),
            (
                9,
                Lookup::Standing("c", 1),
                reply(r#"[null,9,null,2,1,["b","c"],[8,7],[null,null]]"#),
            ),
            (
                3,
                Lookup::Standing("x", 1),
                reply("[null,3,null,null,0,[],[],[]]"),
            ),
            (9, Lookup::Standing("x", 1), None),
            (
                3,
                Lookup::Compare(&ids),
                reply("[null,3,[7,null,9],[2,null,0],[null,null,null]]"),
            ),
            (9, Lookup::Compare(&ids), None),
        ] {
            assert_eq!(known(total, &lookup), told, "{total} {lookup:?}");
        }
    }

    #[test]
    fn there_is_nothing_where_there_is_no_board() {
        assert!(Lookup::Top(0, 3).found(&list("[[],[]]")).unwrap().is_none());
    }
}
