//! The part of the model that receives: registered targets, their authors, and their boards.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::activity::{Activity, InstantRange};
use super::calendar::{PERIODS, period_id};

/// A registered target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The number of its registration.
    pub number: u64,
    /// The number of authors that the registration has had.
    pub authorship: u64,
    /// The id of its author.
    pub author: Option<String>,
    /// The title that boards show.
    pub title: Option<String>,
}

/// The points that others received for an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The points of each.
    pub points: u64,
    /// The target and the number of its registration.
    pub target: Option<(String, u64)>,
    /// The author.
    pub author: Option<String>,
    /// The authorship of the target's registration, if its author received.
    pub authorship: Option<u64>,
    /// The action for which the target is counted.
    pub counted: Option<String>,
}

/// The subject of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Targets.
    Content,
    /// Authors.
    Authors,
    /// Targets by the number of activities with an action, which is in the place of the period's id: `all:like`.
    Counts,
}

/// A board: subject, period and id of the period instance.
pub type ContentBoardId = (Subject, &'static str, String);

/// The points of a board.
#[derive(Clone, Debug)]
pub struct ContentBoard {
    /// A day of its period.
    pub date: Date,
    /// Points by id.
    pub points: BTreeMap<String, u64>,
}

/// The target and the author that receive points for an activity.
#[derive(Clone, Debug, Default)]
pub struct Receivers {
    /// The target.
    pub target: Option<String>,
    /// Its author, or the user who is followed.
    pub author: Option<String>,
}

/// The register and the boards.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The periods that have boards.
    pub periods: Vec<&'static str>,
    /// The actions whose activities are counted by target.
    pub counted: Vec<&'static str>,
    /// The registered targets.
    pub targets: BTreeMap<String, Target>,
    /// Targets hidden from all boards.
    pub hidden: BTreeSet<String>,
    /// All boards with at least one change.
    pub boards: BTreeMap<ContentBoardId, ContentBoard>,
    /// When users were erased.
    pub erased: BTreeMap<String, InstantRange>,
    /// Whether the numbers of registrations are those of several shards, which the model does not know.
    pub has_shards: bool,
    /// The number of registrations so far.
    registrations: u64,
}

