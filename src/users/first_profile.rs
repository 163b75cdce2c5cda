//! The profile of a user seen for the first time, from what their token says.

use super::Profile;
use super::profile::{link, name};
use crate::calendar::Instant;
use crate::config::Config;
use crate::redis::Command;
use crate::scripts;
use serde_json::{Map, Value};

/// The profile that the claims `name` and `picture` make. One that no profile could hold is as if
/// it were not there; `None` where neither is left.
#[must_use]
pub fn claimed_profile(claims: &Map<String, Value>) -> Option<Profile> {
    let fitting = |claim: &str, check: fn(&str) -> Result<(), String>| {
        let text = claims.get(claim)?.as_str()?;
        check(text).is_ok().then(|| text.to_owned())
    };
    let profile = Profile {
        name: fitting("name", name),
        avatar: fitting("picture", link),
        ..Profile::default()
    };
    (profile != Profile::default()).then_some(profile)
}

/// The command that gives a user this profile unless they have one.
#[must_use]
pub fn write_first_profile(
    user: &str,
    profile: &Profile,
    now: Instant,
    config: &Config,
) -> Command {
    let keys = config.keys_of(user);
    let json = serde_json::to_string(profile).unwrap_or_default();
    let all = [keys.stamp(), keys.profiles(), keys.flags(), keys.outbox()];
    Command::script(&scripts::FIRST_PROFILE, &all)
        .arg(&config.stamp())
        .arg(&now.0.to_string())
        .arg(config.bound.journals())
        .arg(user)
        .arg(&json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn claimed(claims: Value) -> Option<(Option<String>, Option<String>)> {
        let profile = claimed_profile(claims.as_object().unwrap());
        profile.map(|profile| (profile.name, profile.avatar))
    }

    #[test]
    fn a_profile_is_made_of_name_and_picture_as_far_as_they_are_good() {
        let (name, picture) = ("Ada ✓", "https://example.com/ada.png");
        let (has_name, has_picture) = (Some(name.to_owned()), Some(picture.to_owned()));
        let of = |name: Value, picture: Value| claimed(json!({"name": name, "picture": picture}));
        let both = Some((has_name.clone(), has_picture.clone()));
        assert_eq!(of(json!(name), json!(picture)), both);
        for bad in [
            json!(null),
            json!(""),
            json!("  "),
            json!("a\nb"),
            json!("a".repeat(81)),
            json!(7),
            json!(["Ada"]),
        ] {
            assert_eq!(of(bad, json!(picture)), Some((None, has_picture.clone())));
        }
        for bad in [
            json!(null),
            json!("http://example.com/ada.png"),
            json!("javascript:alert(1)"),
            json!("https://"),
            json!("https://example.com/\"onload=\""),
            json!(format!("https://example.com/{}", "a".repeat(2048))),
            json!({"data": {"url": picture}}),
        ] {
            assert_eq!(of(json!(name), bad), Some((has_name.clone(), None)));
        }
    }

    #[test]
    fn of_neither_no_profile_is_made() {
        for claims in [
            json!({}),
            json!({"name": "", "picture": "ada.png"}),
            json!({"nickname": "Ada", "avatar": "https://example.com/", "url": "https://x.example"}),
        ] {
            assert_eq!(claimed(claims), None);
        }
    }
}
