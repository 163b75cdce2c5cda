//! Fair play: the gifts between members, and cases for moderators where the activity of the members does not explain
//! these gifts.
//!
//! A gift is an activity by which another member receives points. [`detect`] compares the gifts of each pair in a
//! [`Window`] with the expected number: what the giver gave times what the receiver received, divided by all gifts. That is
//! the configuration model of networks (Newman, *Networks*, 2010, chapter 13), and the quotient is the lift of association
//! rules (Brin, Motwani, Ullman and Tsur, 1997). A member who gives or receives much exceeds no expectation by that alone.
//! Rings are the strongly connected components of such pairs, or of pairs who give to each other, also a little each, if their
//! members exchange much altogether.
//!
//! A database may leave out pairs that can be in no finding: those with too few gifts, or too few for their expectation.

mod case;
mod loss;

pub use loss::{DayGifts, Loss, Taken, taken};

pub use case::{
    CaseDecision, CasesRequest, Change, DismissedFacts, KnownCase, KnownState, NewCase, changes,
    checked_id, excludes,
};

use crate::config::FairPlay;
use serde::{Serialize, Serializer};

/// The days after which gifts are deleted.
pub const KEPT_DAYS: u32 = 90;

/// The lengths of the windows that are searched, in days.
pub const WINDOWS: [u32; 2] = [30, KEPT_DAYS];

/// The quotient of the least mean share of the members of a ring and the least share of each.
const RING_MEMBERS: f64 = 2.0;

/// The multiple of `min_gifts` that each member of a ring of pairs with few gifts exchanges at least, given and received.
pub const RING_GIFTS: u32 = 8;

/// The multiple of `min_lift` for a farm: an author who receives many of all gifts has followers.
const FARM_LIFT: u32 = 2;

/// The most days between the first activities of the new accounts of one finding.
const NEW_DAYS: i32 = 2;

/// The least share of its gifts that a new account of a farm gives to one member, in percent.
pub const NEW_SHARE: u32 = 50;

/// The least gifts of an account of a farm.
pub const FARM_GIFTS: u32 = 2;

/// The least share of a member's received gifts that a farm gave, in percent: many followers of a popular author give
/// only to this author.
const FARM_RECEIVED_SHARE: u32 = 50;

/// The multiple of `min_gifts` that a member with few givers receives at least.
const FEW_FACTOR: u32 = 4;

/// The gifts of one member to another one in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// The user of the activity.
    pub giver: String,
    /// The user who received.
    pub receiver: String,
    /// The number of gifts.
    pub gifts: u32,
    /// The received points in smallest steps.
    pub steps: u64,
    /// The number of days with gifts.
    pub days: u32,
    /// The first and the last day, in days since 1970-01-01.
    pub dates: (i32, i32),
    /// The most gifts within `burst_seconds`.
    pub burst: u32,
    /// The gifts in the largest burst of the receiver, in which several givers may be.
    pub joint: u32,
}

/// The activity of a member in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The user.
    pub user: String,
    /// The number of gifts that the member gave.
    pub given: u32,
    /// The number of gifts that the member received.
    pub received: u32,
    /// The number of all counted activities.
    pub activities: u32,
    /// The day of the first counted activity, in days since 1970-01-01, if it is in the window.
    pub first: Option<i32>,
}

/// The gifts of some days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The number of days.
    pub days: u32,
    /// The number of gifts of all pairs.
    pub gifts: u64,
    /// The pairs that may be in a finding, most gifts first.
    pub pairs: Vec<Pair>,
    /// The members of these pairs in alphabetical order.
    pub members: Vec<Member>,
}

/// The pattern of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Members who give to each other, or in a circle, and little to others.
    Ring,
    /// Accounts that give almost only to one member, and from which that member receives much.
    Farm,
    /// A farm of accounts that are new, and whose first activities are close together.
    NewAccounts,
    /// Gifts to one member within seconds, from another one or from several.
    Burst,
    /// A member who receives most from few.
    FewGivers,
    /// Members whom a moderator has named.
    Manual,
}

