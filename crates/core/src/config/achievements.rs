//! `ACHIEVEMENTS`: goals beyond a rank.

use super::{Levels, Rules, StartOf, Vars};
use crate::calendar::{Date, Instant, Period};
use crate::error::Error;
use crate::id;
use crate::profile;
use crate::score::{Layout, Points};
use crate::shard::fnv_64;
use crate::streak::StreakUnit;
use crate::text;
use serde_json::{Map, Value};

/// The kind of a message about a member who has earned a step of an achievement.
pub const ACHIEVEMENT_EARNED: &str = "achievement.earned";

const NAME: &str = "ACHIEVEMENTS";
const MAX_ACHIEVEMENTS: usize = 50;
const MAX_STEPS: usize = 20;
const MAX_STEP: u64 = 1_000_000_000;

/// The longest streak, in days or weeks: each new day reads so many days with points before and after it.
const MAX_STREAK: u64 = 1000;

/// Further days with points that are read: gaps of a month use its freezes in their order.
const MONTH: u64 = 31;

const FIELDS: [&str; 17] = [
    "name",
    "description",
    "icon",
    "steps",
    "from",
    "until",
    "groups",
    "revoke",
    "within",
    "count",
    "points",
    "received",
    "streak",
    "level",
    "member_since",
    "place",
    "events",
];

/// The number of fields that are no conditions.
const OTHERS: usize = 9;

/// The last place that an achievement may require.
const MAX_PLACE: u64 = 100;

/// The journal's actions of places begin with this, and the letter of a period or `E` for events follows.
pub const PLACE: &str = "place:";

/// The icons that pages have.
const ICONS: [&str; 8] = [
    "star", "comment", "heart", "flame", "trophy", "calendar", "shield", "rocket",
];

/// An achievement.
#[derive(Clone, Debug)]
pub struct Achievement {
    /// Its id.
    pub id: String,
    /// The picture: the name of an icon that pages have, or an `https` URL.
    pub icon: String,
    /// The values to reach, ascending; points in smallest steps.
    pub steps: Vec<u64>,
    /// The decimals of its values.
    pub decimals: u32,
    name: Value,
    description: Value,
    /// The condition as [`Achievements::definitions`] has it.
    definition: Value,
}

/// The achievements by id; empty if there are none.
#[derive(Clone, Debug, Default)]
pub struct Achievements(Vec<Achievement>);

/// The parts of the configuration that achievements refer to.
pub struct Context<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The levels.
    pub levels: &'a Levels,
    /// The periods that have boards.
    pub periods: &'a [Period],
    /// How boards store points.
    pub layout: Layout,
    /// The first instant of a day.
    pub start_of: StartOf<'a>,
    /// Freezes of streaks in a month.
    pub freezes: u32,
}

impl Achievements {
    /// Parses the variable.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the achievement and what is invalid.
    pub fn parse(vars: &Vars, context: &Context<'_>) -> Result<Self, Error> {
        let error = |remedy: String| Error::Misconfigured(NAME, remedy);
        let Some(table) = vars.table(NAME)? else {
            return Ok(Self::default());
        };
        if !(1..=MAX_ACHIEVEMENTS).contains(&table.len()) {
            return Err(error(format!(
                "must have 1 to {MAX_ACHIEVEMENTS} achievements"
            )));
        }
        let mut achievements = Vec::new();
        for (id, value) in &table {
            let allowed =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
            if !(1..=32).contains(&id.len()) || !id.chars().all(allowed) {
                return Err(error(format!(
                    "'{id}' is not an id: 1 to 32 of a-z 0-9 _ -"
                )));
            }
            let achievement = match value {
                Value::Object(fields) => parse(id, fields, context),
                _ => Err(" must be a table".to_owned()),
            };
            let achievement = achievement.map_err(|detail| error(format!("{id}{detail}")))?;
            achievements.push(achievement);
        }
        Ok(Self(achievements))
    }

    /// Returns an error if there are achievements, but no journal.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn check_journal(&self, has_journal: bool) -> Result<(), Error> {
        if has_journal || self.0.is_empty() {
            return Ok(());
        }
        let remedy = "needs the database of the journal: bind JOURNAL, or remove this variable";
        Err(Error::Misconfigured(NAME, remedy.to_owned()))
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an achievement is about how long a member has been one.
    #[must_use]
    pub fn has_anniversaries(&self) -> bool {
        self.0.iter().any(Achievement::is_anniversary)
    }

