//! Query parameters: each known, given at most once, and within its range.

use crate::calendar::Date;
use crate::error::{Error, FieldErrors};
use crate::id;
use percent_encoding::percent_decode_str;
use std::ops::RangeInclusive;

const MAX_IDS: usize = 100;

/// The parameters of one request, and the errors found in them so far.
pub struct Query {
    parameters: Vec<(String, String)>,
    errors: FieldErrors,
}

impl Query {
    /// Parses a query string; collects an error for each unknown or repeated parameter.
    #[must_use]
    pub fn parse(query: &str, known: &[&str]) -> Self {
        let mut errors = FieldErrors::default();
        let mut parameters: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name);
            if !known.contains(&name.as_str()) {
                errors.reject_unknown(std::iter::once(&name), known);
            } else if parameters.iter().any(|(given, _)| *given == name) {
                let repeated = Err::<(), _>("must be given only once".to_owned());
                errors.check(&format!("/{name}"), repeated);
            } else {
                parameters.push((name, decode(value)));
            }
        }
        Self { parameters, errors }
    }

    /// Parses the known parameters of an address to which others append theirs: sites that share it, feed readers, caches
    /// and monitors. Ignores unknown ones.
    #[must_use]
    pub fn known(query: &str, known: &[&str]) -> Self {
        let is_known = |pair: &&str| {
            let name = decode(pair.split('=').next().unwrap_or_default());
            known.contains(&name.as_str())
        };
        let pairs: Vec<&str> = query.split('&').filter(is_known).collect();
        Self::parse(&pairs.join("&"), known)
    }

    /// Returns an integer within a range, or the default if the parameter is absent.
    pub fn integer(&mut self, name: &str, range: RangeInclusive<u32>, default: u32) -> u32 {
        let Some(text) = self.get(name) else {
            return default;
        };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text
            .parse()
            .ok()
            .filter(|number| digits && range.contains(number));
        let (min, max) = range.into_inner();
        let number = number.ok_or_else(|| format!("must be an integer from {min} to {max}"));
        self.check(&format!("/{name}"), number).unwrap_or(default)
    }

    /// Returns a parameter that is `true` or `false`; `false` if it is absent.
    pub fn flag(&mut self, name: &str) -> bool {
        let flag = match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err("must be true or false".to_owned()),
        };
        self.check(&format!("/{name}"), flag).unwrap_or(false)
    }

    /// Returns the parameter `date`, or today if it is absent.
    pub fn date(&mut self, today: Date) -> Date {
        self.day("date", today)
    }

    /// Returns a day that is not after today, or today if the parameter is absent.
    pub fn day(&mut self, name: &str, today: Date) -> Date {
        let Some(text) = self.get(name) else {
            return today;
        };
        let date = match Date::parse(text) {
            None => Err("must be a day such as 2026-11-20".to_owned()),
            Some(date) if date > today => Err(format!("must not be after today, {today}")),
            Some(date) => Ok(date),
        };
        self.check(&format!("/{name}"), date).unwrap_or(today)
    }

    /// Returns the parameter `group`.
    pub fn group(&mut self) -> Option<String> {
        let group = id::checked(self.get("group")?);
        self.check("/group", group)
    }

    /// Returns the parameter `ids`: up to 100 user ids in the order given, without repeats.
    pub fn ids(&mut self) -> Vec<String> {
        let ids = id_list(self.get("ids").unwrap_or_default(), MAX_IDS);
        let mut unique: Vec<String> = Vec::new();
        for id in self.check("/ids", ids).unwrap_or_default() {
            if !unique.contains(&id) {
                unique.push(id);
            }
        }
        unique
    }

    /// Returns the parameter `groups`: up to 4 groups in the order given; none if it is absent.
    pub fn groups(&mut self) -> Vec<String> {
        let Some(text) = self.get("groups") else {
            return Vec::new();
        };
        let groups = id_list(text, id::MAX_GROUPS).and_then(|groups| {
            let mut rest = groups.as_slice();
            while let Some((group, later)) = rest.split_first() {
                if later.contains(group) {
                    return Err(format!("must not repeat a group: {group}"));
                }
                rest = later;
            }
            Ok(groups)
        });
        self.check("/groups", groups).unwrap_or_default()
    }

    /// Returns the user id of a path; an empty id after an error.
    pub fn user(&mut self, user: &str) -> String {
        let user = id::checked(user);
        self.check("/user", user).unwrap_or_default()
    }

    /// Returns a value from another part of the request, or collects its error.
    pub fn check<T>(&mut self, pointer: &str, value: Result<T, String>) -> Option<T> {
        self.errors.check(pointer, value)
    }

    /// Returns whether all parameters were valid.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every collected error.
    pub fn finish(self) -> Result<(), Error> {
        self.errors.finish(Some(()))
    }

    /// Returns the text of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let (_, value) = parameters.find(|(given, _)| given == name)?;
        Some(value)
    }
}

/// Parses ids between commas.
fn id_list(text: &str, max: usize) -> Result<Vec<String>, String> {
    let ids: Vec<String> = text.split(',').map(str::to_owned).collect();
    if ids.len() > max {
        let count = ids.len();
        Err(format!("must be at most {max} ids, not {count}"))
    } else if ids.iter().all(|id| id::is_id(id)) {
        Ok(ids)
    } else {
        Err(format!("must be ids between commas; each {}", id::ID))
    }
}

/// Decodes form-encoded text; invalid UTF-8 becomes U+FFFD, which no parameter accepts.
fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " "))
        .decode_utf8_lossy()
        .into_owned()
}
