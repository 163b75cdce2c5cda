//! Profiles: the name, picture and link that boards show for a user.

use crate::error::{Error, FieldErrors};
use crate::id;
use crate::json;
use crate::text;
use serde::Serialize;
use serde_json::{Map, Value};

/// A public profile. Every field is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// The display name: 1 to 80 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The `https` URL of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// The `https` URL of the user's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether everyone may read the user's points by day.
    #[serde(skip_serializing_if = "is_false")]
    pub public_activity: bool,
}

/// A profile and its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedProfile {
    /// The id of the user.
    pub id: String,
    /// The profile.
    pub profile: Profile,
    /// Whether the user hides from boards. `None` keeps the current setting, so that a name update
    /// does not make a hidden user visible.
    pub hidden: Option<bool>,
}

/// The fields of a profile in a request.
const FIELDS: [&str; 5] = ["name", "avatar", "url", "hidden", "public_activity"];

const MAX_NAME_CHARACTERS: usize = 80;
const MAX_LINK_BYTES: usize = 2048;

impl Profile {
    /// Parses a profile that replaces the user's profile; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field, and the user if it is invalid.
    pub fn parse(user: &str, value: &Value) -> Result<NamedProfile, Error> {
        parse_named(id::checked_member(user), "/user", value, &FIELDS)
    }

    /// Returns the profile in the claims `name` and `picture` of a user token.
    ///
    /// Skips claims that are not valid in a profile; returns `None` if no claim remains.
    #[must_use]
    pub fn from_claims(claims: &Map<String, Value>) -> Option<Self> {
        let valid = |claim: &str, check: fn(&str) -> Result<String, String>| {
            check(claims.get(claim)?.as_str()?).ok()
        };
        let profile = Self {
            name: valid("name", check_name),
            avatar: valid("picture", check_link),
            ..Self::default()
        };
        (profile != Self::default()).then_some(profile)
    }

    /// Parses a stored profile; `None` if the text is not a profile.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        Self::from_plain(json).or_else(|| Self::from_any(json))
    }

    /// Parses JSON as this crate serializes it, without escapes.
    ///
    /// A page has up to 100 profiles, and a complete JSON parser takes ten times as long.
    fn from_plain(json: &str) -> Option<Self> {
        let mut profile = Self::default();
        let mut rest = json.strip_prefix('{')?.strip_suffix('}')?;
        for (start, part) in [
            ("\"name\":\"", &mut profile.name),
            ("\"avatar\":\"", &mut profile.avatar),
            ("\"url\":\"", &mut profile.url),
        ] {
            if let Some(after) = rest.strip_prefix(start) {
                let (text, after) = after.split_once('"')?;
                *part = Some(text.to_owned());
                rest = after.strip_prefix(',').unwrap_or(after);
            }
        }
        if let Some(after) = rest.strip_prefix("\"public_activity\":true") {
            profile.public_activity = true;
            rest = after;
        }
        (rest.is_empty() && !json.contains('\\')).then_some(profile)
    }

    /// Parses any JSON.
    fn from_any(json: &str) -> Option<Self> {
        let Ok(Value::Object(mut fields)) = json::read(json.as_bytes()) else {
            return None;
        };
        let public_activity = fields.get("public_activity") == Some(&Value::Bool(true));
        let mut text = |field| match fields.remove(field) {
            Some(Value::String(text)) => Some(Some(text)),
            None | Some(Value::Null) => Some(None),
            Some(_) => None,
        };
        Some(Self {
            name: text("name")?,
            avatar: text("avatar")?,
            url: text("url")?,
            public_activity,
        })
    }
}

impl NamedProfile {
    /// Parses an item of an array of profiles.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(value: &Value) -> Result<Self, Error> {
        let id = id::member(value.get("id"));
        let known = [["id"].as_slice(), &FIELDS].concat();
        parse_named(id, "/id", value, &known)
    }
}

fn parse_named(
    id: Result<String, String>,
    id_pointer: &str,
    value: &Value,
    known: &[&str],
) -> Result<NamedProfile, Error> {
    let Value::Object(fields) = value else {
        return Err(Error::invalid("A profile is a JSON object."));
    };
    let mut errors = FieldErrors::default();
    errors.reject_unknown(fields.keys(), known);
    let id = errors.check(id_pointer, id);
    let name = errors.check("/name", optional(fields, "name", check_name));
    let avatar = errors.check("/avatar", optional(fields, "avatar", check_link));
    let url = errors.check("/url", optional(fields, "url", check_link));
    let hidden = errors.check("/hidden", flag(fields, "hidden"));
    let public_activity = errors.check("/public_activity", flag(fields, "public_activity"));
    let named_profile = || {
        let profile = Profile {
            name: name?,
            avatar: avatar?,
            url: url?,
            public_activity: public_activity?.unwrap_or_default(),
        };
        Some(NamedProfile {
            id: id?,
            profile,
            hidden: hidden?,
        })
    };
    errors.finish(named_profile())
}