    /// Returns whether an achievement is taken back when its condition no longer holds.
    #[must_use]
    pub fn has_revoked(&self) -> bool {
        self.0
            .iter()
            .any(|achievement| achievement.definition.get(7) == Some(&Value::Bool(true)))
    }

    /// Returns the number of days with points before a day, and of those after it, that its run may consist of; `None` if no
    /// achievement is a streak.
    #[must_use]
    pub fn days_around(&self) -> Option<u64> {
        let days = self.0.iter().filter_map(|achievement| {
            let days = match achievement.streak()? {
                StreakUnit::Day => 1,
                StreakUnit::Week => 7,
            };
            Some(achievement.steps.last()? * days + MONTH)
        });
        days.max()
    }

    /// Returns the last place that counts for an achievement on boards of a period, by its letter, or of events, by `E`;
    /// `None` if places on them count for none.
    #[must_use]
    pub fn last_place(&self, board: &str) -> Option<u32> {
        let of_board = |achievement: &&Achievement| {
            let action = achievement.definition.get(2).and_then(Value::as_str);
            action.and_then(|action| action.strip_prefix(PLACE)) == Some(board)
        };
        let places = self.0.iter().filter(of_board);
        let places = places.filter_map(|achievement| achievement.definition.get(8)?.as_u64());
        places.max().and_then(|place| u32::try_from(place).ok())
    }

    /// Returns the achievements.
    #[must_use]
    pub fn all(&self) -> &[Achievement] {
        &self.0
    }

    /// Returns the achievement with an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Achievement> {
        self.0.iter().find(|achievement| achievement.id == id)
    }

    /// Returns the conditions as a JSON array: `[id, kind, action, from, until, groups, steps, revoke]` of each.
    ///
    /// The kind is `count` of an action, `points`, `received`, a streak of `days` or `weeks`, `since-days` or `since-years`, or
    /// `place`, whose action is that of the journal's rows, such as `place:w`, and which ends in the last place that counts.
    /// A streak ends in the freezes of a month. `from`, `until` are in Unix ms.
    #[must_use]
    pub fn definitions(&self) -> String {
        let definitions = self
            .0
            .iter()
            .map(|achievement| achievement.definition.clone());
        Value::Array(definitions.collect()).to_string()
    }

    /// Returns a hash of the conditions.
    #[must_use]
    pub fn version(&self) -> String {
        format!("{:016x}", fnv_64(&[&self.definitions()]))
    }
}

impl Achievement {
    /// Returns whether it is about how long a member has been one.
    #[must_use]
    pub fn is_anniversary(&self) -> bool {
        self.definition
            .get(1)
            .and_then(Value::as_str)
            .is_some_and(|kind| kind.starts_with("since"))
    }

    /// Returns what it counts if it is a streak.
    #[must_use]
    pub fn streak(&self) -> Option<StreakUnit> {
        match self.definition.get(1)?.as_str()? {
            "days" => Some(StreakUnit::Day),
            "weeks" => Some(StreakUnit::Week),
            _ => None,
        }
    }

    /// Returns the name in a language.
    #[must_use]
    pub fn name(&self, lang: &str) -> &str {
        in_language(&self.name, lang)
    }

    /// Returns the description in a language; empty for none.
    #[must_use]
    pub fn description(&self, lang: &str) -> &str {
        in_language(&self.description, lang)
    }

    /// Returns the index of the step with a value as a response has it.
    #[must_use]
    pub fn find_step(&self, value: f64) -> Option<usize> {
        let unit = 10u64.pow(self.decimals) as f64;
        let is_step = |step: &u64| (*step as f64 - value * unit).abs() < 1e-6;
        self.steps.iter().position(is_step)
    }

    /// Returns steps as JSON arrays: as the journal has them, and as responses have them.
    #[must_use]
    pub fn render_steps(&self, steps: &[u64]) -> [String; 2] {
        let values = steps.iter().map(|step| self.value(*step));
        let values: Vec<Points> = values.collect();
        let texts = [serde_json::to_string(steps), serde_json::to_string(&values)];
        texts.map(Result::unwrap_or_default)
    }

