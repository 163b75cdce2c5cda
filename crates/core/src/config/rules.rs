//! `RULES`: the points of each action, how often it counts, and whether it can be undone.

use super::Vars;
use crate::error::Error;
use crate::score::Layout;
use serde_json::{Map, Value};

/// The action under which a day's history lists adjustments. No rule may use this name.
pub const ADJUST: &str = "adjust";

const NAME: &str = "RULES";

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
    /// Minimum time between two counted activities of a user with the action, in seconds.
    pub cooldown: Option<u64>,
    /// Whether it counts if the target is the user's own id or, with boards of content, what the user is
    /// the author of.
    pub own: bool,
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

/// The rules by action, in alphabetical order.
#[derive(Clone, Debug)]
pub struct Rules(Vec<(String, Rule)>);

impl Rules {
    /// Parses the variable `RULES`, which changes and extends the default rules.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the invalid action and field.
    pub fn parse(vars: &Vars, layout: Layout) -> Result<Self, Error> {
        let mut rules = Self(Vec::new());
        for (action, rule) in defaults(layout) {
            rules.set(action, rule);
        }
        for (action, changes) in vars.table(NAME)?.unwrap_or_default() {
            let rule = parse_rule(&action, rules.get(&action).copied(), &changes, layout)?;
            rules.set(&action, rule);
        }
        Ok(rules)
    }

    /// Returns the rule of an action.
    #[must_use]
    pub fn get(&self, action: &str) -> Option<&Rule> {
        let rule = self.0.iter().find(|(known, _)| known == action);
        rule.map(|(_, rule)| rule)
    }

    /// Returns the actions that have a rule, in alphabetical order.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(action, _)| action.as_str())
    }

    fn set(&mut self, action: &str, rule: Rule) {
        let index = self.0.partition_point(|(known, _)| known.as_str() < action);
        match self.0.get_mut(index) {
            Some((known, existing)) if known == action => *existing = rule,
            Some(_) | None => self.0.insert(index, (action.to_owned(), rule)),
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
        cooldown: None,
        own: true,
        received: 0,
    };
    let others = Rule {
        own: false,
        received: 2 * unit,
        ..standing(2, 100)
    };
    let comment = Rule {
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
        ("like", others),
        ("bookmark", others),
        ("follow", others),
        ("comment", comment),
        ("publish", publish),
    ]
}

fn parse_rule(
    action: &str,
    base: Option<Rule>,
    changes: &Value,
    layout: Layout,
) -> Result<Rule, Error> {
    let error = |remedy: &str| Error::Misconfigured(NAME, format!("{action}{remedy}"));
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    if action.is_empty() || action.len() > 32 || !action.chars().all(allowed) {
        return Err(error(" is not an action: 1 to 32 of a-z 0-9 _ -"));
    }
    if action == ADJUST {
        return Err(error(
            " is what moderators do; name the action something else",
        ));
    }
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
        "cooldown",
        "own",
        "received",
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
    let undo = match changes.get("undo") {
        None => base.map_or(once == Once::Standing, |base| {
            base.undo && once == Once::Standing
        }),
        Some(Value::Bool(undo)) => *undo,
        Some(_) => return Err(error(".undo must be true or false")),
    };
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
    let own = match changes.get("own").map(Value::as_bool) {
        None => base.is_none_or(|base| base.own),
        Some(Some(own)) => own,
        Some(None) => return Err(error(".own must be true or false")),
    };
    let (daily_cap, member_cap) = (steps("daily_cap", 1)?, steps("member_cap", 1)?);
    let received = steps("received", 0)?;
    Ok(Rule {
        points: points
            .or(base.map(|base| base.points))
            .ok_or_else(|| error(".points is required for a new action"))?,
        once,
        undo,
        service_only,
        daily_cap: daily_cap.or(base.and_then(|base| base.daily_cap)),
        member_cap: member_cap.or(base.and_then(|base| base.member_cap)),
        cooldown,
        own,
        received: received.unwrap_or(base.map_or(0, |base| base.received)),
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