impl Kind {
    /// Returns the name in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Farm => "farm",
            Self::NewAccounts => "new-accounts",
            Self::Burst => "burst",
            Self::FewGivers => "few-givers",
            Self::Manual => "manual",
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The gifts of a pair in a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct PairFacts {
    /// The gifts.
    pub pair: Pair,
    /// The number of gifts that the activity of both explains.
    pub expected: f64,
    /// The share of the giver's gifts, up to 1.
    pub share_given: f64,
    /// The share of the receiver's received gifts, up to 1.
    pub share_received: f64,
}

/// Members whose giving their activity does not explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// The days of the window.
    pub days: u32,
    /// The users in alphabetical order.
    pub members: Vec<String>,
    /// The pairs, most gifts first.
    pub pairs: Vec<PairFacts>,
    /// Up to 1: for a ring the mean share of its members' gifts that they exchange with each other, for a burst the share
    /// of the pair's gifts in it, else the share of the receiver's received gifts.
    pub share: f64,
    /// Orders findings: the gifts above the expected ones, times the share.
    pub score: f64,
}

impl Finding {
    /// Returns the number of gifts.
    #[must_use]
    pub fn gifts(&self) -> u64 {
        self.pairs
            .iter()
            .map(|facts| u64::from(facts.pair.gifts))
            .sum()
    }
}

/// Returns the findings in windows: rings first and few givers last, the others by their members, then the highest score first. A finding that shares
/// more than half of the members of one with an earlier finding is left out.
#[must_use]
pub fn detect(windows: &[Window], thresholds: &FairPlay) -> Vec<Finding> {
    let mut all = Vec::new();
    for window in windows {
        let search = Search::new(window, thresholds);
        search.find_rings(search.edges.clone(), 0, &mut all);
        let least = thresholds.min_gifts * RING_GIFTS;
        search.find_rings(search.mutual(), least, &mut all);
        search.find_farms(&mut all);
        search.find_bursts(&mut all);
        search.find_few_givers(&mut all);
    }
    let mut findings: Vec<Finding> = Vec::new();
    // A sort would be most of the code of this module in the Worker.
    let first = |(_, a): &(usize, &Finding), (_, b): &(usize, &Finding)| {
        let size = |finding: &Finding| match finding.kind {
            Kind::Farm | Kind::NewAccounts | Kind::Burst => finding.members.len(),
            Kind::Ring | Kind::FewGivers | Kind::Manual => 0,
        };
        let group = |kind: Kind| (kind != Kind::Ring, kind == Kind::FewGivers);
        let groups = group(a.kind).cmp(&group(b.kind));
        let sizes = size(b).cmp(&size(a)).then(a.kind.cmp(&b.kind));
        groups.then(sizes).then(b.score.total_cmp(&a.score))
    };
    while let Some((index, _)) = all.iter().enumerate().min_by(first) {
        let finding = all.swap_remove(index);
        let is_same = |known: &Finding| overlap(&known.members, &finding.members);
        if !findings.iter().any(is_same) {
            findings.push(finding);
        }
    }
    findings
}

/// Returns the pairs between members whom a moderator has named, in alphabetical order, as a finding.
#[must_use]
pub fn find_by_hand(window: &Window, members: &[String], thresholds: &FairPlay) -> Finding {
    let mut search = Search::new(window, thresholds);
    search.edges.clear();
    for pair in &window.pairs {
        search.edges.extend(search.edge(pair));
    }
    let given = window.members.iter().map(|member| member.given).sum();
    let share = share(gifts(&search.edges), given);
    Finding {
        members: members.to_vec(),
        ..search.finding(Kind::Manual, &search.edges, share)
    }
}

/// Returns whether two lists of members in alphabetical order share more than half of the shorter one.
fn overlap(a: &[String], b: &[String]) -> bool {
    let common = a.iter().filter(|user| b.binary_search(user).is_ok());
    common.count() * 2 > a.len().min(b.len())
}

/// Returns whether a part has a share of a whole, in percent.
fn has_share(part: u32, whole: u32, percent: u32) -> bool {
    u64::from(part) * 100 >= u64::from(whole) * u64::from(percent)
}

/// Returns a part of a whole, up to 1.
fn share(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole.max(part).max(1))
}

