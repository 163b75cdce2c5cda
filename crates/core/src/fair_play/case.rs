//! Cases: findings that moderators see until they dismiss them.

use super::{Finding, Kind, PairFacts, Window, overlap};
use crate::calendar::{Date, Instant};
use crate::config::FairPlay;
use crate::error::{Error, FieldErrors};
use crate::id;
use crate::moderation::{read_public, read_reason};
use crate::query::Query;
use crate::score::Points;
use crate::shard::fnv_64;
use crate::webhook::to_json;
use serde::Serialize;
use serde_json::Value;

/// The prefix of an id.
const ID_PREFIX: &str = "case_";

/// Hexadecimal digits of an id after the prefix.
const ID_DIGITS: usize = 16;

/// The states of a case.
const STATES: [&str; 3] = ["open", "dismissed", "excluded"];

/// The most members of a case that a moderator opens.
const MAX_MEMBERS: usize = 50;

/// The most pairs that a case shows.
const MAX_PAIRS: usize = 100;

/// A case that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCase {
    /// Its id.
    pub id: String,
    /// Its state.
    pub state: KnownState,
    /// The users in alphabetical order.
    pub members: Vec<String>,
}

/// The state of a case that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownState {
    /// A moderator has not decided.
    Open,
    /// A moderator has dismissed it.
    Dismissed(DismissedFacts),
    /// Activity between its members does not count until the end of a day, in days since 1970-01-01; `None` for ever.
    Excluded(Option<i32>),
}

/// The facts by which a case was dismissed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DismissedFacts {
    /// The days of the window.
    pub days: u32,
    /// The number of gifts.
    pub gifts: u64,
    /// The first 100 pairs: giver, receiver, gifts and the last day with gifts.
    pub pairs: Vec<(String, String, u32, i32)>,
}

impl DismissedFacts {
    /// Returns the gifts of a finding that the case did not have, in the window of the case.
    fn count_new(&self, finding: &Finding, windows: &[Window]) -> u64 {
        let window = windows.iter().find(|window| window.days == self.days);
        let rest = self.pairs.get(MAX_PAIRS - 1).map_or(0, |pair| pair.2);
        let mut sum = 0;
        for PairFacts { pair, .. } in &finding.pairs {
            let is_pair =
                |giver: &str, receiver: &str| giver == pair.giver && receiver == pair.receiver;
            let mut gifts = pair.gifts;
            if finding.days > self.days
                && let Some(window) = window
            {
                let same = window
                    .pairs
                    .iter()
                    .find(|same| is_pair(&same.giver, &same.receiver));
                gifts = same.map_or(0, |same| same.gifts);
            }
            let known = self.pairs.iter().find(|known| is_pair(&known.0, &known.1));
            let known = match known {
                // Another burst.
                Some(known) if finding.kind == Kind::Burst && pair.dates.0 > known.3 => 0,
                Some(known) => known.2,
                None => rest,
            };
            sum += u64::from(gifts.saturating_sub(known));
        }
        sum
    }
}

/// Returns whether an exclusion that ends on a day explains a finding of its members.
fn is_excluded(case: &KnownCase, finding: &Finding) -> bool {
    let KnownState::Excluded(end) = case.state else {
        return false;
    };
    let is_member = |user: &String| case.members.binary_search(user).is_ok();
    let is_after = |facts: &&PairFacts| end.is_some_and(|end| facts.pair.dates.1 > end);
    let after = finding.pairs.iter().filter(is_after);
    let after: u64 = after.map(|facts| u64::from(facts.pair.gifts)).sum();
    finding.members.iter().all(is_member) && after * 2 < finding.gifts()
}

/// A change of a case: `[id, opens, kind, score, gifts, members, facts]` as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change<'a>(
    /// The id of the case.
    pub String,
    /// Whether it is new, or was dismissed.
    pub bool,
    /// The kind.
    pub Kind,
    f64,
    u64,
    /// The members.
    pub &'a [String],
    Facts<'a>,
);

/// The facts of a case, with at most 100 pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Facts<'a> {
    days: u32,
    share: f64,
    pairs: Vec<PairView<'a>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct PairView<'a> {
    giver: &'a str,
    receiver: &'a str,
    gifts: u32,
    points: Points,
    expected: f64,
    share_given: f64,
    share_received: f64,
    burst: u32,
    days: u32,
    first: String,
    last: String,
}