/// Parses an optional text; `check` returns it as it is stored.
pub(crate) fn optional(
    fields: &Map<String, Value>,
    field: &str,
    check: impl Fn(&str) -> Result<String, String>,
) -> Result<Option<String>, String> {
    let Some(value) = fields.get(field) else {
        return Ok(None);
    };
    check(value.as_str().ok_or("must be a text")?).map(Some)
}

/// Parses an optional boolean.
fn flag(fields: &Map<String, Value>, field: &str) -> Result<Option<bool>, String> {
    let Some(value) = fields.get(field) else {
        return Ok(None);
    };
    let flag = value.as_bool().ok_or("must be true or false")?;
    Ok(Some(flag))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

fn check_name(text: &str) -> Result<String, String> {
    text::check(text, MAX_NAME_CHARACTERS)
}

/// Returns a valid `https` URL.
pub(crate) fn check_link(text: &str) -> Result<String, String> {
    let host = text
        .strip_prefix("https://")
        .and_then(|rest| rest.split(['/', '?', '#']).next());
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || "\"<>\\^`{|}[]".contains(c);
    if host.is_none_or(str::is_empty) || text.chars().any(forbidden) {
        return Err("must be a link that begins with https://".to_owned());
    }
    // `https://good.example@bad.example/` leads to bad.example.
    if host.is_some_and(|host| host.contains('@')) {
        return Err("must not contain user information before the host".to_owned());
    }
    if text.len() > MAX_LINK_BYTES {
        return Err(format!("must be at most {MAX_LINK_BYTES} bytes"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn serialized_profile_parses_back(
            name in prop::option::of(".{1,80}"),
            avatar in prop::option::of("https://[a-z\"\\\\,}]{1,9}"),
            url in prop::option::of("https://[a-z/,{]{1,9}"),
            public_activity: bool,
        ) {
            let profile = Profile { name, avatar, url, public_activity };
            let json = serde_json::to_string(&profile).unwrap();
            prop_assert_eq!(Profile::from_any(&json), Some(profile.clone()));
            prop_assert_eq!(Profile::from_plain(&json).is_some(), !json.contains('\\'));
            prop_assert_eq!(Profile::from_json(&json), Some(profile));
        }
    }

    proptest! {
        #[test]
        fn stored_profile_is_read_back(
            name in prop::option::of(".{0,82}"),
            avatar in prop::option::of("https://.{1,20}"),
            url in prop::option::of("https://[a-z@/.,'?#%\u{a0}-\u{24f}]{1,20}"),
            public_activity: bool,
        ) {
            let mut body = json!({"public_activity": public_activity});
            for (field, text) in [("name", name), ("avatar", avatar), ("url", url)] {
                if let Some(text) = text {
                    body[field] = json!(text);
                }
            }
            if let Ok(NamedProfile { profile, .. }) = Profile::parse("42", &body) {
                let json = serde_json::to_string(&profile).unwrap();
                prop_assert_eq!(Profile::from_json(&json), Some(profile));
            }
        }
    }

    #[test]
    fn invalid_profile_is_rejected() {
        for text in [
            "",
            "{",
            "[]",
            r#"{"name":7}"#,
            r#"{"name":"Ada"#,
            r#"{"name":"Ada"}}"#,
        ] {
            assert_eq!(Profile::from_json(text), None, "{text}");
        }
        let unknown_field = Profile::from_json(r#"{"since": 7, "url": null}"#);
        assert_eq!(unknown_field, Some(Profile::default()));
    }

    fn from_claims(claims: Value) -> Option<(Option<String>, Option<String>)> {
        let profile = Profile::from_claims(claims.as_object().unwrap());
        profile.map(|profile| (profile.name, profile.avatar))
    }

    #[test]
    fn claims_make_profile_from_valid_parts() {
        let (name, picture) = ("Ada ✓", "https://example.com/ada.png");
        let (has_name, has_picture) = (Some(name.to_owned()), Some(picture.to_owned()));
        let parse =
            |name: Value, picture: Value| from_claims(json!({"name": name, "picture": picture}));
        let both = Some((has_name.clone(), has_picture.clone()));
        assert_eq!(parse(json!(name), json!(picture)), both);
        for invalid in [
            json!(null),
            json!(""),
            json!("  "),
            json!("a\nb"),
            json!("a".repeat(81)),
            json!(7),
            json!(["Ada"]),
        ] {
            assert_eq!(
                parse(invalid, json!(picture)),
                Some((None, has_picture.clone()))
            );
        }
        for invalid in [
            json!(null),
            json!("http://example.com/ada.png"),
            json!("javascript:alert(1)"),
            json!("https://"),
            json!("https://example.com/\"onload=\""),
            json!(format!("https://example.com/{}", "a".repeat(2048))),
            json!({"data": {"url": picture}}),
        ] {
            assert_eq!(parse(json!(name), invalid), Some((has_name.clone(), None)));
        }
    }

    #[test]
    fn claims_without_valid_parts_make_no_profile() {
        for claims in [
            json!({}),
            json!({"name": "", "picture": "ada.png"}),
            json!({"nickname": "Ada", "avatar": "https://example.com/", "url": "https://x.example"}),
        ] {
            assert_eq!(from_claims(claims), None);
        }
    }
}
