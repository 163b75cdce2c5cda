//! A month of a large site, generated: the same for the same number of users and seed.
//!
//! How much members do is skewed as in the demo's community (half of them at most 2 activities, one
//! in a hundred more than 130): log-normal, of median 3 and deviation 1.6. Who does much does it in
//! visits of about four activities. Pages and posts are as unequally liked: the number `n` of them
//! is drawn by `n = N^x`, `x` even, which is Zipf's law.

use super::deed::{ACTIONS, Deed};
use fastrand::Rng;

const DAY: i64 = 86_400_000;
const DAYS: i64 = 31;
/// Activities of one visit to the site, about.
const AT_ONCE: u64 = 4;
/// How often each action is done, of a hundred, in the order of [`ACTIONS`].
const SHARES: [usize; 6] = [60, 22, 4, 3, 9, 2];
/// What is done again at once, of a hundred: a second click, a retry.
const REPEATED: usize = 8;
/// What is taken back, of a hundred that can be.
const UNDONE: usize = 4;

/// What users did in the 31 days until now, in order.
pub fn deeds(users: u32, now: i64) -> Vec<Deed> {
    let mut random = Rng::with_seed(20_261_120);
    let mut deeds = Vec::new();
    for user in 0..users {
        // Numbers as a site gives them, members of other months among them.
        let user = (user * 7 + 100_003).to_string();
        let most = (3.0 * (1.6 * normal(&mut random)).exp()).round().max(1.0) as u64;
        let mut done = 0;
        while done < most {
            let start = now - random.i64(0..DAYS * DAY);
            for number in 0..(most - done).min(random.u64(1..2 * AT_ONCE)) {
                let at = (start + number as i64 * 20_000).min(now);
                act(&mut random, &mut deeds, at, &user);
                done += 1;
            }
        }
    }
    deeds.sort_by_key(|deed| deed.at);
    deeds
}

fn act(random: &mut Rng, deeds: &mut Vec<Deed>, at: i64, user: &str) {
    let mut left = random.usize(0..SHARES.iter().sum());
    let mut action = 0;
    while left >= SHARES[action] {
        left -= SHARES[action];
        action += 1;
    }
    let target = match ACTIONS[action].0 {
        "visit" => match zipf(random, 20_000) {
            1 => "/".to_owned(),
            page => format!("/questions/{}", 100_000 + page),
        },
        "follow" => format!("user-{}", 100_003 + 7 * zipf(random, 100_000)),
        "comment" => format!("comment-{}", 1_000_000 + deeds.len()),
        "publish" => format!("post-{}", 1_000_000 + deeds.len()),
        _ => format!("post-{}", 100_000 + zipf(random, 50_000)),
    };
    let deed = |at, undo| Deed {
        at,
        user: user.to_owned(),
        action,
        target: target.clone(),
        undo,
    };
    deeds.push(deed(at, false));
    if random.usize(0..100) < REPEATED {
        deeds.push(deed(at + 1000, false));
    }
    let once_a_day = ACTIONS[action].2;
    if !once_a_day && random.usize(0..100) < UNDONE {
        deeds.push(deed(at + 5000, true));
    }
}

fn zipf(random: &mut Rng, most: u32) -> u32 {
    f64::from(most).powf(random.f64()) as u32
}

/// By Box and Muller.
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
