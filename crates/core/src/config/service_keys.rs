//! `SERVICE_KEYS`: the keys of trusted services and their scopes.

use super::{Scopes, Vars};
use crate::error::Error;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

const NAME: &str = "SERVICE_KEYS";

/// The keys of trusted services.
///
/// Several keys are valid at once, so a key can be rotated without downtime.
#[derive(Clone, Debug)]
pub struct ServiceKeys(Vec<(String, Scopes)>);

impl ServiceKeys {
    /// Parses the variable: a list of keys. A key without scopes has all of them; a key with scopes
    /// is written `activity+profiles:KEY`.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] identifies the first invalid entry by its number, because its text
    /// may be a secret.
    pub fn parse(vars: &Vars) -> Result<Self, Error> {
        let mut keys: Vec<(String, Scopes)> = Vec::new();
        for (number, word) in (1..).zip(vars.words(NAME)?.unwrap_or_default()) {
            let (key, scopes) = parse_key(&word).ok_or_else(|| {
                let remedy = format!(
                    "number {number} is neither a key nor scopes and a key such as \
                     activity+profiles:KEY; scopes are activity, profiles, content, admin, \
                     metrics, and no key contains ':'"
                );
                Error::Misconfigured(NAME, remedy)
            })?;
            // Two entries of one key could have different scopes.
            if keys.iter().any(|(known, _)| known == key) {
                let remedy = format!("number {number} is a key that is there already");
                return Err(Error::Misconfigured(NAME, remedy));
            }
            keys.push((key.to_owned(), scopes));
        }
        Ok(Self(keys))
    }

    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the scopes of a key; `None` if the key is unknown.
    ///
    /// Every comparison takes constant time, so response times reveal nothing about the keys.
    #[must_use]
    pub fn scopes_of(&self, key: &str) -> Option<Scopes> {
        let mut known = Choice::from(0);
        let mut index = 0;
        for (i, (valid, _)) in (0_u32..).zip(&self.0) {
            let equal = valid.as_bytes().ct_eq(key.as_bytes());
            index.conditional_assign(&i, equal);
            known |= equal;
        }
        let (_, scopes) = self.0.get(usize::try_from(index).ok()?)?;
        bool::from(known).then_some(*scopes)
    }
}

/// Parses a key and its optional scopes.
fn parse_key(word: &str) -> Option<(&str, Scopes)> {
    let (key, scopes) = match word.split_once(':') {
        None => (word, Scopes::ALL),
        Some((scopes, key)) => (key, Scopes::parse(scopes)?),
    };
    let key = key.trim();
    (!key.is_empty() && !key.contains(':')).then_some((key, scopes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parse(value: Value) -> Result<ServiceKeys, Error> {
        let vars = json!({ NAME: value });
        ServiceKeys::parse(&Vars::new(vars.as_object().unwrap().clone()))
    }

    #[test]
    fn key_without_scopes_has_all_scopes() {
        let keys = parse(json!("full, admin:erases,activity+profiles: imports")).unwrap();
        assert_eq!(keys.len(), 3);
        assert_eq!(keys.scopes_of("full"), Some(Scopes::ALL));
        assert_eq!(keys.scopes_of("erases"), Scopes::parse("admin"));
        assert_eq!(
            keys.scopes_of("imports"),
            Scopes::parse("activity+profiles")
        );
        for unknown in ["", "ful", "full ", "admin", "admin:erases", "full,", "FULL"] {
            assert_eq!(keys.scopes_of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn empty_variable_accepts_no_key() {
        for none in [json!(null), json!(""), json!(" , "), json!([])] {
            let keys = parse(none).unwrap();
            assert!(keys.is_empty());
            assert_eq!(keys.scopes_of(""), None);
        }
    }

    #[test]
    fn error_of_invalid_key_omits_its_text() {
        for (value, number) in [
            (json!(":s3cret"), 1),
            (json!("one,write:s3cret"), 2),
            (json!("s3cret:admin"), 1),
            (json!("admin :s3cret"), 1),
            (json!("activity+:s3cret"), 1),
            (json!("activity,profiles:"), 2),
            (json!("activity: "), 1),
            (json!("admin:s3cret:more"), 1),
            (json!("admin:activity:s3cret"), 1),
            (json!(["one", ""]), 2),
            (json!(["one", "two", " "]), 3),
        ] {
            let Err(Error::Misconfigured(NAME, remedy)) = parse(value.clone()) else {
                panic!("{value} was accepted");
            };
            assert!(
                remedy.starts_with(&format!("number {number} is neither")),
                "{remedy}"
            );
            assert!(!remedy.contains("s3cret"), "{remedy}");
        }
    }

    #[test]
    fn repeated_key_is_rejected_with_any_scopes() {
        for value in [
            "s3cret,s3cret",
            "s3cret,admin:s3cret",
            "admin:s3cret,activity:s3cret",
        ] {
            let remedy = "number 2 is a key that is there already".to_owned();
            let error = Some(Error::Misconfigured(NAME, remedy));
            assert_eq!(parse(json!(value)).err(), error);
        }
    }
}
