//! `RULES`: the points of each action, how often it counts, and whether it can be undone.

use super::Vars;
use crate::calendar::{Date, Instant};
use crate::error::Error;
use crate::score::{Layout, Points};
use serde::Serialize;
use serde_json::{Map, Value};

/// The action under which a day's history lists adjustments. No rule may use this name.
pub const ADJUST: &str = "adjust";

pub(super) const NAME: &str = "RULES";

/// The frequency at which an action counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// Once per user, target and day.
    Day,
    /// Once per user and target, until it is undone.
    Standing,
}

/// How one action counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Points in smallest steps: 1 to [`Layout::max_points`].
    pub points: u64,
    /// The frequency at which it counts.
    pub once: Once,
    /// Whether it can be undone.
    pub undo: bool,
    /// Whether only trusted services may send it.
    pub service_only: bool,
    /// Maximum net points of the action per user and day, in smallest steps.
    pub daily_cap: Option<u64>,
    /// As `daily_cap`, for activities that a member sends. It is compared with the points of the day
    /// from all senders.
    pub member_cap: Option<u64>,
    /// Maximum net points that others receive by the action from one user, each other in a day, in smallest steps.
    pub pair_cap: Option<u64>,
    /// Minimum time between two counted activities of a user with the action, in seconds.
    pub cooldown: Option<u64>,
    /// Whether it counts if the target is the user's own id or, with boards of content, what the user is
    /// the author of.
    pub own: bool,
    /// Whether an activity may name another target that receives: its own target is a thing of its own, such as a
    /// comment.
    pub on: bool,
    /// Points that the target and its author receive on boards of content and of authors, in smallest
    /// steps: 0 to [`Layout::max_points`].
    pub received: u64,
}

impl Rule {
    /// Returns the most net points of the action for a user and day, in smallest steps.
    #[must_use]
    pub fn cap(&self, by_member: bool) -> Option<u64> {
        let member_cap = self.member_cap.filter(|_| by_member);
        [self.daily_cap, member_cap].into_iter().flatten().min()
    }
}

/// A rule in a response.
#[derive(Debug, Serialize)]
pub struct RuleView {
    points: Points,
    once: &'static str,
    undo: bool,
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    daily_cap: Option<Points>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member_cap: Option<Points>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair_cap: Option<Points>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cooldown: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<Points>,
    own: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    on: bool,
}

impl RuleView {
    /// Returns the view of a rule.
    #[must_use]
    pub fn new(rule: &Rule, layout: Layout) -> Self {
        let points = |steps| Points::new(steps, layout.decimals);
        Self {
            points: points(rule.points),
            once: match rule.once {
                Once::Day => "day",
                Once::Standing => "standing",
            },
            undo: rule.undo,
            by: if rule.service_only { "service" } else { "user" },
            daily_cap: rule.daily_cap.map(points),
            member_cap: rule.member_cap.map(points),
            pair_cap: rule.pair_cap.map(points),
            cooldown: rule.cooldown,
            received: Some(rule.received).filter(|steps| *steps > 0).map(points),
            own: rule.own,
            on: rule.on,
        }
    }
}

/// The rules by action, in alphabetical order.
#[derive(Clone, Debug)]
pub struct Rules(Vec<ActionRules>);

/// The rules of one action.
#[derive(Clone, Debug)]
struct ActionRules {
    action: String,
    first: Rule,
    /// Later rules, and the instant from which each applies, ascending.
    later: Vec<(Instant, Rule)>,
}

/// Returns the first instant of a day in the time zone of the deployment.
pub type StartOf<'a> = &'a dyn Fn(Date) -> Result<Instant, Error>;

impl Rules {
    /// Parses the variable `RULES`, which changes and extends the default rules.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the invalid action and field; also that of `start_of`.
    pub fn parse(vars: &Vars, layout: Layout, start_of: StartOf<'_>) -> Result<Self, Error> {
        let mut rules = Self(Vec::new());
        for (action, rule) in defaults(layout) {
            rules.set(action, rule, Vec::new());
        }
        for (action, value) in vars.table(NAME)?.unwrap_or_default() {
            let known = rules.of(&action).map(|known| known.first);
            let (first, later) = parse_action(&action, known, &value, layout, start_of)?;
            rules.set(&action, first, later);
        }
        Ok(rules)
    }

    /// Returns the rule of an action at an instant.
    #[must_use]
    pub fn get(&self, action: &str, at: Instant) -> Option<&Rule> {
        let ActionRules { first, later, .. } = self.of(action)?;
        let current = later.iter().rev().find(|(from, _)| *from <= at);
        Some(current.map_or(first, |(_, rule)| rule))
    }

