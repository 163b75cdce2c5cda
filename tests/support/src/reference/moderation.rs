//! What moderators do, in the model.

use super::activity::Activity;
use super::board::Board;
use super::model::{MOST_POINTS, Model, Outcome, Standing, furthest};
use super::moment::Moment;

impl Model {
    /// Hides and freezes a user, or not.
    pub fn moderate(&mut self, user: &str, hidden: bool, frozen: bool) {
        for (set, is) in [(&mut self.hidden, hidden), (&mut self.frozen, frozen)] {
            set.remove(user);
            if is {
                set.insert(user.to_owned());
            }
        }
    }

    /// What becomes of an adjustment by so many smallest steps.
    pub fn adjust(&mut self, adjustment: &Activity, steps: i64, now: Moment) -> Outcome {
        if adjustment.undo {
            return self.undo(adjustment, now);
        }
        let (mark, user) = (adjustment.mark(), &adjustment.user);
        let at = adjustment.at.map_or(now, Moment::exact);
        let date = self.calendar.date(at.first);
        let changed = self.last_change(&mark);
        if adjustment.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
            return Outcome::Stale;
        }
        if self.standing.contains_key(&mark) {
            return Outcome::Duplicate;
        }
        let boards = self.boards_of(date, &adjustment.groups);
        let held = |name| {
            let board: Option<&Board> = self.boards.get(name);
            board.map_or(0, |board| board.points(user)) as i64
        };
        if boards
            .iter()
            .any(|name| held(name) + steps > MOST_POINTS as i64)
        {
            return Outcome::Refused("score-overflow");
        }
        let mut amounts: Vec<i64> = boards.iter().map(|name| steps.max(-held(name))).collect();
        let furthest = furthest(&amounts);
        for (name, amount) in boards
            .into_iter()
            .zip(&amounts)
            .filter(|(_, amount)| **amount != 0)
        {
            let new = || Board::new(date);
            let board = self.boards.entry(name).or_insert_with(new);
            board.set(user, board.points(user).strict_add_signed(*amount));
        }
        let day = self.histories.entry((date, user.clone())).or_default();
        let of_day: i64 = steps.max(-day.values().map(|held| held.1).sum::<i64>());
        amounts.push(of_day);
        let held = day.entry("adjust".to_owned()).or_default();
        *held = (held.0 + 1, held.1 + of_day);
        self.undone.remove(&mark);
        let changed = changed.map_or(at, |changed| changed.later(at));
        let standing = Standing {
            changed,
            last: changed,
            amounts,
            date,
            groups: adjustment.groups.clone(),
        };
        self.standing.insert(mark, standing);
        Outcome::Counted(furthest)
    }

    /// Forgets a user; the others keep points and order.
    pub fn erase(&mut self, user: &str) {
        for board in self.boards.values_mut() {
            board.remove(user);
        }
        self.standing.retain(|mark, _| mark.0 != user);
        self.undone.retain(|mark, _| mark.0 != user);
        self.per_day.retain(|(_, mark)| mark.0 != user);
        self.cooling.retain(|(of, _), _| of != user);
        self.histories.retain(|(_, of), _| of != user);
        self.moderate(user, false, false);
    }
}
