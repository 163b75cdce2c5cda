//! `GET /v1/ranking/{period}/winners`: the first three of past boards.

use super::shards::{Columns, merged};
use super::{Entry, PeriodView, Which};
use crate::archive::{Statement, shards};
use crate::calendar::{Calendar, Date, Instant};
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use serde::Serialize;

/// How many of each board.
const FIRST: u32 = 3;

/// How many periods the store is asked about: as many as are answered at most.
const LOOKED_BACK: usize = 100;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Winners {
    /// The board before which they lie.
    before: Which,
    limit: u32,
}

/// What is answered.
#[derive(Debug, Serialize)]
pub struct View {
    boards: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    period: PeriodView,
    total: u64,
    entries: Vec<Entry>,
}

/// A board of the past: its first day, and columns of its first members.
#[derive(Clone, Debug)]
pub struct Past {
    first: Date,
    total: u64,
    users: Reply,
    scores: Reply,
    profiles: Reply,
}

impl Winners {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// As [`Which::read`].
    pub fn read(period: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit", "before", "group"]);
        let limit = query.whole("limit", 1..=100, 12);
        let before = query.day("before", today);
        let which = Which::read(period, query, config, today)?;
        Ok(Self {
            before: Which {
                date: before,
                ..which
            },
            limit,
        })
    }

    /// The same question always in the same words, whatever way it was asked.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let path = self.before.normal_form();
        format!(
            "{path}/winners?limit={}{}",
            self.limit,
            self.before.group_form()
        )
    }

    /// The command that reads what a shard has of them.
    #[must_use]
    pub fn command(&self, config: &Config, shard: u32) -> Command {
        let keys = config.keys(shard);
        let Which { period, group, .. } = &self.before;
        let boards = self.firsts().into_iter();
        let boards = boards.map(|first| keys.board(*period, first, group.as_deref()));
        let fixed = [keys.stamp(), keys.profiles()];
        let all: Vec<String> = fixed.into_iter().chain(boards).collect();
        Command::script(&scripts::WINNERS, &all).arg(&FIRST.to_string())
    }

    /// The statement that reads what the archive has of them.
    #[must_use]
    pub fn statement(&self, config: &Config) -> Statement {
        let sql = "SELECT day, SUM(total), (SELECT json_group_array(json_array(user, score)) FROM \
             (SELECT user, score FROM places JOIN boards AS one ON one.id = board \
             WHERE one.name = boards.name AND one.site IN (SELECT value FROM json_each(?1)) \
             AND one.done = 1 AND score > 0 ORDER BY score DESC, one.site, user DESC LIMIT ?6)) \
             AS places FROM boards WHERE site IN (SELECT value FROM json_each(?1)) AND kind = ?2 \
             AND crowd = ?3 AND day < ?4 AND total > 0 AND done = 1 \
             GROUP BY name ORDER BY day DESC LIMIT ?5";
        let Which { period, group, .. } = &self.before;
        let days = period.days(self.before.date);
        let day = days.map_or(self.before.date, |(first, _)| first);
        let values = vec![
            shards(config).into(),
            period.letter().to_string().into(),
            group.as_deref().unwrap_or_default().into(),
            day.to_string().into(),
            self.limit.into(),
            FIRST.into(),
        ];
        Statement::new(sql, values)
    }

    /// The boards that the shards and the archive have, the newest first. What the store has is
    /// how it is: the archive may not have followed yet.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where these are not replies of command and statement.
    pub fn boards(
        &self,
        held: &[Reply],
        archived: &Reply,
        config: &Config,
    ) -> Result<Vec<Past>, Failure> {
        let mut boards = Vec::new();
        for (at, first) in (0..).zip(self.firsts()) {
            boards.extend(Past::held(at, first, held)?);
        }
        for row in archived.list()? {
            let past = Past::archived(row)?;
            let at = boards.partition_point(|board: &Past| board.first > past.first);
            match boards.get_mut(at).filter(|board| board.first == past.first) {
                // Some shards have forgotten theirs.
                Some(board) if config.shards > 1 && board.total < past.total => *board = past,
                Some(_) => {}
                None => boards.insert(at, past),
            }
        }
        boards.retain(|board| board.total > 0);
        boards.truncate(self.limit as usize);
        Ok(boards)
    }

    /// The answer.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where what was read does not fit together.
    pub fn view(
        &self,
        boards: &[Past],
        calendar: &Calendar,
        now: Instant,
        decimals: u32,
    ) -> Result<View, Failure> {
        let row = |board: &Past| {
            Ok(Row {
                period: PeriodView::new(self.before.period, board.first, calendar, now),
                total: board.total,
                entries: Entry::rows(1, [&board.users, &board.scores, &board.profiles], decimals)?,
            })
        };
        let boards = boards.iter().map(row).collect::<Result<_, _>>()?;
        Ok(View { boards })
    }

    /// First days of the periods before, the newest first; none of all time.
    fn firsts(&self) -> Vec<Date> {
        let mut firsts = Vec::new();
        let mut days = self.before.period.days(self.before.date);
        while let Some((first, _)) = days.filter(|_| firsts.len() < LOOKED_BACK) {
            days = self.before.period.days(first.plus(-1));
            firsts.extend(days.map(|(first, _)| first));
        }
        firsts
    }
}

impl Past {
    /// The board of a number, if any shard has it.
    fn held(number: i64, first: Date, held: &[Reply]) -> Result<Option<Self>, Failure> {
        let (mut total, mut shards) = (None, Vec::new());
        for reply in held {
            for board in reply.list()?.iter().skip(1) {
                if *board.at(0)? == Reply::Integer(number) {
                    total = Some(total.unwrap_or(0) + board.at(1)?.unsigned()?);
                    let columns: Columns<'_> = [board.at(2)?, board.at(3)?, board.at(4)?];
                    shards.push(columns);
                }
            }
        }
        let (Some(total), [users, scores, profiles]) = (total, merged(&shards, 0, FIRST as usize)?)
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            first,
            total,
            users,
            scores,
            profiles,
        }))
    }

    fn archived(row: &Reply) -> Result<Self, Failure> {
        let places = Reply::parse(row.at(2)?.text()?).ok_or_else(unexpected)?;
        let (mut users, mut scores) = (Vec::new(), Vec::new());
        for place in places.list()? {
            users.push(place.at(0)?.clone());
            scores.push(place.at(1)?.clone());
        }
        Ok(Self {
            first: Date::parse(row.at(0)?.text()?).ok_or_else(unexpected)?,
            total: row.at(1)?.unsigned()?,
            users: Reply::List(users),
            scores: Reply::List(scores),
            profiles: Reply::Nil,
        })
    }

    /// Whose profiles are still needed.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where they are no users.
    pub fn nameless(&self) -> Result<Vec<&str>, Failure> {
        match self.profiles {
            Reply::Nil => self.users.list()?.iter().map(Reply::text).collect(),
            Reply::List(_) | Reply::Text(_) | Reply::Integer(_) => Ok(Vec::new()),
        }
    }

    /// Takes its profiles from those of all that were [`nameless`](Past::nameless), in their order.
    pub fn name(&mut self, profiles: &mut impl Iterator<Item = Reply>) {
        let count = self.nameless().map_or(0, |users| users.len());
        if self.profiles == Reply::Nil {
            self.profiles = Reply::List(profiles.take(count).collect());
        }
    }
}

fn unexpected() -> Failure {
    Failure::Unavailable("unexpected board of the past".to_owned())
}