    /// Returns an action that has had or will have a cap of pairs.
    #[must_use]
    pub fn with_pair_cap(&self) -> Option<&str> {
        let mut rules = self.0.iter();
        let found = rules.find(|rules| {
            let mut all = self.dated(&rules.action);
            all.any(|(_, rule)| rule.pair_cap.is_some())
        });
        found.map(|rules| rules.action.as_str())
    }

    /// Returns each action with its rule at an instant.
    pub fn current(&self, at: Instant, layout: Layout) -> impl Iterator<Item = (&str, RuleView)> {
        self.actions().filter_map(move |action| {
            let rule = self.get(action, at)?;
            Some((action, RuleView::new(rule, layout)))
        })
    }

    /// Returns the rules of an action, each with the instant from which it applies; `None` for the first one.
    pub fn dated(&self, action: &str) -> impl Iterator<Item = (Option<Instant>, &Rule)> {
        self.of(action).into_iter().flat_map(|rules| {
            let later = rules.later.iter().map(|(from, rule)| (Some(*from), rule));
            [(None, &rules.first)].into_iter().chain(later)
        })
    }

    /// Returns the detail of the error for an action without a rule.
    #[must_use]
    pub fn unknown_action(&self) -> String {
        let known: Vec<&str> = self.actions().collect();
        format!("must be one of {}", known.join(", "))
    }

    /// Returns the actions that have a rule, in alphabetical order.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|rules| rules.action.as_str())
    }

    fn of(&self, action: &str) -> Option<&ActionRules> {
        self.0.iter().find(|rules| rules.action == action)
    }

    fn set(&mut self, action: &str, first: Rule, later: Vec<(Instant, Rule)>) {
        let index = self
            .0
            .partition_point(|known| known.action.as_str() < action);
        let rules = ActionRules {
            action: action.to_owned(),
            first,
            later,
        };
        match self.0.get_mut(index) {
            Some(known) if known.action == action => *known = rules,
            Some(_) | None => self.0.insert(index, rules),
        }
    }
}

