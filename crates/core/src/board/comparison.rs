//! `GET /v1/ranking/{period}/users?ids=` or `?followed_by=`: several users and their order among themselves.

use super::standing::NOT_IN_SNAPSHOT;
use super::{BoardId, BoardKind, BoardQuery, BoardRequest, BoardSlice, Heading, UserView, to_json};
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::id;
use crate::object::Object;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;

const FOLLOWED_BY: &str = "followed_by";

/// A request that compares users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonRequest {
    board: BoardId,
    users: Vec<String>,
    /// Accounts that were requested, and their members in the place of them.
    accounts: Vec<(String, String)>,
    movement: bool,
    /// The user who is compared with those they follow, in the standing of the ids.
    pub followed_by: Option<String>,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    account_of: Option<Object<&'a str, &'a str>>,
    #[serde(flatten)]
    heading: &'a Heading,
    total: u64,
    entries: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    position: Option<usize>,
    rank: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_rank: Option<Option<u64>>,
    /// `None` if it is not known.
    score: Option<Points>,
    user: UserView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl ComparisonRequest {
    /// Returns whether a query names a user whose friends are compared: only that user and services may know them.
    #[must_use]
    pub fn names_follower(query: &str) -> bool {
        let query = Query::parse(query, &[FOLLOWED_BY]);
        query.get(FOLLOWED_BY).is_some()
    }

    /// Parses the request.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`].
    pub fn parse(
        kind: BoardKind,
        period: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let known = kind.parameters(&["ids", FOLLOWED_BY, "date", "group", "movement"]);
        let mut query = Query::parse(query, &known);
        let followed_by = query.get(FOLLOWED_BY).map(str::to_owned);
        let followed_by = followed_by.map(|user| {
            let user = match query.get("ids") {
                Some(_) => Err("must not be given with ids".to_owned()),
                None => id::checked(&user),
            };
            query.check("/followed_by", user).unwrap_or_default()
        });
        let users = match followed_by {
            Some(_) => Vec::new(),
            None => query.ids(),
        };
        Ok(Self {
            movement: BoardId::movement(&mut query, period),
            board: BoardId::parse(kind, period, query, config, today)?,
            users,
            accounts: Vec::new(),
            followed_by,
        })
    }

    /// Returns the request for these users.
    #[must_use]
    pub fn with_users(self, users: Vec<String>) -> Self {
        Self { users, ..self }
    }

    /// Returns the request for the members in the place of their accounts, each once.
    #[must_use]
    pub fn with_members(self, accounts: Vec<(String, String)>) -> Self {
        let mut users: Vec<String> = Vec::new();
        for user in self.users {
            let mut own = accounts.iter();
            let member = own.find_map(|(account, member)| (*account == user).then_some(member));
            let user = member.cloned().unwrap_or(user);
            if !users.contains(&user) {
                users.push(user);
            }
        }
        Self {
            users,
            accounts,
            ..self
        }
    }
}

impl BoardRequest for ComparisonRequest {
    fn board(&self) -> &BoardId {
        &self.board
    }

    fn query(&self) -> BoardQuery<'_> {
        BoardQuery::Users(&self.users)
    }

    fn movement(&self) -> bool {
        self.movement
    }

    /// Renders the users by rank, then those without a rank in the order requested.
    fn render(&self, slice: &BoardSlice, heading: &Heading, config: &Config) -> String {
        let layout = config.layout;
        let level = |user: &str| slice.level(user, &config.levels);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for user in &self.users {
            let Some(row) = slice.row_of(user) else {
                let is_unknown = slice.is_unknown(user);
                entries.push(Entry {
                    position: None,
                    rank: None,
                    previous_rank: self.previous_rank(slice, user),
                    score: (!is_unknown).then(|| Points::new(0, layout.decimals)),
                    user: UserView::new(user, slice.unranked_profile(user)).with_level(level(user)),
                    reason: is_unknown.then_some(NOT_IN_SNAPSHOT),
                });
                continue;
            };
            // Insertion is fast enough for 100 users, and a call of the standard library's sort
            // adds 2 % to the wasm.
            let before = |other: &Entry<'_>| other.rank.is_some_and(|rank| rank < row.rank);
            let entry = Entry {
                position: None,
                rank: Some(row.rank),
                previous_rank: self.previous_rank(slice, user),
                score: Some(self.board.kind.points(row.score, layout)),
                user: UserView::new(user, row.profile.as_ref()).with_level(level(user)),
                reason: None,
            };
            entries.insert(entries.partition_point(before), entry);
        }
        for (entry, position) in entries.iter_mut().zip(1..) {
            entry.position = entry.rank.map(|_| position);
        }
        let accounts = self.accounts.iter();
        let accounts = accounts.map(|(account, member)| (account.as_str(), member.as_str()));
        let accounts: Vec<(&str, &str)> = accounts.collect();
        to_json(&View {
            account_of: (!accounts.is_empty()).then_some(Object(accounts)),
            heading,
            total: slice.total,
            entries,
        })
    }
}
