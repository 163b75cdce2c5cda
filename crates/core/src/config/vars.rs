//! Variables as the platform supplies them: strings, and tables as JSON.

use crate::error::Error;
use crate::json;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The variables and secrets of a deployment by name.
///
/// An empty string counts as not set: dashboards and shells leave empty variables behind.
pub struct Vars(Map<String, Value>);

impl Vars {
    /// The names of the variables that [`crate::config::Config::parse`] reads.
    pub const NAMES: [&str; 45] = [
        "UPSTASH_REDIS_REST_URL",
        "UPSTASH_REDIS_REST_TOKEN",
        "SERVICE_KEYS",
        "JWT_SECRET",
        "JWKS_URL",
        "JWT_ISSUER",
        "JWT_AUDIENCE",
        "JWT_GROUPS_CLAIM",
        "JWT_REQUIRED",
        "JWT_USER",
        "JWT_USER_KEY",
        "ALLOWED_ORIGINS",
        "TIMEZONE",
        "PERIODS",
        "CONTENT_PERIODS",
        "RULES",
        "RULES_LOCKED",
        "LEVELS",
        "ACHIEVEMENTS",
        "BADGE_KEY",
        "BADGE_ISSUER",
        "ORDER_BITS",
        "POINT_DECIMALS",
        "KEEP_DAYS",
        "BOARD_MAX_AGE",
        "PUBLIC_STATS",
        "MEMBER_ACCOUNTS",
        "VISITORS",
        "VISITOR_KEY",
        "VISITORS_PER_ADDRESS",
        "TURNSTILE_SECRET",
        "TURNSTILE_URL",
        "PLAYGROUND",
        "SITE",
        "STREAK_FREEZES",
        "SNAPSHOT_MEMBERS",
        "SETTLE_MINUTES",
        "REFUSED_DAYS",
        "JOURNAL_REFUSED",
        "FAIR_PLAY",
        "STORE_TIMEOUT_MS",
        "CRON_BUDGET",
        "PREFIX",
        "SHARDS",
        "WEBHOOKS",
    ];

    /// Wraps variables by name.
    #[must_use]
    pub fn new(vars: Map<String, Value>) -> Self {
        Self(vars)
    }

    /// Returns a trimmed string.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is a boolean, a table or a list.
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

    /// Returns a required string.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is not set or not a string.
    pub fn required(&self, name: &'static str) -> Result<String, Error> {
        let missing = || Error::Misconfigured(name, "is required and not set".to_owned());
        self.text(name)?.ok_or_else(missing)
    }

    /// Returns a boolean, given as such or as a string.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is anything else.
    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>, Error> {
        if let Some(Value::Bool(flag)) = self.0.get(name) {
            return Ok(Some(*flag));
        }
        let flag = self.text(name)?.map(|text| text.parse());
        let invalid = |_| Error::Misconfigured(name, "must be true or false".to_owned());
        flag.transpose().map_err(invalid)
    }

    /// Returns an integer within a range, given as a number or a string.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is anything else.
    pub fn integer(
        &self,
        name: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, Error> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (min, max) = range.into_inner();
        let remedy = || format!("must be an integer from {min} to {max}");
        number
            .map(Some)
            .ok_or_else(|| Error::Misconfigured(name, remedy()))
    }

    /// Returns words separated by commas, or a list of strings.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is anything else.
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

    /// Returns a list, given as such or as a JSON string.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is anything else.
    pub fn list(&self, name: &'static str) -> Result<Option<Vec<Value>>, Error> {
        let value = match self.0.get(name) {
            Some(Value::Array(list)) => return Ok(Some(list.clone())),
            Some(Value::Object(_)) => None,
            _ => match self.text(name)? {
                None => return Ok(None),
                Some(text) => json::read(text.as_bytes()).ok(),
            },
        };
        match value {
            Some(Value::Array(list)) => Ok(Some(list)),
            _ => Err(Error::Misconfigured(name, "must be a list".to_owned())),
        }
    }

    /// Returns a table, given as such or as a JSON string.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the variable is anything else.
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