/// A pair with the indexes of its members in the window.
#[derive(Clone, Copy)]
struct Edge<'a> {
    giver: usize,
    receiver: usize,
    pair: &'a Pair,
}

impl Edge<'_> {
    fn has(&self, flags: &[bool]) -> [bool; 2] {
        [self.giver, self.receiver].map(|index| flags.get(index) == Some(&true))
    }
}

fn gifts(edges: &[Edge<'_>]) -> u32 {
    edges.iter().map(|edge| edge.pair.gifts).sum()
}

/// Sets the flag of an index.
fn set(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

/// Returns the edges inside each strongly connected component, in which each member reaches all others from giver to
/// receiver. A component has the members whom one member reaches and who reach that member (Fleischer, Hendrickson and
/// Pınar, 2000).
fn components<'a>(mut edges: Vec<Edge<'a>>, members: usize) -> Vec<Vec<Edge<'a>>> {
    let mut components = Vec::new();
    while let Some(first) = edges.first().map(|edge| edge.giver) {
        let mut reached = [vec![false; members], vec![false; members]];
        for (is_forward, reached) in [true, false].into_iter().zip(&mut reached) {
            set(reached, first);
            let mut is_changed = true;
            while is_changed {
                is_changed = false;
                for edge in &edges {
                    let [giver, receiver] = edge.has(reached);
                    if giver != receiver && giver == is_forward {
                        set(
                            reached,
                            if is_forward {
                                edge.receiver
                            } else {
                                edge.giver
                            },
                        );
                        is_changed = true;
                    }
                }
            }
        }
        let [forward, backward] = reached;
        let flags = forward.into_iter().zip(backward);
        let flags: Vec<bool> = flags
            .map(|(forward, backward)| forward && backward)
            .collect();
        let mut inside = edges.clone();
        inside.retain(|edge| edge.has(&flags) == [true, true]);
        edges.retain(|edge| edge.has(&flags) == [false, false]);
        if !inside.is_empty() {
            components.push(inside);
        }
    }
    components
}

/// A window, and its pairs with enough gifts.
struct Search<'a> {
    window: &'a Window,
    thresholds: &'a FairPlay,
    edges: Vec<Edge<'a>>,
    /// The pairs with fewer gifts too.
    all: Vec<Edge<'a>>,
}

impl<'a> Search<'a> {
    fn new(window: &'a Window, thresholds: &'a FairPlay) -> Self {
        let mut search = Self {
            window,
            thresholds,
            edges: Vec::new(),
            all: Vec::new(),
        };
        for pair in &window.pairs {
            let Some(edge) = search.edge(pair) else {
                continue;
            };
            if pair.gifts >= thresholds.min_gifts && search.has_lift(edge, 1) {
                search.edges.push(edge);
            }
            search.all.push(edge);
        }
        search
    }