    /// Returns a value as a response has it.
    #[must_use]
    pub fn value(&self, steps: u64) -> Points {
        Points::new(steps, self.decimals)
    }
}

/// Returns a text in a language. Without it: in the same language of another region or script, in English, or in any.
fn in_language<'a>(texts: &'a Value, lang: &str) -> &'a str {
    let Value::Object(table) = texts else {
        return texts.as_str().unwrap_or_default();
    };
    let primary = |tag: &'a str| tag.split('-').next().unwrap_or_default();
    let related = |(tag, _): &(&'a String, &'a Value)| Some(primary(tag)) == lang.split('-').next();
    let text = table
        .get(lang)
        .or_else(|| table.iter().find(related).map(|(_, text)| text))
        .or_else(|| table.get("en"))
        .or_else(|| table.values().next());
    text.and_then(Value::as_str).unwrap_or_default()
}

/// Parses an achievement. Errors follow its id.
fn parse(
    id: &str,
    fields: &Map<String, Value>,
    context: &Context<'_>,
) -> Result<Achievement, String> {
    if let Some(unknown) = fields
        .keys()
        .find(|field| !FIELDS.contains(&field.as_str()))
    {
        return Err(format!(".{unknown} is not a field: {}", FIELDS.join(", ")));
    }
    let conditions = FIELDS.get(OTHERS..).unwrap_or_default();
    let mut given = conditions
        .iter()
        .filter_map(|name| Some((*name, fields.get(*name)?)));
    let (Some((condition, value)), None) = (given.next(), given.next()) else {
        return Err(format!(" must have one of {}", conditions.join(", ")));
    };
    let text = value.as_str().unwrap_or_default();
    let (mut unit, mut decimals, mut max, mut level) = (1, 0, MAX_STEP, None);
    let invalid = |remedy: &str| Err(format!(".{condition} must be {remedy}"));
    let mut action = text.to_owned();
    let kind = match (condition, text) {
        ("count", _) if context.rules.actions().any(|action| action == text) => "count",
        ("count", _) => return invalid("an action of RULES"),
        ("streak", "days" | "weeks") => {
            max = MAX_STREAK;
            text
        }
        ("place", _) => {
            let mut periods = context
                .periods
                .iter()
                .filter(|period| **period != Period::All);
            let Some(period) = periods.find(|period| period.name() == text) else {
                return invalid("a period of PERIODS that ends, such as week");
            };
            action = format!("{PLACE}{}", period.letter());
            "place"
        }
        ("events", _) if *value == Value::Bool(true) => {
            action = format!("{PLACE}E");
            "place"
        }
        ("member_since", "days") => "since-days",
        ("member_since", "years") => "since-years",
        ("streak" | "member_since", _) => {
            return invalid("days or weeks, or of member_since days or years");
        }
        _ => {
            (unit, decimals) = (context.layout.unit(), context.layout.decimals);
            max = context.layout.max_points() / unit;
            if condition == "level" {
                level = context.levels.find(value).filter(|level| level.steps > 0);
                if level.is_none() {
                    return invalid(
                        "the name or the number of a level of LEVELS that takes points",
                    );
                }
                "points"
            } else if *value == Value::Bool(true) {
                condition
            } else {
                return invalid("true");
            }
        }
    };
    let get = |field: &str| fields.get(field);
    let steps = match (level, get("steps")) {
        (Some(level), None) => vec![level.steps],
        (Some(_), Some(_)) => return Err(".steps: a level has none".to_owned()),
        (None, None) => vec![unit],
        (None, Some(value)) => parse_steps(value, max, unit)?,
    };
    let from = parse_instant(get("from"), "from", context)?;
    let until = parse_instant(get("until"), "until", context)?;
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err(".until must be later than from".to_owned());
    }
    let groups = parse_groups(get("groups"))?;
    if groups.is_some() && kind == "received" {
        return Err(".groups: received points belong to no group".to_owned());
    }
    if groups.is_some() && kind == "place" {
        return Err(".groups: places are those on boards of all members".to_owned());
    }
    let within = match get("within") {
        None => Some(1),
        Some(value) if kind == "place" => value.as_u64(),
        Some(_) => return Err(".within is only for place and events".to_owned()),
    };
    let within = within
        .filter(|place| (1..=MAX_PLACE).contains(place))
        .ok_or_else(|| format!(".within must be an integer from 1 to {MAX_PLACE}"))?;
    let revoke = match get("revoke") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => return Err(".revoke must be true or false".to_owned()),
    };
    if revoke && !["count", "points", "received"].contains(&kind) {
        return Err(".revoke is only for count, points, received and level".to_owned());
    }
    let icon = get("icon")
        .map_or(Some("star"), Value::as_str)
        .unwrap_or_default();
    if !ICONS.contains(&icon) && profile::check_link(icon).is_err() {
        let icons = ICONS.join(", ");
        return Err(format!(
            ".icon must be one of {icons}, or a link that begins with https://"
        ));
    }
    let description = match get("description") {
        None => Value::Null,
        value => parse_text(value, "description", 200)?,
    };
    let mut definition = vec![
        id.into(),
        kind.into(),
        action.into(),
        from.into(),
        until.into(),
        groups.cloned().into(),
        steps.clone().into(),
        revoke.into(),
    ];
    match condition {
        "place" | "events" => definition.push(within.into()),
        "streak" => definition.push(context.freezes.into()),
        _ => {}
    }
    Ok(Achievement {
        id: id.to_owned(),
        icon: icon.to_owned(),
        steps,
        decimals,
        name: parse_text(get("name"), "name", 60)?,
        description,
        definition: Value::Array(definition),
    })
}

