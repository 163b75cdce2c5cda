//! Random activity that a seed repeats.

use test_support::{Api, Value, json};

use crate::site::noon;

/// Where random numbers come from: SplitMix64.
pub struct Random(u64);

const GROUPS: [&str; 3] = ["eu", "us", "a|b:c"];
const ACTIONS: [&str; 6] = ["visit", "like", "bookmark", "comment", "publish", "wave"];

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below another.
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    /// One of these.
    pub fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let place = self.below(all.len() as u64);
        all[place as usize]
    }

    /// An activity by one of so many users on one of so many targets; often done before.
    pub fn activity(&mut self, users: u64, targets: u64) -> Value {
        let (user, target) = (self.below(users), self.below(targets));
        let action = self.of(&ACTIONS);
        let mut activity =
            json!({"user": format!("r{user}"), "action": action, "target": format!("/{target}")});
        if action != "visit" && self.below(6) == 0 {
            activity["undo"] = json!(true);
        }
        if self.below(3) == 0 {
            activity["groups"] = json!([self.of(&GROUPS)]);
        }
        if self.below(3) == 0 {
            activity["at"] = json!(noon(self.below(40) as i64));
        }
        activity
    }

    /// Sends so many.
    pub async fn activities(&mut self, api: &Api, number: usize) {
        let users = (number as u64 / 20).max(5);
        for start in (0..number).step_by(250) {
            let items = start..number.min(start + 250);
            let items: Vec<Value> = items.map(|_| self.activity(users, 50)).collect();
            let answer = api.post("/v1/activity", &json!(items)).await;
            answer.assert_status(200);
        }
    }
}
