//! Random activity, reproducible by seed.

use test_support::{Api, Value, json};

use crate::app::noon;

/// Returns a number from an environment variable, or its default.
pub fn variable(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    let value = value.and_then(|value| value.parse().ok());
    value.unwrap_or(default)
}

/// A SplitMix64 generator.
pub struct Random(u64);

const GROUPS: [&str; 3] = ["eu", "us", "a|b:c"];
const ACTIONS: [&str; 6] = ["visit", "like", "bookmark", "comment", "publish", "wave"];

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Returns one of several texts.
    pub fn choose<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let index = self.below(all.len() as u64);
        all[index as usize]
    }

    /// Returns an activity by one of `users` users on one of `targets` targets. Few of both cause
    /// repeats.
    pub fn activity(&mut self, users: u64, targets: u64) -> Value {
        let (user, target) = (self.below(users), self.below(targets));
        let action = self.choose(&ACTIONS);
        let mut activity =
            json!({"user": format!("r{user}"), "action": action, "target": format!("/{target}")});
        if action != "visit" && self.below(6) == 0 {
            activity["undo"] = json!(true);
        }
        if self.below(3) == 0 {
            activity["groups"] = json!([self.choose(&GROUPS)]);
        }
        if self.below(3) == 0 {
            activity["at"] = json!(noon(self.below(40) as i64));
        }
        activity
    }

    /// Sends `count` activities.
    pub async fn send_activities(&mut self, api: &Api, count: usize) {
        let users = (count as u64 / 20).max(5);
        for start in (0..count).step_by(250) {
            let items = start..count.min(start + 250);
            let items: Vec<Value> = items.map(|_| self.activity(users, 50)).collect();
            let response = api.post("/v1/activity", &json!(items)).await;
            response.assert_status(200);
        }
    }
}
