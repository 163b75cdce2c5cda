//! `SERVICE_KEYS`: the keys of trusted services, and what each is good for.

use super::{Scopes, Vars};
use crate::error::Error;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

const NAME: &str = "SERVICE_KEYS";

/// The keys of trusted services. Several hold at once, so that one can be replaced by another.
#[derive(Clone, Debug)]
pub struct ServiceKeys(Vec<(String, Scopes)>);

impl ServiceKeys {
    /// Reads the variable: keys, each alone or behind its scopes, `activity+profiles:KEY`.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the first that is not one by its number: what is in it may
    /// be a secret.
    pub fn read(vars: &Vars) -> Result<Self, Error> {
        let mut keys: Vec<(String, Scopes)> = Vec::new();
        for (number, word) in (1..).zip(vars.words(NAME)?.unwrap_or_default()) {
            let (key, scopes) = read_one(&word).ok_or_else(|| {
                let way_out = format!(
                    "number {number} is neither a key nor scopes and a key such as \
                     activity+profiles:KEY; scopes are activity, profiles, admin, and no key \
                     contains ':'"
                );
                Error::Misconfigured(NAME, way_out)
            })?;
            // Which of its scopes would be meant?
            if keys.iter().any(|(known, _)| known == key) {
                let way_out = format!("number {number} is a key that is there already");
                return Err(Error::Misconfigured(NAME, way_out));
            }
            keys.push((key.to_owned(), scopes));
        }
        Ok(Self(keys))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a key is good for; `None` where it is none of them.
    ///
    /// Every key is compared to its end: the time taken tells nothing about them.
    #[must_use]
    pub fn scopes_of(&self, key: &str) -> Option<Scopes> {
        let mut known = Choice::from(0);
        let mut place = 0;
        for (i, (ours, _)) in (0_u32..).zip(&self.0) {
            let same = ours.as_bytes().ct_eq(key.as_bytes());
            place.conditional_assign(&i, same);
            known |= same;
        }
        let (_, scopes) = self.0.get(usize::try_from(place).ok()?)?;
        bool::from(known).then_some(*scopes)
    }
}

/// A key and its scopes: without any it is good for everything.
fn read_one(word: &str) -> Option<(&str, Scopes)> {
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

    fn read(value: Value) -> Result<ServiceKeys, Error> {
        let vars = json!({ NAME: value });
        ServiceKeys::read(&Vars::new(vars.as_object().unwrap().clone()))
    }

    #[test]
    fn a_key_alone_is_good_for_everything_and_behind_scopes_for_those() {
        let keys = read(json!("full, admin:erases,activity+profiles: imports")).unwrap();
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
    fn without_keys_nothing_is_one() {
        for none in [json!(null), json!(""), json!(" , "), json!([])] {
            let keys = read(none).unwrap();
            assert!(keys.is_empty());
            assert_eq!(keys.scopes_of(""), None);
        }
    }

    #[test]
    fn what_is_not_a_key_is_never_taken_as_one_and_never_shown() {
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
            let Err(Error::Misconfigured(NAME, told)) = read(value.clone()) else {
                panic!("{value} was taken");
            };
            assert!(
                told.starts_with(&format!("number {number} is neither")),
                "{told}"
            );
            assert!(!told.contains("s3cret"), "{told}");
        }
    }

    #[test]
    fn the_same_key_twice_is_refused_whatever_its_scopes() {
        for value in [
            "s3cret,s3cret",
            "s3cret,admin:s3cret",
            "admin:s3cret,activity:s3cret",
        ] {
            let told = "number 2 is a key that is there already".to_owned();
            let refused = Some(Error::Misconfigured(NAME, told));
            assert_eq!(read(json!(value)).err(), refused);
        }
    }
}