fn defaults(layout: Layout) -> [(&'static str, Rule); 6] {
    let unit = layout.unit();
    let standing = |points: u64, member_cap: u64| Rule {
        points: points * unit,
        once: Once::Standing,
        undo: true,
        service_only: false,
        daily_cap: None,
        member_cap: Some(member_cap * unit),
        pair_cap: None,
        cooldown: None,
        own: true,
        on: false,
        received: 0,
    };
    let received = Rule {
        own: false,
        received: 2 * unit,
        ..standing(2, 100)
    };
    let comment = Rule {
        on: true,
        received: 3 * unit,
        ..standing(3, 90)
    };
    let visit = Rule {
        once: Once::Day,
        undo: false,
        ..standing(1, 200)
    };
    let publish = Rule {
        service_only: true,
        member_cap: None,
        ..standing(10, 0)
    };
    [
        ("visit", visit),
        ("like", received),
        ("bookmark", received),
        ("follow", received),
        ("comment", comment),
        ("publish", publish),
    ]
}

/// Returns whether a text may be the name of an action.
#[must_use]
pub fn is_action(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    (1..=32).contains(&text.len()) && text.chars().all(allowed)
}

/// Parses the rule of an action, or a list of rules. Each changes the one before it; the first one changes `base`.
fn parse_action(
    action: &str,
    base: Option<Rule>,
    value: &Value,
    layout: Layout,
    start_of: StartOf<'_>,
) -> Result<(Rule, Vec<(Instant, Rule)>), Error> {
    let error = |remedy: &str| Error::Misconfigured(NAME, format!("{action}{remedy}"));
    if !is_action(action) {
        return Err(error(" is not an action: 1 to 32 of a-z 0-9 _ -"));
    }
    if action == ADJUST {
        return Err(error(
            " is what moderators do; name the action something else",
        ));
    }
    let Value::Array(values) = value else {
        let first = parse_rule(action, base, value, layout)?;
        return match value.get("from") {
            Some(_) => Err(error(".from: only a list has rules with dates")),
            None => Ok((first, Vec::new())),
        };
    };
    let (mut first, mut later) = (None::<Rule>, Vec::<(Instant, Rule)>::new());
    for (number, value) in (1..).zip(values) {
        let name = format!("{action} number {number}");
        let error = |remedy: &str| Error::Misconfigured(NAME, format!("{name}{remedy}"));
        let before = later.last().map(|(_, rule)| *rule).or(first);
        let rule = parse_rule(&name, before.or(base), value, layout)?;
        let from = value.get("from");
        let Some(before) = before else {
            if from.is_some() {
                return Err(error(".from: the first rule applies to all time before"));
            }
            first = Some(rule);
            continue;
        };
        let from = from.and_then(Value::as_str).unwrap_or_default();
        let from = match Date::parse(from) {
            Some(date) => start_of(date)?,
            None => Instant::parse(from).ok_or_else(|| {
                error(".from must be a day such as 2026-11-20, or an RFC 3339 date and time")
            })?,
        };
        if later.last().is_some_and(|(last, _)| *last >= from) {
            return Err(error(".from must be later than that of the rule before"));
        }
        let kept = |rule: &Rule| (rule.once, rule.undo, rule.service_only);
        if kept(&before) != kept(&rule) {
            return Err(error(
                ": once, undo and by must be the same in all rules of an action",
            ));
        }
        later.push((from, rule));
    }
    let first = first.ok_or_else(|| error(" must be a table or a list of tables"))?;
    Ok((first, later))
}

/// Parses one rule. Errors begin with `name`.
pub(crate) fn parse_rule(
    name: &str,
    base: Option<Rule>,
    changes: &Value,
    layout: Layout,
) -> Result<Rule, Error> {
    let error = |remedy: &str| Error::Misconfigured(NAME, format!("{name}{remedy}"));
    let Value::Object(changes) = changes else {
        return Err(error(" must be a table"));
    };
    let known = [
        "points",
        "once",
        "undo",
        "by",
        "daily_cap",
        "member_cap",
        "pair_cap",
        "cooldown",
        "own",
        "on",
        "received",
        "from",
    ];
    if let Some(unknown) = changes
        .keys()
        .find(|field| !known.contains(&field.as_str()))
    {
        return Err(error(&format!(
            ".{unknown} is not a field: {}",
            known.join(", ")
        )));
    }
    let steps =
        |field, least| steps(changes, field, least, layout).map_err(|remedy| error(&remedy));
    let points = steps("points", 1)?;
    let once = match changes.get("once").map(Value::as_str) {
        None => base.map_or(Once::Standing, |base| base.once),
        Some(Some("day")) => Once::Day,
        Some(Some("standing")) => Once::Standing,
        Some(_) => return Err(error(".once must be \"day\" or \"standing\"")),
    };
    let flag = |field: &str, default: bool| match changes.get(field) {
        None => Ok(default),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(error(&format!(".{field} must be true or false"))),
    };
    let undo = flag(
        "undo",
        once == Once::Standing && base.is_none_or(|base| base.undo),
    )?;
    if undo && once == Once::Day {
        return Err(error(".undo: what counts once per day cannot be undone"));
    }
    let service_only = match changes.get("by").map(Value::as_str) {
        None => base.is_some_and(|base| base.service_only),
        Some(Some("user")) => false,
        Some(Some("service")) => true,
        Some(_) => return Err(error(".by must be \"user\" or \"service\"")),
    };
    let cooldown = match changes.get("cooldown").map(Value::as_u64) {
        None => base.and_then(|base| base.cooldown),
        Some(Some(seconds @ 1..=31_536_000)) => Some(seconds),
        Some(_) => return Err(error(".cooldown must be whole seconds, 1 to 31536000")),
    };
    let own = flag("own", base.is_none_or(|base| base.own))?;
    let on = flag("on", base.is_some_and(|base| base.on))?;
    let (daily_cap, member_cap) = (steps("daily_cap", 1)?, steps("member_cap", 1)?);
    let received = steps("received", 0)?;
    let received = received.unwrap_or(base.map_or(0, |base| base.received));
    let pair_cap = steps("pair_cap", 1)?;
    if pair_cap.is_some() && received == 0 {
        return Err(error(
            ".pair_cap limits what others receive; `received` is 0",
        ));
    }
    Ok(Rule {
        points: points
            .or(base.map(|base| base.points))
            .ok_or_else(|| error(".points is required for a new action"))?,
        once,
        undo,
        service_only,
        daily_cap: daily_cap.or(base.and_then(|base| base.daily_cap)),
        member_cap: member_cap.or(base.and_then(|base| base.member_cap)),
        pair_cap: pair_cap.or(base.and_then(|base| base.pair_cap)),
        cooldown,
        own,
        on,
        received,
    })
}

/// Parses points, in smallest steps: at least `least`.
fn steps(
    changes: &Map<String, Value>,
    field: &str,
    least: u32,
    layout: Layout,
) -> Result<Option<u64>, String> {
    let Some(value) = changes.get(field) else {
        return Ok(None);
    };
    let number = value
        .as_f64()
        .ok_or_else(|| format!(".{field} must be a number"))?;
    let decimals = layout.decimals;
    let steps = layout
        .steps(number)
        .ok_or_else(|| format!(".{field} is finer than POINT_DECIMALS = {decimals} allows"))?;
    if !(f64::from(least)..=layout.max_points() as f64).contains(&steps) {
        let max = layout.max_points() / layout.unit();
        let above = if least == 0 { "0 or more" } else { "above 0" };
        return Err(format!(".{field} must be {above} and at most {max}"));
    }
    Ok(Some(steps as u64))
}
