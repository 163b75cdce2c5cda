//! What is asked of a contender.

use crate::ledger::Ledger;
use std::cell::RefCell;
use test_support::SERVICE_KEY;

/// A kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Activities that have not been counted.
    Fresh,
    /// Activities of which every second has been counted.
    Repeats,
    /// The top 30 of the day.
    Top,
    /// The same where there is a cache.
    Cached,
    /// Where a user stands, with two neighbours on either side.
    Standing,
}

impl Load {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Fresh,
        Self::Repeats,
        Self::Top,
        Self::Cached,
        Self::Standing,
    ];

    /// The name in options and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Repeats => "repeats",
            Self::Top => "top",
            Self::Cached => "cached",
            Self::Standing => "standing",
        }
    }

    /// The name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Fresh => "activity, fresh",
            Self::Repeats => "activity, half repeats",
            Self::Top => "top 30, no cache",
            Self::Cached => "top 30, cached",
            Self::Standing => "standing, 2 around",
        }
    }

    /// Whether it changes boards.
    pub fn writes(self) -> bool {
        match self {
            Self::Fresh | Self::Repeats => true,
            Self::Top | Self::Cached | Self::Standing => false,
        }
    }
}

/// The top of the day's board.
pub const TOP: &str = "/v1/ranking/day?limit=30";

/// One request after the other of a load.
pub struct Requests<'a> {
    load: Load,
    ledger: &'a RefCell<Ledger>,
    turn: u64,
}

/// Which activity a request was; of a read nothing.
pub type Ticket = Option<u64>;

impl<'a> Requests<'a> {
    /// The requests of a load, going on where the ledger is.
    pub fn new(load: Load, ledger: &'a RefCell<Ledger>) -> Self {
        let turn = 0;
        Self { load, ledger, turn }
    }

    /// Writes the next request.
    pub fn next(&mut self, bytes: &mut Vec<u8>) -> Ticket {
        self.turn += 1;
        let mut ledger = self.ledger.borrow_mut();
        bytes.clear();
        let activity = match self.load {
            Load::Repeats if self.turn.is_multiple_of(2) => ledger.repeated(),
            Load::Fresh | Load::Repeats => ledger.fresh(),
            Load::Top | Load::Cached => {
                get(bytes, TOP);
                return None;
            }
            Load::Standing => {
                let user = ledger.anybody();
                get(bytes, &format!("/v1/ranking/day/users/{user}?around=2"));
                return None;
            }
        };
        post(bytes, activity, &name_of(ledger.user_of(activity)));
        Some(activity)
    }

    /// A request was answered as it should be.
    pub fn answered(&mut self, ticket: Ticket) {
        if let Some(activity) = ticket {
            self.ledger.borrow_mut().counted(activity);
        }
    }
}

/// The id of a user by number.
pub fn name_of(user: usize) -> String {
    format!("{}", 100_000 + user)
}

/// Writes a request that reads.
pub fn get(bytes: &mut Vec<u8>, path: &str) {
    bytes
        .extend_from_slice(format!("GET {path} HTTP/1.1\r\nhost: rank.example\r\n\r\n").as_bytes());
}

/// Writes a request that counts a like.
pub fn post(bytes: &mut Vec<u8>, activity: u64, user: &str) {
    let body = format!(r#"{{"user":"{user}","action":"like","target":"post-{activity}"}}"#);
    let head = format!(
        "POST /v1/activity HTTP/1.1\r\nhost: rank.example\r\nauthorization: Bearer {SERVICE_KEY}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(body.as_bytes());
}
