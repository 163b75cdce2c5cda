//! `GET /v1/users/{user}/standings`: the standings of one user on the boards of all current periods.

use super::standing::BoardStanding;
use super::{BoardId, BoardKind, BoardQuery, BoardSlice, UserView, to_json};
use crate::calendar::{Date, Period};
use crate::config::Config;
use crate::error::Error;
use crate::object::Object;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Layout;
use serde::Serialize;

/// A request for all standings of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingsRequest {
    /// The user.
    pub user: String,
    /// The boards of all users by period, then of each group, then the boards of authors.
    pub boards: Vec<BoardId>,
    /// The number of boards, from the first on, on which the user is compared with the users whom they follow: all
    /// boards of all users, or none.
    pub compared: usize,
}

/// The data of all standings of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standings {
    /// The user's profile, if there is one.
    pub profile: Option<Profile>,
    /// Of each board, the user's row, if there is one, and the row above; `None` if the board is not known.
    pub slices: Vec<Option<BoardSlice>>,
    /// The position among the users whom the user follows, on the first boards.
    pub friends: Vec<Friends>,
}

/// The position of a user among themselves and the users whom they follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Friends {
    /// The position by rank, from 1; `None` without a rank.
    pub position: Option<u64>,
    /// The number of those with a rank.
    pub total: u64,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    user: UserView<'a>,
    standings: Object<&'static str, PeriodStandings<'a>>,
}

/// The standings on the boards of one period.
#[derive(Debug, Serialize)]
struct PeriodStandings<'a> {
    id: String,
    #[serde(flatten)]
    standing: Option<BoardStanding>,
    #[serde(skip_serializing_if = "is_empty")]
    groups: Object<&'a str, BoardStanding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<BoardStanding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    friends: Option<Friends>,
}

fn is_empty(groups: &Object<&str, BoardStanding>) -> bool {
    groups.0.is_empty()
}

impl StandingsRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid path or query.
    pub fn parse(user: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["groups", "friends"]);
        let (user, groups) = (query.user(user), query.groups());
        let friends = query.flag("friends");
        query.finish()?;
        let mut boards = Vec::new();
        let mut add = |kind, periods: &[Period], group: Option<&String>| {
            boards.extend(periods.iter().map(|period| BoardId {
                kind,
                period: *period,
                date: today,
                group: group.cloned(),
            }));
        };
        add(BoardKind::Members, &config.periods, None);
        for group in &groups {
            add(BoardKind::Members, &config.periods, Some(group));
        }
        add(BoardKind::Authors, &config.content_periods, None);
        let compared = if friends { config.periods.len() } else { 0 };
        Ok(Self {
            user,
            boards,
            compared,
        })
    }

    /// Returns what the request reads of each board.
    #[must_use]
    pub fn query(&self) -> BoardQuery<'_> {
        BoardQuery::Standing {
            user: &self.user,
            neighbors: 1,
        }
    }

    /// Renders the response body; `None` if no board is known.
    #[must_use]
    pub fn render(&self, standings: &Standings, layout: Layout) -> Option<String> {
        let mut views: Vec<(&str, PeriodStandings<'_>)> = Vec::new();
        let mut friends = standings.friends.iter();
        for (board, slice) in self.boards.iter().zip(&standings.slices) {
            let friends = friends.next();
            let Some(slice) = slice else { continue };
            let name = board.period.name();
            let index = views.iter().position(|(known, _)| *known == name);
            let index = index.unwrap_or_else(|| {
                views.push((name, PeriodStandings::new(board)));
                views.len() - 1
            });
            if let Some((_, view)) = views.get_mut(index) {
                view.add(
                    board,
                    BoardStanding::new(board.kind, &self.user, slice, layout),
                );
                view.friends = view.friends.or(friends.copied());
            }
        }
        (!views.is_empty()).then(|| {
            to_json(&View {
                user: UserView::new(&self.user, standings.profile.as_ref()),
                standings: Object(views),
            })
        })
    }
}

impl<'a> PeriodStandings<'a> {
    fn new(board: &BoardId) -> Self {
        Self {
            id: board.period.id(board.date),
            standing: None,
            groups: Object(Vec::new()),
            author: None,
            friends: None,
        }
    }

    fn add(&mut self, board: &'a BoardId, standing: BoardStanding) {
        match (board.kind, &board.group) {
            (BoardKind::Members, None) => self.standing = Some(standing),
            (BoardKind::Members, Some(group)) => self.groups.0.push((group, standing)),
            (BoardKind::Authors | BoardKind::Content, _) => self.author = Some(standing),
        }
    }
}
