//! Boards as they are read: a stretch from the top, one standing, several compared.

mod board;
mod comparison;
mod shards;
mod snapshot;
mod stale;
mod standing;
mod view;
mod winners;

pub use board::Board;
pub use comparison::Comparison;
pub use shards::{Ranked, command, rank_among_all, read};
pub use snapshot::{Snapshot, from_top};
pub use stale::Copy;
pub use standing::StandingQuery;
pub use view::{Entry, PeriodView, User};
pub use winners::{Past, Winners};

use crate::archive::Lookup;
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::{Failure, Reply};
use serde::Serialize;

/// One board: of the period instance that contains a day, for everybody or for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// The kind of period.
    pub period: Period,
    /// A day of the instance.
    pub date: Date,
    /// The group, if it is a group's board.
    pub group: Option<String>,
}

impl Which {
    /// The board that a path's period and a query name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for faults of the query or an unknown period,
    /// [`Error::NotFound`] for a period that is switched off.
    pub fn read(
        period: &str,
        mut query: Query,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let (date, group) = (query.date(today), query.group());
        let names = Period::ALL.map(Period::name).join(", ");
        let known = Period::parse(period).ok_or_else(|| format!("must be one of {names}"));
        let known = query.check("/period", known);
        query.finish()?;
        match known {
            Some(period) if config.periods.contains(&period) => Ok(Self {
                period,
                date,
                group,
            }),
            Some(_) | None => Err(Error::NotFound(format!(
                "The period {period} is switched off."
            ))),
        }
    }

    /// The period as answers show it.
    #[must_use]
    pub fn view(&self, calendar: &Calendar, now: Instant) -> PeriodView {
        PeriodView::new(self.period, self.date, calendar, now)
    }

    /// The board in the path of a question's normal form.
    fn normal_form(&self) -> String {
        let (name, id) = (self.period.name(), self.period.id(self.date));
        format!("/v1/ranking/{name}/{id}")
    }

    /// The group in it: its last parameter, if it is a group's board.
    fn group_form(&self) -> String {
        let group = self.group.as_ref();
        group
            .map(|group| format!("&group={group}"))
            .unwrap_or_default()
    }
}

/// A question about one board.
pub trait Question {
    /// Which board.
    fn which(&self) -> &Which;

    /// What is asked of it.
    fn lookup(&self) -> Lookup<'_>;

    /// The answer as JSON, from the reply to the lookup.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is not one to it.
    fn tell(&self, reply: &Reply, period: PeriodView, decimals: u32) -> Result<String, Failure>;
}

/// An answer as JSON.
fn json(view: &impl Serialize) -> String {
    serde_json::to_string(view).unwrap_or_default()
}

/// How many are on a board, from the reply of a script that reads it; none where there is none.
fn total(reply: &Reply) -> Result<u64, Failure> {
    reply.at(1)?.some().map_or(Ok(0), Reply::unsigned)
}