/// Returns a number with three decimals.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl<'a> Change<'a> {
    /// Returns the case of a finding under an id.
    fn new(id: String, opens: bool, finding: &'a Finding, decimals: u32) -> Self {
        Self(
            id,
            opens,
            finding.kind,
            rounded(finding.score),
            finding.gifts(),
            &finding.members,
            Facts::new(finding, decimals),
        )
    }

    /// Returns the case that a moderator opens.
    #[must_use]
    pub fn by_hand(finding: &'a Finding, decimals: u32) -> Self {
        Self::new(id_of(&finding.members), true, finding, decimals)
    }
}

/// Returns the id of a new case of these members.
fn id_of(members: &[String]) -> String {
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    format!("{ID_PREFIX}{:016x}", fnv_64(&members))
}

impl<'a> Facts<'a> {
    fn new(finding: &'a Finding, decimals: u32) -> Self {
        let date =
            |number| Date::numbered(number).map_or_else(String::new, |date| date.to_string());
        let view = |facts: &'a PairFacts| PairView {
            giver: &facts.pair.giver,
            receiver: &facts.pair.receiver,
            gifts: facts.pair.gifts,
            points: Points::new(facts.pair.steps, decimals),
            expected: rounded(facts.expected),
            share_given: rounded(facts.share_given),
            share_received: rounded(facts.share_received),
            burst: facts.pair.burst,
            days: facts.pair.days,
            first: date(facts.pair.dates.0),
            last: date(facts.pair.dates.1),
        };
        Self {
            days: finding.days,
            share: rounded(finding.share),
            pairs: finding.pairs.iter().take(MAX_PAIRS).map(view).collect(),
        }
    }
}

/// Returns how findings change the known cases: each case that is new or found again. A finding belongs to the case with
/// which it shares more than half of the members of one. An open case gets the new facts. A dismissed one stays as it is
/// until gifts that it did not have are `growth` percent of those it had; then it opens again. A finding among the members
/// of an exclusion changes nothing; one with other members, or most of whose pairs go on after the end, is a case of its own.
#[must_use]
pub fn changes<'a>(
    findings: &'a [Finding],
    windows: &[Window],
    known: &[KnownCase],
    thresholds: &FairPlay,
    decimals: u32,
) -> Vec<Change<'a>> {
    let mut changes: Vec<Change<'a>> = Vec::new();
    for finding in findings {
        if known.iter().any(|case| is_excluded(case, finding)) {
            continue;
        }
        let is_same = |case: &&KnownCase| {
            !matches!(case.state, KnownState::Excluded(_))
                && overlap(&case.members, &finding.members)
        };
        let case = known.iter().find(is_same);
        let opens = match case.map(|case| &case.state) {
            Some(KnownState::Dismissed(facts)) => {
                let new = facts.count_new(finding, windows).saturating_mul(100);
                if new == 0 || new < facts.gifts.saturating_mul(thresholds.growth.into()) {
                    continue;
                }
                true
            }
            Some(KnownState::Open) => false,
            Some(KnownState::Excluded(_)) | None => true,
        };
        let id = case.map_or_else(|| free_id(&finding.members, known), |case| case.id.clone());
        if !changes.iter().any(|change| change.0 == id) {
            changes.push(Change::new(id, opens, finding, decimals));
        }
    }
    changes
}

/// Returns the id of a new case of these members. One that had it may have got other members, or exclude these.
fn free_id(members: &[String], known: &[KnownCase]) -> String {
    let mut id = id_of(members);
    while known.iter().any(|case| case.id == id) {
        id = id_of(&[&[id], members].concat());
    }
    id
}

/// A request for a page of cases, the highest score first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CasesRequest {
    /// The case after which the page begins; empty for the first page.
    pub after: String,
    /// The state of the cases; empty for any.
    pub state: String,
    /// Number of cases to return at most.
    pub limit: u32,
}

impl CasesRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query.
    pub fn parse(query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["after", "limit", "state"]);
        let after = query.get("after").map(checked_id);
        let after = after.and_then(|after| query.check("/after", after));
        let state = query.get("state").map(checked_state);
        let state = state.and_then(|state| query.check("/state", state));
        let limit = query.integer("limit", 1..=100, 30);
        query.finish()?;
        Ok(Self {
            after: after.unwrap_or_default(),
            state: state.unwrap_or_default(),
            limit,
        })
    }

    /// Renders the response body from the cases of the page, as JSON that begins with the id, and from the last search as
    /// JSON.
    #[must_use]
    pub fn render(&self, cases: &[String], search: &str) -> String {
        let last = cases.last().filter(|_| cases.len() >= self.limit as usize);
        // The first member of a case is its id.
        let next = last.and_then(|last| last.split('"').nth(3));
        let (cases, next) = (cases.join(","), to_json(&next));
        format!("{{\"cases\":[{cases}],\"next\":{next},\"search\":{search}}}")
    }
}

