//! The journal as windows, and the figures of their decisions.

use super::report::{Decision, Figures, REFUSED, UNKNOWN};
use super::scratch::Tallies;
use super::window::{Entry, State, Window};
use super::{JournalActivity, RuleSets};
use crate::keys::Keys;
use activity_rank_core::activity::Activity;
use activity_rank_core::calendar::{Calendar, Instant};
use activity_rank_core::config::ADJUST;
use activity_rank_core::id::is_visitor;

/// An activity of a window.
pub struct Item {
    /// The number of its entry.
    pub entry: u64,
    /// The activity, as it was sent.
    pub activity: Activity,
    /// Whether the user was frozen: no rule decides that.
    is_frozen: bool,
}

/// A walk through the journal.
pub struct Walk<'a> {
    /// Both sets of rules.
    pub sets: &'a RuleSets,
    /// The calendar of the deployment.
    pub calendar: &'a Calendar,
    /// The first instant, and the first one after the span.
    pub span: [Instant; 2],
    /// The state after the last entry.
    pub state: State,
    /// The figures of the windows that were decided.
    pub figures: Figures,
    window: Window,
    items: Vec<Item>,
}

impl<'a> Walk<'a> {
    /// Returns a walk that continues with a state and figures.
    #[must_use]
    pub fn new(
        sets: &'a RuleSets,
        calendar: &'a Calendar,
        span: [Instant; 2],
        state: State,
        figures: Figures,
    ) -> Self {
        Self {
            sets,
            calendar,
            span,
            state,
            figures,
            window: Window::default(),
            items: Vec::new(),
        }
    }

    /// Adds an entry that was processed at an instant, Unix ms. Returns false if the window before has to be decided first.
    pub fn add(&mut self, entry: Entry<'_>, number: u64, applied_at: i64) -> bool {
        if self.window.ends_before(&entry, applied_at, &self.state) {
            return false;
        }
        match entry {
            Entry::Activity(activity) => self.add_activity(&activity, number, applied_at),
            Entry::Change(change) => self.window.add_change(change, applied_at, &mut self.state),
            Entry::Other => self.window.enter(applied_at),
        }
        true
    }

    fn add_activity(&mut self, activity: &JournalActivity<'_>, number: u64, applied_at: i64) {
        let [from, until] = self.span;
        // An erased user, or a visitor: they are on no board.
        let is_skipped = activity.user.is_empty() || is_visitor(activity.user);
        if !(from..until).contains(&activity.at) || is_skipped || activity.action == ADJUST {
            return;
        }
        if !activity.refusal.is_empty() && !self.state.has_accounts(activity.user) {
            let name = format!("{}/{REFUSED}", activity.action);
            self.figures.increase(&name, 1);
        }
        let Some(sent) = activity.sent(self.sets) else {
            self.figures.increase(UNKNOWN, 1);
            return;
        };
        let is_frozen = activity.refusal == "frozen";
        if is_frozen {
            self.window.skip(applied_at);
        } else {
            let account = (activity.account, applied_at);
            let rules = (self.sets, self.calendar);
            self.window.add(&sent, account, rules, &self.state);
        }
        self.items.push(Item {
            entry: number,
            activity: sent,
            is_frozen,
        });
    }

    /// Returns the window with its activity, and begins the next one.
    pub fn take(&mut self) -> (Window, Vec<Item>) {
        let window = std::mem::take(&mut self.window);
        (window, std::mem::take(&mut self.items))
    }

    /// Adds the decisions about a window's activity by both sets of rules. Returns what is counted by member.
    pub fn decide(
        &mut self,
        keys: &[Keys; 2],
        items: &[Item],
        decisions: &mut [Vec<Decision>; 2],
    ) -> Tallies {
        let mut tallies = Tallies::default();
        let [before, after] = decisions;
        for (item, (before, after)) in items.iter().zip(before.iter_mut().zip(after)) {
            if item.is_frozen {
                *before = Decision::refused("frozen");
                after.clone_from(before);
            }
            let (activity, decisions) = (&item.activity, [&*before, &*after]);
            self.figures.add(activity, decisions);
            let date = self.calendar.date_at(activity.at);
            tallies.add(keys, self.sets, activity, (date, decisions));
        }
        tallies
    }
}
