//! `JWT_USER`: the user id that a user token stands for.

use super::Vars;
use crate::error::Error;
use crate::id;
use serde_json::{Map, Value};

pub(super) const NAME: &str = "JWT_USER";
const KEY: &str = "JWT_USER_KEY";

/// Hexadecimal digits of a hash: 128 bits, so that two users never have the same ones.
const HASH_DIGITS: usize = 32;
/// The shortest key of a hash (RFC 2104, 3).
const MIN_KEY_BYTES: usize = 32;
/// The most replacements.
const MAX_REPLACED: usize = 10;

/// How a claim becomes a user id: lower case, then replacements, then the hash, then the prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserIds {
    claim: String,
    lower_case: bool,
    replace: Vec<(String, String)>,
    /// The key of the hash; `None` without a hash.
    key: Option<String>,
    prefix: String,
}

impl Default for UserIds {
    fn default() -> Self {
        Self {
            claim: "sub".to_owned(),
            lower_case: false,
            replace: Vec::new(),
            key: None,
            prefix: String::new(),
        }
    }
}

impl UserIds {
    /// Parses the variables.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the first invalid field.
    pub(super) fn parse(vars: &Vars) -> Result<Self, Error> {
        let error = |remedy: String| Error::Misconfigured(NAME, remedy);
        let (mut ids, mut has_hash) = (Self::default(), false);
        let key = vars.text(KEY)?;
        for (name, value) in vars.table(NAME)?.unwrap_or_default() {
            let text = value.as_str().map(str::to_owned);
            match (name.as_str(), text, &value) {
                ("claim", Some(text), _) if !text.is_empty() => ids.claim = text,
                ("prefix", Some(text), _) if id::is_id(&text) => ids.prefix = text,
                ("lower_case", _, Value::Bool(flag)) => ids.lower_case = *flag,
                ("hash", _, Value::Bool(flag)) => has_hash = *flag,
                ("replace", ..) => ids.replace = replacements(&value).map_err(error)?,
                ("claim", ..) => return Err(error("'claim' must be the name of a claim".into())),
                ("prefix", ..) => return Err(error(format!("'prefix' {}", id::ID))),
                ("lower_case" | "hash", ..) => {
                    return Err(error(format!("'{name}' must be true or false")));
                }
                _ => {
                    let names = "claim, lower_case, replace, hash, prefix";
                    return Err(error(format!("'{name}' is none of {names}")));
                }
            }
        }
        if has_hash {
            let key = key.filter(|key| key.len() >= MIN_KEY_BYTES);
            let remedy = format!("must be at least {MIN_KEY_BYTES} bytes: JWT_USER has a hash");
            ids.key = Some(key.ok_or(Error::Misconfigured(KEY, remedy))?);
        }
        Ok(ids)
    }

    /// Returns the text of a verified token before the hash.
    ///
    /// # Errors
    ///
    /// Returns that the claim is missing, or no text or integer.
    pub fn text(&self, claims: &Map<String, Value>) -> Result<String, String> {
        let Self { claim, .. } = self;
        let value = claims.get(claim).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| format!("The user token has no {claim}."))?;
        let no_text = || format!("The user token's {claim} must be a text or an integer.");
        let mut text = id::text(value).ok_or_else(no_text)?;
        if self.lower_case {
            text.make_ascii_lowercase();
        }
        for (from, to) in &self.replace {
            text = text.replace(from, to);
        }
        Ok(text)
    }

    /// Returns the key of the hash, HMAC with SHA-256; `None` without a hash.
    #[must_use]
    pub fn hash_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the user id of a text, or of the hexadecimal hash of it.
    ///
    /// # Errors
    ///
    /// Returns what is valid.
    pub fn id(&self, text: &str) -> Result<String, String> {
        let text = match self.key {
            Some(_) => text.get(..HASH_DIGITS).unwrap_or_default(),
            None => text,
        };
        let id = match text {
            "" => Err(id::ID.to_owned()),
            text => id::checked_member(&format!("{}{text}", self.prefix)),
        };
        id.map_err(|detail| format!("The user id of this user token {detail}."))
    }
}

fn replacements(value: &Value) -> Result<Vec<(String, String)>, String> {
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [Value::String(from), Value::String(to)] if !from.is_empty() => {
            Some((from.clone(), to.clone()))
        }
        _ => None,
    };
    let pairs = value.as_array().filter(|pairs| pairs.len() <= MAX_REPLACED);
    let pairs = pairs.and_then(|pairs| pairs.iter().map(pair).collect());
    let remedy = || {
        format!(
            "'replace' must be a list of up to {MAX_REPLACED} pairs such as [\"@a.example\", \"\"]"
        )
    };
    pairs.ok_or_else(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(table: Value) -> UserIds {
        let vars = json!({"JWT_USER": table, "JWT_USER_KEY": "k".repeat(32)});
        UserIds::parse(&Vars::new(vars.as_object().unwrap().clone())).unwrap()
    }

    fn id(table: Value, claims: Value) -> Option<String> {
        let ids = parse(table);
        ids.id(&ids.text(claims.as_object().unwrap()).ok()?).ok()
    }

    #[test]
    fn claim_becomes_an_id_in_order() {
        let replaced = json!({"lower_case": true, "replace": [["+", "-"], ["@a.example", ""]], "prefix": "ghost:"});
        let visitor = json!({"sub": format!("visitor:{}", "a".repeat(22))});
        let prefix = || json!({"prefix": "x:"});
        let uuid = json!({"sub": "1", "uuid": "2"});
        let rows = [
            (json!({}), json!({"sub": "Ada"}), Some("Ada")),
            (json!({}), json!({"sub": 42}), Some("42")),
            (json!({}), json!({"sub": "a b"}), None),
            (json!({}), visitor, None),
            (json!({}), json!({}), None),
            (json!({"claim": "uuid"}), uuid, Some("2")),
            (
                replaced,
                json!({"sub": "Ada+B@A.example"}),
                Some("ghost:ada-b"),
            ),
            (prefix(), json!({"sub": ""}), None),
            (prefix(), json!({"sub": "a".repeat(63)}), None),
        ];
        for (table, claims, expected) in rows {
            let found = id(table.clone(), claims);
            assert_eq!(found.as_deref(), expected, "{table}");
        }
    }

    #[test]
    fn hash_is_cut_and_has_the_prefix() {
        let ids = parse(json!({"hash": true, "prefix": "g-"}));
        assert_eq!(ids.hash_key(), Some("k".repeat(32).as_str()));
        let id = ids.id(&"0123456789abcdef".repeat(4));
        assert_eq!(id.as_deref(), Ok("g-0123456789abcdef0123456789abcdef"));
        assert!(ids.id("0123").is_err());
        assert_eq!(parse(json!({})), UserIds::default());
    }
}