    fn edge(&self, pair: &'a Pair) -> Option<Edge<'a>> {
        let find = |user: &String| {
            let members = &self.window.members;
            members
                .binary_search_by(|member| member.user.cmp(user))
                .ok()
        };
        Some(Edge {
            giver: find(&pair.giver)?,
            receiver: find(&pair.receiver)?,
            pair,
        })
    }

    fn given(&self, index: usize) -> u32 {
        let member = self.window.members.get(index);
        member.map_or(0, |member| member.given)
    }

    fn activities(&self, index: usize) -> u32 {
        let member = self.window.members.get(index);
        member.map_or(0, |member| member.activities)
    }

    fn received(&self, index: usize) -> u32 {
        let member = self.window.members.get(index);
        member.map_or(0, |member| member.received)
    }

    /// Returns the number of gifts that the activity of both members of a pair explains.
    fn expected(&self, edge: Edge<'_>) -> f64 {
        let given = f64::from(self.given(edge.giver));
        given * f64::from(self.received(edge.receiver)) / self.window.gifts.max(1) as f64
    }

    /// Returns whether a pair has so many times `min_lift` as many gifts as expected.
    fn has_lift(&self, edge: Edge<'_>, factor: u32) -> bool {
        let lift = f64::from(self.thresholds.min_lift * factor);
        f64::from(edge.pair.gifts) >= self.expected(edge) * lift
    }

    fn finding(&self, kind: Kind, edges: &[Edge<'_>], share: f64) -> Finding {
        let (mut pairs, mut excess) = (Vec::new(), 0.0);
        let mut flags = vec![false; self.window.members.len()];
        for edge in edges {
            set(&mut flags, edge.giver);
            set(&mut flags, edge.receiver);
            let (expected, gifts) = (self.expected(*edge), edge.pair.gifts);
            excess += (f64::from(gifts) - expected).max(0.0);
            pairs.push(PairFacts {
                pair: edge.pair.clone(),
                expected,
                share_given: self::share(gifts, self.given(edge.giver)),
                share_received: self::share(gifts, self.received(edge.receiver)),
            });
        }
        let members = self.window.members.iter().zip(flags);
        let members = members.filter(|(_, is_inside)| *is_inside);
        Finding {
            kind,
            days: self.window.days,
            members: members.map(|(member, _)| member.user.clone()).collect(),
            pairs,
            share,
            score: excess * share,
        }
    }

    /// Returns the pairs of members who both give to each other, also few gifts.
    fn mutual(&self) -> Vec<Edge<'a>> {
        let mut mutual = self.all.clone();
        mutual.retain(|edge| self.has_lift(*edge, 1));
        let all = mutual.clone();
        mutual.retain(|edge| {
            let ends = (edge.receiver, edge.giver);
            all.iter().any(|back| (back.giver, back.receiver) == ends)
        });
        mutual
    }

    /// Finds the strongly connected components of pairs. Members with less than half of `ring_share`, or with less gifts than
    /// `least_gifts`, are removed first, because a very active member connects rings that have nothing to do with each other.
    fn find_rings(&self, mut edges: Vec<Edge<'a>>, least_gifts: u32, findings: &mut Vec<Finding>) {
        let count = self.window.members.len();
        let all = |index| self.given(index) + self.received(index);
        let least = f64::from(self.thresholds.ring_share) / 100.0;
        loop {
            let rings = components(edges, count);
            let mut exchanged = vec![0; count];
            for edge in rings.iter().flatten() {
                for index in [edge.giver, edge.receiver] {
                    if let Some(sum) = exchanged.get_mut(index) {
                        *sum += edge.pair.gifts;
                    }
                }
            }
            let exchanged = |index| exchanged.get(index).copied().unwrap_or(0);
            let share_of = |index| share(exchanged(index), all(index));
            let stays =
                |index| share_of(index) * RING_MEMBERS >= least && exchanged(index) >= least_gifts;
            edges = rings.iter().flatten().copied().collect();
            let before = edges.len();
            edges.retain(|edge| stays(edge.giver) && stays(edge.receiver));
            if edges.len() < before {
                continue;
            }
            for mut ring in rings {
                let mut flags = vec![false; count];
                for edge in &ring {
                    set(&mut flags, edge.giver);
                }
                let (mut sum, mut members) = (0.0, 0.0);
                for (index, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
                    sum += share_of(index);
                    members += 1.0;
                }
                if sum >= least * members {
                    self.join(&mut ring, &flags);
                    findings.push(self.finding(Kind::Ring, &ring, sum / members));
                }
            }
            return;
        }
    }

    /// Adds the pairs of a ring with members who only give to it or only receive from it: at least two pairs, and at least
    /// `ring_share` of their gifts.
    fn join(&self, ring: &mut Vec<Edge<'a>>, flags: &[bool]) {
        let outsider = |edge: &Edge<'_>| match edge.has(flags) {
            [true, false] => Some(edge.receiver),
            [false, true] => Some(edge.giver),
            [true, true] | [false, false] => None,
        };
        let mut outside = self.edges.clone();
        outside.retain(|edge| outsider(edge).is_some());
        while let Some(index) = outside.first().and_then(outsider) {
            let mut edges = outside.clone();
            edges.retain(|edge| outsider(edge) == Some(index));
            outside.retain(|edge| outsider(edge) != Some(index));
            let all = self.given(index) + self.received(index);
            if edges.len() > 1 && has_share(gifts(&edges), all, self.thresholds.ring_share) {
                ring.append(&mut edges);
            }
        }
    }

