//! Loads, their requests, and the activities sent to a contender.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::hmac;
use std::cell::RefCell;
use std::collections::HashSet;
use test_support::SERVICE_KEY;

/// The number of connections, unless a load has another.
pub const CONNECTIONS: usize = 16;

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// New activities.
    Fresh,
    /// Activities of which every second is a repetition.
    Repeats,
    /// New activities that members send with user tokens, under a rate limit.
    Member,
    /// The top 30 of the day.
    Top,
    /// The top 30 of the day, with a cache.
    Cached,
    /// The standing of a user, with two neighbours on either side.
    Standing,
    /// Many connections: two of four requests read the top 30, one a standing, one is a new activity.
    Crowd,
}

impl Load {
    /// All loads.
    pub const ALL: [Self; 7] = [
        Self::Fresh,
        Self::Repeats,
        Self::Member,
        Self::Top,
        Self::Cached,
        Self::Standing,
        Self::Crowd,
    ];

    /// Returns the name in options and figures, and the name in the table.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Fresh => ("fresh", "activity, fresh"),
            Self::Repeats => ("repeats", "activity, half repeats"),
            Self::Member => ("member", "activity, user token"),
            Self::Top => ("top", "top 30, no cache"),
            Self::Cached => ("cached", "top 30, cached"),
            Self::Standing => ("standing", "standing, 2 around"),
            Self::Crowd => ("crowd", "crowd, no cache"),
        }
    }

    /// Returns the name in options and figures.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the name in the table.
    pub fn title(self) -> &'static str {
        self.names().1
    }

    /// Returns the number of connections.
    pub fn connections(self) -> usize {
        match self {
            Self::Crowd => 200,
            Self::Fresh
            | Self::Repeats
            | Self::Member
            | Self::Top
            | Self::Cached
            | Self::Standing => CONNECTIONS,
        }
    }

    /// Returns whether it changes boards.
    pub fn writes(self) -> bool {
        match self {
            Self::Fresh | Self::Repeats | Self::Member | Self::Crowd => true,
            Self::Top | Self::Cached | Self::Standing => false,
        }
    }
}

/// The path of the day's top 30.
pub const TOP: &str = "/v1/ranking/day?limit=30";

/// A generator of the requests of a load.
pub struct Requests<'a> {
    load: Load,
    log: &'a RefCell<ActivityLog>,
    count: u64,
}

/// The activity of a request; `None` for a read.
pub type RequestActivity = Option<u64>;

impl<'a> Requests<'a> {
    /// Creates a generator that continues the activity log.
    pub fn new(load: Load, log: &'a RefCell<ActivityLog>) -> Self {
        Self {
            load,
            log,
            count: 0,
        }
    }

    /// Returns the load.
    pub fn load(&self) -> Load {
        self.load
    }

    /// Writes the next request into `bytes`.
    pub fn next(&mut self, bytes: &mut Vec<u8>) -> RequestActivity {
        self.count += 1;
        let mut log = self.log.borrow_mut();
        bytes.clear();
        let load = match (self.load, self.count % 4) {
            (Load::Crowd, 0) => Load::Fresh,
            (Load::Crowd, 1) => Load::Standing,
            (Load::Crowd, _) => Load::Top,
            (load, _) => load,
        };
        let activity = match load {
            Load::Repeats if self.count.is_multiple_of(2) => log.repeated(),
            Load::Fresh | Load::Repeats | Load::Member | Load::Crowd => log.fresh(),
            Load::Top | Load::Cached => {
                write_get(bytes, TOP);
                return None;
            }
            Load::Standing => {
                let user = log.random_user();
                write_get(bytes, &format!("/v1/ranking/day/users/{user}?around=2"));
                return None;
            }
        };
        let user = user_id(log.user_of(activity));
        match self.load {
            Load::Member => write_like(bytes, activity, &user, &user_token(&user)),
            _ => write_like(bytes, activity, &user, SERVICE_KEY),
        }
        Some(activity)
    }

    /// Records the success of a request.
    pub fn succeeded(&mut self, activity: RequestActivity) {
        if let Some(activity) = activity {
            self.log.borrow_mut().counted(activity);
        }
    }
}

/// Returns the id of a user by number.
pub fn user_id(user: usize) -> String {
    format!("{}", 100_000 + user)
}

/// Writes a GET request.
pub fn write_get(bytes: &mut Vec<u8>, path: &str) {
    bytes
        .extend_from_slice(format!("GET {path} HTTP/1.1\r\nhost: rank.example\r\n\r\n").as_bytes());
}

/// The secret of user tokens.
pub const JWT_SECRET: &str = "a secret of thirty-two bytes, or more";

/// Returns a user token (HS256) that never expires during a run.
fn user_token(user: &str) -> String {
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let claims = format!(r#"{{"sub":"{user}","exp":4102444800}}"#);
    let header = encode(br#"{"alg":"HS256","typ":"JWT"}"#);
    let signed = format!("{header}.{}", encode(claims.as_bytes()));
    let key = hmac::Key::new(hmac::HMAC_SHA256, JWT_SECRET.as_bytes());
    let signature = hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", encode(signature.as_ref()))
}

/// Writes a request that counts a like.
pub fn write_like(bytes: &mut Vec<u8>, activity: u64, user: &str, token: &str) {
    let body = format!(r#"{{"user":"{user}","action":"like","target":"post-{activity}"}}"#);
    let head = format!(
        "POST /v1/activity HTTP/1.1\r\nhost: rank.example\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(body.as_bytes());
}

/// The points of a like.
const POINTS: u64 = 2;

/// The activities sent to one contender, numbered from 0, and the resulting points of each user.
pub struct ActivityLog {
    next: u64,
    points: Vec<u64>,
    /// Activities without a response yet.
    pending: HashSet<u64>,
    random: fastrand::Rng,
}

impl ActivityLog {
    /// Creates an empty log for a number of users.
    pub fn new(users: usize) -> Self {
        Self {
            next: 0,
            points: vec![0; users],
            pending: HashSet::new(),
            random: fastrand::Rng::with_seed(5),
        }
    }

    /// Returns the user of an activity: first every user once, then users of a skewed distribution.
    pub fn user_of(&self, activity: u64) -> usize {
        let users = self.users();
        match usize::try_from(activity) {
            Ok(first) if first < users => first,
            _ => {
                let share = fastrand::Rng::with_seed(activity).f64();
                (share * share * users as f64) as usize
            }
        }
    }

    /// Returns the number of users.
    pub fn users(&self) -> usize {
        self.points.len()
    }

    /// Returns a new activity.
    pub fn fresh(&mut self) -> u64 {
        let activity = self.next;
        self.next += 1;
        self.pending.insert(activity);
        activity
    }

    /// Returns an activity sent so long ago that it has a response.
    pub fn repeated(&self) -> u64 {
        self.next - self.users() as u64 / 5
    }

    /// Records that an activity has counted; repetitions change nothing.
    pub fn counted(&mut self, activity: u64) {
        if self.pending.remove(&activity) {
            let user = self.user_of(activity);
            self.points[user] += POINTS;
        }
    }

    /// Returns the id of a random user.
    pub fn random_user(&mut self) -> String {
        let users = self.users();
        user_id(self.random.usize(..users))
    }

    /// Returns the expected points of each user.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// Returns whether all activities have responses.
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }
}
