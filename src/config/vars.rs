//! Variables as the platform hands them over: texts, and tables as JSON.

use crate::error::Error;
use crate::json;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The variables and secrets of a deployment by name.
///
/// An empty text counts as not set: dashboards and shells leave such behind.
pub struct Vars(Map<String, Value>);

impl Vars {
    /// Every variable that [`crate::config::Config::read`] reads.
    pub const NAMES: [&str; 18] = [
        "UPSTASH_REDIS_REST_URL",
        "UPSTASH_REDIS_REST_TOKEN",
        "SERVICE_KEYS",
        "JWT_SECRET",
        "JWKS_URL",
        "JWT_ISSUER",
        "JWT_AUDIENCE",
        "JWT_GROUPS_CLAIM",
        "ALLOWED_ORIGINS",
        "TIMEZONE",
        "PERIODS",
        "RULES",
        "POINT_DECIMALS",
        "KEEP_DAYS",
        "BOARD_MAX_AGE",
        "STORE_TIMEOUT_MS",
        "PREFIX",
        "SHARDS",
    ];

    /// Variables by name.
    #[must_use]
    pub fn new(vars: Map<String, Value>) -> Self {
        Self(vars)
    }

    /// A text, trimmed.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where the variable is a table or a list.
    pub fn text(&self, name: &'static str) -> Result<Option<String>, Error> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                Err(Error::Misconfigured(name, "must be a text".to_owned()))
            }
        }
    }

    /// A text that must be there.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where it is missing.
    pub fn required(&self, name: &'static str) -> Result<String, Error> {
        let missing = || Error::Misconfigured(name, "is required and not set".to_owned());
        self.text(name)?.ok_or_else(missing)
    }

    /// A whole number within a range, given as a number or as its text.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where it is anything else.
    pub fn whole(
        &self,
        name: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, Error> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = range.into_inner();
        let way_out = || format!("must be a whole number, {least} to {most}");
        number
            .map(Some)
            .ok_or_else(|| Error::Misconfigured(name, way_out()))
    }

    /// Words separated by commas, or a list of texts.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where it is anything else.
    pub fn words(&self, name: &'static str) -> Result<Option<Vec<String>>, Error> {
        if let Some(Value::Array(items)) = self.0.get(name) {
            let words: Option<Vec<_>> = items.iter().map(|item| item.as_str()).collect();
            let words = words
                .ok_or_else(|| Error::Misconfigured(name, "must be a list of texts".to_owned()))?;
            return Ok(Some(words.into_iter().map(str::to_owned).collect()));
        }
        let text = self.text(name)?;
        Ok(text.map(|text| {
            let words = text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        }))
    }

    /// A table, or its JSON as a text.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where it is anything else.
    pub fn table(&self, name: &'static str) -> Result<Option<Map<String, Value>>, Error> {
        if let Some(Value::Object(table)) = self.0.get(name) {
            return Ok(Some(table.clone()));
        }
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        match json::read(text.as_bytes()) {
            Ok(Value::Object(table)) => Ok(Some(table)),
            Ok(_) | Err(_) => Err(Error::Misconfigured(name, "must be a table".to_owned())),
        }
    }
}