    /// Returns the pairs with a receiver.
    fn edges_to(edges: &[Edge<'a>], receiver: usize) -> Vec<Edge<'a>> {
        let mut edges = edges.to_vec();
        edges.retain(|edge| edge.receiver == receiver);
        edges
    }

    /// Returns whether an account may be one of a farm. For fewer gifts than `min_gifts`, they are a share of all that the
    /// account does: a member who has just come gives little too.
    fn is_of_farm(&self, edge: Edge<'_>, percent: u32) -> bool {
        let gifts = edge.pair.gifts;
        let whole = match gifts < self.thresholds.min_gifts {
            true => self.activities(edge.giver),
            false => self.given(edge.giver),
        };
        gifts >= FARM_GIFTS && has_share(gifts, whole, percent) && self.has_lift(edge, FARM_LIFT)
    }

    /// Finds accounts that give almost only to one member. All together give as much as the least accounts with `min_gifts`.
    fn find_farms(&self, findings: &mut Vec<Finding>) {
        for receiver in 0..self.window.members.len() {
            let edges = Self::edges_to(&self.all, receiver);
            for (kind, percent, mut edges) in [
                (Kind::NewAccounts, NEW_SHARE, self.new_accounts(&edges)),
                (Kind::Farm, self.thresholds.farm_share, edges),
            ] {
                edges.retain(|edge| self.is_of_farm(*edge, percent));
                let (gifts, received) = (gifts(&edges), self.received(receiver));
                let accounts = self.thresholds.farm_accounts;
                if edges.len() >= accounts as usize
                    && gifts >= accounts * self.thresholds.min_gifts
                    && has_share(gifts, received, FARM_RECEIVED_SHARE)
                {
                    findings.push(self.finding(kind, &edges, share(gifts, received)));
                }
            }
        }
    }

    /// Returns the most pairs whose givers are new, with first activities within [`NEW_DAYS`].
    fn new_accounts(&self, edges: &[Edge<'a>]) -> Vec<Edge<'a>> {
        let first = |edge: &Edge<'_>| self.window.members.get(edge.giver)?.first;
        let together = edges.iter().filter_map(first).map(|begin| {
            let is_near = |first: i32| (0..=NEW_DAYS).contains(&(first - begin));
            let mut near = edges.to_vec();
            near.retain(|edge| first(edge).is_some_and(is_near));
            near
        });
        together.max_by_key(Vec::len).unwrap_or_default()
    }

    /// Finds bursts of one giver, and bursts of several together.
    fn find_bursts(&self, findings: &mut Vec<Finding>) {
        let least = self.thresholds.burst_gifts;
        let mut add = |edges: &[Edge<'_>], burst| {
            findings.push(self.finding(Kind::Burst, edges, share(burst, gifts(edges))));
        };
        for receiver in 0..self.window.members.len() {
            let (mut most, mut together) = (0, Vec::new());
            for edge in Self::edges_to(&self.all, receiver) {
                if edge.pair.joint > 0 {
                    most = most.max(edge.pair.joint);
                    together.push(edge);
                } else if edge.pair.burst >= least {
                    add(&[edge], edge.pair.burst);
                }
            }
            // A giver of little beside a giver of much has come at that time by chance.
            together.retain(|edge| edge.pair.joint * 4 >= most);
            let joint = together.iter().map(|edge| edge.pair.joint).sum();
            if joint >= least {
                add(&together, joint);
            }
        }
    }

    fn find_few_givers(&self, findings: &mut Vec<Finding>) {
        let thresholds = self.thresholds;
        for receiver in 0..self.window.members.len() {
            let mut edges = Self::edges_to(&self.edges, receiver);
            edges.truncate(thresholds.few_givers as usize);
            let (gifts, received) = (gifts(&edges), self.received(receiver));
            if received >= thresholds.min_gifts * FEW_FACTOR
                && has_share(gifts, received, thresholds.few_share)
            {
                findings.push(self.finding(Kind::FewGivers, &edges, share(gifts, received)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
