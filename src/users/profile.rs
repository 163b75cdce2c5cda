//! Profiles: what a board shows of a user besides the id.

use crate::calendar::Instant;
use crate::config::Config;
use crate::error::{Error, Faults};
use crate::id;
use crate::json;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use serde::Serialize;
use serde_json::{Map, Value};

/// A public profile, each part optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// 1 to 80 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An https link to a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// An https link to the user's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A profile and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedProfile {
    /// The user's id.
    pub id: String,
    /// The profile.
    pub profile: Profile,
    /// Whether the user hides themself from boards; nothing leaves it as it is, so that whoever
    /// keeps names up to date does not bring back who went.
    pub hidden: Option<bool>,
}

const MOST_NAME_CHARACTERS: usize = 80;
const MOST_LINK_BYTES: usize = 2048;

impl Profile {
    /// Reads a profile that replaces a user's; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with every fault of the path and content.
    pub fn read(user: &str, value: &Value) -> Result<NamedProfile, Error> {
        read(
            id::checked(user),
            "/user",
            value,
            &["name", "avatar", "url", "hidden"],
        )
    }

    /// The profile that the store holds, if any.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is no profile.
    pub fn stored(reply: &Reply) -> Result<Option<Self>, Failure> {
        let Some(reply) = reply.some() else {
            return Ok(None);
        };
        let text = reply.text()?;
        match Self::plain(text) {
            Some(profile) => Ok(Some(profile)),
            None => Self::any(text).map(Some),
        }
    }

    /// What [`write_profiles`] writes, as long as nothing in it is escaped. A board has up to a hundred
    /// of them, and to read JSON of any kind takes ten times as long.
    fn plain(json: &str) -> Option<Self> {
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
        (rest.is_empty() && !json.contains('\\')).then_some(profile)
    }

    fn any(json: &str) -> Result<Self, Failure> {
        let no_profile = || Failure::Unavailable("not a profile".to_owned());
        let Ok(Value::Object(mut fields)) = json::read(json.as_bytes()) else {
            return Err(no_profile());
        };
        let mut text = |field| match fields.remove(field) {
            Some(Value::String(text)) => Ok(Some(text)),
            None | Some(Value::Null) => Ok(None),
            Some(_) => Err(no_profile()),
        };
        Ok(Self {
            name: text("name")?,
            avatar: text("avatar")?,
            url: text("url")?,
        })
    }
}

impl NamedProfile {
    /// Reads an item of an array of profiles.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with every fault of the content.
    pub fn read(value: &Value) -> Result<Self, Error> {
        let id = value.get("id").and_then(id::user);
        let id = id.ok_or_else(|| id::ID.to_owned());
        read(id, "/id", value, &["id", "name", "avatar", "url", "hidden"])
    }
}

/// The command that writes profiles of a shard's users, with the boards to hide users from or show them on.
#[must_use]
pub fn write_profiles<'a>(
    profiles: impl Iterator<Item = &'a NamedProfile>,
    now: Instant,
    names: &[String],
    config: &Config,
    shard: u32,
) -> Command {
    let keys = config.keys(shard);
    let mut all = keys.of_everywhere();
    all.extend(names.iter().cloned());
    let command = Command::script(&scripts::PROFILES, &all)
        .arg(&config.stamp())
        .arg(&now.0.to_string())
        .arg(config.bound.journals());
    profiles.fold(command, |command, named| {
        let json = serde_json::to_string(&named.profile).unwrap_or_default();
        let hidden = match named.hidden {
            Some(true) => "1",
            Some(false) => "0",
            None => "",
        };
        command.arg(&named.id).arg(&json).arg(hidden)
    })
}

fn read(
    id: Result<String, String>,
    id_pointer: &str,
    value: &Value,
    known: &[&str],
) -> Result<NamedProfile, Error> {
    let Value::Object(fields) = value else {
        return Err(Error::invalid("A profile is a JSON object."));
    };
    let mut faults = Faults::default();
    faults.unknown(fields.keys(), known);
    let id = faults.check(id_pointer, id);
    let name = faults.check("/name", optional(fields, "name", name));
    let avatar = faults.check("/avatar", optional(fields, "avatar", link));
    let url = faults.check("/url", optional(fields, "url", link));
    let hidden = fields.get("hidden").map(Value::as_bool);
    let hidden = match hidden {
        Some(None) => Err("must be true or false".to_owned()),
        Some(Some(hidden)) => Ok(Some(hidden)),
        None => Ok(None),
    };
    let hidden = faults.check("/hidden", hidden);
    let read = || {
        let profile = Profile {
            name: name?,
            avatar: avatar?,
            url: url?,
        };
        Some(NamedProfile {
            id: id?,
            profile,
            hidden: hidden?,
        })
    };
    faults.or(read())
}

fn optional(
    fields: &Map<String, Value>,
    field: &str,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<Option<String>, String> {
    let Some(value) = fields.get(field) else {
        return Ok(None);
    };
    let text = value.as_str().ok_or("must be a text")?;
    check(text).map(|()| Some(text.to_owned()))
}

pub(super) fn name(text: &str) -> Result<(), String> {
    let characters = text.chars().count();
    if !(1..=MOST_NAME_CHARACTERS).contains(&characters) || text.trim().is_empty() {
        return Err(format!("must be 1 to {MOST_NAME_CHARACTERS} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

pub(super) fn link(text: &str) -> Result<(), String> {
    let host = text
        .strip_prefix("https://")
        .filter(|rest| !rest.starts_with(['/', '?', '#']));
    let odd = |c: char| c.is_whitespace() || c.is_control() || "\"<>\\^`{|}[]".contains(c);
    if host.is_none_or(str::is_empty) || text.chars().any(odd) {
        return Err("must be a link that begins with https://".to_owned());
    }
    if text.len() > MOST_LINK_BYTES {
        return Err(format!("must be at most {MOST_LINK_BYTES} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_the_same_whether_it_is_plain_or_not(
            name in prop::option::of(".{1,80}"),
            avatar in prop::option::of("https://[a-z\"\\\\,}]{1,9}"),
            url in prop::option::of("https://[a-z/,{]{1,9}"),
        ) {
            let profile = Profile { name, avatar, url };
            let json = serde_json::to_string(&profile).unwrap();
            prop_assert_eq!(Profile::any(&json), Ok(profile.clone()));
            prop_assert_eq!(Profile::plain(&json).is_some(), !json.contains('\\'));
            prop_assert_eq!(Profile::stored(&Reply::Text(json)), Ok(Some(profile)));
        }
    }

    #[test]
    fn what_is_no_profile_is_none() {
        for text in [
            "",
            "{",
            "[]",
            r#"{"name":7}"#,
            r#"{"name":"Ada"#,
            r#"{"name":"Ada"}}"#,
        ] {
            assert!(
                Profile::stored(&Reply::Text(text.to_owned())).is_err(),
                "{text}"
            );
        }
        let other = Profile::stored(&Reply::Text(r#"{"since": 7, "url": null}"#.to_owned()));
        assert_eq!(other, Ok(Some(Profile::default())));
    }
}