/// Parses a text, or a table of texts by language.
fn parse_text(value: Option<&Value>, field: &str, max_characters: usize) -> Result<Value, String> {
    let check = |value: &Value| {
        text::check(value.as_str().unwrap_or_default(), max_characters)
            .map_err(|detail| format!(".{field} {detail}"))
    };
    let value = value.unwrap_or(&Value::Null);
    let Value::Object(table) = value else {
        check(value)?;
        return Ok(value.clone());
    };
    if table.is_empty() {
        return Err(format!(".{field} must have a text"));
    }
    for (tag, text) in table {
        check_language(tag).map_err(|detail| format!(".{field}: '{tag}' {detail}"))?;
        check(text)?;
    }
    Ok(value.clone())
}

/// Checks the tag of a language.
///
/// # Errors
///
/// Returns what is valid.
pub fn check_language(tag: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if (2..=35).contains(&tag.len()) && tag.chars().all(allowed) {
        return Ok(());
    }
    Err("must be the tag of a language, such as en or zh-Hans".to_owned())
}

fn parse_steps(value: &Value, max: u64, unit: u64) -> Result<Vec<u64>, String> {
    let error = || format!(".steps must be 1 to {MAX_STEPS} ascending integers from 1 to {max}");
    let values = value.as_array().map_or(&[][..], Vec::as_slice);
    if !(1..=MAX_STEPS).contains(&values.len()) {
        return Err(error());
    }
    let (mut steps, mut last) = (Vec::new(), 0);
    for value in values {
        let step = value
            .as_u64()
            .filter(|step| (last + 1..=max).contains(step));
        last = step.ok_or_else(error)?;
        steps.push(last * unit);
    }
    Ok(steps)
}

fn parse_instant(
    value: Option<&Value>,
    field: &str,
    context: &Context<'_>,
) -> Result<Option<i64>, String> {
    let Some(value) = value else { return Ok(None) };
    let text = value.as_str().unwrap_or_default();
    let at = match Date::parse(text) {
        Some(date) => (context.start_of)(date).ok(),
        None => Instant::parse(text),
    };
    let at = at.ok_or_else(|| {
        format!(".{field} must be a day such as 2026-11-20, or an RFC 3339 date and time")
    })?;
    Ok(Some(at.0))
}