/// A request to open a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCase {
    /// The users in alphabetical order.
    pub members: Vec<String>,
    /// The reason.
    pub reason: String,
}

impl NewCase {
    /// Parses a request body.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("A case is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &["members", "reason"]);
        let members = errors.check("/members", read_members(fields.get("members")));
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let case = || {
            Some(Self {
                members: members?,
                reason: reason?,
            })
        };
        errors.finish(case())
    }
}

fn read_members(value: Option<&Value>) -> Result<Vec<String>, String> {
    let invalid = || format!("must be an array of 2 to {MAX_MEMBERS} different users");
    let values = value.and_then(Value::as_array).ok_or_else(invalid)?;
    let mut members: Vec<String> = Vec::new();
    for value in values.iter().take(MAX_MEMBERS + 1) {
        let user = id::user(value).ok_or_else(invalid)?;
        match members.binary_search(&user) {
            Ok(_) => return Err(invalid()),
            Err(index) => members.insert(index, user),
        }
    }
    let is_valid = (2..=MAX_MEMBERS).contains(&members.len());
    is_valid.then_some(members).ok_or_else(invalid)
}

/// A moderator's decision about a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseDecision {
    /// The id of the case.
    pub id: String,
    /// The state of the case after the decision.
    pub state: String,
    /// The reason.
    pub reason: String,
    /// Whether the members may read the reason.
    pub has_public_reason: bool,
    /// From when until when activity between the members does not count, `None` for ever; only in the state `excluded`.
    pub span: Option<(Instant, Option<Instant>)>,
}

impl CaseDecision {
    /// Parses a request body; the id comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(id: &str, body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("A decision is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        let known: &[&str] = &["state", "reason", "public_reason", "from", "until"];
        errors.reject_unknown(fields.keys(), known);
        let id = errors.check("/id", checked_id(id));
        let state = fields.get("state").and_then(Value::as_str);
        let state = errors.check("/state", checked_state(state.unwrap_or_default()));
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let is_public = errors.check("/public_reason", read_public(fields));
        let from = fields.get("from").filter(|from| !from.is_null());
        let until = fields.get("until").filter(|until| !until.is_null());
        let mut span = None;
        if state.as_deref() == Some(STATES[2]) {
            let from = errors.check("/from", read_instant(from));
            let until = until.map(|until| read_instant(Some(until))).transpose();
            let until = errors.check("/until", until);
            if let (Some(from), Some(until)) = (from, until) {
                if until.is_some_and(|until| until <= from) {
                    errors.check::<()>("/until", Err("must be after `from`".to_owned()));
                }
                span = Some((from, until));
            }
        } else {
            for (pointer, value) in [("/from", from), ("/until", until)] {
                if value.is_some() {
                    let detail = format!("belongs to the state {} alone", STATES[2]);
                    errors.check::<()>(pointer, Err(detail));
                }
            }
        }
        let decision = || {
            Some(Self {
                id: id?,
                state: state?,
                reason: reason?,
                has_public_reason: is_public?,
                span,
            })
        };
        errors.finish(decision())
    }

    /// Returns the action of the audit log for a decision that excludes nothing.
    #[must_use]
    pub fn audit_action(&self) -> &'static str {
        match self.state == STATES[0] {
            true => "reopen",
            false => "dismiss",
        }
    }
}

/// Returns whether a case in a state excludes activity between its members.
#[must_use]
pub fn excludes(state: &str) -> bool {
    state == STATES[2]
}

fn read_instant(value: Option<&Value>) -> Result<Instant, String> {
    let instant = value.and_then(Value::as_str).and_then(Instant::parse);
    let instant = instant.filter(|instant| instant.0 >= 0);
    instant.ok_or_else(|| {
        "must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z".to_owned()
    })
}

fn checked_state(state: &str) -> Result<String, String> {
    let known = STATES.contains(&state).then(|| state.to_owned());
    known.ok_or_else(|| format!("must be one of {}", STATES.join(", ")))
}

/// Checks the id of a case.
///
/// # Errors
///
/// Returns what is valid.
pub fn checked_id(id: &str) -> Result<String, String> {
    let digits = id.strip_prefix(ID_PREFIX).unwrap_or_default();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digits.len() == ID_DIGITS && digits.bytes().all(is_digit) {
        return Ok(id.to_owned());
    }
    Err(format!(
        "must be the id of a case: {ID_PREFIX} and {ID_DIGITS} hexadecimal digits"
    ))
}
