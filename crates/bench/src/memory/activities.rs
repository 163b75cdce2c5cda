//! The activities to store: the demo's community, and a generated month of a large site.

use super::Result;
use fastrand::Rng;
use jiff::Timestamp;
use serde::Deserialize;
use std::fs;

/// The default rules: name, points, and whether the action counts once per day.
pub const ACTIONS: [(&str, i64, bool); 6] = [
    ("visit", 1, true),
    ("like", 2, false),
    ("bookmark", 2, false),
    ("follow", 2, false),
    ("comment", 3, false),
    ("publish", 10, false),
];

/// One activity.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The instant in Unix milliseconds.
    pub at: i64,
    /// The id of the user.
    pub user: String,
    /// The index of the action in [`ACTIONS`].
    pub action: usize,
    /// The target.
    pub target: String,
    /// Whether it is an undo.
    pub undo: bool,
}

impl Activity {
    /// Returns name, points, and whether the action counts once per day.
    pub fn rule(&self) -> (&'static str, i64, bool) {
        ACTIONS[self.action]
    }
}

#[derive(Deserialize)]
struct Line {
    at: Timestamp,
    user: String,
    action: String,
    target: String,
}

/// Reads the demo's community in order, shifted so that its last activity is now, as `make dev`
/// imports it.
pub fn community(now: i64) -> Result<Vec<Activity>> {
    let path = test_support::root().join("demo/community.jsonl");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().map(serde_json::from_str);
    let lines: serde_json::Result<Vec<Line>> = lines.collect();
    let lines = lines.map_err(|error| format!("{}: {error}", path.display()))?;
    let last = lines.iter().map(|line| line.at.as_millisecond()).max();
    let shift = now - last.unwrap_or(now);
    let activity = |line: Line| {
        let action = ACTIONS.iter().position(|(name, ..)| *name == line.action);
        Ok(Activity {
            at: line.at.as_millisecond() + shift,
            user: line.user,
            action: action.ok_or_else(|| format!("no rule for {}", line.action))?,
            target: line.target,
            undo: false,
        })
    };
    lines.into_iter().map(activity).collect()
}

const DAY: i64 = 86_400_000;
const DAYS: i64 = 31;
/// The mean number of activities in one session.
const SESSION: u64 = 4;
/// Percentages of the actions, in the order of [`ACTIONS`].
const SHARES: [usize; 6] = [60, 22, 4, 3, 9, 2];
/// The percentage of activities that are repeated immediately, as by a second click or a retry.
const REPEATED: usize = 8;
/// The percentage of undoable activities that are undone.
const UNDONE: usize = 4;

/// Generates the activity of the 31 days until now, in order. The result depends only on its
/// arguments.
///
/// The activity per user is skewed as in the demo's community (half of the users have at most 2
/// activities, one in a hundred more than 130): log-normal with median 3 and deviation 1.6. It comes
/// in sessions of about four activities. The popularity of pages and posts follows Zipf's law: their
/// number is `N^x` for a uniform `x`.
pub fn month(users: u32, now: i64) -> Vec<Activity> {
    let mut random = Rng::with_seed(20_261_120);
    let mut activities = Vec::new();
    for user in 0..users {
        // Ids with gaps, because most users of a site are inactive in a month.
        let user = (user * 7 + 100_003).to_string();
        let total = (3.0 * (1.6 * normal(&mut random)).exp()).round().max(1.0) as u64;
        let mut count = 0;
        while count < total {
            let start = now - random.i64(0..DAYS * DAY);
            for number in 0..(total - count).min(random.u64(1..2 * SESSION)) {
                let at = (start + number as i64 * 20_000).min(now);
                add_activity(&mut random, &mut activities, at, &user);
                count += 1;
            }
        }
    }
    activities.sort_by_key(|activity| activity.at);
    activities
}

fn add_activity(random: &mut Rng, activities: &mut Vec<Activity>, at: i64, user: &str) {
    let mut number = random.usize(0..SHARES.iter().sum());
    let mut action = 0;
    while number >= SHARES[action] {
        number -= SHARES[action];
        action += 1;
    }
    let target = match ACTIONS[action].0 {
        "visit" => match zipf(random, 20_000) {
            1 => "/".to_owned(),
            page => format!("/questions/{}", 100_000 + page),
        },
        "follow" => format!("user-{}", 100_003 + 7 * zipf(random, 100_000)),
        "comment" => format!("comment-{}", 1_000_000 + activities.len()),
        "publish" => format!("post-{}", 1_000_000 + activities.len()),
        _ => format!("post-{}", 100_000 + zipf(random, 50_000)),
    };
    let activity = |at, undo| Activity {
        at,
        user: user.to_owned(),
        action,
        target: target.clone(),
        undo,
    };
    activities.push(activity(at, false));
    if random.usize(0..100) < REPEATED {
        activities.push(activity(at + 1000, false));
    }
    let is_daily = ACTIONS[action].2;
    if !is_daily && random.usize(0..100) < UNDONE {
        activities.push(activity(at + 5000, true));
    }
}

fn zipf(random: &mut Rng, max: u32) -> u32 {
    f64::from(max).powf(random.f64()) as u32
}

/// Returns a normally distributed number (Box–Muller).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
