//! What a contender was sent, and so what its boards must hold.

use std::collections::HashSet;

/// What a like is worth.
pub const POINTS: u64 = 2;

/// The activities sent to one contender. They are numbered; the first of each user come first.
pub struct Ledger {
    next: u64,
    points: Vec<u64>,
    /// Sent, and not answered yet.
    open: HashSet<u64>,
    random: fastrand::Rng,
}

impl Ledger {
    /// Nothing has been sent of so many users.
    pub fn new(users: usize) -> Self {
        Self {
            next: 0,
            points: vec![0; users],
            open: HashSet::new(),
            random: fastrand::Rng::with_seed(5),
        }
    }

    /// Whose an activity is: everybody's once, then more often of some than of others.
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

    /// How many users there are.
    pub fn users(&self) -> usize {
        self.points.len()
    }

    /// One that has not been sent.
    pub fn fresh(&mut self) -> u64 {
        let activity = self.next;
        self.next += 1;
        self.open.insert(activity);
        activity
    }

    /// One that has been counted: so far back that it has been answered.
    pub fn repeated(&self) -> u64 {
        self.next - self.users() as u64 / 5
    }

    /// The store has it: its points count from here on.
    pub fn counted(&mut self, activity: u64) {
        if self.open.remove(&activity) {
            let user = self.user_of(activity);
            self.points[user] += POINTS;
        }
    }

    /// Somebody.
    pub fn anybody(&mut self) -> String {
        let users = self.users();
        crate::load::name_of(self.random.usize(..users))
    }

    /// What each user must have.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// Whether all that was sent has been answered.
    pub fn is_settled(&self) -> bool {
        self.open.is_empty()
    }
}