fn parse_groups(value: Option<&Value>) -> Result<Option<&Value>, String> {
    let Some(value) = value else { return Ok(None) };
    let groups = value.as_array().filter(|groups| !groups.is_empty());
    let is_group = |group: &Value| group.as_str().is_some_and(id::is_id);
    match groups.is_some_and(|groups| groups.iter().all(is_group)) {
        true => Ok(Some(value)),
        false => Err(".groups must be a list of groups".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(achievements: Value) -> Result<Achievements, Error> {
        let vars = json!({ "ACHIEVEMENTS": achievements, "LEVELS": {"Gold": 20.5, "New": 0} });
        let vars = Vars::new(vars.as_object().unwrap().clone());
        let layout = Layout {
            decimals: 1,
            ..Layout::DEFAULT
        };
        let start_of = |date: Date| Ok(Instant(date.local_millis()));
        Achievements::parse(
            &vars,
            &Context {
                rules: &Rules::parse(&vars, layout, &start_of)?,
                levels: &Levels::parse(&vars, &Period::ALL, layout)?,
                periods: &Period::ALL,
                layout,
                start_of: &start_of,
                freezes: 3,
            },
        )
    }

    /// Returns the definition of an achievement with these fields.
    fn definition(mut fields: Value) -> Value {
        fields["name"] = json!("A");
        let parsed = parse(json!({ "a": fields })).unwrap();
        serde_json::from_str::<Value>(&parsed.definitions()).unwrap()[0].take()
    }

    #[test]
    fn every_condition_has_a_definition() {
        // Fields; id, value, its detail, span, groups, steps, whether it is revoked, and places or freezes.
        const TABLE: &str = r#"
            {"count": "comment", "steps": [1, 10]}                                     ["a","count","comment",null,null,null,[1,10],false]
            {"points": true, "steps": [5], "revoke": true, "groups": ["eu"]}           ["a","points","",null,null,["eu"],[50],true]
            {"received": true, "from": "1970-01-02", "until": "1970-01-02T00:00:01Z"}  ["a","received","",86400000,86401000,null,[10],false]
            {"level": "Gold"}                                                          ["a","points","Gold",null,null,null,[205],false]
            {"level": 2}                                                               ["a","points","",null,null,null,[205],false]
            {"streak": "weeks", "steps": [4]}                                          ["a","weeks","weeks",null,null,null,[4],false,3]
            {"place": "week", "within": 3, "steps": [1, 5]}                            ["a","place","place:w",null,null,null,[1,5],false,3]
            {"events": true}                                                           ["a","place","place:E",null,null,null,[1],false,1]
            {"member_since": "years"}                                                  ["a","since-years","years",null,null,null,[1],false]
        "#;
        for line in TABLE.trim().lines() {
            let (fields, expected) = line.trim().split_once("  ").unwrap();
            let fields = serde_json::from_str(fields).unwrap();
            assert_eq!(definition(fields).to_string(), expected.trim());
        }
    }

    #[test]
    fn texts_are_in_the_nearest_language() {
        let name = json!({"de": "Stern", "en": "Star", "zh-Hans": "星"});
        let parsed = parse(json!({"a": {"points": true, "name": name}})).unwrap();
        let star = parsed.get("a").unwrap();
        for (lang, expected) in [
            ("de", "Stern"),
            ("de-AT", "Stern"),
            ("zh-Hant", "星"),
            ("fr", "Star"),
            ("", "Star"),
        ] {
            assert_eq!(star.name(lang), expected, "{lang}");
        }
        assert_eq!(star.description("en"), "");
    }

    /// Names and pictures are not part of it: they start no evaluation.
    #[test]
    fn version_follows_conditions() {
        let version = |fields: Value| parse(json!({ "a": fields })).unwrap().version();
        let first = version(json!({"name": "A", "points": true}));
        assert_eq!(
            version(json!({"name": "B", "points": true, "icon": "heart"})),
            first
        );
        assert_ne!(
            version(json!({"name": "A", "points": true, "steps": [2]})),
            first
        );
    }

    #[test]
    fn achievements_need_a_journal() {
        let parsed = parse(json!({"a": {"name": "A", "points": true}})).unwrap();
        assert_eq!(parsed.check_journal(true), Ok(()));
        let remedy = "needs the database of the journal: bind JOURNAL, or remove this variable";
        let error = Error::Misconfigured(NAME, remedy.to_owned());
        assert_eq!(parsed.check_journal(false), Err(error));
        assert_eq!(Achievements::default().check_journal(false), Ok(()));
    }

    #[test]
    fn level_of_another_name_is_refused() {
        let level = "a.level must be the name or the number of a level of LEVELS that takes points";
        for (fields, detail) in [
            (json!({"level": 3}), level),
            (json!({"level": "New"}), level),
            (
                json!({"level": 2, "steps": [1]}),
                "a.steps: a level has none",
            ),
        ] {
            let expected = Error::Misconfigured(NAME, detail.to_owned());
            assert_eq!(parse(json!({ "a": fields })).err(), Some(expected));
        }
    }
}
