//! `GET /v1/users/{user}/standings`: the standings of one user on the boards of all current periods.

use super::standing::{BoardStanding, NextLevel};
use super::{ALL_TIME, BoardId, BoardKind, BoardQuery, BoardSlice, Row, UserView, to_json};
use crate::calendar::{Date, Period};
use crate::config::Config;
use crate::error::Error;
use crate::object::Object;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Score;
use serde::Serialize;

/// A request for all standings of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingsRequest {
    /// The user.
    pub user: String,
    /// The boards of all users by period, then of each group, then the boards of authors and of events; with movement
    /// followed by the boards of the periods before.
    pub boards: Vec<BoardId>,
    /// The number of current boards.
    current: usize,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    next_level: Option<NextLevel<'a>>,
    standings: Object<&'static str, PeriodStandings<'a>>,
    #[serde(skip_serializing_if = "is_empty")]
    events: Object<&'a str, BoardStanding>,
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
    /// Parses the request. `events` are the open ones.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid path or query.
    pub fn parse(
        user: &str,
        query: &str,
        config: &Config,
        today: Date,
        events: Vec<String>,
    ) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["groups", "friends", "movement"]);
        let (user, groups) = (query.user(user), query.groups());
        let (friends, movement) = (query.flag("friends"), query.flag("movement"));
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
        boards.extend(events.into_iter().map(BoardId::for_event));
        let current = boards.len();
        if movement {
            let members = boards.iter().filter(|board| !board.kind.is_plain());
            let previous: Vec<BoardId> = members.filter_map(BoardId::previous).collect();
            boards.extend(previous);
        }
        let compared = if friends { config.periods.len() } else { 0 };
        Ok(Self {
            user,
            boards,
            current,
            compared,
        })
    }

    /// Returns a request for the standings of a user on the boards of all users.
    #[must_use]
    pub fn for_all_users(user: &str, config: &Config, today: Date) -> Self {
        let board = |period: &Period| BoardId {
            kind: BoardKind::Members,
            period: *period,
            date: today,
            group: None,
        };
        Self {
            user: user.to_owned(),
            boards: config.periods.iter().map(board).collect(),
            current: config.periods.len(),
            compared: 0,
        }
    }

    /// Returns what the request reads of each board.
    #[must_use]
    pub fn query(&self) -> BoardQuery<'_> {
        BoardQuery::Standing {
            user: &self.user,
            neighbors: 1,
        }
    }

    /// Returns the boards of the periods before, and their indexes.
    pub fn previous_boards(&self) -> impl Iterator<Item = (usize, &BoardId)> {
        self.boards.iter().enumerate().skip(self.current)
    }

    /// Returns the rank on the board of the period before; `None` if it is not asked or not known.
    fn previous_rank(&self, standings: &Standings, board: &BoardId) -> Option<Option<u64>> {
        let previous = board.previous()?;
        let mut boards = self.previous_boards();
        let (index, _) = boards.find(|(_, board)| **board == previous)?;
        let slice = standings.slices.get(index)?.as_ref()?;
        Some(slice.row_of(&self.user).map(|row| row.rank))
    }

    /// Returns the points of all time, in smallest steps, if that board is known.
    pub(crate) fn all_time(&self, standings: &Standings, config: &Config) -> Option<u64> {
        let mut boards = self.boards.iter();
        let index = boards.position(|board| board.name() == ALL_TIME)?;
        let slice = standings.slices.get(index)?.as_ref()?;
        if slice.is_unknown(&self.user) {
            return None;
        }
        let row = slice.row_of(&self.user);
        Some(row.map_or(0, |row| config.layout.points(row.score)))
    }

    /// Renders the response body; `None` if no board is known.
    #[must_use]
    pub fn render(&self, standings: &Standings, config: &Config) -> Option<String> {
        let mut views: Vec<(&str, PeriodStandings<'_>)> = Vec::new();
        let mut events = Vec::new();
        let mut friends = standings.friends.iter();
        let current = self.boards.iter().take(self.current);
        for (board, slice) in current.zip(&standings.slices) {
            let friends = friends.next();
            let Some(slice) = slice else { continue };
            if let Some(event) = board.event() {
                let standing = BoardStanding::new(board.kind, &self.user, slice, config.layout);
                events.push((event, standing));
                continue;
            }
            let name = board.period.name();
            let index = views.iter().position(|(known, _)| *known == name);
            let index = index.unwrap_or_else(|| {
                views.push((name, PeriodStandings::new(board)));
                views.len() - 1
            });
            if let Some((_, view)) = views.get_mut(index) {
                let standing = BoardStanding::new(board.kind, &self.user, slice, config.layout);
                let previous = self.previous_rank(standings, board);
                view.add(board, standing.with_previous_rank(previous));
                view.friends = view.friends.or(friends.copied());
            }
        }
        (!views.is_empty()).then(|| {
            let all_time = self.all_time(standings, config);
            let level = all_time.and_then(|steps| config.levels.at(steps));
            to_json(&View {
                user: UserView::new(&self.user, standings.profile.as_ref()).with_level(level),
                next_level: all_time.and_then(|steps| NextLevel::above(steps, config)),
                standings: Object(views),
                events: Object(events),
            })
        })
    }
}

impl Standings {
    /// Sets the rank of the user on a board that another source than the store has.
    pub fn set_rank(&mut self, index: usize, user: &str, rank: u64) {
        if let Some(slice) = self.slices.get_mut(index) {
            let row = Row {
                rank,
                score: Score(0),
                user: user.to_owned(),
                profile: None,
                content: None,
            };
            *slice = Some(BoardSlice {
                rows: vec![row],
                ..BoardSlice::default()
            });
        }
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
            (BoardKind::Authors | BoardKind::Content | BoardKind::Event, _) => {
                self.author = Some(standing)
            }
        }
    }
}