impl Content {
    /// Creates an empty register with boards of some periods.
    pub fn new(periods: &[&'static str]) -> Self {
        Self {
            periods: periods.to_vec(),
            ..Self::default()
        }
    }

    /// Registers a target, or replaces its title. Returns `false` if it has another author.
    pub fn register(&mut self, id: &str, author: Option<&str>, title: Option<&str>) -> bool {
        let registrations = self.registrations + 1;
        let new = Target {
            number: registrations,
            authorship: 0,
            author: None,
            title: None,
        };
        let known = self.targets.get(id).cloned();
        let mut target = known.unwrap_or(new);
        if let (Some(known), Some(author)) = (&target.author, author)
            && known != author
        {
            return false;
        }
        self.registrations = self.registrations.max(target.number);
        if target.author.is_none() && author.is_some() {
            target.authorship += 1;
        }
        target.author = target.author.or(author.map(str::to_owned));
        target.title = title.map(str::to_owned);
        self.targets.insert(id.to_owned(), target);
        true
    }

    /// Deletes a target and what it received. Its author keeps what they received.
    pub fn delete(&mut self, id: &str) {
        if self.targets.remove(id).is_some() {
            self.remove(Subject::Content, id);
            self.remove(Subject::Counts, id);
            self.hidden.remove(id);
        }
    }

    /// Hides or shows a target. Returns `false` if it is not registered.
    pub fn moderate(&mut self, id: &str, hidden: bool) -> bool {
        match (self.targets.contains_key(id), hidden) {
            (true, true) => self.hidden.insert(id.to_owned()),
            (true, false) => self.hidden.remove(id),
            (false, _) => return false,
        };
        true
    }

    /// Erases an author: targets stay without one.
    pub(super) fn erase(&mut self, user: &str, at: InstantRange) {
        self.remove(Subject::Authors, user);
        for target in self.targets.values_mut() {
            target.author.take_if(|author| author == user);
        }
        self.erased.insert(user.to_owned(), at);
    }

    fn remove(&mut self, subject: Subject, id: &str) {
        let boards = self.boards.iter_mut();
        for (_, board) in boards.filter(|((of, ..), _)| *of == subject) {
            board.points.remove(id);
        }
    }

    /// Returns whether a dated activity of a user happened before the user was erased.
    pub fn is_erased(&self, user: &str, at: Option<i64>) -> bool {
        let erased = self.erased.get(user).zip(at);
        erased.is_some_and(|(erased, at)| InstantRange::exact(at).is_before(*erased))
    }

    /// Returns what would receive for an activity.
    pub fn receivers(&self, activity: &Activity) -> Receivers {
        let (_, _, own) = activity.dedup_key();
        let id = activity.on.clone().unwrap_or(own);
        let is_visitor = is_visitor(&activity.user);
        if activity.action == "follow" && is_visitor {
            return Receivers::default();
        }
        if activity.action == "follow" {
            return Receivers {
                author: is_id(&id).then_some(id),
                ..Receivers::default()
            };
        }
        let registered = self.targets.get(&id);
        let author = registered.and_then(|target| target.author.clone());
        Receivers {
            target: registered.is_some().then_some(id),
            author,
        }
    }

    /// Registers the target of an activity that names its author: before anything else, also if it does not count.
    pub fn register_target(&mut self, activity: &Activity) {
        let author = match activity.action.as_str() {
            "follow" => None,
            "publish" => Some(&activity.user),
            _ => activity.author.as_ref(),
        };
        let Some(author) = author.filter(|author| !is_visitor(author)) else {
            return;
        };
        let (_, _, own) = activity.dedup_key();
        let id = activity.on.clone().unwrap_or(own);
        let known = self.targets.get(&id);
        let title = known.and_then(|target| target.title.clone());
        let author = Some(author.as_str()).filter(|author| !self.is_erased(author, activity.at));
        self.register(&id, author, title.as_deref());
    }

    /// Adds the points received for an activity that counts at an instant. Returns what the record keeps of it.
    pub(super) fn receive(
        &mut self,
        Receivers { target, author }: Receivers,
        instant: InstantRange,
        (points, action): (u64, &str),
        (date, is_visitor): (Date, bool),
    ) -> Option<Received> {
        let is_counted = action != "follow" && self.counted.contains(&action);
        let author = author.filter(|_| points > 0 && !is_visitor);
        if points == 0 && !is_counted || target.is_none() && author.is_none() {
            return None;
        }
        let credited = author
            .as_ref()
            .filter(|author| self.may_receive(author, instant));
        for (subject, id) in [
            (Subject::Content, target.clone()),
            (Subject::Authors, credited.cloned()),
        ] {
            let Some(id) = id else { continue };
            for board in self.boards_of(subject, date) {
                self.add(board, date, id.clone(), points);
            }
        }
        let counted = target.as_ref().filter(|_| is_counted);
        if let Some(id) = counted {
            self.add(count_board(action), date, id.clone(), 1);
        }
        let counted = counted.map(|_| action.to_owned());
        let number = |id: &String| self.targets[id].number;
        let authorship = |id: &String| self.targets[id].authorship;
        let known = author.as_ref().and(target.as_ref());
        Some(Received {
            points,
            authorship: known.map(authorship),
            target: target.map(|id| (id.clone(), number(&id))),
            author,
            counted,
        })
    }

    fn add(&mut self, board: ContentBoardId, date: Date, id: String, points: u64) {
        if points > 0 {
            let new = || ContentBoard {
                date,
                points: BTreeMap::new(),
            };
            let board = self.boards.entry(board).or_insert_with(new);
            *board.points.entry(id).or_default() += points;
        }
    }

    /// Returns whether a user has not been erased since an instant.
    fn may_receive(&self, user: &str, at: InstantRange) -> bool {
        let erased = self.erased.get(user);
        erased.is_none_or(|erased| erased.is_before(at))
    }

    /// Takes back what others received for an activity that last changed at an instant.
    pub(super) fn take_back(&mut self, received: &Received, changed: InstantRange, date: Date) {
        let is_registered = |(id, number): &&(String, u64)| {
            let target = self.targets.get(id);
            target.is_some_and(|target| target.number == *number)
        };
        // The author of a target is the one of then if the registration has had no other one since.
        let is_current = |author: &&String| {
            let is_author = match &received.target {
                Some((id, number)) => self.targets.get(id).is_some_and(|target| {
                    target.number == *number
                        && target.author.as_ref() == Some(*author)
                        && Some(target.authorship) == received.authorship
                }),
                None => true,
            };
            is_author && self.may_receive(author, changed)
        };
        let target = received.target.as_ref().filter(is_registered);
        let author = received.author.as_ref().filter(is_current);
        let target = target.map(|(id, _)| id.clone());
        let (author, counted) = (author.cloned(), received.counted.as_deref());
        let counts = counted.zip(target.clone());
        for (subject, id) in [(Subject::Content, target), (Subject::Authors, author)] {
            let Some(id) = id else { continue };
            for board in self.boards_of(subject, date) {
                self.subtract(&board, &id, received.points);
            }
        }
        if let Some((action, id)) = counts {
            self.subtract(&count_board(action), &id, 1);
        }
    }

    fn subtract(&mut self, board: &ContentBoardId, id: &str, points: u64) {
        let known = self.boards.get_mut(board).map(|board| &mut board.points);
        if let Some(known) = known
            && let Some(former) = known.get_mut(id)
        {
            *former = former.saturating_sub(points);
            known.retain(|_, points| *points > 0);
        }
    }

    /// Returns what an author has received in the longest period that contains a day.
    pub(super) fn received(&self, author: &str, date: Date) -> u64 {
        let boards = self.boards_of(Subject::Authors, date);
        let board = boards.last().and_then(|board| self.boards.get(board));
        board.map_or(0, |board| board.points.get(author).copied().unwrap_or(0))
    }

    fn boards_of(&self, subject: Subject, date: Date) -> Vec<ContentBoardId> {
        let board = |period: &&'static str| (subject, *period, period_id(period, date));
        self.periods.iter().map(board).collect()
    }

    /// Returns ids and points of a board, best first and equal points by id, descending: the visible
    /// ones, then the hidden ones.
    pub fn ranking(
        &self,
        board: &ContentBoardId,
        hidden_users: &BTreeSet<String>,
    ) -> [Vec<(String, u64)>; 2] {
        let hidden = match board.0 {
            Subject::Content | Subject::Counts => &self.hidden,
            Subject::Authors => hidden_users,
        };
        let all = self.boards.get(board).map(|board| board.points.clone());
        let mut all: Vec<(String, u64)> = all.unwrap_or_default().into_iter().collect();
        all.sort_by_key(|(id, points)| Reverse((*points, id.clone())));
        let (hidden, visible) = all.into_iter().partition(|(id, _)| hidden.contains(id));
        [visible, hidden]
    }
}

/// Returns the key of a board, without the hash tag.
///
/// # Panics
///
/// Panics when the period does not exist.
pub fn content_board_key((subject, period, id): &ContentBoardId) -> String {
    let letter = PERIODS.iter().find(|(name, _)| name == period);
    let (_, letter) = letter.expect("a period");
    let subject = match subject {
        Subject::Content | Subject::Counts => 'T',
        Subject::Authors => 'A',
    };
    format!("b{subject}{letter}:{id}")
}

/// Returns the board with the number of activities with an action.
fn count_board(action: &str) -> ContentBoardId {
    (Subject::Counts, "all", format!("all:{action}"))
}

/// Returns whether a user is a visitor, who is on no board.
pub(super) fn is_visitor(user: &str) -> bool {
    user.starts_with("visitor:")
}

/// Returns whether a text may be the id of a user.
fn is_id(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:@|-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(is_valid) && text != "." && text != ".."
}
