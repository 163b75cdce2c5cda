//! The user that a token identifies.

use crate::id::{self, MAX_GROUPS};
use crate::profile::Profile;
use serde_json::{Map, Value};

/// The user of a verified token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The user's id.
    pub id: String,
    /// The groups on whose boards the user's activity also counts: at most [`MAX_GROUPS`].
    pub groups: Vec<String>,
    /// The profile in the claims, shown while the user has no stored profile.
    pub profile: Option<Profile>,
}

impl Member {
    /// Returns the user with an id and the claims of a valid token.
    #[must_use]
    pub fn new(id: String, claims: &Map<String, Value>, groups_claim: Option<&str>) -> Self {
        Self {
            id,
            groups: groups(groups_claim.and_then(|claim| claims.get(claim))),
            profile: Profile::from_claims(claims),
        }
    }
}

/// Returns the groups in a claim, which is a string or an array of strings.
///
/// Skips invalid group ids: an issuer may define groups for other applications, and their members
/// must not be locked out.
fn groups(claim: Option<&Value>) -> Vec<String> {
    let claimed = match claim {
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
        None => &[],
    };
    let mut groups = Vec::new();
    for group in claimed.iter().filter_map(Value::as_str) {
        let is_new = || !groups.iter().any(|known| known == group);
        if groups.len() < MAX_GROUPS && id::is_id(group) && is_new() {
            groups.push(group.to_owned());
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_groups(claims: Value, claim: Option<&str>) -> Vec<String> {
        Member::new("42".to_owned(), claims.as_object().unwrap(), claim).groups
    }

    #[test]
    fn first_four_valid_groups_are_kept() {
        let groups = |claim: Value| {
            let claims = json!({"https://example.com/groups": claim});
            read_groups(claims, Some("https://example.com/groups"))
        };
        assert_eq!(groups(json!("eu")), ["eu"]);
        assert_eq!(groups(json!(["us", "eu"])), ["us", "eu"]);
        assert_eq!(groups(json!(["eu", "eu", "us", "eu"])), ["eu", "us"]);
        let five = json!(["a", "b", "c", "d", "e"]);
        assert_eq!(groups(five), ["a", "b", "c", "d"]);
        let long = "a".repeat(65);
        let mixed = json!(["", "a b", "..", "a,b", 7, null, ["x"], long, "e", "e", "ok"]);
        assert_eq!(groups(mixed), ["e", "ok"]);
        let none = json!([null, [], 7, true, {"eu": 1}, "a b"]);
        for none in none.as_array().unwrap() {
            assert_eq!(groups(none.clone()), [""; 0]);
        }
    }

    #[test]
    fn unconfigured_claims_give_no_groups() {
        let claims = json!({"groups": ["eu"]});
        assert_eq!(read_groups(claims.clone(), None), [""; 0]);
        assert_eq!(read_groups(claims, Some("roles")), [""; 0]);
    }
}
