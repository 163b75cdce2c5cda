//! `LEVELS`: names for all-time points.

use super::Vars;
use crate::calendar::Period;
use crate::error::Error;
use crate::score::{Layout, Points};
use crate::text;
use serde::Serialize;
use serde_json::Value;

const NAME: &str = "LEVELS";
const MAX_LEVELS: usize = 20;
const MAX_NAME_CHARACTERS: usize = 40;

/// A level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Its number by points, from 1.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// The all-time points that it takes, in smallest steps.
    #[serde(skip)]
    pub steps: u64,
}

/// The levels by points; empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(Vec<Level>);

/// A level in the configuration that a response describes.
#[derive(Debug, Serialize)]
pub struct LevelView<'a> {
    name: &'a str,
    points: Points,
}

impl Levels {
    /// Parses the variable.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the level and what is invalid.
    pub fn parse(vars: &Vars, periods: &[Period], layout: Layout) -> Result<Self, Error> {
        let error = |remedy: String| Error::Misconfigured(NAME, remedy);
        let Some(table) = vars.table(NAME)? else {
            return Ok(Self::default());
        };
        if !(1..=MAX_LEVELS).contains(&table.len()) {
            return Err(error(format!("must have 1 to {MAX_LEVELS} levels")));
        }
        if !periods.contains(&Period::All) {
            return Err(error("needs the period all in PERIODS".to_owned()));
        }
        let mut levels: Vec<Level> = Vec::new();
        for (name, value) in table {
            text::check(&name, MAX_NAME_CHARACTERS)
                .map_err(|detail| error(format!("the name '{name}' {detail}")))?;
            let steps =
                steps(&value, layout).map_err(|detail| error(format!("'{name}' {detail}")))?;
            let index = levels.partition_point(|level| level.steps < steps);
            if let Some(other) = levels.get(index).filter(|other| other.steps == steps) {
                return Err(error(format!(
                    "'{}' and '{name}' have the same points",
                    other.name
                )));
            }
            levels.insert(
                index,
                Level {
                    number: 0,
                    name,
                    steps,
                },
            );
        }
        for (level, number) in levels.iter_mut().zip(1..) {
            level.number = number;
        }
        Ok(Self(levels))
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the levels with their points, fewest first.
    pub fn views(&self, layout: Layout) -> impl Iterator<Item = LevelView<'_>> {
        self.0.iter().map(move |level| LevelView {
            name: &level.name,
            points: Points::new(level.steps, layout.decimals),
        })
    }

    /// Returns the points of each level in smallest steps, between commas.
    #[must_use]
    pub fn thresholds(&self) -> String {
        let levels = self.0.iter();
        let steps: Vec<String> = levels.map(|level| level.steps.to_string()).collect();
        steps.join(",")
    }

    /// Returns the level with a name or a number.
    #[must_use]
    pub fn find(&self, id: &Value) -> Option<&Level> {
        let number = id.as_u64().and_then(|number| usize::try_from(number).ok());
        let is_found =
            |level: &&Level| Some(level.number) == number || id.as_str() == Some(&level.name);
        self.0.iter().find(is_found)
    }

    /// Returns the level at these points, in smallest steps; `None` below the first one.
    #[must_use]
    pub fn at(&self, steps: u64) -> Option<&Level> {
        self.0.iter().rev().find(|level| level.steps <= steps)
    }

    /// Returns the next level above these points; `None` at the last one.
    #[must_use]
    pub fn above(&self, steps: u64) -> Option<&Level> {
        self.0.iter().find(|level| level.steps > steps)
    }

    /// Returns the level that a change of points has reached; `None` if it has crossed no threshold upwards.
    #[must_use]
    pub fn reached(&self, before: u64, after: u64) -> Option<&Level> {
        self.at(after).filter(|level| level.steps > before)
    }
}

fn steps(value: &Value, layout: Layout) -> Result<u64, String> {
    let max = layout.max_points() / layout.unit();
    let number = value
        .as_f64()
        .filter(|number| (0.0..=max as f64).contains(number));
    let number = number.ok_or_else(|| format!("must be points from 0 to {max}"))?;
    let steps = layout
        .steps(number)
        .ok_or_else(|| format!("is finer than POINT_DECIMALS = {} allows", layout.decimals))?;
    Ok(steps as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(levels: Value, periods: &[Period]) -> Result<Levels, Error> {
        let vars = json!({ "LEVELS": levels });
        let vars = Vars::new(vars.as_object().unwrap().clone());
        let layout = Layout {
            decimals: 1,
            ..Layout::DEFAULT
        };
        Levels::parse(&vars, periods, layout)
    }

    #[test]
    fn levels_are_numbered_by_points() {
        let levels = json!({"Pillar": 500, "Newcomer": 0, "Regular": 50.5});
        let levels = parse(levels, &Period::ALL).unwrap();
        let name = |level: Option<&Level>| {
            let name = level.map(|level| format!("{} {}", level.number, level.name));
            name.unwrap_or_default()
        };
        for (steps, at, above) in [
            (0, "1 Newcomer", "2 Regular"),
            (504, "1 Newcomer", "2 Regular"),
            (505, "2 Regular", "3 Pillar"),
            (5000, "3 Pillar", ""),
        ] {
            let found = [levels.at(steps), levels.above(steps)].map(name);
            assert_eq!(found, [at, above], "{steps}");
        }
        for (before, after, reached) in [
            (0, 504, ""),
            (0, 505, "2 Regular"),
            (505, 506, ""),
            (0, 9999, "3 Pillar"),
            (5000, 505, ""),
        ] {
            let found = name(levels.reached(before, after));
            assert_eq!(found, reached, "{before} {after}");
        }
        let later = parse(json!({"First": 1}), &Period::ALL);
        assert_eq!(later.unwrap().at(9), None);
    }

    #[test]
    fn levels_need_the_period_all() {
        let detail = "needs the period all in PERIODS".to_owned();
        let expected = Err(Error::Misconfigured("LEVELS", detail));
        assert_eq!(parse(json!({"A": 1}), &[Period::Day]), expected);
    }
}
