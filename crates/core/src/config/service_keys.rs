//! `SERVICE_KEYS`: the keys of trusted services, their scopes and names.

use super::{Scopes, Vars};
use crate::error::Error;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

const NAME: &str = "SERVICE_KEYS";
/// Characters of the name of a key.
const MAX_NAME: usize = 32;

/// What a key permits, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceKey {
    /// The scopes.
    pub scopes: Scopes,
    /// The name under which the audit log lists what is done with the key.
    pub name: Option<String>,
}

impl From<Scopes> for ServiceKey {
    fn from(scopes: Scopes) -> Self {
        Self { scopes, name: None }
    }
}

/// The keys of trusted services.
///
/// Several keys are valid at once, so a key can be rotated without downtime.
#[derive(Clone, Debug)]
pub struct ServiceKeys(Vec<(String, ServiceKey)>);

impl ServiceKeys {
    /// Parses the variable: a list of keys. A key without scopes has all of them; a key with scopes
    /// is written `activity+profiles:KEY`, and with a name `anna@admin:KEY`. Keys may share a name.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] identifies the first invalid entry by its number, because its text
    /// may be a secret.
    pub fn parse(vars: &Vars) -> Result<Self, Error> {
        let mut keys: Vec<(String, ServiceKey)> = Vec::new();
        for (number, word) in (1..).zip(vars.words(NAME)?.unwrap_or_default()) {
            let (key, service) = parse_key(&word).ok_or_else(|| {
                let remedy = format!(
                    "number {number} is neither a key nor scopes and a key such as \
                     activity+profiles:KEY or anna@admin:KEY; scopes are activity, profiles, \
                     content, admin, metrics, a name before '@' has 1 to {MAX_NAME} of a to z, 0 to 9 \
                     and '-', and no key contains ':'"
                );
                Error::Misconfigured(NAME, remedy)
            })?;
            // Two entries of one key could have different scopes.
            if keys.iter().any(|(known, _)| known == key) {
                let remedy = format!("number {number} is a key that is there already");
                return Err(Error::Misconfigured(NAME, remedy));
            }
            keys.push((key.to_owned(), service));
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

    /// Returns the scopes and the name of a key; `None` if the key is unknown.
    ///
    /// Every comparison takes constant time, so response times reveal nothing about the keys.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&ServiceKey> {
        let mut known = Choice::from(0);
        let mut index = 0;
        for (i, (valid, _)) in (0_u32..).zip(&self.0) {
            let equal = valid.as_bytes().ct_eq(key.as_bytes());
            index.conditional_assign(&i, equal);
            known |= equal;
        }
        let (_, service) = self.0.get(usize::try_from(index).ok()?)?;
        bool::from(known).then_some(service)
    }
}

/// Parses a key, its optional scopes and their optional name. An entry without `:` is a key, whatever it contains.
fn parse_key(word: &str) -> Option<(&str, ServiceKey)> {
    let (key, service) = match word.split_once(':') {
        None => (word, Scopes::ALL.into()),
        Some((service, key)) => (key, parse_service(service)?),
    };
    let key = key.trim();
    (!key.is_empty() && !key.contains(':')).then_some((key, service))
}

/// Parses what precedes the key.
fn parse_service(text: &str) -> Option<ServiceKey> {
    let Some((name, scopes)) = text.split_once('@') else {
        return Scopes::parse(text).map(ServiceKey::from);
    };
    let is_valid = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let is_name = (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_valid);
    is_name.then_some(ServiceKey {
        scopes: Scopes::parse(scopes)?,
        name: Some(name.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parse(value: Value) -> Result<ServiceKeys, Error> {
        let vars = json!({ NAME: value });
        ServiceKeys::parse(&Vars::new(vars.as_object().unwrap().clone()))
    }

    fn scopes_of(keys: &ServiceKeys, key: &str) -> Option<Scopes> {
        keys.find(key).map(|service| service.scopes)
    }

    #[test]
    fn key_with_name_has_its_scopes() {
        let name = "0-a".repeat(10) + "zz";
        let text = format!("anna@admin:a,anna@activity+admin:b,{name}@metrics:c");
        let keys = parse(json!(text)).unwrap();
        for (key, name, scopes) in [
            ("a", "anna", "admin"),
            ("b", "anna", "activity+admin"),
            ("c", name.as_str(), "metrics"),
        ] {
            let name = Some(name.to_owned());
            let scopes = Scopes::parse(scopes).unwrap();
            assert_eq!(keys.find(key), Some(&ServiceKey { scopes, name }));
        }
    }

    /// Entries without a name mean what they did before there were names.
    #[test]
    fn key_with_at_sign_has_no_name() {
        let keys = parse(json!("anna@admin,@,admin:bob@x")).unwrap();
        for key in ["anna@admin", "@"] {
            assert_eq!(keys.find(key), Some(&Scopes::ALL.into()));
        }
        let admin = Scopes::parse("admin").unwrap();
        assert_eq!(keys.find("bob@x"), Some(&admin.into()));
        assert_eq!(keys.find("x"), None);
    }

    #[test]
    fn key_without_scopes_has_all_scopes() {
        let keys = parse(json!("full, admin:erases,activity+profiles: imports")).unwrap();
        assert_eq!(keys.len(), 3);
        assert_eq!(scopes_of(&keys, "full"), Some(Scopes::ALL));
        assert_eq!(scopes_of(&keys, "erases"), Scopes::parse("admin"));
        assert_eq!(
            scopes_of(&keys, "imports"),
            Scopes::parse("activity+profiles")
        );
        for unknown in ["", "ful", "full ", "admin", "admin:erases", "full,", "FULL"] {
            assert_eq!(keys.find(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn empty_variable_accepts_no_key() {
        for none in [json!(null), json!(""), json!(" , "), json!([])] {
            let keys = parse(none).unwrap();
            assert!(keys.is_empty());
            assert_eq!(keys.find(""), None);
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
            (json!("@admin:s3cret"), 1),
            (json!("anna@:s3cret"), 1),
            (json!("anna@b@admin:s3cret"), 1),
            (json!("Anna@admin:s3cret"), 1),
            (json!("anna @admin:s3cret"), 1),
            (json!(format!("{}@admin:s3cret", "a".repeat(33))), 1),
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
            "anna@admin:s3cret,bob@admin:s3cret",
            "admin:s3cret,activity:s3cret",
        ] {
            let remedy = "number 2 is a key that is there already".to_owned();
            let error = Some(Error::Misconfigured(NAME, remedy));
            assert_eq!(parse(json!(value)).err(), error);
        }
    }
}
